"""The lab in a real browser: after any choice nothing stays that belongs to the one before, however
slow the lab answers.
"""

import time

import pytest
from test_lab_uploads import gif

import lab_browser
import lab_server
from lab_browser import NEEDS_BROWSER, learn, settled, until
from lab_server import PATIENCE, running_lab

lab, chromium, open_page = lab_server.lab, lab_browser.chromium, lab_browser.open_page
pytestmark = NEEDS_BROWSER

# What is written and shown of a sequence, a network, and a recall.
SHOWN = """() => {
    const text = (id) => document.getElementById(id).innerText;
    const cue = document.getElementById("cue-canvas");
    const drawn = cue.getContext("2d").getImageData(0, 0, cue.width, cue.height).data;
    return {
        verdict: document.querySelectorAll(".verdict.good, .verdict.bad").length,
        pictures: document.querySelectorAll("#panels canvas").length,
        step: text("step"),
        status: text("status"),
        curves: text("errors-legend"),
        code: text("code"),
        note: text("share-note"),
        advice: text("advice"),
        alert: document.querySelector("#alert span").innerText,
        inside: document.getElementById("inside-body").checkVisibility(),
        legend: !document.getElementById("legend-recall").hidden,
        model: !document.querySelector("[data-download=model]").disabled,
        further: document.getElementById("continue").checkVisibility(),
        sound: document.getElementById("sound").checkVisibility(),
        counts: /\\(\\d+\\)/.test(text("cue-fields")),
        cue: drawn.some((value) => value > 0),
    };
}"""
OF_THE_RECALL = {
    "verdict": 0,
    "pictures": 0,
    "step": "",
    "code": "",
    "note": "",
    "legend": False,
    "inside": False,
}
OF_THE_NETWORK = {
    **OF_THE_RECALL,
    "status": "",
    "curves": "",
    "advice": "",
    "alert": "",
    "model": False,
    "further": False,
}
OF_THE_SEQUENCE = {**OF_THE_NETWORK, "sound": False, "counts": False, "cue": False}


def more(label):
    """A field under "More settings"."""
    return lambda page: page.locator("#network-0").get_by_label(label)


def fill(field, value):
    """Write into a field and leave it."""

    def choose(page):
        field(page).fill(value)
        field(page).press("Tab")

    return choose


def of_the_cue(label, value):
    """Move a slider of the cue."""
    return lambda page: page.get_by_label(label, exact=True).fill(value)


SEQUENCE = {
    "another sequence": lambda page: page.click("[data-source=walker]"),
    "drawing": lambda page: page.click("[data-source=draw]"),
    "an option of the sequence": lambda page: page.get_by_label("Which").select_option("2"),
}
NETWORK = {
    "kind of network": lambda page: page.select_option("#network-kind-0", "dense"),
    "hidden neurons": lambda page: page.get_by_label("Hidden neurons M").fill("60"),
    "robustness": fill(more("Robustness"), "2"),
    "learning rate": fill(more("Learning rate"), "0.01"),
    "biases": lambda page: more("Biases")(page).check(),
    "epochs": fill(more("Epochs at most"), "600"),
    "past patterns": lambda page: more("Past patterns it sees")(page).select_option("2"),
    "seed": fill(more("Seed"), "5"),
    "a second network": lambda page: page.check("#compare"),
}
CUE = {
    "flips": of_the_cue("Random flips", "30"),
    "cover": of_the_cue("Covered", "50"),
    "noise": of_the_cue("Noise per step", "10"),
    "start": of_the_cue("Start at frame", "3"),
    "another corruption": lambda page: page.click("#cue-again"),
}
OTHERS = {
    "learn": lambda page: page.click("#go"),
    "a model": lambda page: page.click("[data-download=model]"),
    "the code": lambda page: page.click("#code-box summary"),
}


@pytest.fixture
def learned(open_page, lab):
    """A page on which everything is to be seen, and its link; what it asks for can be held back."""
    page = open_page(reduced_motion="reduce", permissions=["clipboard-read", "clipboard-write"])
    page.click("[data-source=toy]")
    learn(page)
    link = lab[0] + "/" + page.evaluate("location.hash")

    def restored():
        page.unroute_all()
        page.goto("about:blank")
        page.goto(link)
        settled(page)
        page.locator("#network-0 summary").click()
        page.click("#code-box summary")
        until(page, "document.getElementById('code').textContent !== ''")
        settled(page)
        page.click("#share-link")
        until(page, "document.getElementById('share-note').textContent !== ''")
        before = page.evaluate(SHOWN)
        assert before["verdict"] == 1
        parts = (
            "pictures",
            "step",
            "status",
            "curves",
            "code",
            "note",
            "legend",
            "inside",
            "model",
            "cue",
            "counts",
        )
        assert [part for part in parts if not before[part]] == []
        page.route("**/api/**", lambda route: None)  # nothing is answered
        return page

    return restored


@pytest.mark.parametrize(
    ("controls", "gone"),
    [
        (SEQUENCE, OF_THE_SEQUENCE),
        pytest.param(NETWORK, OF_THE_NETWORK, marks=pytest.mark.slow),
        pytest.param(CUE, OF_THE_RECALL, marks=pytest.mark.slow),
    ],
)
def test_nothing_old_stays_after_any_choice_while_the_lab_is_slow(learned, controls, gone):
    for name, choose in controls.items():
        page = learned()
        choose(page)
        same_cue = controls is NETWORK and name != "past patterns"
        wait_for(page, {**gone, "cue": same_cue}, name)


def wait_for(page, wanted, name):
    """Wait until the page shows what is wanted."""
    end = time.monotonic() + PATIENCE
    while {part: page.evaluate(SHOWN)[part] for part in wanted} != wanted:
        assert time.monotonic() < end, str((name, page.evaluate(SHOWN), wanted))
        page.wait_for_timeout(50)


@pytest.mark.slow
def test_a_sequence_that_is_chosen_while_another_one_is_learned_is_shown_at_once(open_page):
    page = open_page(reduced_motion="reduce")
    page.click("[data-source=random]")
    page.get_by_label("Patterns", exact=True).fill("300")
    page.locator("#network-0 summary").click()
    fill(more("Epochs at most"), "5000")(page)
    settled(page)
    page.click("#go")
    until(page, "/epoch/.test(document.getElementById('status').textContent)")
    page.click("[data-source=toy]")
    until(page, "document.getElementById('step').textContent === 'frame 1 of 5'")
    until(
        page,
        "/^Still learning with the settings as they were: "
        "epoch/.test(document.getElementById('status').textContent)",
    )
    assert page.inner_text("#errors-legend") == ""
    page.click("#stop")
    settled(page)
    assert page.inner_text("#status") == ""
    assert "The settings have changed" in page.inner_text("#verdicts")
    assert page.locator(".verdict.good, .verdict.bad").count() == 0
    assert "Locked on" in learn(page)


@pytest.mark.slow
def test_a_message_about_a_file_or_a_setting_goes_with_the_next_choice(open_page):
    page = open_page(reduced_motion="reduce")
    page.click("[data-source=places]")
    page.get_by_label("Path").select_option("eight")
    page.click("#go")
    settled(page)
    assert "different successor" in page.inner_text("#alert")
    page.route("**/api/**", lambda route: None)
    page.select_option("#network-kind-0", "dense")
    page.wait_for_selector("#alert", state="hidden")


@pytest.mark.slow
def test_the_hint_beside_a_file_describes_its_content(open_page):
    page = open_page(reduced_motion="reduce")
    page.click("[data-source=file]")
    assert page.inner_text("#sequence-hint") == "Until a file is read, the previous sequence stays."
    page.set_input_files("#file", {"name": "moving.gif", "mimeType": "image/gif", "buffer": gif()})
    settled(page)
    assert page.inner_text("#sequence-hint") == "Your own frames; a file takes their place."
    page.click("[data-source=toy]")
    page.click("[data-source=file]")
    assert page.inner_text("#sequence-hint") == "Until a file is read, the previous sequence stays."
    assert page.inner_text("#upload-name") == ""


# -- a lab that is gone
# ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_lab_that_is_closed_is_reported_as_such_whatever_is_pressed(chromium):
    with running_lab() as (address, _):
        pages = {}
        some = {name: {**SEQUENCE, **CUE}[name] for name in ("another sequence", "flips")}
        for name, choose in {**OTHERS, **some}.items():
            page = chromium.new_page(reduced_motion="reduce")
            page.set_default_timeout(PATIENCE * 1000)
            page.goto(address)
            settled(page)
            page.click("[data-source=toy]")
            learn(page)
            pages[name] = page, choose
    for name, (page, choose) in pages.items():
        choose(page)
        page.wait_for_selector("#alert:visible")
        settled(page)
        assert (
            "The lab does not answer: it was closed, or the connection is lost."
            in page.inner_text("#alert")
        ), name
        if name in CUE:
            assert page.inner_text("#verdicts") == "There is no recall to show."
        page.close()


@pytest.mark.slow
def test_a_lab_that_is_there_again_continues_with_what_was_chosen_meanwhile(open_page):
    page = open_page(reduced_motion="reduce")
    page.route("**/api/**", lambda route: route.abort())
    page.click("[data-source=toy]")
    page.wait_for_selector("#alert:visible")
    settled(page)
    page.unroute("**/api/**")
    page.click("#go")
    settled(page)
    assert page.is_hidden("#alert")
    assert "Locked on" in page.inner_text("#verdicts")
    assert page.inner_text("#step") == "step 0 of 22"
