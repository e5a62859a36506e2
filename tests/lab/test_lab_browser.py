"""The lab in a real browser: a visitor teaches, corrupts, recalls and compares, in Debian's
Chromium.
"""

import io

import numpy as np
import pytest
from PIL import Image

import lab_browser
import lab_server
from films import grey_film, save_film
from lab_browser import NEEDS_BROWSER, SETTINGS, learn, settled, until, wrong_units
from lab_server import PATIENCE, in_time
from seqattractor.lab.requests import unpack

lab, chromium, open_page = lab_server.lab, lab_browser.chromium, lab_browser.open_page
pytestmark = NEEDS_BROWSER


def first_visit(open_page):
    """Visit the lab for the first time; gives the seconds until something was recalled."""
    page = open_page(settle=False)
    page.wait_for_selector(".verdict.good")  # nothing is read, and nothing pressed
    took = page.evaluate("performance.now()") / 1000  # since the browser asked for the page
    assert "Locked on at step" in page.inner_text("#verdicts")
    locked = int(page.inner_text("#verdicts").split()[4])
    assert locked > 1  # one sees how it finds its way
    until(page, f"document.getElementById('scrub').value > {locked}")  # it plays by itself
    page.click("#play")
    assert wrong_units(page) == 0
    return took


def test_a_first_visit_comes_to_a_recalled_sequence_without_reading(open_page):
    first_visit(open_page)


@pytest.mark.slow  # of the clock
def test_a_first_visit_comes_to_a_recalled_sequence_in_ten_seconds(open_page):
    assert in_time(lambda: first_visit(open_page), 10)


@pytest.mark.slow
def test_an_experiment_pressed_before_the_first_picture_is_there_is_not_lost(open_page):
    page = open_page()
    held = []
    page.route("**/api/sequence", lambda route: held.append(route), times=1)
    page.reload()
    page.click("text=Why hidden neurons?")
    for route in held:  # the first picture, which comes only now
        route.continue_()
    page.wait_for_selector(".verdict.good")
    settled(page)
    assert "A: Locked on at step" in page.inner_text("#verdicts")


def test_painting_on_the_cue_changes_the_recall(open_page):
    page = open_page()
    learn(page)
    slider = page.get_by_label("Random flips")
    slider.fill("0")
    settled(page)
    assert "Locked on from the start" in page.inner_text("#verdicts")
    page.locator("#cue-canvas").scroll_into_view_if_needed()
    box = page.locator("#cue-canvas").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 30, steps=8)
    page.mouse.up()
    settled(page)
    assert "Locked on at step" in page.inner_text("#verdicts")
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
    assert "Locked on from the start" in page.inner_text("#verdicts")


@pytest.mark.slow
def test_stepping_and_scrubbing_move_through_the_recall(open_page):
    page = open_page(reduced_motion="reduce")
    learn(page)
    assert (
        page.inner_text("#step") == "step 0 of 60"
    )  # nothing moves by itself for those who asked for that
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


# while it learns
EPOCH = "Number(/epoch ([0-9]+)/.exec(document.getElementById('status').textContent)?.[1])"
# at the end
EPOCHS = "Number(/([0-9]+) epoch/.exec(document.getElementById('status').textContent)?.[1])"


@pytest.mark.slow
def test_biases_are_a_switch_beside_the_other_settings_and_stay_in_the_link(open_page):
    page = open_page()
    page.locator("#network-0 summary").click()
    switch = page.locator("#network-0").get_by_label("Biases")
    assert not switch.is_checked()
    switch.check()
    settled(page)
    page.locator("#code-box summary").click()
    until(
        page, "document.getElementById('code').textContent !== ''"
    )  # the event of opening it comes a moment later
    settled(page)
    assert "bias=True" in page.inner_text("#code")
    page.reload()
    settled(page)
    page.locator("#network-0 summary").click()
    assert page.locator("#network-0").get_by_label("Biases").is_checked()


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
    until(page, f"{EPOCH} > {stopped}")  # it resumes where it was
    page.click("#stop")
    settled(page)
    assert "stopped" in page.inner_text("#status")
    assert stopped < page.evaluate(EPOCHS) < 5000
    assert page.is_visible("#continue")
    assert page.evaluate(SETTINGS)["learned"] == [page.evaluate(EPOCHS)]  # a link learns as many
    page.check("#compare")
    settled(page)
    page.click("#go")
    until(page, f"{EPOCH} > 0")
    page.click("#stop")
    settled(page)
    assert "B: not learned yet." in page.inner_text("#status")
    assert "learned" not in page.evaluate(SETTINGS)  # a link would learn more than there is


@pytest.mark.slow
def test_two_networks_are_compared_on_the_same_cue(open_page):
    page = open_page()
    page.click("[data-source=toy]")
    page.check("#compare")
    verdicts = learn(page)
    assert "A: Locked on at step" in verdicts
    assert "B: Not recalled" in verdicts  # no network without hidden neurons can
    assert page.locator("#panels canvas").count() == 4  # truth, A, its hidden neurons, B


@pytest.mark.parametrize(
    ("question", "good"),
    [
        ("Why hidden neurons?", [True, False]),
        pytest.param("Must both layers learn?", [True, False], marks=pytest.mark.slow),
        pytest.param("What if a path crosses itself?", [True], marks=pytest.mark.slow),
        pytest.param("How much fits in?", [False, True], marks=pytest.mark.slow),
    ],
)
def test_each_experiment_ends_as_its_advice_announces(open_page, question, good):
    page = open_page()
    page.get_by_role("button", name=question).click()
    settled(page)
    assert page.is_visible("#advice")
    verdicts = page.locator(".verdict").evaluate_all(
        "all => all.map((v) => v.classList.contains('good'))"
    )
    assert verdicts == good
    page.get_by_label("Random flips").fill("0")  # another cue, the same experiment
    settled(page)
    assert page.is_visible("#advice")
    page.click("[data-source=digits]")
    settled(page)
    assert page.is_hidden("#advice")


@pytest.mark.slow
def test_a_sequence_that_cannot_be_learned_is_explained_with_the_remedy(open_page):
    page = open_page()
    page.click("[data-source=places]")
    page.get_by_label("Path").select_option("eight")
    page.click("#go")
    settled(page)
    sentence = page.inner_text("#alert")
    assert "different successor" in sentence
    assert 'set "Past patterns it sees" to 2' in sentence
    page.locator("#network-0 summary").click()
    page.locator("#network-0").get_by_label("Past patterns it sees").select_option("2")
    settled(page)
    assert page.is_hidden("#alert")
    assert "Locked on" in learn(page)


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
    assert "Locked on at step" in learn(page)
    page.click("#code-box summary")
    until(
        page, "document.getElementById('code').textContent !== ''"
    )  # the event of opening it comes a moment later
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
    page.set_input_files(
        "#file", {"name": "broken.gif", "mimeType": "image/gif", "buffer": gif()[:300]}
    )
    page.wait_for_selector("#alert:visible")
    assert "broken.gif" in page.inner_text("#alert")
    page.set_input_files("#file", {"name": "square.gif", "mimeType": "image/gif", "buffer": gif()})
    settled(page)
    assert "8 frames" in page.inner_text("#upload-name")
    assert page.is_hidden("#alert")
    assert "Locked on at step" in learn(page)


def colours_in(page, panel):
    """How many different colours a panel shows, and whether all of them are greys."""
    return page.evaluate(
        """(panel) => {
            const canvas = document.querySelector(`[data-panel=${panel}]`);
            const context = canvas.getContext("2d");
            const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
            const seen = new Set();
            let grey = true;
            for (let i = 0; i < data.length; i += 4) {
                seen.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
                grey &&= data[i] === data[i + 1] && data[i] === data[i + 2];
            }
            return [seen.size, grey];
        }""",
        panel,
    )


@pytest.mark.slow
def test_a_film_is_recalled_in_grey_and_in_colour(open_page, tmp_path):
    page = open_page()
    page.click("[data-source=file]")
    page.select_option("#shades", "8,0")
    page.set_input_files("#file", str(save_film(tmp_path / "ball.webp", grey_film(colour=True))))
    settled(page)
    assert "12 frames of 16 × 16 pixels, 7 units each: 1792 units" in page.inner_text(
        "#upload-name"
    )
    assert "Locked on at step" in learn(page)
    page.evaluate("document.getElementById('forward').click()")  # stops the film after the cue
    settled(page)
    assert wrong_units(page) == 0
    number, grey = colours_in(page, "state")
    assert grey
    assert 4 < number <= 8
    assert colours_in(page, "state") == colours_in(page, "truth")
    assert colours_in(page, "error")[0] == 1
    assert "too bright" in page.inner_text(".legend")
    page.select_option("#shades", "4,1")  # the same file again
    settled(page)
    assert "9 units each" in page.inner_text("#upload-name")
    assert "Locked on at step" in learn(page)
    number, grey = colours_in(page, "state")
    assert not grey
    assert number > 4


@pytest.mark.slow
def test_painting_a_grey_pixel_makes_its_negative(open_page, tmp_path):
    page = open_page()
    page.click("[data-source=file]")
    page.select_option("#shades", "4,0")
    page.set_input_files("#file", str(save_film(tmp_path / "ball.webp", grey_film())))
    settled(page)
    cue = page.locator("#cue-canvas")
    pixel = cue.bounding_box()["width"] / 16
    cue.click(position={"x": 1.5 * pixel, "y": 0.5 * pixel})
    until(page, f"{SETTINGS}.cue.painted.join() === '3,4,5'")  # the three units of the second pixel


@pytest.mark.slow
def test_a_file_can_be_dropped_anywhere(open_page):
    page = open_page()
    page.evaluate(
        """(bytes) => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], "dropped.gif"));
            const how = { dataTransfer: data, bubbles: true, cancelable: true };
            document.body.dispatchEvent(new DragEvent("drop", how));
        }""",
        list(gif()),
    )
    settled(page)
    assert "dropped.gif: 8 frames" in page.inner_text("#upload-name")
    assert page.get_attribute("[data-source=file]", "aria-checked") == "true"
    assert page.inner_text("#step").endswith("of 8")
    assert "Locked on at step" in learn(page)


@pytest.mark.slow
def test_two_tabs_do_not_disturb_each_other(open_page, lab):
    first = open_page()
    second = first.context.new_page()
    second.set_default_timeout(PATIENCE * 1000)
    second.goto(lab[0])
    settled(second)
    second.click("[data-source=toy]")
    settled(second)
    learn(first)
    learn(second)
    first.click("#cue-again")
    settled(first)
    assert first.inner_text("#step").endswith("of 60")
    assert second.inner_text("#step").endswith("of 22")


@pytest.mark.slow
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
    assert page.inner_text("#step").endswith("of 36")
    assert "A: Locked on" in learn(page)


@pytest.mark.slow
def test_learning_that_is_asked_for_before_the_sequence_has_come_learns_it(open_page):
    page = open_page()
    page.click("[data-source=toy]")
    assert "Locked on" in learn(page)
    assert page.inner_text("#step").endswith("of 22")
