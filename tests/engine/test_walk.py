"""A single state on its way through a kernel gives what the equations give, step by step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import seqattractor as sa
from every_network import KINDS, draw_network
from quiet import fit_quietly
from seqattractor.engine.firing import find_walk
from seqattractor.networks import run as _walk
from seqattractor.networks.run import states_along

EXACT = ("whole", "binary")  # weights whose sums float64 does not round


def draw_layer(kind, neurons, inputs, rng):
    """Weights and offsets whose sums are often zero, or nearly."""
    if kind == "normal":
        return rng.standard_normal((neurons, inputs)), rng.standard_normal(neurons)
    unit = {"whole": 1.0, "binary": 2.0**-40, "tenths": 0.1, "mixed": 1.0}[kind]
    W, offset = (
        rng.integers(-3, 4, size=shape).astype(float) for shape in ((neurons, inputs), neurons)
    )
    if (
        kind == "mixed"
    ):  # what counts is far below the unit in which the largest weight is a whole number
        W *= 2.0 ** rng.integers(-60, 3, size=(neurons, inputs))
    return W * unit, offset * unit


def fire(W, x, offset, silent):
    """The states of neurons by exact sums; None for one of which float64 could not decide the
    sign.
    """
    found = []
    for w, b in zip(W, offset, strict=True):
        h, slack = oracle.exact_field(w, x, b)
        found.append((1 if h >= 0 else silent) if abs(h) > slack else None)
    return found


def fire_exactly(W, x, offset, silent):
    """The same where no sum is rounded."""
    return [
        1 if oracle.exact_field(w, x, b)[0] >= 0 else silent for w, b in zip(W, offset, strict=True)
    ]


@settings(max_examples=60)
@given(
    kind=st.sampled_from(["whole", "binary", "tenths", "mixed", "normal"]),
    N=st.integers(1, 9),
    M=st.integers(1, 40),
    silent=st.sampled_from([-1, 0]),
    seed=st.integers(0, 2**32),
)
def test_every_state_of_a_walk_is_that_of_exact_sums(kind, N, M, silent, seed):
    rng = np.random.default_rng(seed)
    (U, b), (V, c) = draw_layer(kind, M, N, rng), draw_layer(kind, N, M, rng)
    x = rng.choice(np.array([-1, 1], dtype=np.int8), size=N)
    path = find_walk((U, b), (V, c), silent).path(x, 6)
    assert path.dtype == np.int8
    for following in path:
        zeta = fire(U, x, b, silent)
        if None not in zeta:
            assert all(
                found in (None, state)
                for found, state in zip(fire(V, zeta, c, -1), following.tolist(), strict=True)
            )
        x = following
    if kind in EXACT:  # ties are ties, and count as active
        assert len(path) == 6
        assert find_walk((U, b), (V, c), silent).path(x, 1)[0].tolist() == fire_exactly(
            V, fire_exactly(U, x, b, silent), c, -1
        )


def test_a_sum_that_is_nearly_a_tie_is_left_undecided_and_not_guessed():
    # 0.1 + 0.2 - 0.3 is 2**-54 in float64, whose terms are rounded, and 0 on paper.
    U, V = np.array([[0.1, 0.2, -0.3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.eye(3)
    ones = np.ones(3, dtype=np.int8)
    assert len(find_walk((U, 0.0), (V, 0.0)).path(ones, 5)) == 0
    assert (
        len(find_walk((U, 0.0), (V, 0.0)).path(-ones * np.array([1, 1, -1], dtype=np.int8), 1)) == 1
    )


@settings(max_examples=60)
@given(
    cls=st.sampled_from([sa.SequenceAttractor, sa.SparseSequenceAttractor]),
    N=st.integers(1, 9),
    kind=st.sampled_from(KINDS),
    steps=st.integers(0, 150),
    cues=st.integers(1, 2),
    seed=st.integers(0, 2**32),
)
def test_a_run_is_one_step_of_the_network_after_another(cls, N, kind, steps, cues, seed):
    rng = np.random.default_rng(seed)
    net = draw_network(cls, N, rng, kind=kind)
    states = rng.choice(np.array([-1, 1], dtype=np.int8), size=(cues, N))
    seen = 0
    for found in states_along(net, states, steps):
        assert np.array_equal(found, states)
        states, seen = net.next_patterns(states), seen + 1
    assert seen == 1 + steps


def test_a_long_run_that_wanders_is_taken_by_the_kernel_and_is_that_of_the_network(monkeypatch):
    X = sa.datasets.random_periodic(60, 40, rng=0)
    net = fit_quietly(sa.SequenceAttractor(60, max_epochs=40, random_state=0), X)
    cue = sa.noise.flip(X[:1], 6, rng=1)
    states, plain = cue, []
    for _ in range(200):
        plain.append(states)
        states = net.next_patterns(states)
    asked, slow = [], type(net).next_patterns
    monkeypatch.setattr(
        type(net),
        "next_patterns",
        lambda net, states, memory=None: asked.append(1) or slow(net, states),
    )
    assert np.array_equal(list(states_along(net, cue, 199)), plain)
    assert len(asked) == _walk.SOON


@pytest.mark.parametrize(
    ("W", "offset", "fits"), [(1.0, 0.0, True), (1e200, 0.0, False), (1.0, 1e-200, False)]
)
def test_weights_of_extreme_sizes_stay_with_float64(W, offset, fits):
    found = find_walk((np.full((2, 2), W), offset), (np.eye(2), 0.0))
    assert (found is not None) is fits
