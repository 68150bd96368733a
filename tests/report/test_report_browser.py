"""The report in a real browser."""

import base64
import json
from collections import Counter
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest

from browsing import CONTRAST, HOSTILE, TEXT, axe_findings, click, keys, one, over, wait_for
from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.report import write_report

# Opens all rows of the list, and all folds.
OPEN = """
  document.querySelectorAll('#list button[aria-expanded=false]').forEach((one) => one.click());
  for (const fold of document.querySelectorAll('details')) fold.open = true;
"""


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


def view(page):
    written = page.execute_script("return document.getElementById('drawing').getAttribute('viewBox')")
    return [float(number) for number in written.split()]


def listed(page, place=0):
    """The texts of one column of the list."""
    lines = page.find_elements("css selector", "#list > tbody > tr:not(.opened)")
    return [line.find_elements("css selector", "th, td")[place].text for line in lines]


def shown(page):
    """What the page holds, in the order of its rows."""
    return json.loads(page.execute_script("return document.getElementById('page-data').textContent"))


def test_no_request_leaves_the_page(page, address):
    over(page, "#drawing .point.discovery:last-of-type")
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    sent = [entry["params"] for entry in messages if entry["method"] == "Network.requestWillBeSent"]
    assert [request["request"]["url"] for request in sent] == [address]


def test_the_policy_stops_what_a_script_might_ask_for(browser, address):
    browser.get(address)
    tried = "const done = arguments[0]; fetch('http://127.0.0.1:9/').then(() => done('sent'), () => done('stopped'))"
    assert browser.execute_async_script(tried) == "stopped"
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


def test_the_list_starts_with_the_most_unusual_rows_and_grows(page):
    names = [row["name"] for row in shown(page)["rows"]]
    assert listed(page) == names[:15]
    assert one(page, "#found").text == "15 of 110 rows shown"
    click(page, "#more")
    assert listed(page) == names[:65]
    assert page.execute_script("return document.activeElement.textContent") == names[15]
    click(page, "#more")
    assert listed(page) == names
    assert not one(page, "#more").is_displayed()


def test_the_list_is_sorted_by_any_column_both_ways(page):
    rows = shown(page)["rows"]
    for column, place, key in (("p", 3, "p"), ("decision", 1, "decision"), ("out", 2, "out")):
        values = sorted(float(row[key]) for row in rows)
        for _ in range(2):
            click(page, f"[data-sort={column}]")
            order = one(page, f"th:has([data-sort={column}])").get_attribute("aria-sort")
            first = listed(page, place)[0]
            found = ["accepted", "rejected", "discovery"].index(first) if column == "decision" else float(first)
            assert found == pytest.approx(values[0] if order == "ascending" else values[-1], rel=0.01)
    click(page, "[data-sort=name]")
    assert listed(page)[1:4] == ["flower 40", "flower 41", "flower 42"]  # numbers in names count as numbers


def test_the_list_is_filtered_by_decision(page):
    rows = shown(page)["rows"]
    for kind, places in (("rejected", (1, 2)), ("discoveries", (2,))):
        click(page, f"input[value={kind}]")
        expected = [row["name"] for row in rows if row["decision"] in places]
        assert listed(page) == expected[:15]
        assert one(page, "#found").text.endswith(f" of {len(expected)} rows shown")
    click(page, "input[value=wrong]")
    wrong = [row["name"] for row in rows if (row["decision"] == 0) != row["label"]]
    assert listed(page) == wrong[:15]


def test_rejected_rows_are_grouped_by_their_main_column(page):
    rows = [row for row in shown(page)["rows"] if row["decision"]]
    buttons = page.find_elements("css selector", "#mains button")
    counts = Counter(row["main"] for row in rows if row.get("main"))
    assert [button.text for button in buttons] == [f"{name} ({count})" for name, count in counts.most_common()]
    buttons[0].click()
    expected = [row["name"] for row in rows if row.get("main") == counts.most_common(1)[0][0]]
    assert listed(page) == expected[:15]
    assert [button.get_attribute("aria-pressed") for button in buttons] == ["true"] + ["false"] * (len(buttons) - 1)
    buttons[0].click()
    assert one(page, "#found").text == "15 of 110 rows shown"


def test_rows_are_found_by_name_and_by_text(page):
    one(page, "#find").send_keys("Flower 14")
    assert sorted(listed(page)) == [f"flower {row}" for row in range(140, 149)]
    one(page, "#find").clear()
    one(page, "#find").send_keys("petal width")
    expected = [row["name"] for row in shown(page)["rows"] if "petal width" in row["why"]]
    assert listed(page) == expected[:15]
    one(page, "#find").send_keys(" and nothing like it")
    assert (listed(page), one(page, "#found").text) == ([], "0 of 0 rows shown")


def test_a_row_opens_with_bars_neighbours_and_how_it_was_decided(page):
    first = shown(page)["rows"][0]
    openers = page.find_elements("css selector", "#list tbody button.link")
    assert [one.get_attribute("aria-expanded") for one in openers[:5]] == ["true"] * 3 + ["false"] * 2
    text = one(page, "#list .detail").text
    assert "Discovery" in text
    assert "Nearest training rows" in text
    bars = one(page, "#list .detail").find_elements("css selector", ".bars li")
    assert len(bars) == 4
    place = [column["name"] for column in shown(page)["columns"]].index("petal width")
    bar = next(bar for bar in bars if bar.text.startswith("petal width"))
    assert str(first["values"][place]) in bar.text
    ends = "return [arguments[0].getBoundingClientRect().left, arguments[0].getBoundingClientRect().right]"
    left, right = page.execute_script(ends, bar.find_element("css selector", ".normal"))
    value, _ = page.execute_script(ends, bar.find_element("css selector", ".value"))
    assert left < right < value  # the value lies beyond the normal range
    assert "amount" not in text
    click(page, "#list .detail > details:last-of-type summary")
    wait_for(page, lambda: "What makes the difference" in one(page, "#list .detail").text)
    for _ in range(3):
        page.execute_script("document.querySelector('#list button[aria-expanded=true]').click()")
    assert page.find_elements("css selector", "#list .detail") == []
    click(page, "#list tbody button")
    assert len(page.find_elements("css selector", "#list .detail")) == 1


def test_a_link_opens_its_row(page, address):
    name = shown(page)["rows"][70]["name"]
    page.get(f"{address}#row={quote(name)}")
    page.refresh()
    opener = page.switch_to.active_element
    assert (opener.text, opener.get_attribute("aria-expanded")) == (name, "true")
    links = page.find_elements("css selector", "#summary a")
    assert links
    page.execute_script("arguments[0].click()", links[0])
    wait_for(page, lambda: page.switch_to.active_element.text == links[0].text)
    own = page.execute_script("return document.querySelector('.opened a').getAttribute('href')")
    assert own == links[0].get_attribute("href").partition("#")[1] + links[0].get_attribute("href").partition("#")[2]


def test_the_list_works_with_the_keyboard_alone(page):
    from selenium.webdriver.common.keys import Keys

    page.execute_script("document.querySelector('#find').focus()")
    n_mains = len(page.find_elements("css selector", "#mains button"))
    keys(page, "flower 77", *[Keys.TAB] * (n_mains + 6), Keys.ENTER)  # past the box around the table and five heads
    assert page.execute_script("return document.activeElement.textContent") == "flower 77"
    assert one(page, "#list .detail").is_displayed()
    keys(page, Keys.ENTER)
    assert page.find_elements("css selector", "#list .detail") == []


def test_pointing_at_a_mark_shows_what_it_is_and_clicking_opens_it(page):
    first = shown(page)["rows"][0]["name"]
    mark = "#drawing g.discovery:last-of-type"
    assert not one(page, "#tip").is_displayed()
    over(page, mark)
    assert one(page, "#tip").text.splitlines()[0].startswith(f"{first}: discovery, p-value ")
    click(page, mark)
    assert one(page, "#panel h3").text == first
    assert "Discovery" in one(page, "#panel .say").text
    assert len(page.find_elements("css selector", "#panel .bars li")) == 4
    over(page, "h1")
    assert not one(page, "#tip").is_displayed()


def test_the_map_works_with_the_keyboard_alone(page):
    from selenium.webdriver.common.keys import Keys

    label = "return document.activeElement.getAttribute('aria-label')"
    page.execute_script("document.querySelector('[data-zoom=all]').focus({preventScroll: true})")
    keys(page, Keys.TAB)
    first = page.execute_script(label)
    assert first.startswith(f"{shown(page)['rows'][0]['name']}: discovery")
    assert one(page, "#tip").is_displayed()
    assert page.execute_script("return getComputedStyle(document.querySelector('.cursor')).visibility") == "visible"
    place = "return document.activeElement.getBoundingClientRect().x"
    before = page.execute_script(place)
    keys(page, Keys.ARROW_LEFT)
    if page.execute_script(label) == first:  # it is the leftmost
        keys(page, Keys.ARROW_RIGHT)
        assert page.execute_script(place) > before
    else:
        assert page.execute_script(place) < before
    keys(page, Keys.HOME, Keys.ENTER)
    assert page.execute_script("return document.activeElement.id") == "panel"
    assert one(page, "#panel h3").text == first.split(":")[0]
    keys(page, Keys.ESCAPE)
    assert page.execute_script(label) == first
    wide = view(page)[2]
    keys(page, "+")
    assert view(page)[2] == pytest.approx(wide / 1.5)
    keys(page, Keys.ESCAPE)
    assert not one(page, "#tip").is_displayed()
    assert len(page.find_elements("css selector", ".point[tabindex='0']")) == 1


def test_the_map_zooms_about_the_pointer_and_keeps_the_selection_in_view(page):
    whole = view(page)
    at = """
      const mark = [...document.querySelectorAll('#drawing .point')].at(-1).getBoundingClientRect();
      const frame = document.getElementById('drawing').getBoundingClientRect();
      const [x, y] = [mark.x + mark.width / 2, mark.y + mark.height / 2];
      return [x, y, x > frame.left && x < frame.right && y > frame.top && y < frame.bottom];
    """
    over(page, "#drawing g.discovery:last-of-type")
    x, y, _ = page.execute_script(at)
    turn = "document.getElementById('drawing').dispatchEvent(new WheelEvent('wheel', {clientX: arguments[0],"
    page.execute_script(turn + "clientY: arguments[1], deltaY: -1, ctrlKey: true, cancelable: true}))", x, y)
    assert view(page)[2] == pytest.approx(whole[2] / 1.25)
    near_x, near_y, _ = page.execute_script(at)
    assert (near_x, near_y) == pytest.approx((x, y), abs=1.5)
    click(page, "#drawing g.discovery:last-of-type")
    for _ in range(6):
        click(page, "[data-zoom=in]")
        assert page.execute_script(at)[2]
    click(page, "[data-zoom=all]")
    assert view(page) == whole


def test_a_row_of_the_list_is_shown_on_the_map(page):
    click(page, "#list .opened > td > button")
    assert one(page, "#panel h3").text == shown(page)["rows"][0]["name"]
    assert page.execute_script("return document.activeElement.classList.contains('point')")


def test_kinds_can_be_hidden_on_the_map(page):
    assert one(page, ".point.training").is_displayed()
    click(page, "[data-show=training]")
    assert not one(page, ".point.training").is_displayed()


def test_hostile_strings_are_text(page):
    assert one(page, ".about").text == HOSTILE
    assert HOSTILE in page.title
    assert page.find_elements("css selector", "img") == []
    one(page, "#find").send_keys("onerror")
    page.execute_script("for (let k = 0; k < 2; k++) document.getElementById('more').click()")
    assert HOSTILE in listed(page)
    page.execute_script(OPEN)
    assert page.find_elements("css selector", "img") == []
    assert HOSTILE in one(page, "#list .bars").text


GRAPHICS = ".point .mark"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_marks_stand_out_as_wcag_aa_asks(page, scheme):
    chosen = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", chosen)
    background = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    page.execute_script(OPEN)
    wait_for(page, lambda: page.find_elements("css selector", "#list .detail > details > p"))
    for selector, ratio in ((TEXT, 4.5), (GRAPHICS, 3.0)):
        found = page.execute_script(CONTRAST, selector)
        assert found
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
    page.execute_script(OPEN)
    assert one(page, "#list .bars .value").is_displayed()
    assert page.execute_script("return document.documentElement.scrollWidth") <= 360
    lines = page.execute_script("""
      return [...document.querySelectorAll('#list td.p')].map((one) => {
        const all = document.createRange();
        all.selectNodeContents(one);
        return all.getClientRects().length;
      });
    """)
    assert set(lines) == {1}  # no p-value is broken into two lines


def test_the_verdict_the_findings_and_the_first_row_fit_on_the_first_screen(page):
    for selector in ("h1", "#summary", "#list .link"):
        assert one(page, selector).location["y"] < 900


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page, width, scheme):
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    narrow = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    page.execute_script(OPEN)
    assert axe_findings(page) == []


def test_print_is_light_and_drops_what_needs_a_screen(page):
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": dark})
    assert page.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert one(page, "#list").is_displayed()
    assert one(page, "#drawing").is_displayed()
    for selector in ("nav", "#panel", ".tools"):
        assert not one(page, selector).is_displayed()
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": 700, "height": 1000, "deviceScaleFactor": 1, "mobile": False})  # fmt: skip
    assert page.execute_script("return document.documentElement.scrollWidth") <= 700
    folds = "return document.querySelectorAll('details').length - document.querySelectorAll('details[open]').length"
    page.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert page.execute_script(folds) == 0
    rejected = [row["name"] for row in shown(page)["rows"] if row["decision"]]
    assert listed(page)[: len(rejected)] == rejected  # all of them, not the first 15
    assert "What makes the difference" in one(page, "#list .detail").text
    page.execute_script("dispatchEvent(new Event('afterprint'))")
    assert len(listed(page)) == 15
    printed = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    assert printed.startswith(b"%PDF")


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
