"""A real browser, headless Chromium. Needs selenium, and the programs chromium and chromedriver."""

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

HOSTILE = "<img src=x onerror=window.broken=1></script><script>window.broken=1</script>"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900")


def missing(what):
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


def opened():
    """Open the browser; without one the test is skipped, or fails in continuous integration."""
    try:
        from selenium import webdriver
    except ImportError:
        missing("the tests in a browser need selenium: pip install selenium")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        missing("the tests in a browser need apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def one(page, selector):
    return page.find_element("css selector", selector)


def keys(page, *pressed):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(page).send_keys(*pressed).perform()


def over(page, selector):
    from selenium.webdriver.common.action_chains import ActionChains

    page.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", one(page, selector))
    ActionChains(page).move_to_element(one(page, selector)).perform()


def click(page, selector, count=1):
    from selenium.webdriver.common.action_chains import ActionChains

    over(page, selector)
    for _ in range(count):
        ActionChains(page).click().perform()


def wait_for(page, happens):
    """Wait until it happens: what a fold holds is made after it opens."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(page, 20).until(lambda _: happens())


# The version whose findings are asked for. npm fetches it once, into this folder of the home.
AXE, KEPT = "axe-core@4.14.0", Path.home() / ".cache" / "eocc-tests"


def axe_script():
    """Return the source of axe-core; the test is skipped where npm cannot fetch it."""
    found = KEPT / f"{AXE}.js"
    if not found.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        command = ["npm", "pack", AXE, "--silent", "--pack-destination", str(KEPT)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"axe-core is fetched by npm, which failed: {error}")
        with tarfile.open(KEPT / done.stdout.split()[-1]) as archive:
            found.write_bytes(archive.extractfile("package/axe.min.js").read())
    return found.read_text()


def axe_findings(page):
    """Return what axe-core finds wrong with the page as it is: rule and first element of each finding."""
    page.execute_script(axe_script())
    found = page.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    return [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]]


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
  const name = node.className.baseVal ?? `${node.tagName}.${node.className}`;
  least[name] = Math.min(least[name] ?? Infinity, (a + 0.05) / (b + 0.05));
}
return least;
"""
TEXT = "h1, h2, h3, p, li, a, td, th, dt, dd, caption, figcaption, button, summary, strong, span, label, .chart text"
