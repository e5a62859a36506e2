"""Sequences one after another: what `add` rehearses, stores, saves and rolls back."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import seqattractor as sa

N = 60


def loops(n, period=8, seed=0):
    rng = np.random.default_rng(seed)
    return [sa.datasets.random_periodic(period, N, rng=rng) for _ in range(n)]


def walks(n, length=8, seed=0):
    """Open sequences of random patterns."""
    rng = np.random.default_rng(seed)
    return [np.where(rng.random((length, N)) < 0.5, 1, -1) for _ in range(n)]


NETWORKS = {
    "sparse": lambda: sa.SparseSequenceAttractor(n_hidden=200, random_state=0),
    "hidden": lambda: sa.SequenceAttractor(n_hidden=200, random_state=0),
    "visible": lambda: sa.VisibleNetwork(random_state=0),
}


def turned(patterns):
    """A loop beginning with its first pattern in the order of bytes, so that two can be compared.

    A network without biases stores mirror images too: of the two the one whose first unit of
    the first pattern is +1 is taken.
    """
    rows = [row.tobytes() for row in np.asarray(patterns, dtype=np.int8)]
    at = rows.index(min(rows))
    return b"".join(rows[at:] + rows[:at])


def same_loop(a, b):
    a, b = (np.asarray(x)[:-1] for x in (a, b))
    return turned(a) in {turned(b), turned(-b)}


@pytest.mark.parametrize("rehearse", ["self", "cues", "patterns"])
@pytest.mark.parametrize("name", NETWORKS)
def test_earlier_loops_are_still_stored(name, rehearse):
    net, each = NETWORKS[name](), loops(4)
    for k, X in enumerate(each):
        added = net.add(X, rehearse=rehearse)
        assert len(added.rehearsed) == k
        assert (added.lost, added.not_stored, added.not_recalled) == ([], [], 0)
        assert [net.score(x) for x in each[: k + 1]] == [1.0] * (k + 1)
        assert all(any(same_loop(x, r) for r in added.rehearsed) for x in each[:k])


@pytest.mark.parametrize("name", NETWORKS)
def test_without_rehearsal_the_first_sequence_is_overwritten(name):
    net, (first, *later) = NETWORKS[name](), loops(6, period=15)
    net.add(first, rehearse=None)
    assert net.score(first) == 1
    for X in later:
        added = net.add(X, rehearse=None)
        assert added.not_stored == []
        assert net.score(X) == 1
        assert "may be overwritten" in added.describe()
    assert net.score(first) < 0.5


@pytest.mark.parametrize("name", ["sparse", "hidden"])
def test_open_sequences_are_replayed_from_their_second_pattern_on(name):
    net, each = NETWORKS[name](), walks(3)
    for X in each[:-1]:
        net.add(X)
    replayed = net.add(each[-1]).rehearsed
    for x in each[:-1]:
        assert any(np.array_equal(x[1:], r[1:]) or np.array_equal(x[1:], -r[1:]) for r in replayed)
        assert net.score(x) == 1


@pytest.mark.parametrize("length", [2, 3, 8])
def test_a_sparse_network_replays_open_sequences_from_their_first_pattern_on(length):
    """However often: what is learned again is what was learned."""
    net, each = NETWORKS["sparse"](), walks(6, length=length)
    for k, X in enumerate(each):
        added = net.add(X)
        assert {x.tobytes() for x in added.rehearsed} == {
            x.astype(np.int8).tobytes() for x in each[:k]
        }
        assert added.n_transitions == (k + 1) * length  # with one that leads into each
    assert [net.score(X) for X in each] == [1.0] * 6


def test_open_sequences_beside_loops_and_short_of_a_lead_in():
    """A pattern that is the same in any order of its units has none."""
    loop, (blank, walk) = loops(1)[0], walks(2, seed=1)
    blank[0] = -1
    net = NETWORKS["sparse"]()
    for X in (blank, loop, walk):
        added = net.add(X)
    assert added.n_transitions == 7 + 7 + 8
    assert [net.score(X) for X in (blank, loop, walk)] == [1.0] * 3
    assert [len(x) for x in added.rehearsed] == [8, 8]


def films(n, length=8, flips=1, seed=0):
    """Open sequences of patterns that are each like the one before."""
    rng = np.random.default_rng(seed)
    signs = np.ones((n, length, N), dtype=int)
    for x in signs:
        units = rng.permutation(N)[: flips * (length - 1)].reshape(length - 1, flips)
        for t, each in enumerate(units, start=1):
            x[t:, each] = -1
    return list(signs * np.where(rng.random((n, 1, N)) < 0.5, 1, -1))


@pytest.mark.parametrize("flips", [1, 3])
def test_what_follows_the_end_of_a_film_is_not_replayed(flips):
    """A network goes on after the last frame, and is sure of it, unless it has learned the end."""
    net, each = NETWORKS["sparse"](), films(4, flips=flips)
    for k, X in enumerate(each):
        added = net.add(X)
        assert {x.tobytes() for x in added.rehearsed} == {
            x.astype(np.int8).tobytes() for x in each[:k]
        }
    assert [net.score(X) for X in each] == [1.0] * 4


def test_a_film_may_hold_its_last_frame():
    net, (first, second) = NETWORKS["sparse"](), films(2)
    held = np.concatenate([first, first[-1:]])
    for X in (held, second):
        added = net.add(X)
    assert (net.score(held), net.score(second)) == (1, 1)
    assert any(x.tobytes() == held.astype(np.int8).tobytes() for x in added.rehearsed)


def test_sequences_that_were_fitted_drift_once_at_most():
    """Their first patterns are rebuilt, and have lead-ins from then on."""
    net, each = NETWORKS["sparse"](), walks(5)
    net.fit(each[:3])
    rebuilt = net.add(each[3]).rehearsed
    again = net.add(each[4]).rehearsed
    assert {x.tobytes() for x in rebuilt} < {x.tobytes() for x in again}


def test_what_was_added_is_not_read_again():
    """The caller's arrays may change: the next replay comes from the weights alone."""
    net, each = NETWORKS["sparse"](), [*walks(2, seed=1), *(x.patterns.copy() for x in loops(2))]
    kept = [X.copy() for X in each]
    for X in each:
        net.add(X)
        X[...] = 1
    assert [net.score(X) for X in kept] == [1.0] * 4


def test_a_network_of_order_two_replays_crossing_sequences():
    first, second = walks(2, length=9)
    second[4] = first[4]  # the same pattern, after others
    net = sa.SparseSequenceAttractor(n_hidden=300, order=2, random_state=0)
    net.add(first)
    net.add(second)
    third = walks(1, seed=5)[0]
    added = net.add(third)
    assert len(added.rehearsed) >= 2
    assert [net.score(x) for x in (first, second, third)] == [1.0] * 3


@pytest.mark.parametrize("order", [2, 3])
def test_without_noise_networks_of_higher_orders_replay_only_what_they_learned(order):
    net = sa.SparseSequenceAttractor(n_hidden=200, order=order, noise=0, random_state=0)
    each = walks(3, length=10)
    for k, X in enumerate(each):
        assert len(net.add(X).rehearsed) == k
    assert [net.score(X) for X in each] == [1.0] * 3


def test_what_is_replayed_is_what_the_network_recalls():
    net = NETWORKS["sparse"]().fit(loops(5))
    replayed = sa.networks.self_replay(net)
    assert len(replayed) == 5
    assert all(replayed.loops)
    for x in replayed.sequences:
        assert np.array_equal(net.recall(x[0], len(x) - 1), x)
    assert sum(replayed.starts) <= replayed.n_starts
    assert 0 < replayed.share_of_neurons <= 1
    assert "5 sequences" in replayed.describe()


def test_a_network_that_learned_nothing_alike_replays_nothing():
    """Random weights have no margins to speak of, so that nothing is taken for a memory."""
    one = np.random.default_rng(0).choice([-1, 1], (2, N))
    net = NETWORKS["sparse"]().fit(one)  # a single transition
    assert len(sa.networks.self_replay(net)) == 0


def test_with_self_nothing_is_saved_but_what_fit_saves(tmp_path):
    each = loops(3)
    added = NETWORKS["sparse"]()
    for X in each:
        report = added.add(X)
    assert report.n_bits_saved == 0
    added.save(tmp_path / "added.npz")
    NETWORKS["sparse"]().fit(each).save(tmp_path / "fitted.npz")
    names = []
    for name in ("added", "fitted"):
        with np.load(tmp_path / f"{name}.npz", allow_pickle=False) as file:
            names.append(sorted(file.files))
    assert names[0] == names[1]


@pytest.mark.parametrize("rehearse", ["self", "cues", "patterns"])
def test_another_process_adds_to_a_saved_network(tmp_path, rehearse):
    each = [*loops(2), *walks(2, seed=1)]
    net = NETWORKS["sparse"]()
    for X in each[:3]:
        net.add(X, rehearse=rehearse)
    net.save(tmp_path / "three.npz")
    np.save(tmp_path / "fourth.npy", each[3])
    program = (
        "import sys, numpy as np, seqattractor as sa\n"
        "net = sa.load('three.npz')\n"
        f"net.add(np.load('fourth.npy'), rehearse={rehearse!r})\n"
        "net.save('four.npz')"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    four = sa.load(tmp_path / "four.npz")
    assert [four.score(X) for X in each] == [1.0] * 4
    net.add(each[3], rehearse=rehearse)
    assert all(np.array_equal(getattr(four, a), getattr(net, a)) for a in ("U_", "V_"))


def test_bits_are_counted():
    each = loops(3)
    saved = {}
    for rehearse in ("self", "cues", "patterns"):
        net = NETWORKS["sparse"]()
        for X in each:
            saved[rehearse] = net.add(X, rehearse=rehearse).n_bits_saved
    # A cue is one pattern, with a number of steps and a digest of 64 bits each.
    assert saved == {"self": 0, "cues": 3 * (N + 64 + 64), "patterns": 3 * (8 * N + 64)}


def test_fit_and_partial_fit_forget_what_was_saved():
    for learn in ("fit", "partial_fit"):
        net = NETWORKS["sparse"]()
        net.add(loops(1)[0], rehearse="cues")
        getattr(net, learn)(loops(1, seed=1)[0])
        with pytest.raises(ValueError, match="no cues were saved"):
            net.add(loops(1, seed=2)[0], rehearse="cues")


def test_a_wrong_recall_is_not_rehearsed():
    net, each = NETWORKS["sparse"](), loops(3)
    for X in each[:2]:
        net.add(X, rehearse="cues")
    net.rehearsal_cues_[0] = -net.rehearsal_cues_[0]
    added = net.add(each[2], rehearse="cues")
    assert len(added.rehearsed) == 1
    assert added.not_recalled == 1
    assert "1 earlier sequence could not be recalled exactly" in added.describe()
    assert net.score(each[1]) == net.score(each[2]) == 1


@pytest.mark.parametrize("rehearse", ["self", "cues", "patterns", None])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_failed_add_is_rolled_back(name, rehearse):
    net, each = NETWORKS[name](), loops(3)
    for X in each[:2]:
        net.add(X, rehearse=rehearse)
    before = pickle.dumps(net)

    def interrupt(*_):
        raise KeyboardInterrupt

    if rehearse is not None:
        with pytest.raises(KeyboardInterrupt):
            net.add(each[2], rehearse=rehearse, callback=interrupt)
        assert pickle.dumps(net) == before
    for wrong in (each[2][:, :-1], each[2] * 0.5, each[2][:1], "text"):
        with pytest.raises((ValueError, TypeError)):
            net.add(wrong, rehearse=rehearse)
        assert pickle.dumps(net) == before


def test_an_interrupted_replay_and_a_first_add_are_rolled_back(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    net, (first, second) = NETWORKS["sparse"](), walks(2)
    before = pickle.dumps(net)
    with pytest.raises(KeyboardInterrupt):
        net.add(first, callback=interrupt)
    assert pickle.dumps(net) == before
    net.add(first)
    before = pickle.dumps(net)
    monkeypatch.setattr(sa.SparseSequenceAttractor, "_synapses", interrupt)
    with pytest.raises(KeyboardInterrupt):
        net.add(second)
    assert pickle.dumps(net) == before


def test_conflicts_are_named_before_anything_is_changed():
    first, second = loops(2)
    second = second.copy()
    second[3] = first[3]
    net = NETWORKS["sparse"]()
    net.add(first)
    before = pickle.dumps(net)
    with pytest.raises(ValueError, match=r"stored sequence 0.*new sequence 0"):
        net.add(second)
    assert pickle.dumps(net) == before


def test_other_words_and_networks_are_rejected():
    net = NETWORKS["sparse"]()
    with pytest.raises(ValueError, match="rehearse, if not None, must be one of 'self', 'cues'"):
        net.add(loops(1)[0], rehearse="always")
    one_hot = sa.networks.OneHotNetwork()
    with pytest.raises(sa.networks.NotApplicable, match="rehearse=None, which is partial_fit"):
        one_hot.add(loops(1)[0])
    with pytest.raises(sa.networks.NotApplicable, match="not trained for margins"):
        sa.networks.self_replay(one_hot.fit(loops(1)[0]))


def test_descriptions():
    net, each = NETWORKS["sparse"](), loops(2)
    first, second = (net.add(X) for X in each)
    assert "1 of 1 new sequence is stored exactly; there were no earlier ones" in str(first)
    assert "1 of 1 earlier sequence replayed by the network itself still is" in str(second)
    assert list(second.rows()) == [
        {"sequence": "rehearsed", "patterns": 8, "stored": True},
        {"sequence": "new", "patterns": 8, "stored": True},
    ]


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_that_replays_nothing_says_that_sequences_may_be_lost(name):
    """A path of one transition is too short to be found."""
    net = NETWORKS[name]().fit(walks(1, length=2)[0])
    added = net.add(loops(1)[0])
    assert added.rehearsed == []
    assert "replayed nothing, so that earlier sequences may be lost" in added.describe()


@pytest.mark.parametrize("rehearse", ["cues", "patterns"])
def test_a_leak_resolves_conflicts_with_earlier_sequences(rehearse):
    first, second = loops(2)
    second = second.copy()
    second[3] = first[3]
    net = sa.VisibleNetwork(leak=0.3, random_state=0)
    net.add(first, rehearse=rehearse)
    added = net.add(second, rehearse=rehearse)
    assert (added.lost, added.not_stored) == ([], [])
    before = pickle.dumps(net)
    with pytest.raises(sa.networks.NotApplicable, match="with a leak cannot replay by itself"):
        net.add(first)
    assert pickle.dumps(net) == before


@pytest.mark.parametrize("name", ["hidden", "visible"])
def test_a_conflict_with_a_mirror_image_is_named(name):
    first, second = loops(2)
    second = second.copy()
    second[3] = -first[3]
    net = NETWORKS[name]()
    net.add(first, rehearse="patterns")
    with pytest.raises(ValueError, match=r"the mirror image of stored sequence 0.*new"):
        net.add(second, rehearse="patterns")


def test_only_networks_that_have_learned_for_margins_replay():
    with pytest.raises(NotFittedError):
        sa.networks.self_replay(NETWORKS["sparse"]())
    with pytest.raises(TypeError, match="net must be"):
        sa.networks.self_replay(None)
    trained = NETWORKS["hidden"]().fit(loops(1)[0])
    given = sa.networks.from_arrays(trained.U_, trained.V_)
    with pytest.raises(sa.networks.NotApplicable, match="ThresholdNetwork was not trained"):
        sa.networks.self_replay(given)


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_a_generator_is_rolled_back(kind):
    def interrupt(*_):
        raise KeyboardInterrupt

    net, each = sa.SequenceAttractor(n_hidden=200, random_state=kind(0)), loops(2)
    net.add(each[0])
    before = pickle.dumps(net)
    with pytest.raises(KeyboardInterrupt):
        net.add(each[1], callback=interrupt)
    assert pickle.dumps(net) == before


@pytest.mark.parametrize(("values", "error"), [([0], ValueError), ([1.5], TypeError)])
def test_a_comparison_names_a_number_of_sequences_that_makes_no_sense(values, error):
    with pytest.raises(error, match="the number of sequences must be"):
        sa.compare("continual", ["perceptron"], n=30, t=5, values=values, trials=1)


@pytest.mark.slow
def test_thirty_six_loops_of_random_patterns():
    """The floor: 36 loops of 20 patterns, 100 units, 500 hidden neurons, nothing saved."""
    rng = np.random.default_rng(36)
    each = [sa.datasets.random_periodic(21, 100, rng=rng) for _ in range(36)]
    net = sa.SparseSequenceAttractor(n_hidden=500, random_state=36)
    for X in each:
        net.add(X)
    assert [net.score(X) for X in each] == [1.0] * 36
    arrived = []
    for X in each:
        cues = np.repeat(X[:-1], 3, axis=0)
        for cue in cues:
            cue[rng.choice(100, 10, replace=False)] *= -1
        patterns = {row.tobytes() for row in X}
        ends = net.recall(cues, 30)[:, -1]
        arrived += [end.tobytes() in patterns for end in ends]
    assert np.mean(arrived) >= 0.9
