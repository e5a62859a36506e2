"""Every network of the registry answers every state of up to eight units as its definition does,
written index by index.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import oracle_rates
import oracle_rivals
import oracle_scaffold
import oracle_trained_rates
from every_network import all_states
from quiet import fit_quietly
from seqattractor.networks import make_network, network_names
from seqattractor.networks.registry import parameters_of

# fields this near zero, relative to their largest term, are not decided by arithmetic on floats
NEAR_TIE = 1e-9
DYADIC = {
    "init_scale": 0.0,
    "eta": 2.0**-4,
    "kappa": 0.25,
    "max_epochs": 6,
}  # sums are exact, and zero every so often
SMALL = {
    **{
        name: {**DYADIC, "n_hidden": 5}
        for name in ("attractor", "attractor-V", "attractor-hebbian", "attractor-bias")
    },
    **dict.fromkeys(("perceptron", "perceptron-bias", "leaky-perceptron"), DYADIC),
    "sparse": {"n_hidden": 6, "max_epochs": 5},
    "predictive": {"max_epochs": 5},
    "predictive-2": {"n_latent": 3, "max_epochs": 2, "inference_steps": 4, "inference_rate": 0.1},
    "mixed": {"slow_steps": 3},
    # A steep softmax would blow up rounding at ties, step after step.
    "eden": {"beta": 2.0, "read_out_interval": 0.5},
    "gsemm-dense": {"gain": 0.05, "read_out_interval": 0.5},
    "gsemm-linear": {"read_out_interval": 0.5},
    "brea": {"n_hidden": 3, "max_epochs": 3},
    "fiete": {"max_epochs": 3, "inhibition": 0.3},
    "scaffold": {"n_hidden": 7, "ridge": 2.0},
    "sdm": {"n_hidden": 7, "n_active": 2},
    "clone-hmm": {"n_clones": 2, "n_init": 1},
    "rnn": {"n_hidden": 3, "max_epochs": 3},
    "pinning": {"max_epochs": 2, "read_out_interval": 4.0},
    "innate": {"n_hidden": 6, "trials": 2, "pulse": 5.0, "read_out_interval": 4.0},
    "bcpnn": {"units_per_hypercolumn": 2, "read_out_interval": 6.0},
}
DENSE = {
    "dense": {"kind": "polynomial", "degree": 2},
    "dense-3": {"kind": "polynomial", "degree": 3},
    "dense-exponential": {"kind": "exponential"},
    "modern-hopfield": {"kind": "softmax", "self_overlap": True},
}
CONTINUOUS = {"gillett", "gillett-sparse", "gsemm-dense", "gsemm-linear", "eden"}
ROUNDED = CONTINUOUS | {
    "pseudo-inverse",
    "dense-auto",
    "dense-exponential",
    "dense-pseudo-inverse",
    "modern-hopfield",
    "predictive",
    "predictive-2",
    "brea",
    "fiete",
    "scaffold",
    "clone-hmm",
    "rnn",
    "pinning",
    "innate",
    "bcpnn",
}
"""These multiply with numbers that float64 does not hold, such as high powers; all others are
exact, at ties, too.
"""


def layered(net, state):
    """Equations (2)-(3), with biases where there are some and hidden neurons of 0 and 1 in the
    sparse network.
    """
    b, c = (
        getattr(net, "hidden_bias_", [0] * len(net.U_)),
        getattr(net, "visible_bias_", [0] * len(net.V_)),
    )
    low = 0 if type(net).__name__ == "SparseSequenceAttractor" else -1
    zeta = [
        1 if sign > 0 else low
        for sign, _ in oracle_rivals.fields_of(np.column_stack([net.U_, b]), [*state, 1])
    ]
    return oracle_rivals.fields_of(np.column_stack([net.V_, c]), [*zeta, 1])


def one_hot(pairs, state):
    """The construction of Theorem 1, in which a hidden neuron bears wrong units as long as no two
    can be on together.
    """
    U, V, bias = oracle.one_hot(pairs)
    distances = [oracle.differing(x, y) for x in U for y in U if x != y]
    tolerance = (min(distances, default=len(state)) - 1) // 2
    zeta = [1 if oracle.differing(x, state) <= tolerance else -1 for x in U]
    return oracle_rivals.fields_of(np.column_stack([V, bias]), [*zeta, 1])


def latent(net, state):
    """Two-layer predictive coding: the latent state of the cue, then one step on."""
    W_r, W_o, H = net.W_r_.tolist(), net.W_o_.tolist(), net.n_latent
    [fields] = oracle_rivals.offline_recall(
        W_r, W_o, state, 1, net.inference_steps, net.inference_rate
    )
    return [(oracle_rivals.sign(h), abs(h) / H) for h in fields]


def continuous(name, net, pairs, state):
    """One read-out interval of a network in continuous time, from a state that has been there for
    long.
    """
    if name in ("gillett", "gillett-sparse"):
        f = (
            (lambda x: x)
            if name == "gillett"
            else (lambda x: oracle_rates.step_function(x, net.q_f))
        )
        r = [oracle_rates.phi(f(x), net.theta, net.sigma) for x in state]
        connected = [[i != j for j in range(len(state))] for i in range(len(state))]
        J = oracle_rates.rate_weights(
            pairs,
            net.A,
            len(state),
            connected,
            getattr(net, "q_f", None),
            getattr(net, "q_g", None),
        )
        r = oracle_rates.rates(J, r, net.theta, net.sigma, net.tau, net.dt, 10)
        return oracle_rates.most_alike(oracle_rates.distinct(pairs), r)
    gains = {
        key: getattr(net, key)
        for key in ("a_s", "a_c", "b_d", "beta", "gain", "T_f", "T_d", "dt")
        if hasattr(net, key)
    }
    if name == "eden":
        v, _ = oracle_rates.eden(pairs, state, state, **gains, steps=5)
    else:
        kind = name.removeprefix("gsemm-")
        d = [net.b_d * a for a in oracle_rates.features(state, kind, net.gain)]
        v, _ = oracle_rates.gsemm(pairs, kind, state, d, **gains, steps=5)
    return [(oracle_rivals.sign(a), abs(a)) for a in v]


def stochastic(net, state):
    """Neurons that fire by chance, each in its most probable state; before the cue hidden ones were
    silent.
    """
    active = [max(v, 0) for v in state]
    return oracle_rivals.fields_of(np.column_stack([net.W_, net.visible_bias_]), [*active, 1])


def spike_timing(net, state):
    """Excitation less a common inhibition; who receives nothing is silent."""
    active = [max(v, 0) for v in state]
    inhibition = np.full(len(net.W_), -net.inhibition)
    fields = oracle_rivals.fields_of(np.column_stack([net.W_, inhibition]), [*active, sum(active)])
    return [(sign if size else -1, size) for sign, size in fields]


def scaffold(net, found):
    """A label is found, and the next one's pattern read out; where a label is nearly another one
    either may be right.
    """
    given = {name: getattr(net, name) for name in ("code", "threshold", "cue", "ridge")}
    true = oracle_scaffold.Scaffold(
        [x.tolist() for x in found], net.W_pg_.tolist(), net.periods_.tolist(), **given
    )

    def answer(state):
        path = true.recall(state, 1, net.query)
        return (
            [(oracle_rivals.sign(h), float(abs(h))) for h in path[0]]
            if path
            else [(1, 0.0)] * len(state)
        )

    return answer


def clones(net, state):
    """The nearest pattern, and the most probable one after it; of equally probable ones it may be
    either.
    """
    arrays = (
        getattr(net, name).tolist() for name in ("patterns_", "before_", "after_", "T_", "start_")
    )
    pattern, size = oracle_scaffold.next_of_clones(*arrays, state)
    return [(unit, size) for unit in pattern]


def recurrent(net, state):
    """One step from a hidden state of zeros."""
    weights = (
        getattr(net, name).tolist()
        for name in ("W_in_", "W_rec_", "W_out_", "hidden_bias_", "visible_bias_")
    )
    _, fields = oracle_scaffold.recurrent_fields(*weights, state, [0.0] * net.n_hidden)
    return [(oracle_rivals.sign(h), abs(h)) for h in fields]


def pinned(net, state):
    """Four steps of a network of rates."""
    x = oracle_trained_rates.run_pinned(
        net.J_.tolist(), [net.amplitude * v for v in state], net.tau, 4
    )
    return [(oracle_rivals.sign(v), abs(v)) for v in x]


def innate(net, state):
    """The cue as a pulse of five steps, and four steps more."""
    weights = (getattr(net, name).tolist() for name in ("W_", "W_in_", "W_out_"))
    fields = oracle_trained_rates.run_innate(*weights, state, net.tau, 5, 4)
    return [(oracle_rivals.sign(h), abs(h)) for h in fields]


def columns(net, state):
    """Six steps of columns; where two are nearly equal either may be right."""
    arrays = (getattr(net, name).tolist() for name in ("W_", "beta_", "minicolumns_"))
    given = {name: getattr(net, name) for name in ("g_a", "g_beta", "tau_s", "tau_a", "dt")}
    values, clear = oracle_trained_rates.run_columns(
        *arrays, net.units_per_hypercolumn, state, **given, steps=6
    )
    return [(value, clear) for value in values]


def as_state(signs):
    """Answers that no arithmetic on floats could change."""
    return [(sign, 1.0) for sign in signs]


def define(name, net, pairs, found):
    """From a state to (sign, relative size) of the field of each visible neuron, by the definition
    of the network.
    """
    if name in (
        "attractor",
        "attractor-V",
        "attractor-hebbian",
        "attractor-bias",
        "attractor-learned-targets",
        "sparse",
    ):
        return lambda state: layered(net, state)
    if name in (
        "perceptron",
        "perceptron-bias",
        "leaky-perceptron",
    ):  # before the first step nothing was summed
        W = np.column_stack([net.W_, getattr(net, "visible_bias_", [0] * len(net.W_))])
        return lambda state: oracle_rivals.fields_of(W, [*state, 1])
    if name in CONTINUOUS:
        return lambda state: continuous(name, net, pairs, state)
    if name == "dense-auto":
        return lambda state: oracle_rivals.dense(
            pairs, state, None, kind="polynomial", degree=net.degree_
        )
    if name in DENSE:
        return lambda state: oracle_rivals.dense(pairs, state, None, **DENSE[name])
    if name == "dense-pseudo-inverse":
        inverse = oracle_rivals.overlap_inverse([x for x, _ in pairs])
        return lambda state: oracle_rivals.dense(
            pairs, state, None, kind="polynomial", degree=2, inverse=inverse
        )
    if name == "mixed":
        return lambda state: oracle_rivals.dense(
            pairs, state, state, kind="polynomial", degree=2, lam=2.5
        )
    if name in ("hebbian", "pseudo-inverse"):
        W = oracle_rivals.hebbian(pairs) if name == "hebbian" else oracle_rivals.projection(pairs)
        return lambda state: oracle_rivals.fields_of(W, state)
    if name == "predictive":
        return lambda state: oracle_rivals.fields_of(net.W_, [math.tanh(v) for v in state])
    if name == "scaffold":
        return scaffold(net, found)
    return {
        "predictive-2": lambda state: latent(net, state),
        "brea": lambda state: stochastic(net, state),
        "fiete": lambda state: spike_timing(net, state),
        "slow-synapses": lambda state: as_state(
            oracle_rivals.slow_synapses(pairs, state, 1, 2.5, 5)[1]
        ),
        "one-hot": lambda state: one_hot(pairs, state),
        "clone-hmm": lambda state: clones(net, state),
        "rnn": lambda state: recurrent(net, state),
        "pinning": lambda state: pinned(net, state),
        "innate": lambda state: innate(net, state),
        "bcpnn": lambda state: columns(net, state),
        "sdm": lambda state: as_state(
            oracle_scaffold.next_sparse_distributed(net.V_.tolist(), net.A_.tolist(), state, 2)
        ),
        "lookup": lambda state: as_state(oracle_rivals.look_up(pairs, state)),
    }[name]


def draw_sequences(rng, N, order):
    """Up to three sequences from a few patterns and their negatives: many sums are zero, and
    patterns are not independent.
    """
    few = rng.choice(np.array([-1, 1], dtype=np.int8), size=(int(rng.integers(1, 5)), N))
    few = np.concatenate([few, -few])
    return [
        few[rng.integers(0, len(few), size=order + int(rng.integers(1, 5)))]
        for _ in range(int(rng.integers(1, 4)))
    ]


def check_every_state(name, N, order, seed):
    rng = np.random.default_rng(seed)
    known = parameters_of(name)
    order = order if "order" in known else 1
    found = draw_sequences(rng, N, order)
    drawn = {
        key: value for key, value in (("order", order), ("random_state", seed)) if key in known
    }
    net = fit_quietly(
        make_network(name, **SMALL.get(name, {}), **drawn, on_conflict="learn"), found
    )
    defined = define(name, net, oracle.transitions([x.tolist() for x in found], order), found)
    states = all_states(order * N)
    answers = net.step(states.reshape(-1, order, N) if order > 1 else states)
    for state, answer in zip(states.tolist(), answers.tolist(), strict=True):
        for unit, (sign, size) in zip(answer, defined(state), strict=True):
            assert unit == sign or (name in ROUNDED and size < NEAR_TIE), (state, answer)


@pytest.mark.parametrize("name", network_names())
@settings(max_examples=12)
@given(size=st.sampled_from([(2, 1), (3, 1), (4, 1), (2, 2)]), seed=st.integers(0, 10**6))
def test_every_state_is_answered_by_the_definition(name, size, seed):
    check_every_state(name, *size, seed)


@pytest.mark.slow
@pytest.mark.parametrize(("N", "order"), [(5, 1), (6, 1), (7, 1), (8, 1), (3, 2), (4, 2), (2, 3)])
@pytest.mark.parametrize("name", network_names())
def test_every_state_of_up_to_eight_units_is_answered_by_the_definition(name, N, order):
    for seed in range(10):
        check_every_state(name, N, order, seed)
