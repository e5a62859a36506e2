"""``warm_start=True``: a further `fit` continues from the current weights, as one longer `fit`
would have.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_partial_fit import NETWORKS, STEPS, WEIGHTS, errors

import seqattractor as sa
from quiet import fit_quietly
from seqattractor.engine import own_learning, reference


def in_goes(make, X, epochs, **options):
    """A network that learned some epochs in each of several fits."""
    net = make(warm_start=True, **options)
    for some in epochs:
        fit_quietly(net.set_params(max_epochs=some), X)
        if net.converged_:
            break
    return net


@pytest.mark.parametrize("engine", ["exact", "reference"])
@pytest.mark.parametrize("kind", NETWORKS)
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    steps=st.sampled_from(STEPS),
    epochs=st.lists(st.integers(1, 9), min_size=2, max_size=4),
)
def test_from_zero_weights_several_fits_are_one_longer_fit_bit_for_bit(
    kind, engine, seed, steps, epochs
):
    X = sa.datasets.random_periodic(22, 12, rng=seed)
    kappa, eta = steps
    options = {
        "kappa": kappa,
        "eta": eta,
        "init_scale": 0.0,
        "random_state": seed,
        "engine": engine,
    }
    goes = in_goes(NETWORKS[kind], X, epochs, **options)
    whole = fit_quietly(NETWORKS[kind](max_epochs=goes.n_iter_, **options), X)
    assert errors(whole) == errors(goes)
    assert (whole.n_iter_, whole.converged_) == (goes.n_iter_, goes.converged_)
    for name in WEIGHTS:
        if hasattr(whole, name):
            np.testing.assert_array_equal(getattr(whole, name), getattr(goes, name))


@pytest.mark.parametrize("kind", NETWORKS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), steps=st.sampled_from(STEPS))
def test_from_random_weights_they_are_one_longer_fit_up_to_rounding(kind, seed, steps):
    X = sa.datasets.random_periodic(22, 12, rng=seed)
    kappa, eta = steps
    goes = in_goes(NETWORKS[kind], X, [3, 1, 5], kappa=kappa, eta=eta, random_state=seed)
    whole = fit_quietly(
        NETWORKS[kind](max_epochs=goes.n_iter_, kappa=kappa, eta=eta, random_state=seed), X
    )
    assert errors(whole) == errors(goes)
    for name in WEIGHTS:
        if hasattr(whole, name):
            np.testing.assert_allclose(
                getattr(whole, name), getattr(goes, name), rtol=1e-12, atol=1e-13
            )


@pytest.fixture
def no_plain_loop(monkeypatch):
    """Make every call of the plain loop fail."""

    def fail(*args, **options):
        raise AssertionError("the plain loop was called")

    monkeypatch.setattr(reference, "learn", fail)
    learn = own_learning.learn

    def learn_by_the_kernel(*args, compiled=False, **options):
        return learn(*args, compiled=True, **options) if compiled else fail()

    monkeypatch.setattr(own_learning, "learn", learn_by_the_kernel)  # under constraints


@pytest.mark.parametrize(
    "kind",
    [
        kind
        for kind, make in NETWORKS.items()
        if "targets" not in kind and make().engine_ == "exact"
    ],
)  # learned targets compare every two transitions
def test_warm_starts_and_whole_presentations_are_done_by_the_exact_engine(no_plain_loop, kind):
    X = sa.datasets.random_periodic(40, 12, rng=0)
    net = fit_quietly(NETWORKS[kind](random_state=0, max_epochs=2, warm_start=True), X)
    fit_quietly(net, X)
    net.partial_fit(X).partial_fit(X.patterns[:20]).partial_fit(X.patterns[20:])
    assert net.n_iter_ == 7  # two fits of 2 epochs, and three presentations
    with pytest.raises(AssertionError, match="the plain loop was called"):
        NETWORKS[kind](random_state=0, engine="reference").fit(X)


def test_without_it_a_further_fit_starts_from_scratch():
    X = sa.datasets.random_periodic(10, 30, rng=0)
    net = fit_quietly(sa.SequenceAttractor(40, max_epochs=3, random_state=0), X)
    before = net.U_.copy()
    assert np.array_equal(fit_quietly(net, X).U_, before)
    assert net.n_iter_ == 3


def test_other_sequences_can_follow_and_size_and_order_stay():
    A, B = (sa.datasets.random_periodic(10, 30, rng=seed) for seed in (0, 1))
    net = sa.SequenceAttractor("auto", order=2, warm_start=True, random_state=0).fit(A)
    M, learned = net.n_hidden_, net.n_iter_
    fit_quietly(net.set_params(order=1), [A, B])
    assert (net.n_hidden_, net.order_) == (M, 2)
    assert net.n_iter_ > learned
    with pytest.raises(ValueError, match="30 features"):
        net.fit(sa.datasets.random_periodic(10, 31, rng=0))


def test_epochs_are_counted_on_for_the_callback_and_it_can_stop():
    X = sa.datasets.random_periodic(40, 20, rng=0)
    reported = []
    for make in (
        lambda: sa.SequenceAttractor(30, random_state=0),
        lambda: sa.VisibleNetwork(random_state=0),
    ):
        net = fit_quietly(make().set_params(max_epochs=4, warm_start=True), X)
        reported.clear()
        fit_quietly(net, X, callback=lambda *epoch: reported.append(epoch) or epoch[0] == 6)
        assert [epoch for epoch, _, _ in reported] == [5, 6]
        assert [visible for _, _, visible in reported] == net.visible_errors_[4:].tolist()
        assert net.n_iter_ == 6


def test_a_failure_on_the_way_leaves_the_network_as_it_was():
    X = sa.datasets.random_periodic(40, 20, rng=0)
    net = fit_quietly(sa.SequenceAttractor(30, max_epochs=4, warm_start=True, random_state=0), X)
    before = {
        name: np.copy(value) for name, value in vars(net).items() if isinstance(value, np.ndarray)
    }

    def fail(epoch, hidden, visible):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        net.fit(X, callback=fail)
    assert net.n_iter_ == 4
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(net, name), value)


def test_a_saved_network_continues_where_it_was(tmp_path):
    X = sa.datasets.random_periodic(40, 20, rng=0)
    net = fit_quietly(sa.SequenceAttractor(30, max_epochs=4, warm_start=True, random_state=0), X)
    net.save(tmp_path / "model.npz")
    again = fit_quietly(sa.load(tmp_path / "model.npz"), X)
    fit_quietly(net, X)
    assert errors(again) == errors(net)
    np.testing.assert_array_equal(again.V_, net.V_)


@pytest.mark.parametrize("make", [sa.SequenceAttractor, sa.VisibleNetwork])
def test_anything_but_a_flag_is_rejected(make):
    with pytest.raises(TypeError, match="warm_start"):
        make(warm_start="yes").fit(sa.datasets.xor())
