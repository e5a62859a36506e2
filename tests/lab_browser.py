"""A real browser for the tests of the lab's page, and what a visitor does in it. A page that logs
an error fails its test.
"""

import shutil
import time

import pytest

from lab_server import PATIENCE

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
NEEDS_BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None,
        reason="NO CHROMIUM: run tests/install_browser.sh; the lab is not tested in a browser",
    ),
]

# What the address carries.
SETTINGS = "JSON.parse(atob(location.hash.slice(4).replaceAll('-', '+').replaceAll('_', '/')))"


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="NO PLAYWRIGHT: pip install playwright"
    )
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium, lab):
    """Open pages on which every error of the page fails the test."""
    contexts, errors = [], []

    def open_one(path="/", settle=True, **options):
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on(
            "console",
            lambda m: (
                errors.append(m.text)
                if m.type == "error" and "Failed to load" not in m.text
                else None
            ),
        )
        page.goto(lab[0] + path)
        if settle:
            settled(page)
        else:
            page.wait_for_selector("#panels canvas")
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert errors == []


def settled(page):
    """Wait until the page has nothing under way, by its own mark."""
    page.wait_for_selector("#recall[aria-busy=false]")


def learn(page):
    """Learn and give the verdicts on the recall, with all that comes after them."""
    page.click("#go")
    settled(page)
    assert page.inner_text("#alert span") == ""
    assert page.locator(".verdict.good, .verdict.bad").count() > 0
    return page.inner_text("#verdicts")


def until(page, condition):
    """Wait for what comes while the page works or plays; Playwright's own way needs eval, which the
    page forbids.
    """
    end = time.monotonic() + PATIENCE
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"never: {condition}"
        page.wait_for_timeout(50)


def wrong_units(page):
    """Return the description of the recalled frame for screen readers."""
    label = page.get_attribute("[data-panel=state]", "aria-label")
    return int(label.split(": ")[1].split(" of ")[0])
