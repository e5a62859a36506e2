"""reproduce capacity: every part of it, on networks small enough for a test."""

import json

import numpy as np
import pytest
from matplotlib import pyplot as plt

from seqattractor.paper import capacity
from seqattractor.paper.reproduce import run_targets
from seqattractor.paper.target import Request, Result
from seqattractor.paper.trials import capacity as trials


@pytest.fixture
def small(monkeypatch):
    """The same experiment with few neurons and short sequences."""
    grid = {"FLIPS": 3, "LENGTHS": [8, 20], "CUE_FLIPS": [2, 4], "CUE_LENGTHS": [8, 12], "ABLATION_T": 20}
    sizes = {"N": 40, "M": 80, "DIGITS": {"stored": [2, 3], "T": 5, "M": 80, "flips": 50, "trials": 2}}
    for module, values in ((capacity, grid | sizes), (trials, sizes)):
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)


def test_all_parts_run_and_are_told_in_tables_a_picture_and_a_sentence(small, tmp_path):
    results = []
    run_targets(["capacity"], Request(trials=2), tmp_path / "trials.db", lambda *result: results.append(result))
    [(target, result, seconds)] = results
    assert target is capacity.TARGET
    assert seconds > 0
    assert json.loads(json.dumps(result.data)) == result.data
    rows = {(r["part"], r["network"] or r["options"], r["T"] or r["stored"], r["flips"]): r for r in result.data["rows"]}
    assert rows["length", "sparse", 20, 3]["successes"] == 2
    assert rows["length", "sparse", 20, 3]["basin"] > 0.9
    assert rows["length", "one-hot", 20, 3]["basin"] == 0.0  # one flipped unit is too many for it
    assert rows["length", "dense", 20, 3]["successes"] == 2
    assert rows["ablation", "everything", 20, 3]["basin"] > rows["ablation", "no bias", 20, 3]["basin"]
    assert rows["digits", "sparse", 3, None]["recalled"] == [3, 3]
    lengths, ablations, digits = target.tables(result)
    assert lengths.rows[0] == ["sparse: success", "2/2", "2/2"]
    assert len(ablations.rows) == len(trials.ABLATIONS)
    assert len(digits.rows) == 4
    assert len({tuple(row) for row in target.csv_rows(result)}) == 1  # every row has the same columns
    assert target.verdict(result).agrees is None
    assert "sparse retrieves sequences of up to 20 patterns" in target.verdict(result).sentence
    figure = target.figure(result)
    assert len(figure.axes) == 4
    plt.close(figure)


def test_few_failures_end_the_range_that_the_sentence_tells():
    def row(T, successes):
        return {"part": "length", "network": "sparse", "T": T, "successes": successes, "trials": 20}

    assert capacity.longest_stored(Result({"rows": [row(50, 20), row(100, 19), row(200, 18), row(300, 20)]}), "sparse") == 100


def test_no_basin_is_rounded_up_to_one():
    assert [capacity.fraction(v) for v in (0.0, 0.5, 0.99999, 1.0)] == ["0", ".5000", ".9999", "1"]


def test_trials_depend_on_their_seed_alone(small):
    cell = {"part": "length", "network": "sparse", "T": 20, "flips": 3}
    a, b = (trials.store_sequences(cell, np.random.SeedSequence(5)) for _ in range(2))
    assert a == b
