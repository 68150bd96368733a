"""Draw the pictures of docs/guides/report.md and asking.md in headless Chromium: two reports and a review.

    python examples/report.py folder

Needs selenium, the programs chromium and chromedriver, and, for the letters, iam/Letter-LOW.zip in the data folder
(environment variable EOCC_DATA).
"""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from selenium import webdriver
from sklearn.datasets import load_breast_cancer

from eocc import SurpriseClassifier
from eocc.datasets import load_iam
from eocc.report import write_report, write_review


def write_tumours(path: Path) -> Path:
    """Write a report on breast tumours: 200 benign ones are normal, all others are new."""
    data = load_breast_cancer(as_frame=True)
    benign = data.target == 1
    X = data.data
    rest = X.index.difference(X.index[benign][:200])
    clf = SurpriseClassifier(measure="standardised").fit(X[benign][:200])
    names = [f"tumour {row}" for row in rest]
    return write_report(clf, path, X.loc[rest], benign[rest], names, "Breast tumours: what is benign")


def write_letters(path: Path) -> Path:
    """Write a report on letters as graphs: the letter A is normal."""
    letters = load_iam("L-L")
    known = zip(letters.training.graphs, letters.training.labels, strict=True)
    clf = SurpriseClassifier(measure="graph-edit").fit([graph for graph, label in known if label == "A"])
    chosen = range(0, len(letters.test.graphs), 3)
    labels = [letters.test.labels[k] for k in chosen]
    names = [f"{k} ({label})" for k, label in zip(chosen, labels, strict=True)]
    y = [label == "A" for label in labels]
    return write_report(clf, path, [letters.test.graphs[k] for k in chosen], y, names, "Letters: what is an A")


def review_tumours(path: Path) -> Path:
    """Write a review of the same tumours."""
    data = load_breast_cancer(as_frame=True)
    benign = data.target == 1
    rest = data.data.drop(data.data.index[benign][:200])
    clf = SurpriseClassifier(measure="standardised").fit(data.data[benign][:200])
    return write_review(clf, path, rest, names=[f"tumour {row}" for row in rest.index], data="tumours.csv")


def photograph(browser: webdriver.Chrome, page: Path, picture: Path, width: int, height: int) -> None:
    """Save what the browser shows; the first rows of the list are open."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.get(page.as_uri())
    browser.save_screenshot(str(picture))


def main(folder: Path) -> None:
    """Write both reports and photograph them."""
    folder.mkdir(parents=True, exist_ok=True)
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    with TemporaryDirectory() as pages:
        photograph(browser, write_tumours(Path(pages, "tumours.html")), folder / "report.png", 1280, 1240)
        photograph(browser, write_letters(Path(pages, "letters.html")), folder / "report_graphs.png", 1280, 1240)
        photograph(browser, review_tumours(Path(pages, "review.html")), folder / "review.png", 1280, 860)
    browser.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
