"""The page of eocc review in a real browser: open, answer by mouse and by keys, save, teach, score."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from browsing import CONTRAST, HOSTILE, TEXT, axe_findings, click, keys, one, wait_for
from eocc import SurpriseClassifier, load
from eocc.cli import main
from eocc.report import write_review

BACK, FORWARD, TAB, ENTER = "\ue012", "\ue014", "\ue004", "\ue007"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model, and a review of new.csv, whose rows 40 to 49 are outliers."""
    made = tmp_path_factory.mktemp("review")
    rng = np.random.default_rng(0)
    good, odd = rng.normal(size=(140, 3)), rng.normal(size=(10, 3)) * 0.3 + [6, 0, 0]
    for name, rows in (("normal.csv", good[:100]), ("new.csv", np.vstack([good[100:], odd]))):
        lines = [f"pump-{k}," + ",".join(f"{x:.4f}" for x in row) for k, row in enumerate(rows)]
        (made / name).write_text("machine,load,heat,noise\n" + "\n".join(lines) + "\n")
    files = [str(made / name) for name in ("normal.csv", "model.eocc", "new.csv", "review.html")]
    assert main(["-q", "fit", files[0], "--id", "machine", "-o", files[1]]) == 0
    assert main(["-q", "review", *files[1:3], "--id", "machine", "-n", "5", "-o", files[3]]) == 0
    return made


@pytest.fixture
def page(browser, folder):
    address = (folder / "review.html").as_uri()
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    browser.get(address)
    browser.execute_script("localStorage.clear()")
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(address)
    yield browser
    assert browser.get_log("browser") == []


def shown(page):
    return json.loads(page.execute_script("return document.getElementById('page-data').textContent"))["rows"]


def title(page):
    return one(page, "#row-title").text


def saved(page, folder):
    """Click on Save, and return the lines of the file."""
    path = folder / "answers.csv"
    path.unlink(missing_ok=True)
    click(page, "#save")
    wait_for(page, path.exists)
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_answers_by_mouse_and_keys_are_saved_taught_and_scored(page, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    rows = shown(page)
    n = len(rows)
    assert n == 5
    assert (title(page), one(page, "#progress").text) == (f"Row {rows[0]['name']}", "1 of 5")
    assert rows[0]["reason"] in one(page, "#card .note").text
    assert rows[0]["say"] in one(page, "#card .say").text
    assert len(page.find_elements("css selector", "#card .bars li")) == 3
    assert not one(page, "#save").is_enabled()
    click(page, "[data-answer='not normal']")
    assert (title(page), one(page, "#progress").text) == (f"Row {rows[1]['name']}", "2 of 5")
    keys(page, "x")
    keys(page, "s")
    keys(page, "N")  # a capital letter is the same key
    assert one(page, "#save").text == "Save 3 answers"
    keys(page, BACK)
    assert title(page) == f"Row {rows[3]['name']}"
    assert "Your answer: normal" in one(page, "#card .note").text
    assert one(page, "[data-answer=normal]").get_attribute("aria-pressed") == "true"
    keys(page, "x")
    click(page, "[data-answer=normal]")
    assert title(page) == "All rows are done"
    found = saved(page, folder)
    words = ["not normal", "not normal", "not normal", "normal"]
    assert [(line["row"], line["answer"]) for line in found] == [
        (rows[k]["name"], word) for k, word in zip((0, 1, 3, 4), words, strict=True)
    ]
    assert one(page, "#said").text == "Saved 4 answers as answers.csv."
    assert one(page, "pre").text.startswith("eocc teach ")
    assert main(["teach", "model.eocc", "answers.csv", "-o", "better.eocc", "--id", "machine"]) == 0
    assert "Learned 4 answers: 1 normal, 3 not normal." in capsys.readouterr().out
    assert load("better.eocc").answers_.y.tolist() == [-1, -1, -1, 1]
    assert main(["-q", "score", "better.eocc", "new.csv", "--id", "machine", "-o", "scores.csv"]) == 0
    decided = {line["row"]: line["decision"] for line in csv.DictReader(Path("scores.csv").read_text().splitlines())}
    assert {decided[rows[k]["name"]] for k in (0, 1, 3)} == {"-1"}


def test_answers_stay_when_the_page_is_opened_again(page, folder):
    rows = shown(page)
    keys(page, "x")
    keys(page, "s")

    def is_kept():  # the browser takes a moment to write down what the page keeps
        page.get((folder / "review.html").as_uri())
        return title(page) == f"Row {rows[2]['name']}"

    wait_for(page, is_kept)
    looks = [button.get_attribute("class").split()[1] for button in page.find_elements("css selector", ".step")]
    assert looks == ["rejected", "skipped", "open", "open", "open"]
    assert [(line["row"], line["answer"]) for line in saved(page, folder)] == [(rows[0]["name"], "not normal")]


def test_a_browser_that_keeps_nothing_works_and_warns(page, folder):
    broken = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('refused'); }})"
    made = page.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": broken})
    page.get((folder / "review.html").as_uri())
    assert "This browser does not keep the answers: save them" in one(page, "#said").text
    keys(page, "n")
    assert [line["answer"] for line in saved(page, folder)] == ["normal"]
    page.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": made["identifier"]})


def test_every_row_can_be_reached_and_answered_with_the_tab_key_alone(page):
    rows = shown(page)
    page.execute_script("document.querySelector('.step').focus()")
    keys(page, TAB, ENTER)
    assert title(page) == f"Row {rows[1]['name']}"
    for _ in range(30):
        keys(page, TAB)
        if page.execute_script("return document.activeElement.dataset.answer") == "not normal":
            break
    keys(page, ENTER)
    assert title(page) == f"Row {rows[2]['name']}"
    assert one(page, "#said").text == f"Row {rows[1]['name']}: not normal. 3 of 5: row {rows[2]['name']}."
    assert one(page, "#said").get_attribute("aria-live") == "polite"
    assert page.execute_script("return document.activeElement.dataset.answer") == "not normal"


def test_keys_end_at_the_ends_and_leave_shortcuts_and_held_keys_alone(page):
    first = title(page)
    keys(page, BACK)
    assert title(page) == first
    press = "dispatchEvent(new KeyboardEvent('keydown', {key: 'x', bubbles: true, ...arguments[0]}))"
    for more in ({"ctrlKey": True}, {"metaKey": True}, {"repeat": True}):
        page.execute_script(f"document.body.{press}", more)
        assert title(page) == first
    click(page, "#use-keys")
    wait_for(page, lambda: not one(page, "#use-keys").is_selected())
    page.execute_script("window.pressed = 0; addEventListener('keydown', () => window.pressed++)")
    keys(page, "x")
    wait_for(page, lambda: page.execute_script("return window.pressed") == 1)  # before keys are used again
    assert title(page) == first
    click(page, "#use-keys")
    wait_for(page, lambda: one(page, "#use-keys").is_selected())
    keys(page, *[FORWARD] * 9)
    assert title(page) == "5 rows without an answer"
    keys(page, "x")
    assert title(page) == "5 rows without an answer"
    click(page, "#card tbody tr:nth-of-type(2) button")
    assert title(page) == f"Row {shown(page)[1]['name']}"


def test_no_request_leaves_the_page(page, folder):
    keys(page, "n")
    saved(page, folder)
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    sent = [entry["params"]["request"]["url"] for entry in messages if entry["method"] == "Network.requestWillBeSent"]
    assert {url.split(":")[0] for url in sent} <= {"file", "blob"}
    assert {url for url in sent if url.startswith("file")} == {(folder / "review.html").as_uri()}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_as_wcag_aa_asks(page, scheme):
    chosen = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", chosen)
    background = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    keys(page, "n")
    keys(page, "s")
    for pressed in ("", "xxx"):
        keys(page, pressed)
        found = page.execute_script(CONTRAST, f"{TEXT}, kbd, pre")
        assert {name: value for name, value in found.items() if value < 4.5} == {}


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_no_width_needs_sideways_scrolling_and_the_buttons_stay_in_view(page, width):
    size = {"width": width, "height": 700, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    for _ in range(6):
        assert page.execute_script("return document.documentElement.scrollWidth") <= width
        place = one(page, "[data-answer=normal]").rect
        assert 0 <= place["y"] - page.execute_script("return scrollY") < 700 - place["height"]
        keys(page, "n")


def test_hostile_strings_are_text_and_reach_the_file_whole(browser, tmp_path, iris):
    X, _ = iris
    names = [f'{HOSTILE}, "{k}"' for k in range(110)]
    clf = SurpriseClassifier().fit(X[:40])
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    browser.get(write_review(clf, tmp_path / "page.html", X[40:], 2, names, HOSTILE, HOSTILE).as_uri())
    keys(browser, "n")
    assert browser.execute_script("return window.broken") is None
    assert browser.find_elements("css selector", "img") == []
    (line,) = saved(browser, tmp_path)
    assert line["row"] in names
    assert line["data"] == HOSTILE


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page, width, scheme):
    chosen = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", chosen)
    narrow = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    page.execute_script("for (const fold of document.querySelectorAll('details')) fold.open = true")
    assert axe_findings(page) == []


def test_print_shows_all_rows_with_all_folds_open(page):
    page.execute_script("dispatchEvent(new Event('beforeprint'))")
    names = [heading.text for heading in page.find_elements("css selector", "#card h2")]
    assert names == [f"Row {row['name']}" for row in shown(page)]
    assert page.find_elements("css selector", "#card details:not([open])") == []
    page.execute_script("dispatchEvent(new Event('afterprint'))")
    assert len(page.find_elements("css selector", "#card h2")) == 1
