"""What the lab says about how often a recall succeeds is counted over 100 cues, for the settings as
they are, and shown as a curve against noise.
"""

import re

import pytest

import lab_browser
import lab_server
from lab_browser import NEEDS_BROWSER, learn, settled, until
from lab_server import QUICK, SMALL, Visitor
from seqattractor import success_rate
from seqattractor.lab import rates

lab, visitor = lab_server.lab, lab_server.visitor
chromium, open_page = lab_browser.chromium, lab_browser.open_page


def needs_browser(test):
    """Mark one test as those of a whole module are marked."""
    for mark in NEEDS_BROWSER:
        test = mark(test)
    return test


def rates_of(visitor, **cue):
    answer = visitor.post("rates", {"cue": cue})
    assert answer.status_code == 200, answer.text
    assert answer.json()["trials"] == 100
    return answer.json()["locked_on"]


def test_a_rate_is_what_one_finds_by_asking_for_many_recalls(visitor):
    networks = [{"name": "attractor", "hidden": 100}, {"name": "attractor-V", "hidden": 100}]
    visitor.learn(SMALL, *networks)
    assert rates_of(visitor) == [100, 100]
    counts = rates_of(visitor, flips=8)
    runs = [visitor.recall(flips=8, seed=seed)["runs"] for seed in range(40)]
    for k, count in enumerate(counts):
        low, high = success_rate([run[k]["good"] for run in runs]).interval
        others = success_rate([True] * count + [False] * (100 - count)).interval
        assert others[0] <= high  # the intervals of both counts meet
        assert others[1] >= low
    assert counts[0] > counts[1]


def test_a_rate_depends_on_the_cue_and_not_on_its_seed_or_who_asks(lab, visitor):
    visitor.learn(SMALL, QUICK)
    another = Visitor(lab[0])
    another.learn(SMALL, QUICK)
    counts = rates_of(visitor, flips=9)
    assert rates_of(another, flips=9, seed=7) == counts
    assert rates_of(visitor, flips=9, noise=5) < counts
    assert rates_of(visitor, flips=9, occlusion=0.5) < counts


def test_of_a_loop_the_rate_is_known_wherever_it_starts_and_however_far_networks_look_back(visitor):
    networks = [{**QUICK, "order": order} for order in (1, 3)]
    visitor.learn(SMALL, *networks)
    assert rates_of(visitor, start=11) == [100, 100]


def test_rates_that_would_take_long_are_left_out(visitor, monkeypatch):
    visitor.learn(SMALL, QUICK)
    monkeypatch.setattr(rates, "_MOST", 10)
    assert rates_of(visitor, flips=3) is None


def counted(page):
    """Return the counts of the sentence below an experiment's advice."""
    until(page, "document.getElementById('advice-rates').textContent !== ''")
    return [int(k) for k in re.findall(r"locks on (\d+) time", page.inner_text("#advice-rates"))]


@needs_browser
@pytest.mark.parametrize(
    ("question", "steps"),
    [
        ("Must both layers learn?", [1.0, 1.0]),
        pytest.param("How much fits in?", [1.0, 1.0], marks=pytest.mark.slow),
        pytest.param("Why hidden neurons?", [1.0, 0.6], marks=pytest.mark.slow),
        pytest.param("What if a path crosses itself?", [1.0], marks=pytest.mark.slow),
    ],
)
def test_what_an_experiment_says_is_so_and_stays_so_with_another_cue(
    open_page, lab, question, steps
):
    page = open_page(reduced_motion="reduce")
    visits = []
    page.on("request", lambda request: visits.append(request.headers.get("x-lab-visit")))
    page.get_by_role("button", name=question).click()
    settled(page)
    job = lab[1].state.lab.visits.get(next(filter(None, visits))).job
    assert [*job.outcome.scores] == steps  # "every single step right", or impossible
    before = counted(page)
    assert "10 %" in page.inner_text("#advice-rates") or question.startswith("What if")
    assert len(before) == len(steps)
    page.get_by_label("Random flips").fill("0")
    settled(page)
    until(page, "document.getElementById('advice-rates').textContent.includes('with 0 %')")
    assert counted(page) == [100 if right == 1 else 0 for right in steps]
    page.get_by_label("Random flips").fill("50")
    settled(page)
    until(page, "document.getElementById('advice-rates').textContent.includes('with 50 %')")
    assert all(count < 60 for count in counted(page))
    words = page.inner_text("#advice-words")
    assert not re.search(r"loses its way|works\b|fails|too many", words)


@needs_browser
def test_success_against_noise_is_drawn_while_one_looks_at_it(open_page):
    page = open_page(reduced_motion="reduce", viewport={"width": 1280, "height": 500})
    asked = []
    page.on("request", lambda r: asked.append(1) if r.url.endswith("/api/rates") else None)
    page.click("[data-source=toy]")
    page.check("#compare")
    learn(page)
    assert asked == []  # nobody looks yet
    page.locator("#noise").scroll_into_view_if_needed()
    until(page, "document.getElementById('noise-chart').ariaLabel.split(' at ').length === 23")
    until(page, "document.getElementById('noise').ariaBusy === 'false'")
    assert len(asked) == 11  # levels, both networks at once
    label = page.get_attribute("#noise-chart", "aria-label")
    assert re.search(r"A: 100 at 0 %", label)
    assert re.search(r"B: 0 at 0 %", label)
    assert re.search(r"A \d+ of 10 units", page.inner_text("#noise-radius"))
    page.get_by_label("Random flips").fill("12")
    settled(page)
    until(page, "document.getElementById('noise-said').textContent.includes('with 12 %')")
    until(page, "document.getElementById('noise').ariaBusy === 'false'")
    assert len(asked) == 12  # the others are known
    page.get_by_label("Covered").fill("30")
    settled(page)
    page.locator("#noise").scroll_into_view_if_needed()
    until(page, "document.getElementById('noise').ariaBusy === 'false'")
    assert len(asked) == 24


@needs_browser
def test_the_paper_s_measure_does_not_contradict_the_verdict(open_page):
    page = open_page(reduced_motion="reduce")
    locked = int(page.inner_text("#verdicts").split()[4])
    tau = int(re.search(r"τ = (\d+)", page.inner_text("#notes"))[1])
    assert tau == 24  # of a loop of 24 frames, whose first whole round begins there
    assert 0 < locked < tau
    assert "after locking on, the first whole round begins there" in page.inner_text("#notes")
