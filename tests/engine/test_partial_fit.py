"""`partial_fit` in a loop is `fit`: the same errors and the same weights, at ties, too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import seqattractor as sa
from quiet import fit_quietly

CONSTRAINTS = [
    sa.constraints.Decay(0.01),
    sa.constraints.Levels(5, limit=40.0),
    sa.constraints.Dilution(0.7),
    sa.constraints.Dale(0.6),
]
NETWORKS = {
    "hidden": lambda **options: sa.SequenceAttractor(n_hidden=8, **options),
    "only V": lambda **options: sa.FixedHiddenNetwork(n_hidden=8, **options),
    "thresholds": lambda **options: sa.SequenceAttractor(
        n_hidden=8, input_threshold=0.2, target_threshold=1.0, **options
    ),
    "visible": lambda **options: sa.VisibleNetwork(**options),
    "two patterns, biases": lambda **options: sa.SequenceAttractor(
        n_hidden=8, order=2, bias=True, **options
    ),
    "visible, three patterns": lambda **options: sa.VisibleNetwork(order=3, **options),
    "biases": lambda **options: sa.SequenceAttractor(n_hidden=8, bias=True, **options),
    "learned targets": lambda **options: sa.LearnedTargetsAttractor(
        n_hidden=8, learned_feedback=0.2, **options
    ),
    "learned targets, thresholds": lambda **options: sa.LearnedTargetsAttractor(
        n_hidden=8, learned_feedback=0.2, input_threshold=0.2, **options
    ),
    "visible, biases": lambda **options: sa.VisibleNetwork(bias=True, **options),
    "other rules": lambda **options: sa.SequenceAttractor(
        n_hidden=8, rule=(sa.rules.Stochastic(), sa.rules.SoftMargin()), **options
    ),
    "constraints, biases": lambda **options: sa.SequenceAttractor(
        n_hidden=8, constraints=CONSTRAINTS, bias=True, **options
    ),
    "visible, Hebbian, constraints": lambda **options: sa.VisibleNetwork(
        rule=sa.rules.Hebbian(), constraints=CONSTRAINTS, **options
    ),
}
WEIGHTS = ("U_", "V_", "W_", "hidden_bias_", "visible_bias_", "Q_")
STEPS = [(0.5, 0.01), (1.0, 1e-3), (0.3, 0.1), (0.7, 0.07), (0.25, 2.0**-6), (1.0, 0.3)]


def both(make, X, epochs, **options):
    """The network after `fit`, and after as many presentations one by one."""
    whole = fit_quietly(make(max_epochs=epochs, **options), X)
    bits = make(**options)
    for _ in range(whole.n_iter_):
        bits.partial_fit(X)
    return whole, bits


def errors(net):
    return [
        getattr(net, name).tolist()
        for name in ("hidden_errors_", "visible_errors_")
        if hasattr(net, name)
    ]


@pytest.mark.parametrize("engine", ["exact", "reference"])
@pytest.mark.parametrize("kind", NETWORKS)
@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    steps=st.sampled_from(STEPS),
    size=st.sampled_from([(6, 7), (22, 12)]),
)
def test_from_zero_weights_they_are_equal_bit_for_bit(kind, engine, seed, steps, size):
    X = sa.datasets.random_periodic(
        *size, rng=seed
    )  # few are presented by the plain loop, more of them by the engine
    kappa, eta = steps
    options = {
        "kappa": kappa,
        "eta": eta,
        "init_scale": 0.0,
        "random_state": seed,
        "engine": engine,
    }
    whole, bits = both(NETWORKS[kind], X, 40, **options)
    assert errors(whole) == errors(bits)
    for name in WEIGHTS:
        if hasattr(whole, name):
            np.testing.assert_array_equal(getattr(whole, name), getattr(bits, name))


@pytest.mark.parametrize("kind", NETWORKS)
@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    steps=st.sampled_from(STEPS),
    size=st.sampled_from([(6, 7), (22, 12)]),
)
def test_from_random_weights_they_are_equal_up_to_rounding(kind, seed, steps, size):
    X = sa.datasets.random_periodic(*size, rng=seed)
    kappa, eta = steps
    whole, bits = both(NETWORKS[kind], X, 40, kappa=kappa, eta=eta, random_state=seed)
    assert errors(whole) == errors(bits)
    for name in WEIGHTS:
        if hasattr(whole, name):
            np.testing.assert_allclose(
                getattr(whole, name), getattr(bits, name), rtol=1e-12, atol=1e-13
            )


# the share of A's transitions that are right once B alone was presented until it was stored, from
# and to
ADDED = {
    "attractor": (lambda seed: sa.SequenceAttractor(500, random_state=seed), 0.0, 0.05),
    "visible": (lambda seed: sa.VisibleNetwork(random_state=seed), 0.05, 0.3),
    "sparse": (lambda seed: sa.SparseSequenceAttractor(500, random_state=seed), 0.8, 1.0),
}


@pytest.mark.parametrize("kind", ADDED)
def test_what_is_not_presented_again_is_overwritten_as_documented(kind):
    make, low, high = ADDED[kind]
    for seed in range(2):
        A, B = (sa.datasets.random_periodic(20, 100, rng=[seed, k]) for k in range(2))
        net = make(seed).fit(A)
        assert net.score(A) == 1
        while net.score(B) < 1:
            net.partial_fit(B)
        assert low <= net.score(A) <= high
        while net.score([A, B]) < 1:  # which ends
            net.partial_fit([A, B])


def test_a_stream_of_the_sparse_rule_may_not_store_what_fit_does():
    A, B = (sa.datasets.random_periodic(20, 100, rng=[100, k]) for k in range(2))
    alone, both = (sa.SparseSequenceAttractor(100, random_state=0).fit(A) for _ in range(2))
    for _ in range(100):
        alone.partial_fit(B)
        both.partial_fit([A, B])
    assert alone.score(A) < 1
    assert alone.score(B) < 1
    assert both.score([A, B]) < 0.9
    assert both.fit([A, B]).score([A, B]) == 1


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), steps=st.sampled_from(STEPS))
def test_a_presentation_is_an_epoch_of_the_plain_rule_in_units_of_eta(seed, steps):
    X = sa.datasets.random_periodic(5, 6, rng=seed)
    kappa, eta = steps
    net = sa.VisibleNetwork(kappa=kappa, eta=eta, init_scale=0.0)
    for _ in range(12):
        net.partial_fit(X)
    zero = [[0.0] * 6 for _ in range(6)]
    W, counted = oracle.learn_visible(
        oracle.transitions([np.asarray(X).tolist()]),
        zero,
        round(kappa / eta * 2**24) / 2**24,
        1.0,
        12,
    )
    assert net.visible_errors_[: len(counted)].tolist() == counted
    np.testing.assert_array_equal(net.W_, np.array(W) * eta)


@pytest.mark.parametrize("engine", ["exact", "reference"])
def test_learning_continues_from_weights_in_another_memory_order(engine):
    X = sa.datasets.random_periodic(9, 30, rng=0)
    nets = [sa.VisibleNetwork(random_state=0, engine=engine).fit(X) for _ in range(2)]
    nets[0].W_, nets[1].W_ = np.ascontiguousarray(nets[0].W_ / 2), np.asfortranarray(nets[1].W_ / 2)
    first, second = (net.partial_fit(X).W_ for net in nets)
    assert np.array_equal(first, second)
