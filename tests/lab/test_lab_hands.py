"""The lab in a real browser: what hands do. The keyboard, undo, drawing, sharing, and the tour."""

import io

import numpy as np
import pytest
from PIL import Image

import lab_browser
import lab_server
from lab_browser import NEEDS_BROWSER, SETTINGS, learn, settled, until, wrong_units
from seqattractor.lab.requests import unpack

lab, chromium, open_page = lab_server.lab, lab_browser.chromium, lab_browser.open_page
pytestmark = NEEDS_BROWSER


def focused(page):
    """What has the keyboard."""
    return page.evaluate("document.activeElement.id")


def test_the_keyboard_skips_the_settings_plays_and_steps(open_page):
    page = open_page(reduced_motion="reduce")
    link = page.evaluate("location.href")
    page.keyboard.press("Tab")
    assert focused(page) == "skip"
    page.keyboard.press("Enter")
    assert focused(page) == "h-recall"
    assert page.evaluate("location.href") == link  # which holds the settings
    learn(page)
    page.focus("#h-recall")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#step") == "step 1 of 60"
    page.keyboard.press("Space")
    until(page, "Number(document.getElementById('scrub').value) > 2")
    page.keyboard.press("Space")
    assert page.get_attribute("#play", "aria-label") == "Play"
    page.focus("#forward")
    before = int(page.input_value("#scrub"))
    page.keyboard.press("Space")  # presses the button that has the focus, and plays nothing
    assert int(page.input_value("#scrub")) == before + 1
    assert page.get_attribute("#play", "aria-label") == "Play"


@pytest.mark.slow
def test_painting_and_other_changes_are_undone_and_done_again(open_page):
    page = open_page(reduced_motion="reduce")
    learn(page)
    page.get_by_label("Random flips").fill("0")
    settled(page)
    page.locator("#cue-canvas").scroll_into_view_if_needed()
    page.locator("#cue-canvas").click(position={"x": 20, "y": 30})
    settled(page)
    assert wrong_units(page) == 1
    page.keyboard.press("Control+z")
    settled(page)
    assert wrong_units(page) == 0
    page.keyboard.press("Control+Shift+z")
    settled(page)
    assert wrong_units(page) == 1
    for _ in range(2):
        page.locator("#cue-canvas ~ *, [data-undo]").locator("visible=true").last.click()
        settled(page)
    assert page.get_by_label("Random flips").input_value() == "20"
    assert "Locked on at step" in page.inner_text("#verdicts")
    page.click("[data-source=toy]")
    settled(page)
    page.focus("#h-recall")
    page.keyboard.press("Control+z")  # and what was learned is recalled again
    settled(page)
    assert page.get_attribute("[data-source=walker]", "aria-checked") == "true"
    assert "Locked on at step" in page.inner_text("#verdicts")


def drawn(page):
    """The frames as the page has them."""
    sequence = page.evaluate(SETTINGS)["sequence"]
    return unpack(sequence["bits"], *sequence["lengths"], sequence["units"])


def test_a_quick_stroke_has_no_gaps_and_no_frame_is_lost(open_page):
    page = open_page()
    page.click("[data-source=draw]")
    settled(page)
    page.click("#draw-clear")
    page.locator("#drawing-canvas").scroll_into_view_if_needed()
    box = page.locator("#drawing-canvas").bounding_box()
    cell = box["width"] / 12
    page.mouse.move(box["x"] + 0.5 * cell, box["y"] + 2.5 * cell)
    page.mouse.down()
    page.mouse.move(box["x"] + 11.5 * cell, box["y"] + 7.5 * cell)  # at once
    page.mouse.up()
    settled(page)
    line = drawn(page)[0].reshape(12, 12)
    assert ((line == 1).sum(axis=0) == 1).all()  # a unit in each column
    rows = line.argmax(axis=0)
    assert (abs(np.diff(rows)) <= 1).all()
    assert (rows[0], rows[-1]) == (2, 7)
    before = drawn(page)
    page.click("#draw-next")
    page.click("#draw-remove")
    settled(page)
    assert len(drawn(page)) == len(before) - 1
    page.locator("#drawing [data-undo]").click()
    settled(page)
    assert (drawn(page) == before).all()
    page.select_option("#draw-size", "24")
    settled(page)
    assert drawn(page).shape == (11, 576)
    assert (drawn(page).reshape(11, 24, 24)[:, ::2, ::2] == before.reshape(11, 12, 12)).all()
    page.select_option("#draw-size", "12")
    settled(page)
    assert (drawn(page) == before).all()
    page.click("[data-source=toy]")
    settled(page)
    page.reload()
    settled(page)
    page.click("[data-source=draw]")
    settled(page)
    assert (drawn(page) == before).all()


@pytest.mark.slow
def test_a_drawing_that_is_full_says_so(open_page):
    page = open_page()
    page.click("[data-source=draw]")
    while page.is_enabled("#draw-copy"):
        page.click("#draw-copy")
    assert page.inner_text("#draw-number").endswith("of 40, the most")
    settled(page)
    assert len(drawn(page)) == 41  # and the first again


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_picture_is_copied_in_one_click(open_page):
    page = open_page(permissions=["clipboard-read", "clipboard-write"], reduced_motion="reduce")
    page.click("[data-source=toy]")
    settled(page)
    assert page.is_disabled("#share-picture")  # nothing is recalled yet
    learn(page)
    page.click("#share-picture")
    settled(page)
    assert "copied" in page.inner_text("#share-note")
    content = page.evaluate(
        """async () => {
            const [item] = await navigator.clipboard.read();
            return [...new Uint8Array(await (await item.getType("image/png")).arrayBuffer())];
        }"""
    )
    with Image.open(io.BytesIO(bytes(content))) as picture:
        assert picture.width == 1920


@pytest.mark.slow
@pytest.mark.parametrize("touch", [False, True])
def test_a_gif_is_given_in_one_click_on_a_phone_to_its_apps(open_page, touch):
    page = open_page(reduced_motion="reduce", has_touch=touch, is_mobile=touch)
    page.evaluate(
        """() => {
            navigator.canShare = () => true;
            navigator.share = async ({ files: [file] }) => {
                window.given = [...new Uint8Array(await file.arrayBuffer())];
            };
        }"""
    )
    learn(page)
    if touch:
        page.click("[data-download=gif]")
        settled(page)
        file = io.BytesIO(bytes(page.evaluate("window.given")))
        assert page.inner_text("#share-note") == "It is on its way."
    else:
        with page.expect_download() as download:
            page.click("[data-download=gif]")
        settled(page)
        file = download.value.path()
        assert page.inner_text("#share-note") == "recall.gif is downloaded."
    with Image.open(file) as animation:
        assert animation.n_frames == int(page.get_attribute("#scrub", "max")) + 1


@pytest.mark.slow
def test_where_the_clipboard_is_closed_the_picture_is_downloaded(open_page):
    page = open_page(reduced_motion="reduce")
    page.evaluate("() => { navigator.clipboard.write = () => Promise.reject(new Error()); }")
    learn(page)
    with page.expect_download() as download:
        page.click("#share-picture")
    assert download.value.suggested_filename == "recall.png"
    settled(page)
    assert page.inner_text("#share-note") == "recall.png is downloaded."


# The colours of the units of the corrupted cue, those of most pixels first.
COLOURS = """() => {
    const canvas = document.getElementById("cue-canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const counts = {};
    for (let i = 0; i < data.length; i += 4) {
        const color = [...data.slice(i, i + 3)].join();
        counts[color] = (counts[color] ?? 0) + 1;
    }
    return Object.keys(counts).sort((a, b) => counts[b] - counts[a]).slice(0, 4)
        .map((color) => color.split(",").map(Number));
}"""


def contrast(a, b):
    """The contrast of two colours after WCAG 2."""

    def light(color):
        c = np.array(color) / 255
        linear = np.where(c <= 0.03928, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted((light(a), light(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_everything_drawn_stands_out_from_what_is_around_it(open_page, scheme):
    page = open_page(color_scheme=scheme)
    colours = page.evaluate(COLOURS)
    style = """(name) => getComputedStyle(document.documentElement)
        .getPropertyValue(`--${name}`).trim()"""

    def named(name):
        hex_ = page.evaluate(style, name).lstrip("#")
        return [int(hex_[k : k + 2], 16) for k in (0, 2, 4)]

    paper, figure, wrong, missing = map(named, ("paper", "figure", "wrong", "missing"))
    assert sorted(colours) == sorted([paper, figure, wrong, missing])
    assert contrast(paper, figure) > 3
    for mark in (wrong, missing, named("accent")):
        assert contrast(mark, paper) > 3
    for mark in (wrong, missing):  # among units that are on, too
        assert contrast(mark, figure) > 3
    for name in ("a", "a2", "b", "b2", "good", "bad", "soft", "ink", "accent", "wrong", "missing"):
        assert contrast(named(name), named("card")) > 3


# What comes of each step of the tour, by the number of the choice; its explanations are about that.
CAME = [0, 1, 1, 1, 1, 1]


@pytest.mark.slow
def test_the_tour_asks_first_and_explains_what_has_happened(open_page):
    page = open_page(reduced_motion="reduce")
    learn(page)  # so that the answer to the first question is there already
    page.click("#tour-start")
    for k, came in enumerate(CAME):
        page.wait_for_selector("#tour-choices button")
        settled(page)
        assert page.inner_text("#tour-title").startswith(f"{k + 1} of 6")
        assert page.inner_text("#tour-said") == ""
        assert page.is_hidden("#tour-next")  # nothing is shown to whom does not predict
        if k < 3:
            assert page.locator(".verdict.good, .verdict.bad").count() == 0
        choices = page.locator("#tour-choices button").all_inner_texts()
        guess = came if k % 2 else 1 - came
        page.locator("#tour-choices button").nth(guess).click()
        page.wait_for_selector("#tour-next")
        settled(page)
        assert page.locator(".verdict.good, .verdict.bad").count() > 0
        said = page.inner_text("#tour-said")
        if guess == came:
            assert said.startswith("As you predicted.")
        else:
            assert said.startswith(
                f"You predicted “{choices[guess]}”. It came otherwise: “{choices[came]}”."
            )
        assert focused(page) == "tour-next"
        page.keyboard.press("Enter")
    assert page.is_hidden("#tour")
    assert focused(page) == "tour-start"


@pytest.mark.slow
def test_the_tour_begins_with_a_question_and_can_be_left(open_page):
    page = open_page(reduced_motion="reduce")
    page.click("#tour-start")
    page.wait_for_selector("#tour-choices button")
    assert focused(page) == "tour-title"
    page.locator("#tour-choices button").first.click()
    page.wait_for_selector("#tour-next")
    assert page.inner_text("#tour-said").startswith("As you predicted.")
    page.click("#tour-end")
    assert page.is_hidden("#tour")
