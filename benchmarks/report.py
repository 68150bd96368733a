"""Measure the report: its size, how long it takes to write, and how long until it is ready in the browser.

    python benchmarks/report.py

The page is ready when the list and the map are drawn, counted from the start of the navigation: the median of five
loads in headless Chromium. Needs selenium, chromium and chromedriver.
"""

import shutil
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from selenium import webdriver

from eocc import SurpriseClassifier
from eocc.report import write_report

# Rows of the training set, new rows, columns.
CASES = ((200, 1_000, 10), (1_000, 1_000, 30), (1_000, 100_000, 30))
N_LOADS = 5


def written(path: Path, n_training: int, n_new: int, n_columns: int) -> float:
    """Write a page about normal rows of which one in ten has a moved column, and return the seconds it took."""
    rng = np.random.default_rng(0)
    new = rng.normal(size=(n_new, n_columns))
    new[::10, 0] += 6
    clf = SurpriseClassifier().fit(rng.normal(size=(n_training, n_columns)))
    start = time.perf_counter()
    write_report(clf, path, new, np.where(np.arange(n_new) % 10, 1, -1))
    return time.perf_counter() - start


def opened() -> webdriver.Chrome:
    """Return a headless browser."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def ready(browser: webdriver.Chrome, page: Path) -> float:
    """Return the median time in seconds from the start of the navigation until the page is ready."""
    found = []
    for _ in range(N_LOADS):
        browser.get(page.as_uri())
        found.append(browser.execute_script("return performance.getEntriesByName('ready')[0].startTime / 1000"))
    return statistics.median(found)


def main() -> None:
    """Print a table."""
    browser = opened()
    print(
        "| training rows | new rows | columns | written in | size | ready in the browser |\n|---|---|---|---|---|---|"
    )
    with TemporaryDirectory() as folder:
        for case in CASES:
            page = Path(folder, "page.html")
            seconds = written(page, *case)
            cells = [*(f"{number:,}" for number in case), f"{seconds:.1f} s", f"{page.stat().st_size / 1e6:.2f} MB"]
            print("| " + " | ".join([*cells, f"{ready(browser, page):.2f} s"]) + " |", flush=True)
    browser.quit()


if __name__ == "__main__":
    main()
