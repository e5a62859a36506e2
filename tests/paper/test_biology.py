"""Under the constraints of biology: what a trial is, what following is, what the words count."""

import warnings

import numpy as np
import pytest

import seqattractor as sa
from seqattractor.paper import biology
from seqattractor.paper.biology import TARGET, follows, longest_of, paragraphs, recall_constrained
from seqattractor.paper.reproduce import run_targets
from seqattractor.paper.target import Request, Result
from seqattractor.study.protocol import seed_of

SIZES = {"N": 30, "M": 60, "flips": 2}


def trial(number, **settings):
    with warnings.catch_warnings(action="ignore"):
        return recall_constrained(SIZES | settings, seed_of(5, "any", number))


@pytest.mark.parametrize(
    ("kind", "value", "constraint"),
    [
        ("none", 1.0, None),
        ("dilution", 0.5, sa.constraints.Dilution(0.5)),
        ("bits", 4, sa.constraints.Levels(4)),
        ("dale", 0.8, sa.constraints.Dale(0.8)),
        ("activity", 0.2, None),
    ],
)
def test_a_trial_is_what_fitting_and_recalling_by_hand_give(kind, value, constraint):
    active = value if kind == "activity" else 0.5
    found = trial(3, part="basin", network="attractor", kind=kind, value=value, t=8)
    seeds = seed_of(5, ["biology", 8, active], 3).spawn(3)
    of_data, of_network, of_cue = map(np.random.default_rng, seeds)
    X = sa.datasets.random_periodic(8, 30, bias=2 * active - 1, rng=of_data)
    more = {"constraints": [constraint]} if constraint else {}
    with warnings.catch_warnings(action="ignore"):
        net = sa.SequenceAttractor(60, random_state=of_network, **more).fit(X)
    cue = sa.noise.flip(X[:1], 2, of_cue)[0]
    assert found["success"] == sa.retrieved(net.recall(cue, 60), X)
    assert found["basin"] == sa.basin_fraction(net, X, flips=2, rng=of_cue)


@pytest.mark.parametrize("network", ["attractor", pytest.param("sparse", marks=pytest.mark.slow)])
def test_every_constraint_that_is_tried_can_be_learned_under(network):
    for kind, value in biology.constraints_of(network):
        found = trial(0, part="length", network=network, kind=kind, value=value, t=3)
        assert found["success"] in (True, False)


def test_dynamics_of_a_trial_are_tried_on_one_network():
    given = {"part": "dynamics", "network": "attractor", "kind": "none", "value": 1.0, "t": 5}
    found = trial(0, **given, with_basin=True)
    tried = biology.dynamics_of(True)
    assert len(found["steady"]) == len(tried) == len(found["followed"]) + 1
    assert found["followed"][0]
    assert found["steady"][0] > 0.9
    assert trial(0, **given, with_basin=False)["followed"] == found["followed"]


def test_a_network_follows_a_loop_in_its_order_alone():
    X = np.asarray(sa.datasets.random_periodic(12, 40, rng=0))
    net = sa.OneHotNetwork(tolerance=4).fit(X)
    cue = sa.noise.flip(X[0], 3, rng=0)
    for how in ({}, {"delay": 2}):
        assert follows(sa.Dynamics(net, **how), X, cue)
    assert not follows(sa.Dynamics(net), X[::-1], cue)
    stuck = sa.networks.from_arrays(np.eye(40))  # each pattern for ever
    assert not follows(sa.Dynamics(stuck), X, cue)
    skips = np.concatenate([X[:-1:3], X[:1]])  # every third pattern
    assert not follows(sa.Dynamics(sa.OneHotNetwork(tolerance=4).fit(skips)), X, cue)


def rows(counts, **place):
    return [
        {"part": "length", "T": T, "successes": right, "trials": n, "basin": None} | place
        for T, (right, n) in counts.items()
    ]


def test_lengths_are_those_up_to_which_trials_succeed():
    settings = {"success": 0.95, "t_max": {"attractor": 200}}
    some = {"network": "attractor", "kind": "dilution", "value": 0.5}
    steep = {30: (40, 40), 40: (40, 40), 50: (20, 40), 60: (0, 40)}
    given = rows(steep, **some)
    given += rows({20: (40, 40), 80: (40, 40)}, **some | {"kind": "missed", "part": "dynamics"})
    given += rows({20: (30, 40), 80: (0, 40)}, **some | {"kind": "delays", "part": "dynamics"})
    first, second, third = longest_of(Result({"settings": settings, "rows": given}))
    assert 40 <= first["t95"] <= 50
    assert first["low"] <= first["t95"] <= first["high"]
    assert (first["trials"], first["below"], first["at_least"]) == (160, None, None)
    assert (second["below"], second["at_least"]) == (None, 80)
    assert (third["below"], third["at_least"]) == (20, None)


@pytest.fixture
def few(monkeypatch):
    """Fewer constraints, dynamics and sizes."""
    monkeypatch.setattr(biology, "CONSTRAINTS", {"none": [1.0], "activity": [0.3]})
    monkeypatch.setattr(
        biology, "DYNAMICS", {"paper's": {0: {}}, "temperature": {9.0: {"temperature": 9.0}}}
    )
    sizes = {"t_max": {"attractor": 9, "sparse": 9}, "basin_at": {"attractor": 4, "sparse": 4}}
    lengths = {"lengths": {"attractor": [4, 6], "sparse": [4, 6]}}
    monkeypatch.setattr(biology, "QUICK", SIZES | sizes | lengths)


def test_an_interrupted_run_resumes_and_its_paragraphs_have_its_numbers(few, tmp_path):
    def run(name, progress=None):
        found = []
        request = Request(trials=3, quick=True)
        run_targets(
            ["biology"],
            request,
            tmp_path / name,
            lambda *done: found.append(done),
            progress=progress,
        )
        [(_, result, _)] = found
        return result

    def stop(news):
        if news.done >= 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run("a", stop)
    done = []
    result = run("a", lambda news: done.append(news.done))
    assert done[0] >= 5  # those are not done again
    assert result.data == run("b").data

    searched = result.rows(part="longest", kind="none")
    assert {row["network"] for row in searched} == {"attractor", "sparse"}
    for row in searched:
        tried = result.rows(part="length", network=row["network"], kind="none")
        assert row["trials"] == sum(each["trials"] for each in tried) == 3
    words = paragraphs(result)
    assert list(words) == ["activity", "temperature", "one by one"]
    [cold] = result.rows(part="longest", network="sparse", kind="paper's")
    assert cold["at_least"] == 6
    assert "and at least 6 without" in words["temperature"]
    assert "with a temperature of 9.0" in words["temperature"]
    [constraints, dynamics] = TARGET.tables(result)
    assert len(constraints.rows) == 2
    assert len(dynamics.rows) == 3
