"""The lab in a real browser: what a visitor does, in Debian's Chromium."""

import io
import json
import shutil
import time

import numpy as np
import pytest
from PIL import Image

import seqattractor as sa
from lab_server import running_lab, slowness
from seqattractor.lab.fields import unpack

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="NO CHROMIUM: run tests/install_browser.sh; the lab is not tested in a browser"),
]

# How long a test waits for what must come, in seconds; only a page that is stuck takes as long, on however slow a machine.
PATIENCE = 120


@pytest.fixture(scope="module")
def lab():
    with running_lab() as (address, _):
        yield address


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="NO PLAYWRIGHT: pip install playwright")
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
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" and "Failed to load" not in m.text else None)
        page.goto(lab + path)
        if settle:
            settled(page)
        else:
            page.wait_for_selector("#panels canvas")
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert errors == []


# What the address carries.
SETTINGS = "JSON.parse(atob(location.hash.slice(4).replaceAll('-', '+').replaceAll('_', '/')))"


def settled(page):
    """Wait until the page has nothing under way, which it says itself."""
    page.wait_for_selector("#recall[aria-busy=false]")


def learn(page):
    """Learn and give the verdicts on the recall, with all that comes after them."""
    page.click("#go")
    settled(page)
    assert page.inner_text("#alert span") == ""
    assert page.locator(".verdict.good, .verdict.bad").count() > 0
    return page.inner_text("#verdicts")


def until(page, condition):
    """Wait for what comes while the page works or plays; Playwright's own way needs eval, which the page forbids."""
    end = time.monotonic() + PATIENCE
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"never: {condition}"
        page.wait_for_timeout(50)


def wrong_units(page):
    """What the recalled frame says of itself to those who cannot see it."""
    label = page.get_attribute("[data-panel=state]", "aria-label")
    return int(label.split(": ")[1].split(" of ")[0])


def in_time(attempt, seconds):
    """Whether one of a few attempts takes less than so many seconds of an ordinary machine that has nothing else to do."""
    for _ in range(4):  # other tests and other machines' guests come and go
        took = attempt()
        if took < seconds * slowness():
            return True
    return False


def test_a_first_visit_comes_to_a_recalled_sequence_in_ten_seconds_without_reading(open_page):
    def visit():
        page = open_page(settle=False)
        # Nothing is read: the visitor presses the one button that stands out, by its size and colour.
        button = page.evaluate(
            """() => [...document.querySelectorAll("button")]
                .filter((b) => b.offsetParent && getComputedStyle(b).backgroundColor !== "rgba(0, 0, 0, 0)")
                .map((b) => ({ id: b.id, size: b.offsetWidth * b.offsetHeight * (b.classList.contains("primary") ? 1 : 0) }))
                .sort((a, b) => b.size - a.size)[0].id"""
        )
        page.click(f"#{button}")
        page.wait_for_selector(".verdict.good")
        took = page.evaluate("performance.now()") / 1000  # since the browser asked for the page
        assert "Caught at step" in page.inner_text("#verdicts")
        until(page, "document.getElementById('scrub').value >= 3")  # it plays by itself
        assert wrong_units(page) == 0
        return took

    assert in_time(visit, 10)


def test_the_page_paints_within_a_second(open_page):
    def paint():
        page = open_page()
        until(page, "performance.getEntriesByType('paint').length > 0")
        return page.evaluate("Math.max(...performance.getEntriesByType('paint').map((p) => p.startTime))") / 1000

    assert in_time(paint, 1)


def test_painting_on_the_cue_changes_the_recall(open_page):
    page = open_page()
    learn(page)
    slider = page.get_by_label("Random flips")
    slider.fill("0")
    settled(page)
    assert "right already" in page.inner_text("#verdicts")
    page.locator("#cue-canvas").scroll_into_view_if_needed()
    box = page.locator("#cue-canvas").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 30, steps=8)
    page.mouse.up()
    settled(page)
    assert "Caught at step" in page.inner_text("#verdicts")
    page.get_by_label("Step of the recall").fill("0")
    painted = wrong_units(page)
    assert painted >= 5
    page.locator("#cue-canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    settled(page)
    assert wrong_units(page) == painted + 1
    page.click("#cue-unpaint")
    settled(page)
    assert "right already" in page.inner_text("#verdicts")


def test_stepping_and_scrubbing_move_through_the_recall(open_page):
    page = open_page(reduced_motion="reduce")
    learn(page)
    assert page.inner_text("#step") == "step 0 of 60"  # nothing moves by itself for those who asked for that
    page.click("#forward")
    assert page.inner_text("#step") == "step 1 of 60"
    page.get_by_label("Step of the recall").fill("40")
    assert page.inner_text("#step") == "step 40 of 60"
    page.click("#back")
    assert page.inner_text("#step") == "step 39 of 60"
    page.get_by_label("Step of the recall").fill("1")
    page.select_option("#speed", "slow")
    page.click("#play")
    until(page, "document.getElementById('scrub').value > 2")
    page.click("#play")
    stopped = page.inner_text("#step")
    assert page.get_attribute("#play", "aria-label") == "Play"
    page.wait_for_timeout(700)  # two steps long
    assert page.inner_text("#step") == stopped
    page.click("#view-raster")
    assert page.get_attribute("#view-raster", "aria-pressed") == "true"


EPOCH = "Number(/epoch ([0-9]+)/.exec(document.getElementById('status').textContent)?.[1])"  # while it learns
EPOCHS = "Number(/([0-9]+) epoch/.exec(document.getElementById('status').textContent)?.[1])"  # at the end


def test_a_long_learning_is_stopped_and_continued(open_page):
    page = open_page()
    page.click("[data-source=random]")
    page.get_by_label("Patterns", exact=True).fill("300")
    page.locator("#network-0 summary").click()
    epochs = page.locator("#network-0").get_by_label("Epochs at most")
    epochs.fill("5000")
    epochs.press("Tab")
    settled(page)
    page.click("#go")
    until(page, f"{EPOCH} > 0")
    page.click("#stop")
    settled(page)
    status = page.inner_text("#status")
    assert "stopped" in status
    assert "The lab stops learning" not in status  # it was the visitor, not the clock
    stopped = page.evaluate(EPOCHS)
    assert 0 < stopped < 5000
    assert page.locator(".verdict").count() == 1  # the network as it stands can be tried
    page.click("#continue")
    until(page, f"{EPOCH} > {stopped}")  # it goes on where it was
    page.click("#stop")
    settled(page)
    assert "stopped" in page.inner_text("#status")
    assert stopped < page.evaluate(EPOCHS) < 5000
    assert page.is_visible("#continue")


def test_two_networks_are_compared_on_the_same_cue(open_page):
    page = open_page()
    page.click("[data-source=toy]")
    page.check("#compare")
    verdicts = learn(page)
    assert "A: Caught at step" in verdicts
    assert "B: Not recalled" in verdicts  # no network without hidden neurons can
    assert page.locator("#panels canvas").count() == 4  # truth, A, its hidden neurons, B


def test_frames_are_drawn_by_hand_and_recalled(open_page):
    page = open_page()
    page.click("[data-source=draw]")
    settled(page)
    canvas = page.locator("#drawing-canvas")
    side = canvas.bounding_box()["width"]
    low, high = side / 24, side - side / 24  # the middles of the first and the last of 12 units
    canvas.click(position={"x": low, "y": low})
    canvas.click(position={"x": high, "y": low})
    page.click("#draw-next")
    assert page.inner_text("#draw-number") == "Frame 2 of 10"
    page.click("#draw-copy")
    canvas.click(position={"x": low, "y": high})
    settled(page)
    drawn = page.evaluate(SETTINGS)["sequence"]
    X = unpack(drawn["bits"], *drawn["lengths"], 144)
    assert drawn["lengths"] == [12]  # ten, a copy, and the first again: the loop is closed
    assert [X[0, 0], X[0, 11], X[0, 132]] == [1, 1, -1]
    assert (np.flatnonzero(X[2] != X[1]) == [132]).all()
    assert "Caught at step" in learn(page)
    page.click("#code-box summary")
    settled(page)
    assert "sequence.npz" in page.inner_text("#code")


def gif():
    frames = []
    for t in range(8):
        picture = np.full((30, 40), 255, dtype=np.uint8)
        picture[4 + 2 * t : 12 + 2 * t, 3 + 3 * t : 12 + 3 * t] = 0
        frames.append(Image.fromarray(picture))
    file = io.BytesIO()
    frames[0].save(file, format="GIF", save_all=True, append_images=frames[1:], duration=100)
    return file.getvalue()


def test_a_gif_is_uploaded_and_recalled_and_a_bad_file_is_explained(open_page):
    page = open_page()
    page.click("[data-source=file]")
    page.set_input_files("#file", {"name": "broken.gif", "mimeType": "image/gif", "buffer": gif()[:300]})
    page.wait_for_selector("#alert:visible")
    assert "broken.gif" in page.inner_text("#alert")
    page.set_input_files("#file", {"name": "square.gif", "mimeType": "image/gif", "buffer": gif()})
    settled(page)
    assert "8 frames" in page.inner_text("#upload-name")
    assert page.is_hidden("#alert")
    assert "Caught at step" in learn(page)


def test_a_file_can_be_dropped_anywhere(open_page):
    page = open_page()
    page.evaluate(
        """(bytes) => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], "dropped.gif"));
            document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        list(gif()),
    )
    settled(page)
    assert "dropped.gif: 8 frames" in page.inner_text("#upload-name")
    assert page.get_attribute("[data-source=file]", "aria-checked") == "true"
    assert page.inner_text("#step").endswith("of 8")
    assert "Caught at step" in learn(page)


def test_two_tabs_do_not_disturb_each_other(open_page, lab):
    first = open_page()
    second = first.context.new_page()
    second.set_default_timeout(PATIENCE * 1000)
    second.goto(lab)
    settled(second)
    second.click("[data-source=toy]")
    settled(second)
    learn(first)
    learn(second)
    first.click("#cue-again")
    settled(first)
    assert first.inner_text("#step").endswith("of 60")
    assert second.inner_text("#step").endswith("of 22")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_everything_without_scrolling_sideways(open_page, scheme):
    page = open_page(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True, color_scheme=scheme)
    page.tap("#go")
    settled(page)
    assert page.locator(".verdict.good").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    button = page.locator("#go").bounding_box()
    assert button["y"] + button["height"] <= 740  # always in reach
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, select")]
            .filter((b) => b.offsetParent && b.offsetHeight < 36).map((b) => b.id)"""
    )
    assert small == []


def test_a_link_restores_all_settings(open_page, lab):
    page = open_page()
    page.click("[data-source=places]")
    page.get_by_label("Places").fill("20")
    page.check("#compare")
    page.select_option("#network-kind-1", "dense")
    page.get_by_label("Random flips").fill("11")
    settled(page)
    page.locator("#cue-canvas").click(position={"x": 5, "y": 5})
    settled(page)
    assert page.evaluate(SETTINGS)["cue"]["painted"] == [0]
    link = page.evaluate("location.hash")
    again = open_page("/" + link)
    assert again.get_attribute("[data-source=places]", "aria-checked") == "true"
    assert again.get_by_label("Places").input_value() == "20"
    assert again.input_value("#network-kind-1") == "dense"
    assert again.get_by_label("Random flips").input_value() == "11"
    assert again.evaluate("location.hash") == link  # with what was painted
    assert learn(again) == learn(page)
    broken = open_page("/#v1.nonsense")
    assert "damaged" in broken.inner_text("#alert")


def download(page, what, folder):
    """Press a button under "Take it with you" and give the file."""
    with page.expect_download() as download:
        page.click(f"[data-download={what}]")
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_model_animation_and_figure_are_downloaded(open_page, tmp_path):
    page = open_page()
    page.click("[data-source=places]")
    settled(page)
    assert page.is_disabled("[data-download=model]")  # nothing is learned yet
    learn(page)
    assert page.is_hidden("#share-which")
    files = {what: download(page, what, tmp_path) for what in ("model", "gif", "figure", "sequence")}
    assert [file.name for file in files.values()] == ["model.npz", "recall.gif", "recall.png", "sequence.npz"]
    assert sa.load(files["model"]).score(np.load(files["sequence"])["X"]) == 1.0
    with Image.open(files["gif"]) as animation:
        assert animation.n_frames > 10


def test_of_two_networks_each_can_be_downloaded(open_page, tmp_path):
    page = open_page()
    page.click("[data-source=toy]")
    page.check("#compare")
    learn(page)
    models, animations = [], []
    for mark in "AB":
        page.select_option("#share-network", f"network {mark}")
        models.append(download(page, "model", tmp_path))
        animations.append(download(page, "gif", tmp_path))
    assert [file.name for file in models + animations] == ["model-a.npz", "model-b.npz", "recall-a.gif", "recall-b.gif"]
    assert [type(sa.load(file)) for file in models] == [sa.SequenceAttractor, sa.VisibleNetwork]
    assert animations[0].read_bytes() != animations[1].read_bytes()  # only the first recalls the sequence
    page.uncheck("#compare")
    learn(page)
    assert page.is_hidden("#share-which")
    assert download(page, "model", tmp_path).name == "model.npz"


def test_everything_has_a_name_and_is_reached_with_the_keyboard(open_page):
    page = open_page()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, canvas[tabindex], [role=img]")]
            .filter((e) => e.offsetParent)
            .filter((e) => !(e.getAttribute("aria-label") || e.labels?.[0]?.textContent.trim() || e.textContent.trim()))
            .map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert nameless == []
    page.focus("[data-source=walker]")
    page.keyboard.press("ArrowLeft")  # round to the last of the tiles
    assert page.get_attribute("[data-source=file]", "aria-checked") == "true"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.get_attribute("[data-source=toy]", "aria-checked") == "true"
    settled(page)
    page.focus("#go")
    page.keyboard.press("Enter")
    settled(page)
    assert page.locator(".verdict.good").count() == 1


CONTRAST = """() => {
    const rgb = (text) => text.match(/[0-9.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
    const ground = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
        if (c.length === 3 || c[3] > 0) return c; } };
    const weak = [];
    for (const e of document.querySelectorAll("body *")) {
        const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
        if (!own || !e.offsetParent || e.disabled || ["OPTION", "SCRIPT"].includes(e.tagName)) continue;
        const [a, b] = [light(rgb(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.5) weak.push([e.textContent.trim().slice(0, 30), ratio.toFixed(2)]);
    }
    return weak;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(open_page, scheme):
    page = open_page(color_scheme=scheme, reduced_motion="reduce")  # colours change at once
    page.check("#compare")
    settled(page)
    assert page.evaluate(CONTRAST) == []
    learn(page)
    page.mouse.move(0, 0)
    assert page.evaluate(CONTRAST) == []


def test_the_page_says_so_when_the_server_is_gone(open_page):
    page = open_page()
    page.route("**/api/learn", lambda route: route.abort())
    page.click("#go")
    page.wait_for_selector("#alert:visible")
    assert "does not answer" in page.inner_text("#alert")
    page.unroute("**/api/learn")
    page.click("#alert button")
    assert "Caught" in learn(page)


def test_a_visit_that_the_server_forgot_is_opened_again(open_page):
    page = open_page()
    page.route(
        "**/api/learn",
        lambda route: route.fulfill(status=410, body=json.dumps({"error": "forgotten"})),
        times=1,
    )
    assert "Caught" in learn(page)


def test_choices_made_in_quick_succession_end_in_what_was_chosen_last(open_page):
    page = open_page()
    held = []
    page.route("**/api/sequence", lambda route: held.append(route))
    chosen = ("places", "toy", "random", "places")
    for k, name in enumerate(chosen):
        page.click(f"[data-source={name}]")
        while len(held) == k:  # each is asked for before the one before has arrived
            page.wait_for_timeout(20)
    page.check("#compare")
    for route in reversed(held):  # and the first arrives last
        route.fulfill(response=route.fetch())
    settled(page)
    assert len(held) == len(chosen)
    assert page.inner_text("#step").endswith("of 37")
    assert "A: Caught" in learn(page)


def test_learning_that_is_asked_for_before_the_sequence_has_come_learns_it(open_page):
    page = open_page()
    page.click("[data-source=toy]")
    assert "Caught" in learn(page)
    assert page.inner_text("#step").endswith("of 22")
