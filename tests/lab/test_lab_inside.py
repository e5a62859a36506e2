"""The card "Inside the network": hidden neurons, silencing, epochs and the state space, on the
server and in a real browser.
"""

import base64
import re

import numpy as np
import pytest
from test_lab_page import recalls
from test_lab_shown import X, link

import lab_browser
import lab_server
import seqattractor as sa
from lab_browser import NEEDS_BROWSER, learn, settled, until
from lab_server import QUICK, SMALL, running_lab
from seqattractor.lab.requests import Limits
from seqattractor.lab.requests import unpack as bits

lab, visitor = lab_server.lab, lab_server.visitor
chromium, open_page = lab_browser.chromium, lab_browser.open_page

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def learned(epochs=None):
    """The network of `QUICK` as the library learns it, from scratch or up to an epoch."""
    net = sa.SequenceAttractor(n_hidden=80, random_state=0)
    return net.fit(X, callback=lambda epoch, *errors: epoch == epochs)


def numbers(text):
    """Numbers as the page gets them."""
    return np.frombuffer(base64.b64decode(text), dtype="<f8")


# -- the server
# ------------------------------------------------------------------------------------------------


def test_the_weights_and_targets_of_a_neuron_are_those_of_the_library(visitor):
    visitor.learn(SMALL, QUICK)
    net = learned()
    for inside, twin in ({}, net), ({"epoch": 3}, learned(3)):
        found = visitor.post("neuron", {"neuron": 7, "inside": inside}).json()
        inputs, outputs = numbers(found["inputs"]), numbers(found["outputs"])
        assert np.allclose(inputs * twin.eta, twin.U_[7], rtol=1e-12)
        assert np.allclose(outputs * twin.eta, twin.V_[:, 7], rtol=1e-12)
        targets = bits(found["targets"], 1, 11)[0]
        assert (targets == np.where(net.P_[7] @ X[1:].T >= 0, 1, -1)).all()
    margins = targets * (X[:-1] @ numbers(visitor.post("neuron", {"neuron": 7}).json()["inputs"]))
    assert margins.min() >= found["kappa"]  # it has learned without errors


def test_the_strongest_connections_of_some_neurons_are_named(visitor):
    visitor.learn(SMALL, QUICK, {"name": "sparse", "hidden": 30, "order": 2})
    for k, (hidden, shown) in enumerate(((80, 48), (30, 30))):
        found = visitor.post("wiring", {"inside": {"network": k}}).json()
        assert found["hidden"] == hidden
        assert len(found["neurons"]) == len(set(found["neurons"])) == shown
        assert max(found["neurons"]) == hidden - 1
        for place in (0, shown - 1):
            asked = {"neuron": found["neurons"][place], "inside": {"network": k}}
            one = visitor.post("neuron", asked).json()
            newest = numbers(one["inputs"])[-40:]
            units = [unit for unit, _ in found["inputs"][place]]
            assert np.isin(np.argmax(abs(newest)), units)
            assert all(np.sign(newest[unit]) == sign for unit, sign in found["inputs"][place])


def test_a_recall_with_the_weights_of_an_epoch_is_that_of_the_library(visitor):
    end = visitor.learn(SMALL, QUICK)
    assert end["networks"][0]["epochs"] > 5
    cue = sa.noise.flip(X[0], 4, rng=1)
    shown = []
    for epoch in (1, 5, end["networks"][0]["epochs"]):
        answer = visitor.post(
            "recall", {"cue": {"flips": 4, "seed": 1}, "inside": {"epoch": epoch}}
        ).json()
        shown.append(bits(answer["runs"][0]["bits"], answer["rows"], 40))
        assert (shown[-1] == learned(epoch).recall(cue, steps=answer["rows"] - 1)).all()
    assert (shown[0] != shown[-1]).any()
    assert (shown[-1] == bits(visitor.recall(flips=4, seed=1)["runs"][0]["bits"], 35, 40)).all()


@pytest.mark.parametrize("name", ["attractor", "sparse", "one-hot"])
def test_a_silenced_neuron_reaches_no_unit(visitor, name):
    visitor.learn(SMALL, {"name": name, "hidden": 80})
    state = visitor.recall()["runs"][0]["hidden"]
    active = bits(state["bits"], 35, state["units"])[0]
    silenced = np.flatnonzero(active > 0).tolist()  # all that the cue makes active
    answer = visitor.post("recall", {"cue": {}, "inside": {"silenced": silenced}}).json()
    after = bits(answer["runs"][0]["bits"], 35, 40)[1]
    if name == "attractor":  # what is left are the others, at -1
        field = -learned().V_[:, active < 0].sum(axis=1)
        assert (after == np.where(field >= 0, 1, -1)).all()
    else:  # nothing is left, and a field of 0 makes +1
        assert (after == 1).all()
    assert visitor.recall()["runs"][0]["good"]  # the network itself is as it was


def test_the_code_does_what_was_changed_inside(visitor, capsys):
    cue = {"flips": 3, "seed": 2}
    for name, inside in (
        ("attractor", {"epoch": 4, "silenced": [3, 8]}),
        ("one-hot", {"silenced": [0, 5]}),
        ("sparse", {"epoch": 30}),
    ):
        network = {"name": name, "hidden": 80, "seed": 1}
        visitor.learn(SMALL, network)
        answer = visitor.post("recall", {"cue": cue, "inside": inside}).json()
        asked = {"sequence": SMALL, "networks": [network], "cue": cue, "inside": inside}
        variables = {}
        exec(visitor.post("code", asked).text, variables)
        shown = bits(answer["runs"][0]["bits"], answer["rows"], 40)
        assert (shown == variables["trajectory"]).all()


def test_what_cannot_be_looked_into_is_explained(visitor):
    assert visitor.post("wiring", {}).status_code == 409
    visitor.learn(SMALL, {"name": "perceptron"}, {"name": "attractor-hebbian", "hidden": 20})
    for path, body, status, words in (
        ("wiring", {}, 409, "no hidden neurons"),
        ("neuron", {"neuron": 0}, 409, "no hidden neurons"),
        ("recall", {"cue": {}, "inside": {"silenced": [0]}}, 409, "no hidden neurons"),
        ("neuron", {"neuron": 20, "inside": {"network": 1}}, 400, "There are 20 hidden neurons"),
        ("wiring", {"inside": {"network": 1, "epoch": 1}}, 409, "epoch by epoch"),
        ("wiring", {"inside": {"epoch": 4000}}, 400, "choose one of them"),
        ("wiring", {"inside": {"network": 2}}, 400, "network"),
        ("recall", {"cue": {}, "inside": {"silenced": "all"}}, 400, "silenced"),
        ("recall", {"cue": {}, "inside": {"network": 1, "silenced": [20]}}, 400, "not 21"),
        ("recall", {"cue": {}, "inside": {"neurons": []}}, 400, "no field"),
        ("recall", {"cue": {}, "inside": [1]}, 400, "JSON object"),
        ("neuron", {"neuron": 1e9}, 400, "neuron"),
    ):
        answer = visitor.post(path, body)
        assert answer.status_code == status, (path, body, answer.text)
        assert words in answer.json()["error"]


def test_epochs_that_take_too_long_to_learn_again_are_rejected():
    with running_lab(Limits(again_seconds=0.0)) as (address, _):
        visitor = lab_server.Visitor(address)
        visitor.learn(SMALL, QUICK)
        answer = visitor.post("recall", {"cue": {}, "inside": {"epoch": 9}})
        assert answer.status_code == 413
        assert "choose an earlier one" in answer.json()["error"]
        assert visitor.recall()["runs"][0]["good"]


# -- the page
# ------------------------------------------------------------------------------------------------


def drawn(page, canvas):
    """What a canvas shows, to be compared."""
    return page.evaluate("(id) => document.getElementById(id).toDataURL()", canvas)


@pytest.mark.slow
@pytest.mark.browser
@NEEDS_BROWSER[1]
def test_a_neuron_is_clicked_silenced_and_woken(open_page):
    page = open_page(reduced_motion="reduce")
    assert page.is_hidden("#inside-body")
    page.click("[data-source=random]")
    page.get_by_label("Hidden neurons M").fill("60")
    settled(page)
    learn(page)
    page.locator("#flow").scroll_into_view_if_needed()
    assert "48 of 60 hidden neurons" in page.inner_text("#flow-legend")
    page.focus("#flow")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")  # the second
    settled(page)
    assert page.is_visible("#neuron")
    number = int(page.input_value("#neuron-number"))
    assert page.inner_text("#neuron-says").startswith(f"Hidden neuron {number} is ")
    page.click("#view-frames")
    page.locator("[data-panel=hidden]").click(position={"x": 3, "y": 3})  # the first of all
    settled(page)
    assert page.input_value("#neuron-number") == "1"
    page.fill("#neuron-number", str(number))
    page.keyboard.press("Tab")
    settled(page)
    least = float(re.search(r"the least is ([\d.]+)", page.inner_text("#margin-says")).group(1))
    assert least >= 1  # it has learned, with the margin
    whole = page.inner_text("#verdicts")
    asked = recalls(page)
    page.click("#neuron-silence")
    settled(page)
    assert f"with hidden neuron {number} silenced" in page.inner_text("#inside-note")
    assert "Certified" not in page.inner_text("#verdicts")  # that was of the whole network
    assert f'"silenced":[{number - 1}]' in asked[-1]
    page.click("#inside-back")
    settled(page)
    assert page.is_hidden("#inside-note")
    assert page.inner_text("#verdicts") == whole


@pytest.mark.browser
@NEEDS_BROWSER[1]
def test_epochs_are_scrubbed_and_the_state_space_follows_the_recall(open_page):
    page = open_page(reduced_motion="reduce")
    page.click("[data-source=random]")
    verdicts = learn(page)
    epochs = int(page.get_attribute("#epoch", "max"))
    page.get_by_label("Step of the recall").fill("25")
    assert page.inner_text("#space-says") == "Nearest: frame 26, overlap 1.00"
    good = drawn(page, "space")
    page.get_by_label("Weights after epoch").fill("1")
    settled(page)
    assert page.locator(".verdict.bad").count() == 1
    assert "with its weights after epoch 1" in page.inner_text("#inside-note")
    assert drawn(page, "space") != good
    assert page.inner_text("#step").startswith("step 25")  # the moment stays
    page.get_by_label("Weights after epoch").fill(str(epochs))
    settled(page)
    assert page.inner_text("#verdicts") == verdicts
    assert drawn(page, "space") == good
    page.get_by_label("Random flips").fill("0")
    page.get_by_label("Start at frame").fill("4")
    settled(page)
    page.get_by_label("Step of the recall").fill("0")
    assert page.inner_text("#space-says") == "Nearest: frame 4, overlap 1.00"
    box = page.locator("#space").bounding_box()
    page.locator("#space").click(position={"x": box["width"] - 10, "y": 40})
    last = page.get_attribute("#scrub", "max")
    assert page.input_value("#scrub") == last


@pytest.mark.slow
@pytest.mark.browser
@NEEDS_BROWSER[1]
def test_the_negative_stands_in_the_state_space(open_page):
    page = open_page(link(-X[3]), reduced_motion="reduce")  # a cue that is a stored negative
    assert "it follows the negative of" in page.inner_text("#verdicts")
    page.get_by_label("Step of the recall").fill("30")
    said = page.inner_text("#space-says")
    assert said.startswith("Nearest: the negative of frame")
    assert said.endswith("overlap \N{MINUS SIGN}1.00")


@pytest.mark.browser
@NEEDS_BROWSER[1]
def test_an_epoch_that_takes_too_long_is_explained_and_the_recall_stays(chromium):
    with running_lab(Limits(again_seconds=0.0)) as (address, _):
        page = chromium.new_page(reduced_motion="reduce")
        page.goto(address)
        settled(page)
        page.click("[data-source=toy]")
        verdicts = learn(page)
        page.get_by_label("Weights after epoch").fill("9")
        page.wait_for_selector("#alert:visible")
        settled(page)
        assert "choose an earlier one" in page.inner_text("#alert")
        assert page.inner_text("#verdicts") == verdicts
        assert page.is_hidden("#inside-note")
        assert page.input_value("#epoch") == page.get_attribute("#epoch", "max")
        page.close()


@pytest.mark.slow
@pytest.mark.browser
@NEEDS_BROWSER[1]
def test_activity_flows_while_it_plays_unless_little_motion_is_wanted(open_page):
    for motion, moves in (("no-preference", True), ("reduce", False)):
        page = open_page(reduced_motion=motion)
        learn(page)
        page.locator("#flow").scroll_into_view_if_needed()
        page.get_by_label("Step of the recall").fill("2")
        page.evaluate("document.getElementById('forward').click()")
        first = drawn(page, "flow")
        if moves:
            until(page, f"document.getElementById('flow').toDataURL() !== '{first}'")
        else:
            page.wait_for_timeout(400)
            assert drawn(page, "flow") == first


@pytest.mark.slow
@pytest.mark.browser
@NEEDS_BROWSER[1]
def test_of_two_networks_either_can_be_looked_into(open_page):
    page = open_page(reduced_motion="reduce")
    page.click("[data-source=toy]")
    page.check("#compare")
    verdicts = learn(page)
    assert page.is_visible("#flow")
    page.click("#inside-b")
    settled(page)
    assert page.is_visible("#inside-direct")
    assert page.is_hidden("#flow")
    assert page.is_visible("#space")
    page.get_by_label("Weights after epoch").fill("1")
    settled(page)
    assert "recall of network B with its weights after epoch 1" in page.inner_text("#inside-note")
    page.click("#inside-a")
    settled(page)
    assert page.inner_text("#verdicts") == verdicts
    assert page.is_visible("#flow")
