"""The first seconds of the lab's page: a recall plays by itself, on one screen, and nothing jumps;
and what is seen if the page cannot start.
"""

import re

import pytest

import lab_browser
import lab_server
from lab_browser import NEEDS_BROWSER, settled, until, wrong_units
from lab_server import PATIENCE

lab, chromium, open_page = lab_server.lab, lab_browser.chromium, lab_browser.open_page
pytestmark = NEEDS_BROWSER

SCREENS = [(1280, 800), (390, 844), (844, 390)]

# The sum of all layout shifts that no click has caused, which browsers call CLS.
SHIFTS = """() => new Promise((end) => {
    let sum = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => end(sum), 0)));
})"""


@pytest.mark.parametrize("screen", SCREENS)
def test_the_opening_is_on_one_screen_and_nothing_jumps(open_page, screen):
    width, height = screen
    page = open_page(
        viewport={"width": width, "height": height},
        is_mobile=width < 1000,
        has_touch=width < 1000,
        reduced_motion="reduce",
    )
    assert page.locator(".verdict.good").count() == 1
    assert page.evaluate("scrollY") == 0
    for part in ("#panels", "#strip", "#overlap", "#scrub", "#play"):
        box = page.locator(part).bounding_box()
        assert box["y"] >= 0, part
        assert box["y"] + box["height"] <= height, part
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(SHIFTS) < 0.1  # what browsers call good


@pytest.mark.slow  # of the clock
def test_the_first_steps_are_slow_and_another_cue_is_seen_from_its_beginning(open_page):
    page = open_page()
    page.evaluate(
        """() => {
            const began = performance.now();
            window.seen = {};
            const step = document.getElementById("step");
            new MutationObserver(() => {
                if (step.value.startsWith("step 0 ")) window.seen = {}; // it begins again
                window.seen[step.value] ??= performance.now() - began;
            }).observe(step, { childList: true, attributes: true, subtree: true });
        }"""
    )
    page.get_by_label("Random flips").fill("30")
    settled(page)
    until(page, "window.seen['step 12 of 60'] > 0")
    seen = page.evaluate("window.seen")
    assert seen["step 0 of 60"] < seen["step 1 of 60"]
    first, later = (seen[f"step {k + 2} of 60"] - seen[f"step {k} of 60"] for k in (1, 10))
    assert first > 2 * later
    page.click("#play")
    at = page.input_value("#scrub")
    page.locator("#cue-canvas").click(position={"x": 20, "y": 30})  # one looks at what one paints
    settled(page)
    assert int(at) > 0
    assert page.input_value("#scrub") == "0"


def test_the_strip_goes_to_its_steps(open_page):
    page = open_page(reduced_motion="reduce")
    assert "The cue and the first" in page.get_attribute("#strip", "aria-label")
    steps = int(re.search(r"first (\d+) steps", page.get_attribute("#strip", "aria-label"))[1])
    box = page.locator("#strip").bounding_box()
    page.locator("#strip").click(position={"x": 60, "y": box["height"] / 2})
    assert page.inner_text("#step") == "step 1 of 60"
    assert wrong_units(page) > 0
    assert 5 < steps <= 11


def test_a_link_shows_what_its_sender_saw_and_learns_nothing_by_itself(open_page):
    page = open_page()
    page.click("[data-source=toy]")
    settled(page)
    link = page.evaluate("location.hash")
    again = open_page("/" + link)
    assert again.locator(".verdict.none").count() == 1


@pytest.mark.parametrize(
    "script", ["", "syntax error (", "throw new Error('too old');"], ids=["none", "half", "old"]
)
def test_a_page_whose_script_does_not_start_says_so_and_can_be_loaded_again(chromium, lab, script):
    page = chromium.new_context().new_page()
    page.set_default_timeout(PATIENCE * 1000)
    page.route(
        "**/lab.js",
        lambda route: (
            route.fulfill(body=script, content_type="text/javascript")
            if script
            else route.fulfill(status=503)
        ),
        times=1,
    )
    page.goto(lab[0])
    page.wait_for_selector("#dead:visible")  # after some seconds
    assert "has not started" in page.inner_text("#dead")
    assert page.is_hidden("#go")  # nothing that does not work
    page.click("#dead a")
    page.wait_for_selector(".verdict.good")
    assert page.is_hidden("#dead")
    page.context.close()


def test_type_is_large_for_a_projector_and_stays_so(open_page):
    page = open_page()

    def sizes():
        return page.evaluate(
            """() => [...document.querySelectorAll("body *")]
                .filter((e) => e.offsetParent && [...e.childNodes].some((n) => n.nodeType === 3))
                .map((e) => parseFloat(getComputedStyle(e).fontSize))"""
        )

    small = sizes()
    page.click("#large")
    large = sizes()
    assert len(large) == len(small)
    assert all(b > 1.3 * a for a, b in zip(small, large, strict=True))
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.reload()
    settled(page)
    assert page.get_attribute("#large", "aria-pressed") == "true"
    page.click("#large")
    assert sizes() == small
