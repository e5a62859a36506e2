"""Fast and slow, and sleep: what the trials do, and what the words count."""

import warnings

import numpy as np
import pytest

import seqattractor as sa
from seqattractor.paper.nights import live, replay_of
from seqattractor.paper.sleep import learn_in_sleep, replay_steps, sleep
from seqattractor.paper.target import Request, get_target

SMALL = {"T": 6, "N": 60, "flips": 4}


def loops(n, T=6, N=60):
    return [np.asarray(sa.datasets.random_periodic(T, N, rng=seed)) for seed in range(n)]


def as_set(x):
    return {row.tobytes() for row in x}


def outcome(settings, trial, seed=0):
    with warnings.catch_warnings(action="ignore"):
        return trial({**SMALL, **settings}, np.random.SeedSequence(seed))


def test_a_store_replays_every_loop_whole_and_in_order():
    given = loops(4)
    store = sa.OneHotNetwork()
    for x in given:
        store.partial_fit(x)
    replayed = replay_of(store)
    assert sorted(map(sorted, map(as_set, replayed))) == sorted(map(sorted, map(as_set, given)))
    assert all((x[0] == x[-1]).all() and store.score(x) == 1 for x in replayed)


def test_both_learn_in_one_shot_and_take_over_at_night():
    found = outcome({"memory": "both", "M": 100, "a_day": 2, "days": 2}, live)
    assert found["stored"] == found["exact"] == [2, 4]
    assert found["replayed"] == [2, 2]
    assert found["store_neurons"] == [10, 10]  # cleared in between
    assert found["compact_neurons"] == [100, 100]


def test_a_store_alone_grows_and_a_network_without_rehearsal_forgets():
    store = outcome({"memory": "store", "M": 0, "a_day": 2, "days": 2}, live)
    assert (store["stored"], store["store_neurons"]) == ([2, 4], [10, 20])
    alone = outcome({"memory": "none", "M": 100, "a_day": 4, "days": 2}, live)
    assert alone["exact"][-1] < 8
    assert alone["store_neurons"] == [0, 0]


def test_a_network_is_sure_of_what_it_has_stored():
    given = loops(3)
    net = sa.SparseSequenceAttractor(100, noise=0, random_state=0).fit(given)
    replayed = replay_steps(net, np.random.default_rng(0))
    sure = [transition for transition, is_sure in (next(replayed) for _ in range(300)) if is_sure]
    stored = {pair.tobytes() for x in given for pair in np.stack([x[:-1], x[1:]], axis=1)}
    assert stored <= {transition.tobytes() for transition in sure}
    # a run may begin at a noisy pattern, but what follows is stored
    assert {following.tobytes() for _, following in sure} == set.union(*map(as_set, given))


def test_each_new_transition_comes_after_the_replayed_ones():
    *earlier, new = loops(4)
    net = sa.SparseSequenceAttractor(100, noise=0, random_state=0).fit(earlier)
    count = learn_in_sleep(net, new, 3, np.random.default_rng(0))
    assert net.score(new) == 1
    assert count["presented"] % 5 == 0  # whole presentations
    assert count["replayed"] == 3 * count["presented"]


@pytest.mark.parametrize("network", ["sparse", "attractor"])
def test_sleep_counts_what_is_left(network):
    found = outcome({"network": network, "stored": 2, "replays": None, "M": 100}, sleep)
    assert (found["kept"], found["new"], found["replayed"]) == (2, True, 0)


def test_the_words_on_nights_count_those_after_which_all_is_stored_in_every_run():
    target = get_target("nights")
    outcomes = []
    for cell in target.cells(Request(trials=2)):
        learned = [(k + 1) * cell["a_day"] for k in range(cell["days"])]
        every = {
            "exact": learned,
            "stored": learned,
            "store_neurons": [20 * cell["a_day"]] * cell["days"],
            "compact_neurons": [cell["M"]] * cell["days"],
            "replayed": [cell["a_day"]] * cell["days"],
        }
        worse = {**every, "stored": [*learned[:2], *[0] * (cell["days"] - 2)]}
        outcomes.append((cell, [every, worse]))
    result = target.result(Request(trials=2), outcomes)
    sentence = target.verdict(result).sentence
    assert (
        "Both, M = 1000, 20 a day (2 runs): all are stored after 2 nights (40 sequences) in every "
        "run, with 1400 hidden neurons, 400 of them in the store (the store alone would have 800); "
        "after night 5 50.0 of 100 are stored (mean; 0 to 100), 100.0 exactly." in sentence
    )
    [table] = target.tables(result)
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_the_words_on_sleep_name_every_case():
    target = get_target("sleep")
    one = {"new": True, "replayed": 40, "unsure": 5, "presented": 20}
    outcomes = [
        (cell, [{"kept": cell["stored"], "attract": 0, **one}])
        for cell in target.cells(Request(trials=1))
    ]
    result = target.result(Request(trials=1), outcomes)
    sentence = target.verdict(result).sentence
    assert "Sparse network without noise, 5 + 1 sequences" in sentence
    assert "10 (earlier ones exact 5.0, new one 100%, steps 60)" in sentence
    [table] = target.tables(result)
    assert all(len(row) == len(table.columns) for row in table.rows)
