"""Recall of many cues: whole numbers where they decide, and every state once, give what the plain
equations give.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import seqattractor as sa
from every_network import all_states, draw_network
from quiet import fit_quietly
from seqattractor.engine import firing, kernels
from seqattractor.engine.firing import respond
from seqattractor.networks import network_class, network_names
from seqattractor.networks import run as _known_states
from seqattractor.networks.run import Run

MANY = 300  # states, enough for whole numbers to be used
EXACT = ("whole", "binary", "mostly zero")  # weights whose sums float64 does not round
CLASSES = [
    cls for cls in map(network_class, network_names()) if cls.layers is not sa.SequenceMemory.layers
]


def draw_weights(kind, M, N, rng):
    """Weights and offsets whose sums are often zero, or nearly."""
    whole = (
        rng.integers(-3, 4, size=(M, N)).astype(float),
        rng.integers(-3, 4, size=M).astype(float),
    )
    if kind == "normal":
        return rng.standard_normal((M, N)), rng.standard_normal(M)
    unit = {
        "whole": 1.0,
        "binary": 2.0**-40,
        "tenths": 0.1,
        "tiny": 1e-300,
        "huge": 1e150,
        "mixed": 1.0,
    }[kind]
    if kind == "mixed":  # what counts is far below what float32 sees beside the largest weight
        whole[0][:] *= 2.0 ** rng.integers(-60, 3, size=(M, N))
    return whole[0] * unit, whole[1] * unit


def draw_states(B, N, rng, values=(-1, 1)):
    return rng.choice(np.array(values, dtype=np.int8), size=(B, N))


def near_ties(N, rng):
    """A state, and weights that for it add up to nearly zero: just above, just below, or
    exactly.
    """
    x = draw_states(1, N, rng)[0]
    rest = np.round(rng.standard_normal((40, N - 1)), 3) * 2.0 ** rng.integers(-20, 20)
    size = np.abs(rest).sum(axis=1)
    off = (
        size
        * rng.choice([0.0, 2.0**-52, 2.0**-40, 2.0**-30, 2.0**-26, 2.0**-24, 2.0**-20], 40)
        * rng.choice([-1, 1], 40)
    )
    return np.column_stack([rest, (off - rest @ x[:-1]) * x[-1]]), x


def check_against_fractions(W, x, offset, silent):
    """Every answer is that of the true sum; only where float64 rounds may it be either."""
    states = respond(W, x, offset, silent)
    assert states.dtype == np.int8
    assert set(np.unique(states)) <= {silent, 1}
    for k in np.unique(x, axis=0, return_index=True)[1]:
        for i, w in enumerate(W):
            h, slack = oracle.exact_field(w, x[k], offset[i])
            if abs(h) > slack:
                assert (states[k, i] == 1) == (h > 0)


@settings(max_examples=60)
@given(
    kind=st.sampled_from(["whole", "binary", "tenths", "tiny", "huge", "mixed", "normal"]),
    N=st.integers(1, 9),
    M=st.integers(1, 6),
    silent=st.sampled_from([-1, 0]),
    seed=st.integers(0, 2**32),
)
def test_many_states_at_once_have_the_answers_of_exact_sums(kind, N, M, silent, seed):
    rng = np.random.default_rng(seed)
    W, offset = draw_weights(kind, M, N, rng)
    x = np.tile(draw_states(30, N, rng, (0, 1) if silent == 0 else (-1, 1)), (10, 1))
    check_against_fractions(W, x, offset, silent)
    if kind in EXACT:  # ties are ties, and count as +1
        true = np.array(
            [
                [oracle.exact_field(w, row, b)[0] >= 0 for w, b in zip(W, offset, strict=True)]
                for row in x[:30]
            ]
        )
        assert np.array_equal(respond(W, x, offset, silent)[:30] == 1, true)


@settings(max_examples=40)
@given(
    N=st.integers(2, 120), seed=st.integers(0, 2**32), offset=st.sampled_from([0.0, 1e-3, -1e-9])
)
def test_sums_that_nearly_cancel_have_the_right_sign(N, seed, offset):
    rng = np.random.default_rng(seed)
    W, x = near_ties(N, rng)
    others = draw_states(MANY, N, rng)
    others[::7] = x
    answer = respond(W, others, offset)
    for i, w in enumerate(W):
        h, slack = oracle.exact_field(w, x, offset)
        if abs(h) > slack:
            assert np.all(answer[::7, i] == (1 if h > 0 else -1))


def test_float32_alone_would_get_near_ties_wrong():
    """Otherwise the tests above would prove nothing."""
    rng = np.random.default_rng(0)
    W, x = near_ties(100, rng)
    fields = [oracle.exact_field(w, x, 0.0) for w in W]
    clear = np.array([abs(h) > slack for h, slack in fields])
    plain = W.astype(np.float32) @ x.astype(np.float32) >= 0
    assert np.any((plain != np.array([h >= 0 for h, _ in fields]))[clear])


def test_whole_numbers_leave_few_states_open_and_of_exact_sums_only_rounded_ties():
    rng = np.random.default_rng(1)
    x = draw_states(1000, 100, rng)
    whole, normal = (
        rng.integers(-2, 3, size=(50, 100)).astype(float),
        rng.standard_normal((500, 100)),
    )

    def open_states(W):
        layer = firing.round_layer(W, 0.0, -1)
        return len(
            firing.by_whole_numbers(layer, x, -1, -1, np.empty((len(x), len(W)), dtype=np.int8))
        )

    few, none, many = (open_states(W) for W in (normal, whole / 8, whole / 10))
    assert (none, few < 5) == (0, True)
    assert many > 500


@pytest.mark.parametrize("isa", kernels.instruction_sets())
@pytest.mark.parametrize(("M", "N"), [(1, 1), (16, 8), (33, 63), (50, 64), (7, 200)])
def test_every_instruction_set_gives_the_same_answers(isa, M, N):
    rng = np.random.default_rng(M)
    W, x = rng.standard_normal((M, N)), draw_states(MANY, N, rng)
    usual = kernels.instruction_set()
    try:
        kernels.use(isa)
        assert np.array_equal(respond(W, x, 0.5), np.where(x @ W.T + 0.5 >= 0, 1, -1))
        assert np.array_equal(respond(W, (x + 1) // 2, 0.5, 0), (x + 1) // 2 @ W.T + 0.5 >= 0)
    finally:
        kernels.use(usual)


def test_inputs_of_all_three_states_are_left_to_float64():
    rng = np.random.default_rng(2)
    W, x = rng.standard_normal((20, 30)), draw_states(MANY, 30, rng, (-1, 0, 1))
    assert np.array_equal(respond(W, x), np.where(x @ W.T >= 0, 1, -1))


def plain_recall(net, cues, steps):
    """The trajectory of each cue, one step of `next_patterns` after another: (B, order * N) -> (B,
    order + steps, N).
    """
    N, states, memory = net.n_features_in_, cues, net.start(cues)
    path = [cues.reshape(len(cues), -1, N)]
    for _ in range(steps):
        following = net.next_patterns(states, memory)
        states = np.concatenate([states[:, N:], following], axis=1)
        path.append(following[:, None])
    return np.concatenate(path, axis=1)


def in_contexts(net, cues):
    return cues.reshape(len(cues), net.order_, -1)


@settings(max_examples=60)
@given(
    cls=st.sampled_from(CLASSES),
    N=st.integers(1, 5),
    order=st.integers(1, 2),
    kind=st.sampled_from(EXACT),
    cues=st.sampled_from([1, 7, MANY]),
    steps=st.integers(0, 9),
    seed=st.integers(0, 2**32),
)
def test_recall_is_one_step_of_the_network_after_another(cls, N, order, kind, cues, steps, seed):
    rng = np.random.default_rng(seed)
    net = draw_network(cls, N, rng, order=order if "order" in cls().get_params() else 1, kind=kind)
    starts = draw_states(
        cues, net.order_ * N, rng
    )  # with so few units many are equal, and all come back
    assert np.array_equal(
        net.recall(in_contexts(net, starts), steps), plain_recall(net, starts, steps)
    )


@settings(max_examples=30)
@given(N=st.integers(1, 5), M=st.integers(1, 6), bias=st.booleans(), seed=st.integers(0, 2**32))
def test_recall_of_all_states_follows_the_equations(N, M, bias, seed):
    rng = np.random.default_rng(seed)
    net = draw_network(
        sa.SequenceAttractor, N, rng, given={"n_hidden": M, "bias": bias, "input_threshold": 0.0}
    )
    biases = (net.hidden_bias_, net.visible_bias_) if bias else None
    states = all_states(N)
    for cue, path in zip(states, net.recall(states, steps=6), strict=True):
        assert path.tolist() == oracle.recall(net.U_, net.V_, cue, 6, 0.0, biases)


@pytest.mark.parametrize("cached", [0, 5, 100])
def test_recall_is_the_same_when_no_more_states_can_be_cached(cached, monkeypatch):
    X = sa.datasets.random_periodic(12, 20, rng=0)
    net = fit_quietly(sa.SequenceAttractor(30, max_epochs=3, random_state=0), X)
    cues = sa.noise.flip(np.tile(X, (10, 1)), 4, rng=1)
    with_room = net.recall(cues, steps=30)
    monkeypatch.setattr(_known_states, "MOST_BYTES", cached * (20 + _known_states.BYTES_BESIDE))
    assert np.array_equal(net.recall(cues, steps=30), with_room)
    assert np.array_equal(with_room, plain_recall(net, cues, 30))


def test_noise_may_come_and_go_during_a_run():
    X = sa.datasets.random_periodic(12, 20, rng=0)
    net = fit_quietly(sa.SequenceAttractor(60, random_state=0), X)
    run, states, rng, again = (
        Run(net, X[:5]),
        X[:5],
        np.random.default_rng(0),
        np.random.default_rng(0),
    )
    answers = []
    for noise in (0, 0, 2, 0, 0, 0, 3, 3, 0, 0):
        following = run.step(noise, rng)
        states = net.next_patterns(sa.noise.flip(states, noise, again))
        assert np.array_equal(following, states)
        answers.append((following, states))
    assert all(
        np.array_equal(*pair) for pair in answers
    )  # what a step gave does not change with later ones


class Shift(sa.SequenceMemory):
    """Shifts a pattern by one unit, and counts how many states it is asked about."""

    def fit_transitions(self, transitions, callback=None):
        self.asked_ = 0

    def next_patterns(self, states, memory=None):
        self.asked_ += len(states)
        return np.roll(states, 1, axis=1)


class SureShift(Shift):
    deterministic = True


class NoisyShift(SureShift):
    """A subclass that adds chance without declaring it."""

    def next_patterns(self, states, memory=None):
        return sa.noise.flip(super().next_patterns(states), 1, rng=self.asked_)


def test_a_network_is_asked_once_about_a_state_only_if_its_class_is_deterministic():
    X = sa.datasets.random_periodic(10, 8, rng=0)
    cues = np.tile(
        np.eye(8, dtype=np.int8) * 2 - 1, (25, 1)
    )  # eight different ones, which follow each other
    plain, sure, noisy = (cls().fit(X) for cls in (Shift, SureShift, NoisyShift))
    path = plain.recall(cues, steps=50)
    assert np.array_equal(sure.recall(cues, steps=50), path)
    assert np.array_equal(path[:, 8:16], path[:, :8])
    noisy.recall(cues, steps=50)
    assert (plain.asked_, sure.asked_, noisy.asked_) == (50 * 200, 200 + 8, 50 * 200)


def test_a_network_that_carries_a_memory_is_asked_at_every_step():
    class Counter(Shift):
        deterministic = True

        def start(self, states):
            return np.zeros((len(states), 1))

        def next_patterns(self, states, memory=None):
            memory += 1
            return np.where(memory % 2, states, -states).astype(np.int8)

    X = sa.datasets.random_periodic(10, 8, rng=0)
    assert (
        Counter().fit(X).recall(X[0], steps=4)[:, 0].tolist()
        == (X[0, 0] * np.array([1, 1, -1, -1, 1])).tolist()
    )


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), flips=st.integers(0, 6), settle=st.integers(1, 30))
def test_basin_counts_what_plain_steps_reach(seed, flips, settle):
    X = sa.datasets.random_periodic(15, 20, rng=seed)
    net = fit_quietly(sa.SequenceAttractor(40, max_epochs=20, random_state=seed), X)
    generator = sa.noise.as_generator(seed, "basin")
    cues = sa.noise.flip(X[:-1], flips, generator)
    reached = plain_recall(net, cues, settle)[:, -1]
    wanted = X[(np.arange(len(cues)) + settle) % (len(X) - 1)]
    assert sa.basin_fraction(net, X, flips=flips, settle=settle, rng=seed) == np.mean(
        np.all(reached == wanted, axis=1)
    )
