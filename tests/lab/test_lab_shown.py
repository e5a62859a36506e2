"""The lab's page in a real browser: what it shows of a recall is true, explained where it stands,
and counted from 1.
"""

import base64
import json
import re

import numpy as np
import pytest

import lab_browser
import lab_server
import seqattractor as sa
from lab_browser import NEEDS_BROWSER, learn, settled, wrong_units
from seqattractor.lab.choices import degree_for

lab, chromium, open_page = lab_server.lab, lab_browser.chromium, lab_browser.open_page
pytestmark = NEEDS_BROWSER

X = sa.datasets.random_periodic(12, 40, rng=3)
SETTINGS = {
    "source": "random",
    "sequence": {"name": "random", "frames": 12, "units": 40, "seed": 3},
    "networks": [{"name": "attractor", "hidden": 80}, {"name": "perceptron"}],
    "compare": False,
    "cue": {"start": 0, "flips": 0, "occlusion": 0, "noise": 0, "seed": 1, "painted": []},
    "raster": False,
    "learned": [500],
}


def link(like=None, **changed):
    """A link to a result; the first frame is repainted to be like another pattern, but for one
    unit.
    """
    painted = [] if like is None else np.flatnonzero(X[0] != like).tolist()[1:]
    settings = {
        **SETTINGS,
        **changed,
        "cue": {**SETTINGS["cue"], "painted": painted, **changed.get("cue", {})},
    }
    return "/#v1." + base64.urlsafe_b64encode(json.dumps(settings).encode()).decode().rstrip("=")


def curve(page):
    """How high the curve of overlaps is at the moment that is shown, for each network."""
    return [
        float(m) for m in re.findall(r"-?\d\.\d\d", page.get_attribute("#overlap", "aria-label"))
    ]


def at_each_step(page, last=34):
    """Go through the steps of a recall: those of a whole period, and the last one."""
    for step in [*range(min(last, 13)), last]:
        page.get_by_label("Step of the recall").fill(str(step))
        yield step


def truth(page):
    """What stands above the truth."""
    return page.locator("figcaption").first.inner_text()


@pytest.mark.slow
def test_the_curve_is_the_overlap_of_the_two_pictures_at_every_step(open_page):
    for like in (X[3], -X[3], None):  # caught ahead, caught reversed, and right
        page = open_page(link(like), reduced_motion="reduce")
        for _ in at_each_step(page):
            assert curve(page) == [round(1 - 2 * wrong_units(page) / 40, 2)]


def test_after_a_catch_out_of_phase_the_truth_is_shown_and_described_in_that_phase(open_page):
    page = open_page(link(X[3]), reduced_motion="reduce")
    assert (
        "Out of phase: from step 1 on it follows the sequence exactly, but 3 frames ahead."
        in page.inner_text("#verdicts")
    )
    assert (
        'what was caught stands under "Truth": the sequence, 3 frames ahead of what the cue asks '
        "for." in page.inner_text(".caught")
    )
    for step in at_each_step(page):
        assert truth(page) == ("Truth x(t + 3)" if step else "Truth x(t)")
        assert (wrong_units(page) == 0) == (step > 0)


@pytest.mark.slow
def test_the_negative_is_recognised_shown_and_explained(open_page):
    page = open_page(link(-X[3]), reduced_motion="reduce")
    assert "it follows the negative of sequence 1, with every unit reversed" in page.inner_text(
        "#verdicts"
    )
    assert "it is odd" in page.inner_text(".caught")
    for step in at_each_step(page):
        assert truth(page) == ("Truth \N{MINUS SIGN}x(t + 3)" if step else "Truth x(t)")
        assert (wrong_units(page) == 0) == (step > 0)


@pytest.mark.slow
def test_a_sequence_that_was_caught_and_has_ended_is_marked(open_page):
    film = sa.datasets.moving_digits(2, 10, 40, 1, rng=0)
    painted = np.flatnonzero(film[0] != film[13]).tolist()[
        1:
    ]  # nearly the fourth frame of the other one
    digits = {"name": "digits", "sequences": 2, "frames": 10}
    networks = [{"name": "attractor", "hidden": 150}, {"name": "perceptron"}]
    page = open_page(
        link(source="digits", sequence=digits, networks=networks, cue={"painted": painted}),
        reduced_motion="reduce",
    )
    for step in at_each_step(page, last=9):
        assert truth(page) == (
            "Truth x(t)" if step == 0 else "Truth sequence 2" if step < 7 else "Truth (has ended)"
        )


# All that is green, as the colour of a recall that has locked on is.
GREEN = """() => {
    const good = getComputedStyle(document.documentElement).getPropertyValue("--good").trim();
    const rgb = [1, 3, 5].map((k) => parseInt(good.slice(k, k + 2), 16));
    const words = `rgb(${rgb.join(", ")})`;
    const found = new Set();
    for (const e of document.querySelectorAll("body *")) {
        if (!e.checkVisibility()) continue;
        const style = getComputedStyle(e);
        const colors = ["color", "backgroundColor", "borderColor", "fill", "accentColor"];
        if (colors.some((name) => style[name] === words)) found.add(e.className);
        if (e.tagName !== "CANVAS" || !e.width) continue;
        const pixels = e.getContext("2d").getImageData(0, 0, e.width, e.height).data;
        for (let i = 0; i < pixels.length; i += 4) {
            const near = rgb.every((value, k) => Math.abs(value - pixels[i + k]) < 3);
            if (near && pixels[i + 3] === 255) { found.add(e.id || "picture"); break; }
        }
    }
    return [...found].sort();
}"""


@pytest.mark.slow
def test_green_stands_for_a_recall_that_locked_on_and_for_nothing_else(open_page):
    for scheme in ("light", "dark"):
        options = {"color_scheme": scheme, "reduced_motion": "reduce"}
        both = {
            "compare": True,
            "learned": [500, 500],
        }  # two networks have all the colours that there are
        for raster in (False, True) if scheme == "light" else (False,):
            page = open_page(link(cue={"flips": 5}, raster=raster, **both), **options)
            assert page.locator(".verdict.good").count() >= 1
            assert page.evaluate(GREEN) == ["dot round", "overlap", "verdict good"]
            page = open_page(link(-X[3], raster=raster), **options)
            assert page.locator(".verdict.bad").count() == 1
            assert page.evaluate(GREEN) == []
        page.get_by_label("Hidden neurons M").fill("90")  # nothing is learned
        settled(page)
        assert page.evaluate(GREEN) == []


@pytest.mark.slow
def test_the_certified_radius_and_tau_are_explained_where_they_stand(open_page):
    page = open_page(link(cue={"flips": 5}), reduced_motion="reduce")
    tau = sa.analysis.retrieved_at(
        sa.SequenceAttractor(n_hidden=80, random_state=0)
        .fit(X)
        .recall(sa.noise.flip(X[0], 2, rng=1), 34),
        X,
    )
    assert f"Here τ = {tau}" in page.inner_text(".tau")
    assert "The paper counts a recall as a success" in page.inner_text(".tau")
    assert "(section 6.2)" in page.inner_text(".tau")
    radius = int(
        re.search(r"Certified radius (\d+), for one step", page.inner_text(".promise")).group(1)
    )
    assert (
        radius
        == sa.certify(
            sa.SequenceAttractor(n_hidden=80, random_state=0).fit(X),
            X,
            method="count",
            attack=False,
        ).radius[0]
    )
    units = (
        "1 unit of what the network sees at frame 1 is flipped"
        if radius == 1
        else f"{radius} units of what the network sees at frame 1 are"
    )
    assert f"whichever {units}" in page.inner_text(".promise")
    assert "the next pattern is right. That is proven." in page.inner_text(".promise")
    assert "This cue has 2" in page.inner_text(".promise")


@pytest.mark.slow
def test_frames_are_counted_from_1_before_anything_is_learned(open_page):
    written = (
        "CanvasRenderingContext2D.prototype.fillText = function (words) { (window.written ??= "
        "[]).push(words); }"
    )
    page = open_page(reduced_motion="reduce")
    page.evaluate(f"() => {{ {written} }}")
    page.get_by_label("Hidden neurons M").fill("100")  # not as it was learned
    settled(page)
    scrub = page.get_by_label("Step of the recall")
    for place, moment in ((0, "frame 1 of 24"), (23, "frame 24 of 24"), (24, "frame 1 again")):
        scrub.fill(str(place))
        assert page.inner_text("#step") == moment
        assert scrub.get_attribute("aria-valuetext") == moment
        assert page.get_attribute("[data-panel=truth]", "aria-label") == f"Truth, {moment}"
    labels = page.evaluate("window.written")
    assert {"frame 1", "frame 1 again"} <= set(labels)
    assert "cue" not in labels
    page.click("[data-source=digits]")
    settled(page)
    scrub.fill("16")
    assert page.inner_text("#step") == "frame 17 of 32, sequence 2"
    page.click("[data-source=tune]")
    settled(page)
    page.get_by_label("Start at frame").fill("32")  # a loop has no end
    settled(page)
    assert page.is_hidden("#alert")
    learn(page)
    assert page.inner_text("#step") == "cue, frame 1 of 3"
    assert "for frame 2" in page.inner_text(".promise") or "at frame 2" in page.inner_text(
        ".promise"
    )  # 32, 1 and 2 are seen


@pytest.mark.slow
def test_the_degree_of_a_dense_memory_follows_the_patterns(open_page):
    page = open_page(reduced_motion="reduce")
    page.select_option("#network-kind-0", "dense")
    degree = page.get_by_label("Degree")
    shown = {
        "walker": sa.datasets.walker(24, shrink=2),
        "digits": sa.datasets.moving_digits(2, 16, 40, 1, rng=0),
        "random": sa.datasets.random_periodic(40, 100, rng=0),
    }
    needed = {source: degree_for(data) for source, data in shown.items()}
    assert needed["random"] < 10 < needed["walker"]
    for source in shown:
        page.click(f"[data-source={source}]")
        settled(page)
        assert (
            degree.locator("option").first.inner_text()
            == f"as these patterns need: {needed[source]}"
        )
        learn(page)
        assert (
            page.inner_text("#status")
            == f"Learned in one go, with degree {needed[source]}; 100 % of the steps are right."
        )
    degree.select_option("2")  # too low for pictures, as the page then explains
    page.click("[data-source=walker]")
    settled(page)
    learn(page)
    assert (
        page.inner_text("#status")
        == "Learned in one go, with degree 2; 0 % of the steps are right."
    )
    page.click("[data-source=places]")
    page.get_by_label("Places").fill("100")  # neighbours that differ in one unit
    settled(page)
    assert (
        degree.locator("option").first.inner_text()
        == "the highest: 1000, since some patterns are almost equal"
    )
