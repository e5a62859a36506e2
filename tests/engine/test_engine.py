"""The exact engine gives what the plain loop gives, only faster."""

import _thread
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from seqattractor.engine import reference
from seqattractor.engine.exact import blocks, engine, fields
from seqattractor.engine.exact.workers import call_uninterrupted
from seqattractor.engine.problem import Problem

CASES = settings(max_examples=70, deadline=None)


def patterns(rng, shape, p=0.5):
    return np.where(rng.random(shape) < p, 1, -1).astype(np.int8)


@st.composite
def problems(draw):
    """Transitions, start weights and settings of every variant of the rule."""
    n, N, M, order = (draw(st.integers(1, top)) for top in (50, 12, 40, 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p = draw(st.sampled_from([0.5, 0.1, 0.9]))
    inputs, targets, z = (patterns(rng, (n, k), p) for k in (order * N, N, M))
    start, bias = draw(st.sampled_from([0.0, 1e-3, 1e-2, 1.0])), draw(st.booleans())
    eta = draw(st.sampled_from([1e-3, 0.1, 0.5, 2.0**-10]))
    return {
        "arrays": (inputs, targets, z),
        "U": oracle.on_grid(start * rng.standard_normal((M, order * N + bias)), eta),
        "V": oracle.on_grid(start * rng.standard_normal((N, M + bias)), eta),
        "bias": bias,
        "kappa": draw(st.sampled_from([0.5, 1.0, 3.7, 200.0])),
        "eta": eta,
        "max_epochs": draw(st.integers(1, 60)),
        "input_threshold": draw(st.sampled_from([0.0, 0.0, 0.3, -1.0])),
        "learn_U": draw(st.sampled_from([True, True, True, False])),
    }


def in_steps(problem):
    """The same as an engine takes it: weights, kappa and the threshold divided by eta."""
    eta, (inputs, targets, z) = problem["eta"], problem["arrays"]
    return Problem(
        inputs,
        targets,
        V=oracle.in_steps(problem["V"], eta),
        U=oracle.in_steps(problem["U"], eta),
        hidden_targets=z if problem.get("learn_U", True) else None,
        kappa=float(oracle.in_steps(problem["kappa"], eta)),
        input_threshold=float(oracle.in_steps(problem.get("input_threshold", 0.0), eta)),
        bias=problem.get("bias", False),
        max_epochs=problem["max_epochs"],
    )


def run(module, problem, **more):
    learned = module.learn(in_steps(problem), **more)
    return replace(learned, U=learned.U * problem["eta"], V=learned.V * problem["eta"])


def run_visible(module, problem, **more):
    inputs, targets, _ = problem["arrays"]
    ready = in_steps(problem)
    W = np.resize(ready.U, (targets.shape[1], inputs.shape[1])).copy()
    learned = module.learn(
        Problem(inputs, targets, V=W, kappa=ready.kappa, max_epochs=ready.max_epochs), **more
    )
    return replace(learned, V=learned.V * problem["eta"])


def assert_same(fast, plain):
    assert np.array_equal(fast.errors, plain.errors)
    for weights, expected in ((fast.U, plain.U), (fast.V, plain.V)):
        assert (weights is None and expected is None) or np.array_equal(weights, expected)


@CASES
@given(problems(), st.sampled_from([1, 2]), st.sampled_from([1, 5, 128]))
def test_every_epoch_has_the_errors_of_the_plain_loop_and_the_weights_agree(
    problem, n_jobs, block_rows
):
    assert_same(run(engine, problem, n_jobs=n_jobs, block_rows=block_rows), run(reference, problem))


@CASES
@given(problems(), st.sampled_from([1, 2]))
def test_networks_without_hidden_neurons_learn_as_in_the_plain_loop(problem, n_jobs):
    fast, plain = (
        run_visible(engine, problem, n_jobs=n_jobs, block_rows=4),
        run_visible(reference, problem),
    )
    assert_same(fast, plain)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([31, 33, 70, 257, 300]),
    N=st.sampled_from([1, 7, 20]),
    M=st.sampled_from([8, 9, 270]),
    kappa=st.sampled_from([3, 60, 400]),
    alike=st.sampled_from([0.5, 0.9]),
    limit=st.sampled_from([None, 500, 2500]),
)
def test_long_rows_and_ties_are_learned_to_the_last_bit(seed, n, N, M, kappa, alike, limit):
    """More transitions and codes than one pass over a row takes, more neurons than go side by side,
    and margins met exactly.
    """
    rng, eta = np.random.default_rng(seed), 2.0**-10
    problem = {
        "arrays": tuple(patterns(rng, (n, k), alike) for k in (N, N, M)),
        "U": eta
        * rng.integers(-40, 41, (M, N)),  # whole numbers of eta: neither loop rounds anything
        "V": eta * rng.integers(-40, 41, (N, M)),
        "kappa": kappa * eta,
        "eta": eta,
        "max_epochs": 12,
    }
    with pytest.MonkeyPatch.context() as patch:
        if limit:
            set_limits(patch, limit)
        fast = run(engine, problem)
    plain = run(reference, problem)
    assert_same(fast, plain)


def set_limits(patch, narrow, wide=2**31 - 2):
    """Let integers of 16 and 32 bits hold fields up to so much only."""
    limits = {np.dtype(np.int16): narrow, np.dtype(np.int32): wide}
    patch.setattr(fields, "limit_of", limits.__getitem__)
    patch.setattr(blocks, "limit_of", limits.__getitem__)


def test_slots_take_the_next_row_when_one_is_done():
    """Rows that settle in the first epoch and rows that never do, in turns: those side by side are
    in different epochs.
    """
    rng = np.random.default_rng(5)
    n, N, M, eta = 40, 12, 101, 2.0**-10  # more rows than are worked on at once
    x = patterns(rng, (n, N))
    z = patterns(rng, (n, M))
    U = eta * rng.integers(-3, 4, (M, N))
    z[:, ::3] = x[:, :1]  # one input determines all
    U[::3] = 0
    U[::3, 0] = 1.0
    problem = {
        "arrays": (x, x, z),
        "U": U,
        "V": np.zeros((N, M)),
        "kappa": 0.5,
        "eta": eta,
        "max_epochs": 30,
    }
    fast, plain = run(engine, problem), run(reference, problem)
    assert (
        0
        < plain.hidden_errors.min()
        <= plain.hidden_errors.max()
        == n * np.count_nonzero(np.arange(M) % 3)
    )
    assert_same(fast, plain)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 40),
    N=st.integers(1, 50),
    m=st.integers(1, 20),
    piece=st.integers(1, 40),
)
def test_start_fields_are_the_exact_sums_of_weights(seed, n, N, m, piece):
    rng = np.random.default_rng(seed)
    X, whole = patterns(rng, (n, N)), rng.integers(-(2**30), 2**30, (m, N))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fields, "_COLUMNS", piece)
        found = fields.start_fields(whole * 2.0**-20, X, 3.0)
    assert np.array_equal(found, (whole @ X.T.astype(np.int64)) * 2.0**-20 - 3)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 70), N=st.integers(1, 100))
def test_the_gram_matrix_has_the_products_of_all_patterns(seed, n, N):
    X = patterns(np.random.default_rng(seed), (n, N))
    K = fields.gram(X)
    assert np.array_equal(K[:, :n], X.astype(np.int64) @ X.T)
    assert not K[:, n:].any()


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 40),
    N=st.integers(1, 50),
    m=st.integers(1, 20),
    more=st.booleans(),
)
def test_learned_weights_are_the_exact_sums_of_patterns(seed, n, N, m, more):
    rng = np.random.default_rng(seed)
    X, counts, start = (
        patterns(rng, (n, N)),
        rng.integers(-(2**20), 2**20, (m, n)),
        rng.integers(-9, 9, (m, N)),
    )
    counts[rng.random(m) < 0.5] = 0
    found, others = start.astype(float), rng.integers(-9, 9, (m, N))
    fields.add_learned(found, counts, X, others if more else None)
    assert np.array_equal(found, start + more * others + counts @ X.astype(np.int64))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5]), st.booleans(), st.booleans())
def test_from_zero_weights_the_result_is_the_index_by_index_rule_to_the_last_bit(
    seed, theta, learn_U, bias
):
    rng = np.random.default_rng(seed)
    n, N, M, eta = 7, 5, 9, 2.0**-10
    X, P = patterns(rng, (n + 1, N)), rng.standard_normal((M, N))
    z = np.where(X[1:] @ P.T >= 0, 1, -1).astype(np.int8)
    U0 = np.zeros((M, N + bias)) if learn_U else rng.standard_normal((M, N + bias))
    U0 = oracle.on_grid(U0, eta)
    start = {
        "U": U0,
        "V": np.zeros((N, M + bias)),
        "kappa": 1.0,
        "eta": eta,
        "max_epochs": 300,
        "input_threshold": theta,
    }
    fast = run(engine, {"arrays": (X[:-1], X[1:], z), **start, "learn_U": learn_U, "bias": bias})
    pairs = oracle.transitions([X.tolist()])
    how = {
        "input_threshold": theta,
        "learn_U": learn_U,
        "biases": (U0[:, -1], [0.0] * N, [0.0] * M) if bias else None,
    }
    U, V, hidden, visible, *biases = oracle.learn(
        pairs, U0[:, :N], np.zeros((N, M)), P, 1.0, eta, 300, **how
    )
    assert fast.hidden_errors.tolist() == hidden
    assert fast.visible_errors.tolist() == visible
    assert np.array_equal(fast.U[:, :N], U)
    assert np.array_equal(fast.V[:, :M], V)
    assert [fast.U[:, N:].T.tolist(), fast.V[:, M:].T.tolist()] == (
        [[b] for b in biases] if bias else [[], []]
    )


@settings(max_examples=40, deadline=None)
@given(problems())
def test_the_number_of_threads_and_the_size_of_blocks_change_no_bit(problem):
    one = run(engine, problem)
    for n_jobs, block_rows in ((2, 128), (2, 3), (-1, 1)):
        other = run(engine, problem, n_jobs=n_jobs, block_rows=block_rows)
        assert_same(one, other)


@settings(max_examples=40, deadline=None)
@given(problem=problems(), sizes=st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_how_many_epochs_are_done_at_a_time_changes_no_bit(problem, sizes):
    one = run(engine, problem)
    with (
        pytest.MonkeyPatch.context() as patch
    ):  # on a machine of another speed, or a busy one, windows are other ones
        order = itertools.cycle(sizes)
        patch.setattr(engine, "_next_size", lambda size, seconds, told: next(order))
        other = run(engine, problem)
    assert_same(one, other)


@settings(max_examples=40, deadline=None)
@given(problem=problems(), narrow=st.sampled_from([400, 1500, 5000]))
def test_fields_that_outgrow_their_integers_continue_in_wider_ones(problem, narrow):
    with (
        pytest.MonkeyPatch.context() as patch
    ):  # a small limit, so that the width changes in the middle of learning
        set_limits(patch, narrow)
        fast = run(engine, problem)
    assert_same(fast, run(reference, problem))


@pytest.mark.parametrize(("top", "width"), [(2**14, np.int16), (2**20, np.int32)])
def test_wide_integers_are_used_when_the_fields_need_them_and_only_then(top, width):
    N = 64 if top == 2**14 else 2**18
    x = patterns(np.random.default_rng(0), (1, N))
    updates = (
        top // N + 1
    )  # from zero weights every update adds N; H(0) = 1 asks for more than kappa
    K = fields.Gram(x)
    block = blocks.LayerBlock(
        np.zeros((1, N)), x, np.array([[-1]], dtype=np.int8), K, kappa=float(top)
    )
    errors, _ = block.advance(updates + 5)
    assert errors.sum() == updates
    assert block.fields.dtype == width
    block.finish()
    assert np.array_equal(block.weights, -updates * x.astype(float))


@pytest.mark.parametrize("n_epochs", [2**15 - 1, 2**15, 70_000])
def test_updates_of_many_epochs_are_counted(n_epochs):
    x, z = (
        np.ones((2, 1), dtype=np.int8),
        np.array([[1], [-1]], dtype=np.int8),
    )  # a contradiction: both are updated in every epoch
    block = blocks.LayerBlock(np.zeros((1, 1)), x, z, fields.Gram(x), kappa=1.0)
    assert block.advance(n_epochs)[0].sum() == 2 * n_epochs
    assert np.array_equal(block.counts, [[n_epochs, n_epochs]])


def test_a_margin_out_of_reach_of_all_integers_raises_an_error(monkeypatch):
    set_limits(monkeypatch, 40, 80)
    x = np.ones((1, 3), dtype=np.int8)
    block = blocks.LayerBlock(np.zeros((1, 3)), x, x[:, :1], fields.Gram(x), kappa=1e300)
    with pytest.raises(OverflowError, match="larger eta"):
        block.advance(100)


def test_progress_is_reported_for_every_epoch_in_order():
    rng = np.random.default_rng(1)
    problem = hard_problem(rng, 120)
    reported = []
    learned = run(engine, problem, callback=lambda *epoch: reported.append(epoch))
    assert [epoch for epoch, _, _ in reported] == list(range(1, learned.n_iter + 1))
    assert [hidden for _, hidden, _ in reported] == learned.hidden_errors.tolist()
    assert [visible for _, _, visible in reported] == learned.visible_errors.tolist()


@pytest.mark.parametrize("stop", [1, 2, 13, 40])
def test_a_callback_that_stops_learning_leaves_the_weights_of_that_epoch(stop):
    problem = hard_problem(np.random.default_rng(2), 60)
    stopped = run(engine, problem, callback=lambda epoch, *_: epoch == stop)
    shorter = run(engine, {**problem, "max_epochs": stop})
    assert stopped.n_iter == stop
    assert not stopped.converged
    assert np.array_equal(stopped.U, shorter.U)
    assert np.array_equal(stopped.V, shorter.V)
    assert np.array_equal(stopped.visible_errors, shorter.visible_errors)


def hard_problem(rng, max_epochs):
    """More transitions than 20 neurons can take: it never converges."""
    n, N, M = 90, 20, 60
    return {
        "arrays": tuple(patterns(rng, (n, k)) for k in (N, N, M)),
        "U": oracle.on_grid(1e-3 * rng.standard_normal((M, N)), 1e-3),
        "V": oracle.on_grid(1e-3 * rng.standard_normal((N, M)), 1e-3),
        "kappa": 1.0,
        "eta": 1e-3,
        "max_epochs": max_epochs,
        "input_threshold": 0.0,
        "learn_U": True,
        "bias": False,
    }


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_within_a_second(n_jobs):
    problem = hard_problem(
        np.random.default_rng(3), 20_000
    )  # so many that fields need wider integers
    run(engine, problem, n_jobs=n_jobs)  # all is imported and loaded before the clock starts
    pressed, threads = [], threading.active_count()  # others may be left of earlier tests

    def press():
        pressed.append(time.process_time())
        _thread.interrupt_main()

    timer = threading.Timer(0.5, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run(engine, {**problem, "max_epochs": 10_000_000}, n_jobs=n_jobs)
    assert (
        time.process_time() - pressed[0] < 1.0 * n_jobs
    )  # of work: on a busy machine the clock on the wall runs faster
    timer.join()
    assert threading.active_count() <= threads


@pytest.fixture
def ctrl_c():
    """A function that presses Ctrl-C and returns when Python has handled it, whatever handled it
    before this test.
    """

    def press():
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass
        return "returned"

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield press
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_during_what_must_not_be_interrupted_comes_when_it_has_returned(ctrl_c):
    returned = []
    with pytest.raises(KeyboardInterrupt):
        call_uninterrupted(lambda: call_uninterrupted(lambda: returned.append(ctrl_c())))
    assert returned == ["returned"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        ctrl_c()


def test_a_handler_of_the_users_sees_ctrl_c_once_and_one_that_ignores_it_stays(ctrl_c):
    seen = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    assert call_uninterrupted(ctrl_c) == "returned"
    assert seen == [signal.SIGINT]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert call_uninterrupted(ctrl_c) == "returned"
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.parametrize(
    ("n_jobs", "error"), [(0, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_a_senseless_number_of_threads_is_rejected(n_jobs, error):
    with pytest.raises(error, match="n_jobs"):
        run(engine, hard_problem(np.random.default_rng(4), 2), n_jobs=n_jobs)


LEARN = """
import numpy as np, pathlib, sys, time
from seqattractor.engine.exact import engine
from seqattractor.engine.grid import on_grid
from seqattractor.engine.problem import Problem
def peak():
    status = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
N, M, T, S = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
base = peak()
n = S * (T - 1)
x = np.where(rng.random((n, N), dtype=np.float32) < 0.5, 1, -1).astype(np.int8)
x_next = np.roll(x, -1, axis=0)
z = np.where(rng.random((n, M)) < 0.5, 1, -1).astype(np.int8)
# As init_scale = eta = 1e-3.
U, V, P = (on_grid(rng.standard_normal(shape)) for shape in ((M, N), (N, M), (M, N)))
started = time.process_time()
learned = engine.learn(Problem(x, x_next, V, 1000.0, 500, U=U, hidden_targets=z), n_jobs=2)
assert learned.converged
print(time.process_time() - started, peak() - base, peak())
"""


def learn_in_new_process(*sizes):
    """Learn; gives the seconds, and the peak of memory in MB beyond the interpreter and in all."""
    done = subprocess.run(
        [sys.executable, "-c", LEARN, *map(str, sizes)], capture_output=True, text=True, check=True
    )
    return tuple(map(float, done.stdout.split()))


@pytest.mark.slow
def test_moving_digits_need_less_than_500_mb_beyond_the_interpreter():
    assert learn_in_new_process(4096, 1000, 20, 20)[1] < 500


@pytest.mark.slow
def test_frames_of_256_by_256_learn_in_less_than_3_gb():
    assert learn_in_new_process(65536, 1000, 300, 1)[2] < 3 * 1024
