"""reproduce capacity: every part of it, on networks small enough for a test."""

import json

import numpy as np
import pytest
from matplotlib import pyplot as plt

import seqattractor as sa
from seqattractor.paper import capacity
from seqattractor.paper import capacity as trials
from seqattractor.paper.capacity import bits_per_weight, loads
from seqattractor.paper.reproduce import run_targets
from seqattractor.paper.target import Request, Result
from seqattractor.study.tuning import tuned

SMALL = {
    "N": 40,
    "M": 80,
    "flips": 3,
    "lengths": [8, 20],
    "paper_up_to": 8,
    "control_lengths": [8, 10],
    "cue_lengths": [8, 12],
    "cue_flips": [2, 4],
    "ablation_lengths": [20, 30],
    "inside_lengths": [8, 20],
    "robust_flips": [0, 4, 16],
    "digits": {"stored": [2, 3], "paper": [2], "T": 5, "M": 80, "flips": 50, "trials": 2},
}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """The same experiment with few neurons and short sequences: target, result and folder."""
    folder = tmp_path_factory.mktemp("capacity")
    results = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capacity, "FULL", SMALL)
        run_targets(
            ["capacity"],
            Request(trials=2),
            folder / "trials.db",
            lambda *result: results.append(result),
        )
    [(target, result, seconds)] = results
    assert target is capacity.TARGET
    assert seconds > 0
    return target, result


def rows_of(result):
    return {
        (r["part"], r["network"] or r["options"], r["T"], r["flips"]): r
        for r in result.data["rows"]
    }


@pytest.mark.slow
def test_success_and_basins_are_reported_for_every_network(outcome):
    target, result = outcome
    assert json.loads(json.dumps(result.data)) == result.data
    rows = rows_of(result)
    assert rows["length", "sparse", 20, 3]["successes"] == 2
    assert rows["length", "sparse", 20, 3]["basin"] > 0.9
    assert (
        rows["length", "one-hot", 20, 3]["basin"] == 1.0
    )  # nothing learned, and every start comes back
    assert rows["length", "dense", 20, 3]["successes"] == 2
    lengths, *_ = target.tables(result)
    assert lengths.rows[0] == ["sparse: success", "2/2", "2/2"]
    assert lengths.rows[4][2] == "-"  # the paper's rule is tried on shorter ones only


def test_ablations_and_digits_are_reported_at_every_length(outcome):
    target, result = outcome
    rows = rows_of(result)
    for T in SMALL["ablation_lengths"]:
        assert (
            rows["ablation", "everything", T, 3]["basin"]
            > rows["ablation", "no bias", T, 3]["basin"]
        )
    assert result.rows(part="digits", network="sparse", stored=3)[0]["recalled"] == [3, 3]
    _, _, _, ablations, *_ = target.tables(result)
    assert len(ablations.rows) == len(trials.ABLATIONS)
    assert len(ablations.columns) == 3


def test_the_baseline_of_one_neuron_for_each_pattern_stands_in_every_table_of_success(outcome):
    target, result = outcome
    tables = {table.caption: table for table in target.tables(result)}
    lengths = tables["Success and basin against the length of the sequence."]
    assert ["one-hot, one neuron per transition: success", "2/2", "2/2"] in lengths.rows
    flips = tables["Success against the flips of the cue."]
    assert ["one-hot, one neuron per transition, T = 8", "2/2", "2/2"] in flips.rows


def test_the_control_gives_the_papers_rule_noise_while_it_learns(outcome):
    target, result = outcome
    control = next(
        table for table in target.tables(result) if "flips in the inputs" in table.caption
    )
    assert [line[0] for line in control.rows] == [
        "the paper's rule: success",
        "the paper's rule: basin",
        "the paper's rule, kappa = 10: success",
        "the paper's rule, kappa = 10: basin",
        "the paper's rule, flips while it learns: success",
        "the paper's rule, flips while it learns: basin",
    ]
    assert len(control.columns) == 3


def test_the_control_has_the_margin_that_tuning_chose_and_nothing_else_changed():
    rng = np.random.default_rng(0)
    published, chosen = (
        trials.NETWORKS[name](7, rng).get_params() for name in ("paper", trials.TUNED)
    )
    changed = {
        key: value
        for key, value in chosen.items()
        if key != "random_state" and value != published[key]
    }
    assert changed == tuned("attractor", "random").parameters == {"kappa": trials.TUNED_KAPPA}


def test_noise_while_learning_is_the_papers_rule_on_flipped_inputs():
    X = sa.datasets.random_periodic(6, 20, rng=0).patterns
    net, by_hand = (sa.SequenceAttractor(30, init_scale=0, random_state=0) for _ in range(2))
    trials.learn_from_noise(net, X, flips=3, epochs=2, rng=np.random.default_rng(1))
    rng = np.random.default_rng(1)
    for _ in range(2):
        noisy = sa.noise.flip(X[:-1], 3, rng)
        assert np.all((noisy != X[:-1]).sum(axis=1) == 3)
        for x, x_next in zip(noisy, X[1:], strict=True):
            by_hand.partial_fit(np.stack([x, x_next]))
    assert np.array_equal(net.U_, by_hand.U_)
    assert np.array_equal(net.V_, by_hand.V_)


def test_loads_stand_beside_the_limits_of_theory(outcome):
    target, result = outcome
    first, second = loads(result)
    assert (first["T"], second["T"]) == (8, 20)
    assert second["visible_load"] == 19 / 80
    assert second["hidden_load"] == 19 / 40
    assert second["bits"] == 19 * 40 / (2 * 80 * 40 + 80) == bits_per_weight(20, 40, 80)
    assert second["gardner"] == sa.theory.gardner(active=second["active"]) > 2
    assert second["success"] == "2/2"
    assert target.tables(result)[4].rows[1][:2] == ["20", "2/2"]


def test_what_happens_inside_is_summed_over_networks(outcome):
    _, result = outcome
    row = result.rows(part="inside", T=20)[0]
    counts = np.array(row["counts"])
    assert counts.sum() == 2 * 19
    assert 0 < row["active"] < 0.2
    assert row["made"] == 1
    assert row["right"][0] == 1.0
    assert row["right"] == sorted(row["right"], reverse=True)
    assert 0 <= row["least_radius"] <= row["radius"] < 16


def test_proven_flips_are_withstood_by_the_networks_that_are_measured():
    cell = {
        "part": "inside",
        "network": "sparse",
        "N": 40,
        "M": 80,
        "T": 20,
        "flips": 1,
        "up_to": [0, 1],
    }
    outcome = trials.store_sequences(cell, np.random.SeedSequence(0))
    assert outcome["least_radius"] >= 1
    assert outcome["right"] == [trials.STEPS, trials.STEPS]  # one flip, whichever


def test_the_sentence_is_made_of_the_results(outcome):
    target, result = outcome
    verdict = target.verdict(result)
    assert verdict.agrees is None
    assert "sparse retrieves sequences of up to 20 patterns" in verdict.sentence
    assert f"{bits_per_weight(20, 40, 80):.2f} bits for each of its weights" in verdict.sentence


def test_the_figure_can_be_drawn_and_the_table_has_the_same_columns_in_every_row(outcome):
    target, result = outcome
    assert len({tuple(row) for row in target.csv_rows(result)}) == 1
    figure = target.figure(result)
    assert len(figure.axes) == 4
    for ax in figure.axes:
        assert ax.get_xlabel()
    plt.close(figure)


def test_few_failures_end_the_range_of_the_sentence():
    def row(T, successes):
        return {"part": "length", "network": "sparse", "T": T, "successes": successes, "trials": 20}

    assert (
        capacity.longest_stored(
            Result({"rows": [row(50, 20), row(100, 19), row(200, 18), row(300, 20)]}), "sparse"
        )
        == 100
    )


def test_no_basin_is_rounded_up_to_one():
    assert [capacity.fraction(v) for v in (0.0, 0.5, 0.99999, 1.0)] == ["0", ".5000", ".9999", "1"]


@pytest.mark.parametrize(
    "cell",
    [
        {"part": "length", "network": "sparse", "N": 40, "M": 80, "T": 20, "flips": 3},
        {
            "part": "inside",
            "network": "sparse",
            "N": 40,
            "M": 80,
            "T": 20,
            "flips": 3,
            "up_to": [0, 5],
        },
    ],
    ids=lambda cell: cell["part"],
)
def test_trials_depend_on_their_seed_alone(cell):
    a, b = (trials.store_sequences(cell, np.random.SeedSequence(5)) for _ in range(2))
    assert a == b


def test_flips_while_learning_leave_the_stored_sequence_exact():
    X = sa.datasets.random_periodic(10, 40, rng=0).patterns
    net = sa.SequenceAttractor(n_hidden=80, random_state=0)
    trials.learn_from_noise(net, X, flips=4, epochs=50, rng=np.random.default_rng(0))
    assert (net.score(X), net.n_iter_) == (1.0, 50)
