"""How long slow synapses hold each pattern: a law for the box average that they take, derived and
then counted.

After n steps at a pattern, n of the last tau states are this pattern and, as each was held for more
than tau / 2 steps, the rest are mostly the one before. In units of one pattern's field, the pattern
itself gets tau (held by the fast synapses) and lambda (tau - n) (called by the one before), the
next one gets lambda n. For orthogonal patterns the first n with lambda n > tau + lambda (tau - n)
is the last step there: d = floor(tau (1 + 1 / lambda) / 2) + 1. States from further back, in the
window for n < tau - d, call the pattern before with lambda (tau - n - d), which is less than what
is missing. At equality fields are zero.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.linalg import hadamard

import seqattractor as sa
from quiet import fit_quietly


def held_for(net, X, steps=200):
    """How long each pattern is held, one after the other, from the first that was not the cue; the
    last stay is left out.
    """
    path = net.recall(X[0], steps=steps)
    at = [
        int((x == X[:-1]).all(axis=1).argmax()) if (x == X[:-1]).all(axis=1).any() else -1
        for x in path
    ]
    stays = [[at[1], 0]]
    for k in at[1:]:
        stays = [*stays, [k, 0]] if k != stays[-1][0] else stays
        stays[-1][1] += 1
    return stays[:-1]


@settings(max_examples=40)
@given(slow_steps=st.integers(1, 25), eighths=st.integers(9, 64), T=st.integers(5, 12))
def test_a_pattern_is_held_as_long_as_the_law_of_the_box_average_predicts(slow_steps, eighths, T):
    lam = Fraction(eighths, 8)
    law = slow_steps * (1 + 1 / lam) / 2
    assume(law.denominator != 1)  # no field is zero
    X = hadamard(16)[:T][:, np.random.default_rng(T).permutation(16)].astype(np.int8)
    net = sa.zoo.SlowSynapseMemory(slow_weight=float(lam), slow_steps=slow_steps).fit(
        np.concatenate([X, X[:1]])
    )
    stays = held_for(net, np.concatenate([X, X[:1]]))
    assert [k for k, _ in stays] == [(1 + k) % T for k in range(len(stays))]
    assert {d for _, d in stays} == {int(law) + 1}


@pytest.mark.parametrize("slow_weight", [0.5, 0.9, 1.0])
def test_synapses_that_do_not_outweigh_the_fast_ones_call_nothing(slow_weight):
    X = hadamard(16)[:6].astype(np.int8)
    net = fit_quietly(sa.zoo.SlowSynapseMemory(slow_weight=slow_weight), X)
    assert np.array_equal(net.recall(X[1], steps=30)[-1], X[1]) == (
        slow_weight < 1
    )  # at 1 half the units are undecided


def test_random_patterns_are_held_about_as_long():
    X = sa.datasets.random_periodic(6, 400, rng=0)
    net = sa.zoo.SlowSynapseMemory(slow_weight=2.5, slow_steps=12).fit(X)
    held = [d for k, d in held_for(net, X) if k >= 0]
    assert abs(np.mean(held) - 12 * 1.4 / 2) < 1.5  # 8.4; crosstalk lets some go earlier
