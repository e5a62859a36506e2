"""The page in many states has no violation that axe-core, the usual checker of accessibility, knows
of.
"""

import pytest

import lab_browser
import lab_server
from lab_browser import NEEDS_BROWSER, settled
from lab_server import PATIENCE

lab, chromium = lab_server.lab, lab_browser.chromium
pytestmark = [*NEEDS_BROWSER, pytest.mark.slow]

QUESTIONS = [
    "Why hidden neurons?",
    "Must both layers learn?",
    "What if a path crosses itself?",
    "How much fits in?",
]
VIOLATIONS = """async () => (await axe.run()).violations
    .map((v) => [v.id, v.nodes.map((n) => n.html.slice(0, 120))])"""


@pytest.fixture(params=["light", "dark"])
def visit(chromium, request):
    """Open contexts with axe in every page; gives a function that opens one."""
    axe = pytest.importorskip("axe_playwright_python.base").AXE_SCRIPT
    contexts = []

    def open_one(width, height):
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme=request.param,
            reduced_motion="reduce",
            bypass_csp=True,
        )
        contexts.append(context)
        context.add_init_script(axe)
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        return page

    yield open_one
    for context in contexts:
        context.close()


@pytest.mark.parametrize("screen", [(390, 844), (844, 390)])
def test_a_phone_has_no_violation(visit, lab, screen):
    page = visit(*screen)
    page.goto(lab[0])
    settled(page)
    assert page.evaluate(VIOLATIONS) == []


def test_a_page_that_does_not_start_has_no_violation(visit, lab):
    page = visit(1280, 800)
    page.route("**/lab.js", lambda route: route.fulfill(status=503))
    page.goto(lab[0])
    page.wait_for_selector("#dead:visible")
    assert page.evaluate(VIOLATIONS) == []


def test_no_state_of_the_page_has_a_violation(visit, lab):
    page = visit(1280, 800)
    page.goto(lab[0])
    settled(page)
    assert page.evaluate(VIOLATIONS) == []
    page.locator("#noise").scroll_into_view_if_needed()
    page.wait_for_selector("#noise[aria-busy=false]")
    assert page.evaluate(VIOLATIONS) == []
    page.click("#large")
    settled(page)
    assert page.evaluate(VIOLATIONS) == []
    for question in QUESTIONS:
        page.get_by_role("button", name=question).click()
        settled(page)
        assert page.evaluate(VIOLATIONS) == [], question
    for source in ("draw", "file"):
        page.click(f"[data-source={source}]")
        settled(page)
        assert page.evaluate(VIOLATIONS) == [], source
    page.evaluate("document.getElementById('busy').hidden = false")
    assert page.evaluate(VIOLATIONS) == []
