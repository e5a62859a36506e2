"""Laps that have a sequence in common predict each other, and shuffled ones do not."""

import dataclasses

import numpy as np
import pytest

import seqattractor as sa

LAPS = sa.datasets.recording(n_cells=40, n_laps=5, n_events=0, rng=1).lap_counts(0.1)


def network(**options):
    given = {"n_hidden": 200, "max_epochs": 1000, "random_state": 0}
    return sa.SequenceAttractor(**given | options)


@pytest.fixture(scope="module")
def found():
    return sa.replay.cross_validate(LAPS, network(), n_shuffles=60, rng=0)


def test_a_sequence_in_the_laps_is_found(found):
    assert (found.memory > found.shuffled + 0.2).all()
    assert (found.memory > found.rates).all()
    assert found.p_values.tolist() == pytest.approx([1 / 61] * 5)
    assert found.describe().startswith("The laps have a sequence in common.")
    assert "5 of 5 laps" in found.describe()
    for name in ("memory", "other_laps", "rates", "shuffled"):
        low, high = found.interval(name)
        assert low < getattr(found, name).mean() < high
    rows = list(found.rows())
    assert [row["lap"] for row in rows] == [0, 1, 2, 3, 4]
    assert rows[2]["memory"] == found.memory[2]


def test_none_is_found_in_shuffled_laps():
    rng = np.random.default_rng(2)
    shuffled = [rng.permutation(lap) for lap in LAPS]
    net = network(on_conflict="learn")
    none = sa.replay.cross_validate(shuffled, net, n_shuffles=60, learn="laps", rng=0)
    assert (none.p_values <= 0.05).sum() <= 1
    assert none.memory.mean() < 0.3
    assert none.describe().startswith("No sequence that the laps have in common")


@pytest.mark.parametrize(
    ("shuffled", "rates", "answer"),
    [
        (0.3, 0.3, "the laps have a sequence in common"),
        (0.3, 0.5, "the order of the bins matters, but constant rates predict the laps no worse"),
        (0.3, 0.7, "the order of the bins matters, but constant rates predict the laps no worse"),
        (0.5, 0.3, "no sequence that the laps have in common was found"),
        (0.5, 0.7, "no sequence that the laps have in common was found"),
    ],
)
def test_a_sequence_is_claimed_only_where_shuffles_and_constant_rates_are_beaten(
    found, shuffled, rates, answer
):
    memory = np.array([0.46, 0.52, 0.5, 0.51, 0.51])
    own, none = {"memory": memory, "rates": np.full(5, rates)}, np.full(5, shuffled)
    told = dataclasses.replace(found, shuffled=none, **own)
    assert repr(told).startswith(f"CrossValidation: {answer}")
    assert told.describe().lower().startswith(answer)


def test_the_memory_is_not_changed_and_the_same_seed_gives_the_same_numbers(found):
    net = network().fit(sa.datasets.random_periodic(5, 30, rng=0))
    weights = net.U_.copy()
    calls = []
    given = {"n_shuffles": 60, "progress": lambda *n: calls.append(n), "rng": 0}
    again = sa.replay.cross_validate(LAPS, net, **given)
    assert np.array_equal(net.U_, weights)
    assert calls == [(k, 5) for k in range(1, 6)]
    for name in ("memory", "other_laps", "rates", "shuffled", "p_values"):
        assert (getattr(again, name) == getattr(found, name)).all()


def test_a_memory_of_order_2_predicts_laps_too():
    two = sa.replay.cross_validate(LAPS, network(order=2), n_shuffles=20, rng=0)
    assert two.order == 2
    assert (two.memory > two.shuffled).all()
    assert "A memory of order 2" in two.describe()


def test_laps_of_several_maps_are_predicted_by_their_own():
    session = sa.datasets.recording(n_cells=40, n_laps=6, n_events=0, n_maps=2, rng=3)
    laps, maps = session.lap_counts(0.1), session.lap_maps
    found = sa.replay.cross_validate(laps, network(), maps=maps, n_shuffles=20, rng=0)
    assert (found.memory > found.shuffled).all()
    assert (found.other_laps > found.shuffled).all()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"laps": LAPS[:1]}, "at least two are needed, but there is 1"),
        ({"laps": [LAPS[0], LAPS[2], LAPS[1][:1]]}, "too few for a memory that looks at 1"),
        ({"maps": [0, 1]}, "maps must label each of the 5 laps"),
        ({"maps": [0, 0, 0, 0, 1]}, "each map needs at least two laps"),
        ({"learn": "all"}, "learn"),
        ({"n_shuffles": 0}, "n_shuffles"),
    ],
)
def test_bad_input_gets_a_sentence(change, match):
    options = {"laps": LAPS, "n_shuffles": 5, "rng": 0} | change
    with pytest.raises(ValueError, match=match):
        sa.replay.cross_validate(options.pop("laps"), network(), **options)
    with pytest.raises(TypeError, match="memory must be a network"):
        sa.replay.cross_validate(LAPS, "attractor")
