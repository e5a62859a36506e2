"""The exact engine on weights, for long sequences, gives what the plain loop gives, and bit for bit
what it gives on fields.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_engine import assert_same, hard_problem, in_steps, patterns, problems, run, run_visible

import oracle
from seqattractor.engine import kernels, reference
from seqattractor.engine.exact import engine, weights
from seqattractor.engine.problem import Problem

CASES = settings(max_examples=60, deadline=None)
SIZES = {
    "n_jobs": st.sampled_from([1, 2]),
    "block_rows": st.sampled_from([1, 12, 32]),
    "chunk": st.sampled_from([1, 3, 16, 1024]),
}


@CASES
@given(problem=problems(), sizes=st.fixed_dictionaries(SIZES))
def test_every_epoch_has_the_errors_of_the_plain_loop_and_the_weights_agree(problem, sizes):
    assert_same(run(weights, problem, **sizes), run(reference, problem))


@CASES
@given(problem=problems(), sizes=st.fixed_dictionaries(SIZES))
def test_no_bit_differs_from_the_result_on_fields_whatever_the_threads_blocks_and_chunks(
    problem, sizes
):
    assert_same(run(weights, problem, **sizes), run(engine, problem, form="fields"))


@CASES
@given(problem=problems(), sizes=st.fixed_dictionaries(SIZES))
def test_networks_without_hidden_neurons_learn_as_in_the_plain_loop(problem, sizes):
    fast = run_visible(weights, problem, **sizes)
    assert_same(fast, run_visible(reference, problem))
    assert_same(fast, run_visible(engine, problem, form="fields"))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 11), bias=st.booleans())
def test_from_zero_weights_the_result_is_the_index_by_index_rule_to_the_last_bit(seed, n, bias):
    rng = np.random.default_rng(seed)
    N, M, eta = 5, 35, 2.0**-10
    X, P = patterns(rng, (n + 1, N)), rng.standard_normal((M, N))
    z = np.where(X[1:] @ P.T >= 0, 1, -1).astype(np.int8)
    start = {
        "U": np.zeros((M, N + bias)),
        "V": np.zeros((N, M + bias)),
        "kappa": 1.0,
        "eta": eta,
        "max_epochs": 250,
    }
    fast = run(weights, {"arrays": (X[:-1], X[1:], z), **start, "bias": bias}, chunk=6)
    biases = ([0.0] * M, [0.0] * N, [0.0] * M) if bias else None
    pairs = oracle.transitions([X.tolist()])
    U, V, hidden, visible, *_ = oracle.learn(
        pairs, np.zeros((M, N)), np.zeros((N, M)), P, 1.0, eta, 250, biases=biases
    )
    assert fast.hidden_errors.tolist() == hidden
    assert fast.visible_errors.tolist() == visible
    assert np.array_equal(fast.U[:, :N], U)
    assert np.array_equal(fast.V[:, :M], V)


def test_weights_beyond_16_bits_are_learned():
    x = np.ones((2000, 3), dtype=np.int8)
    fast = weights.learn(Problem(x, x, V=np.zeros((3, 3)), kappa=200_000.0, max_epochs=40))
    assert fast.converged
    assert np.array_equal(
        fast.V, np.full((3, 3), 66667.0)
    )  # the first whole number with a field above kappa
    assert fast.errors.sum() == 3 * 66667


@pytest.mark.parametrize("isa", kernels.instruction_sets())
@settings(max_examples=20, deadline=None)
@given(problem=problems())
def test_every_instruction_set_gives_the_same_bits(isa, problem):
    best, usual = run(weights, problem), kernels.instruction_set()
    try:
        kernels.use(isa)
        assert_same(run(weights, problem), best)
    finally:
        kernels.use(usual)


@pytest.mark.parametrize("stop", [1, 13])
def test_a_callback_is_called_after_every_epoch_and_can_stop_with_its_weights(stop):
    problem, reported = hard_problem(np.random.default_rng(2), 60), []

    def report(*epoch):
        reported.append(epoch)
        return epoch[0] == stop

    stopped = run(weights, problem, callback=report)
    assert_same(stopped, run(weights, {**problem, "max_epochs": stop}))
    counted = zip(stopped.hidden_errors.tolist(), stopped.visible_errors.tolist(), strict=True)
    assert reported == [
        (e, hidden, visible) for e, (hidden, visible) in enumerate(counted, start=1)
    ]


def test_the_form_is_chosen_by_the_numbers_of_transitions_neurons_and_inputs(monkeypatch):
    paper, long = [(500, 100), (100, 500)], [(2000, 200), (200, 2000)]
    assert [engine.choose_form(n, paper, 500) for n in (20, 70, 20_000)] == [
        "fields",
        "fields",
        "weights",
    ]
    assert engine.choose_form(20_000, long, 500) == "weights"
    assert (
        engine.choose_form(70, paper, 1) == "weights"
    )  # a Gram matrix does not pay for one presentation
    assert (
        engine.choose_form(50_000, [(100, 10**6)], 500) == "weights"
    )  # or it would not fit into memory
    problem = in_steps(hard_problem(np.random.default_rng(2), 3))
    monkeypatch.setattr(weights, "learn", lambda problem, **options: "weights")
    assert engine.learn(problem, form="weights") == "weights"
    assert engine.learn(problem, form="fields") != "weights"
    assert engine.learn(replace(problem, max_epochs=1)) == "weights"


@example(n=1, N=1)
@given(n=st.integers(1, 10**6), N=st.integers(1, 10**5))
def test_costs_grow_with_the_square_of_the_sequence_on_fields_only(n, N):
    layers = [(100, N)]
    assert engine.weights_cost(2 * n, layers) <= 2.0 * engine.weights_cost(n, layers)
    assert engine.fields_cost(2 * n, layers) > 2.0 * engine.fields_cost(n, layers)
