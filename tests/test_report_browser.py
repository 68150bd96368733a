"""The report in a real browser, headless Chromium. Needs selenium, and the programs chromium and chromedriver."""

import base64
import json
import os
import shutil

import numpy as np
import pandas as pd
import pytest

from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.report import write_report

HOSTILE = "<img src=x onerror=window.broken=1></script><script>window.broken=1</script>"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1360,1000")


def missing(what):
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="module")
def browser():
    try:
        from selenium import webdriver
    except ImportError:
        missing("the report's tests in a browser need selenium: pip install selenium")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        missing("the report's tests in a browser need apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield opened
    opened.quit()


@pytest.fixture(scope="module")
def address(iris, tmp_path_factory):
    X, y = iris
    frame = pd.DataFrame(X, columns=["sepal length", "sepal width", HOSTILE, "petal width"])
    clf = SurpriseClassifier(false_alarm_rate=0.1).fit(frame[:40])
    names = [f"flower {row}" for row in range(40, 149)] + [HOSTILE]
    path = tmp_path_factory.mktemp("report") / "page.html"
    return write_report(clf, path, frame[40:], y[40:], names, title=HOSTILE).as_uri()


@pytest.fixture
def page(browser, address):
    for log in ("browser", "performance"):
        browser.get_log(log)
    still = [{"name": "prefers-reduced-motion", "value": "reduce"}]  # a page that glides is hard to click on
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": still})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.get(address)
    yield browser
    assert browser.get_log("browser") == []
    assert browser.execute_script("return window.broken") is None


def one(page, selector):
    return page.find_element("css selector", selector)


def keys(page, *pressed):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(page).send_keys(*pressed).perform()


def over(page, selector):
    from selenium.webdriver.common.action_chains import ActionChains

    page.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", one(page, selector))
    ActionChains(page).move_to_element(one(page, selector)).perform()


def focused(page):
    return page.execute_script("return document.activeElement.dataset.key || document.activeElement.id")


def view(page):
    written = page.execute_script("return document.getElementById('map-drawing').getAttribute('viewBox')")
    return [float(number) for number in written.split()]


def most_unusual(page):
    return one(page, "#map-drawing").get_attribute("data-first")


def test_no_request_leaves_the_page(page, address):
    over(page, f"[data-key={most_unusual(page)}]")
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    sent = [entry["params"] for entry in messages if entry["method"] == "Network.requestWillBeSent"]
    assert [request["request"]["url"] for request in sent] == [address]


def test_the_policy_stops_what_a_script_might_ask_for(browser, address):
    browser.get(address)
    tried = "const done = arguments[0]; fetch('http://127.0.0.1:9/').then(() => done('sent'), () => done('stopped'))"
    assert browser.execute_async_script(tried) == "stopped"
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


def test_pointing_at_a_mark_shows_what_it_is(page):
    mark = f"[data-key={most_unusual(page)}]"
    assert not one(page, "#map-tip").is_displayed()
    over(page, mark)
    assert one(page, "#map-tip").is_displayed()
    assert one(page, "#map-tip").text.splitlines()[0].startswith("New row flower")
    over(page, "h1")
    assert not one(page, "#map-tip").is_displayed()


def test_clicking_a_mark_explains_it(page):
    mark = f"[data-key={most_unusual(page)}]"
    over(page, mark)
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(page).click().perform()
    assert one(page, "#panel h3").text in one(page, "#unusual").text
    assert "What makes the difference" in one(page, "#panel").text
    assert "Rejected" in one(page, "#panel .decision").text


def test_a_mark_that_is_not_explained_says_so(page):
    training = page.execute_script(
        "const stored = document.getElementById('explanations').content;"
        "return [...document.querySelectorAll('.training-marks .point')].map((mark) => mark.dataset.key)"
        ".find((key) => !stored.getElementById('explained-' + key))"
    )
    page.execute_script("document.querySelector(`[data-key=${arguments[0]}]`).focus()", training)
    keys(page, "\ue007")
    assert "of the most unusual rows and of the prototypes" in one(page, "#panel").text


def test_the_map_works_with_the_keyboard_alone(page):
    from selenium.webdriver.common.keys import Keys

    page.execute_script("document.querySelector('#map-find').focus({preventScroll: true})")
    keys(page, Keys.TAB)
    first = focused(page)
    assert first == most_unusual(page)
    assert one(page, "#map-tip").is_displayed()
    assert page.execute_script("return getComputedStyle(document.querySelector('.cursor')).visibility") == "visible"
    keys(page, Keys.ARROW_LEFT)
    second = focused(page)
    assert second != first
    place = "return document.querySelector(`[data-key=${arguments[0]}]`).getBoundingClientRect().x"
    assert page.execute_script(place, second) < page.execute_script(place, first)
    keys(page, Keys.HOME, Keys.ENTER)
    assert focused(page) == "panel"
    assert one(page, "#panel h3").text
    keys(page, Keys.ESCAPE)
    assert focused(page) == first
    keys(page, Keys.ESCAPE)
    assert not one(page, "#map-tip").is_displayed()
    assert len(page.find_elements("css selector", ".point[tabindex='0']")) == 1


def test_kinds_can_be_hidden_and_the_map_zoomed(page):
    assert one(page, ".point.training").is_displayed()
    one(page, "[data-show=training]").click()
    assert not one(page, ".point.training").is_displayed()
    whole = view(page)
    one(page, "[data-zoom=in]").click()
    assert view(page)[2] == pytest.approx(whole[2] / 1.5)
    one(page, "[data-zoom=all]").click()
    assert view(page) == whole


def test_a_row_is_found_by_its_name_and_a_row_of_the_table_opens_it(page):
    from selenium.webdriver.common.keys import Keys

    one(page, "#map-find").send_keys("flower 77", Keys.ENTER)
    assert one(page, "#panel h3").text == "New row flower 77"
    assert one(page, "#map-found").text == "1 of 1"
    one(page, "#map-find").send_keys(" and more", Keys.ENTER)
    assert one(page, "#map-found").text == "No row on the map has the name flower 77 and more"
    one(page, "#unusual summary").click()
    row = one(page, "#unusual [data-open]")
    name = row.text
    row.click()
    assert one(page, "#panel h3").text == f"New row {name}"


def test_training_rows_and_rows_of_one_name_are_found(page):
    from selenium.webdriver.common.keys import Keys

    one(page, "#map-find").send_keys("39", Keys.ENTER)
    assert one(page, "#panel h3").text == "Training row 39, in region 0"
    one(page, "#map-find").clear()
    one(page, "#map-find").send_keys("Flower 14", Keys.ENTER)
    first = one(page, "#panel h3").text
    assert one(page, "#map-found").text == "1 of 9"
    one(page, "#map-find").send_keys(Keys.ENTER)
    assert one(page, "#map-found").text == "2 of 9"
    second = one(page, "#panel h3").text
    assert first != second
    assert {first[:17], second[:17]} == {"New row flower 14"}


def test_hostile_strings_are_text(page):
    assert one(page, "h1").text == HOSTILE
    assert page.title == HOSTILE
    assert page.find_elements("css selector", "img") == []
    one(page, "#map-find").send_keys(HOSTILE, "\ue007")
    assert one(page, "#panel h3").text == f"New row {HOSTILE}"
    assert HOSTILE in one(page, "#data").text


CONTRAST = """
const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
const light = (colour) => parse(colour).slice(0, 3).map((c) => c / 255)
  .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
const paper = (node) => {
  for (let at = node; at; at = at.parentElement) {
    const found = getComputedStyle(at).backgroundColor;
    if ((parse(found)[3] ?? 1) > 0) return found;
  }
  return "rgb(255, 255, 255)";
};
const least = {};
for (const node of document.querySelectorAll(arguments[0])) {
  const style = getComputedStyle(node);
  const ink = node instanceof SVGElement ? (style.fill === "none" ? style.stroke : style.fill) : style.color;
  const [a, b] = [light(ink), light(paper(node))].sort((x, y) => y - x);
  least[node.className.baseVal ?? (node.tagName + "." + node.className)] = (a + 0.05) / (b + 0.05);
}
return least;
"""
TEXT = "h1, h2, h3, p, li, a, td, th, dt, dd, caption, figcaption, button, summary, strong, span, label, .chart text"
GRAPHICS = ".point .mark, .ring, figure .curve, figure .bar, figure .dot, figure .axis"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_marks_stand_out_as_wcag_aa_asks(page, scheme):
    chosen = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", chosen)
    background = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    page.execute_script("for (const fold of document.querySelectorAll('details')) fold.open = true")
    for selector, ratio in ((TEXT, 4.5), (GRAPHICS, 3.0)):
        found = page.execute_script(CONTRAST, selector)
        assert len(found) > 3
        assert {name: value for name, value in found.items() if value < ratio} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_of_all_regions_stand_out(page, scheme):
    chosen = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", chosen)
    page.execute_script(
        "for (let k = 0; k < 8; k++) { const made = document.createElement('p'); made.className = `region-${k}`;"
        "made.textContent = 'x'; document.body.append(made); }"
    )
    found = page.execute_script(CONTRAST, "p[class^=region-]")
    assert len(found) == 8
    assert min(found.values()) >= 3


def test_a_narrow_screen_needs_no_sideways_scrolling(page):
    narrow = {"width": 360, "height": 700, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    assert page.execute_script("return document.documentElement.scrollWidth") <= 360
    page.execute_script("document.querySelector('[data-open]').click()")
    assert "What makes the difference" in one(page, "#panel").text
    assert page.execute_script("return document.documentElement.scrollWidth") <= 360


def test_print_is_light_and_drops_what_needs_a_screen(page):
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": dark})
    assert page.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert one(page, "#unusual .explanation").is_displayed()
    assert one(page, "#map-drawing").is_displayed()
    for selector in ("nav", "#panel", ".tools"):
        assert not one(page, selector).is_displayed()
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": 700, "height": 1000, "deviceScaleFactor": 1, "mobile": False})  # fmt: skip
    assert page.execute_script("return document.documentElement.scrollWidth") <= 700
    printed = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    assert printed.startswith(b"%PDF")
    assert printed.count(b"/Type /Page\n") >= 4


def test_reduced_motion_is_respected(page):
    for value, behaviour in (("reduce", "auto"), ("no-preference", "smooth")):
        chosen = {"features": [{"name": "prefers-reduced-motion", "value": value}]}
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", chosen)
        assert page.execute_script("return getComputedStyle(document.documentElement).scrollBehavior") == behaviour


@pytest.mark.parametrize("kind", [SurpriseClassifier, EntropicOneClassClassifier])
def test_precomputed_and_model_alone_run_without_errors(browser, tmp_path, kind):
    rows = np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0)))
    browser.get_log("browser")
    browser.get(write_report(kind(measure="precomputed").fit(rows), tmp_path / "page.html").as_uri())
    keys(browser, "\ue004")
    assert browser.get_log("browser") == []
    assert len(browser.find_elements("css selector", ".point")) == 12


def test_explanations_are_read_row_by_row(page):
    places = page.execute_script(
        "return [...document.querySelectorAll('#unusual .articles > article')].map(one => {"
        "const box = one.getBoundingClientRect(); return [Math.round(box.top), Math.round(box.left)]; })"
    )
    assert len({left for _, left in places}) == 2
    assert places == sorted(places)
