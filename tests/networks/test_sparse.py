"""The sparse network: exact kernels, ten times the capacity, and defaults that need no tuning."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import oracle_sparse
import seqattractor as sa
from films import as_sequences, textured_film
from quiet import fit_quietly
from seqattractor.engine import kernels
from seqattractor.engine.sparse.engine import learn_sparse
from seqattractor.engine.sparse.rule import Epoch, Obeyed, SparseSettings, SparseState, present
from seqattractor.engine.synapses import Synapses
from seqattractor.networks.sparse import choose_defaults, how_alike, typical_distance
from seqattractor.sequences import check_sequences, transitions
from strategies import sequences

FITTED = ["U_", "V_", "P_", "theta_", "hidden_bias_", "hidden_errors_", "visible_errors_"]
X200 = sa.datasets.random_periodic(200, 100, rng=200)


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in FITTED)


@st.composite
def rules(draw, n_hidden, scale):
    return SparseSettings(
        n_winners=draw(st.integers(1, min(3, n_hidden))),
        winners=draw(st.booleans()),
        bias=draw(st.integers(0, 3)),
        margin=draw(st.integers(1, 40)) * scale,
        active_margin=draw(st.integers(1, 60)) * scale,
        active_weight=draw(st.integers(1, 3)),
        visible_margin=draw(st.integers(1, 9)) * scale,
        learn_drive=draw(st.booleans()),
        learned_feedback=draw(st.sampled_from([0.0, 0.03, 1.0])) / scale,
        redraw=draw(st.sampled_from([0.0, 0.3])),
    )


@st.composite
def plans(draw, n_in, scale):
    noise = draw(st.sampled_from([0, 0, 1, n_in]))
    epoch = st.builds(
        Epoch,
        noise=st.sampled_from([0, noise]),
        hidden_step=st.integers(0, 4).map(lambda step: step * scale),
        visible_step=st.integers(1, 2).map(lambda step: step * scale),
        choosing=st.booleans(),
        drive_step=st.integers(0, 2**16),
        homeostasis=st.sampled_from([0.0, 0.1]),
        redraw_above=st.sampled_from([math.inf, math.inf, 0.0, 0.5]),
        at_most=st.sampled_from([math.inf, math.inf, 0.0, 1.0]),
    )
    alone = Epoch(
        0, 0, draw(st.integers(1, 2)) * scale, at_most=draw(st.sampled_from([math.inf, 1.0]))
    )
    for_U = Epoch(0, draw(st.integers(1, 2)) * scale, 0)
    first, again = (draw(st.lists(epoch, min_size=least, max_size=7)) for least in (1, 0))
    times = st.integers(0, 9)
    return [
        *first,
        *[for_U] * draw(times),
        *[alone] * draw(times),
        *again,
        *[for_U] * draw(times),
        *[alone] * draw(times),
    ]


@st.composite
def bounds_of_synapses(draw, shape, scale, rng):
    """Some of them missing, or of one sign; levels, limits and decay."""
    spacing = draw(st.sampled_from([0, 0, 1, 3, 8])) * scale
    limit = draw(st.sampled_from([math.inf, 24 * scale, 48 * scale]))
    low, high = (rng.choice([0.0, limit, limit], shape) for _ in range(2))
    left = draw(st.sampled_from([1.0, 1.0, 0.9]))
    return Synapses(low=0.0 - low, high=high, spacing=float(spacing), left=left)


@settings(max_examples=150)
@given(st.data())
def test_kernels_plain_loop_and_oracle_agree_bit_for_bit(data):
    found = data.draw(sequences(max_n=5, max_t=6))
    inputs, targets, _ = transitions(*check_sequences(found))
    n, n_in, M = len(inputs), inputs.shape[1], data.draw(st.integers(1, 7))
    seed = data.draw(st.integers(0, 2**16))
    scale = data.draw(st.sampled_from([1, 2**33]))  # the second needs 64-bit integers
    rule, epochs = data.draw(rules(M, scale)), data.draw(plans(n_in, scale))
    rng = np.random.default_rng(seed)
    U, V = rng.integers(-5, 6, (M, n_in + 1)) * scale, rng.integers(-5, 6, (n_in, M)) * scale
    P = rng.integers(-4096, 4097, (M, n_in if rule.learn_drive else 0))
    drive, theta = rng.standard_normal((n, M)), rng.standard_normal(M)

    obeyed = None
    if data.draw(st.booleans()):
        obeyed = [data.draw(bounds_of_synapses((M, n_in), scale, rng)) for _ in range(2)]

    plain = [U.tolist(), V.tolist(), V.T.tolist(), P.tolist(), theta.tolist()]
    pairs = list(zip(inputs.tolist(), targets.tolist(), strict=True))
    reported = [dataclasses.asdict(epoch) for epoch in epochs]
    expected = oracle_sparse.learn(
        pairs,
        drive.tolist(),
        *plain,
        dataclasses.asdict(rule),
        reported,
        np.random.default_rng(seed),
        obeyed and [vars(each) for each in obeyed],
        lambda epoch: [np.random.default_rng([seed, 2 + k, epoch]) for k in (0, 1)],
    )
    fades = obeyed is not None and any(each.left < 1 for each in obeyed)
    for compiled in (False, True):
        state = SparseState(
            *(U.copy(), V.copy(), V.T.copy(), P.copy(), theta.copy()),
            *(
                np.zeros((n, M), dtype=np.int8),
                np.zeros(n),
                np.zeros(n, bool),
                np.zeros(M, np.int64),
            ),
            obeys=obeyed and Obeyed(*obeyed, seed=np.array([seed]), epoch=0),
        )
        errors, _ = learn_sparse(
            inputs,
            targets,
            drive,
            state,
            rule,
            epochs,
            rng=np.random.default_rng(seed),
            compiled=compiled,
        )
        assert errors.tolist() == [list(pair) for pair in expected[: len(errors)]]
        if fades and len(errors) < len(expected):
            assert errors[-1].tolist() == [0, 0]
            continue
        assert all(
            pair == (0, 0) for pair in expected[len(errors) :]
        )  # it stops only where nothing more would change
        ours = (state.U, state.V, state.Q, state.P, state.theta)
        assert all(np.array_equal(a, b) for a, b in zip(ours, plain, strict=True))


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_kernels_and_plain_loop_agree_bit_for_bit_where_arrays_are_wider_than_a_block(data):
    """Past the 64 numbers that are added at once, and the 64 presentations for which fields are
    looked up together.
    """
    n, n_in, M = (
        data.draw(st.sampled_from([15, 33, 300])),
        data.draw(st.integers(2, 140)),
        data.draw(st.integers(1, 140)),
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    patterns = np.where(
        rng.random((n + 1, n_in)) < data.draw(st.sampled_from([0.1, 0.5])), 1, -1
    ).astype(np.int8)
    rule, epochs = data.draw(rules(M, 1)), data.draw(plans(n_in, 1))[:3]
    margins = data.draw(
        st.sampled_from([1, 10**6])
    )  # with the larger one every neuron learns in every presentation
    rule = dataclasses.replace(rule, margin=rule.margin * margins)
    U, V = rng.integers(-5, 6, (M, n_in + 1)), rng.integers(-5, 6, (n_in, M))
    P = rng.integers(-4096, 4097, (M, n_in if rule.learn_drive else 0))
    drive, theta, seed = (
        rng.standard_normal((n, M)),
        rng.standard_normal(M),
        int(rng.integers(2**16)),
    )
    results = []
    for compiled in (False, True):
        state = SparseState(
            *(U.copy(), V.copy(), V.T.copy(), P.copy(), theta.copy()),
            *(
                np.zeros((n, M), dtype=np.int8),
                np.zeros(n),
                np.zeros(n, bool),
                np.zeros(M, np.int64),
            ),
        )
        rng = np.random.default_rng(seed)
        errors, _ = learn_sparse(
            patterns[:-1], patterns[1:], drive, state, rule, epochs, rng=rng, compiled=compiled
        )
        results.append(
            (*dataclasses.astuple(state), errors, rng.integers(2**63))
        )  # the last: as much was drawn
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))


@settings(max_examples=30)
@given(st.data())
def test_feedback_that_learns_by_the_update_of_v_is_its_transpose_after_any_number_of_presentations(
    data,
):
    """No neuron reads a weight that is not its own: Q and V are separate arrays in the plain
    rule.
    """
    found = data.draw(sequences(max_n=5, max_t=6))
    inputs, targets, _ = transitions(*check_sequences(found))
    n, n_in, M = len(inputs), inputs.shape[1], data.draw(st.integers(1, 7))
    rule, epochs = data.draw(rules(M, 1)), data.draw(plans(n_in, 1))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    state = SparseState(
        *(
            rng.integers(-5, 6, (M, n_in + 1)),
            np.zeros((n_in, M), dtype=np.int64),
            np.zeros((M, n_in), dtype=np.int64),
        ),
        *(rng.integers(-4096, 4097, (M, n_in if rule.learn_drive else 0)), rng.standard_normal(M)),
        *(np.zeros((n, M), dtype=np.int8), np.zeros(n), np.zeros(n, bool), np.zeros(M, np.int64)),
    )
    for epoch in epochs:
        present(state, rule, epoch, inputs, targets, rng.standard_normal((n, M)), rng)
        assert np.array_equal(state.Q, state.V.T)
    assert not np.shares_memory(state.Q, state.V)


@settings(max_examples=30)
@given(stop=st.integers(1, 45), seed=st.integers(0, 2**16))
def test_a_callback_can_stop_the_practice_after_any_epoch(stop, seed):
    """U and V practise neuron by neuron, many epochs at a time; what is left then is what the plain
    loop leaves.
    """
    X = sa.datasets.random_periodic(9, 4, rng=seed)
    inputs, targets, _ = transitions(*check_sequences([X]))
    rule = SparseSettings(2, True, 1, 9, 9, 1, 40, False, 0.0, 0.0)
    plan = [Epoch(noise=1, hidden_step=2, visible_step=3, choosing=True)] * 4
    plan += [Epoch(noise=0, hidden_step=2, visible_step=0)] * 10 + [
        Epoch(noise=0, hidden_step=0, visible_step=1)
    ] * 40
    left = []
    for compiled in (False, True):
        rng = np.random.default_rng(seed)
        M = 6
        U, drive = rng.integers(-3, 4, (M, 5)), rng.standard_normal((8, M))
        state = SparseState(
            *(
                U,
                np.zeros((4, M), dtype=np.int64),
                np.zeros((M, 4), dtype=np.int64),
                np.zeros((M, 0), dtype=np.int64),
            ),
            *(
                np.zeros(M),
                np.zeros((8, M), dtype=np.int8),
                np.zeros(8),
                np.zeros(8, bool),
                np.zeros(M, np.int64),
            ),
        )
        seen = []

        def callback(epoch, hidden, visible, seen=seen):
            seen.append(epoch)
            return epoch == stop

        errors, _ = learn_sparse(
            inputs, targets, drive, state, rule, plan, rng=rng, compiled=compiled, callback=callback
        )
        assert seen == list(range(1, len(errors) + 1))
        left.append((errors, *dataclasses.astuple(state)))
    assert all(np.array_equal(a, b) for a, b in zip(*left, strict=True))


@pytest.mark.parametrize("compiled", [False, True])
def test_a_callback_can_stop_where_v_has_no_error_left(compiled):
    """Epochs for V alone that are still planned are noted, too, if U is to learn again after
    them.
    """
    x, seen = sa.datasets.random_periodic(5, 20, rng=0).patterns, []
    state = SparseState(
        *(
            np.zeros((3, 21), np.int64),
            np.zeros((20, 3), np.int64),
            np.zeros((3, 20), np.int64),
            np.zeros((3, 0), np.int64),
        ),
        *(
            np.zeros(3),
            np.zeros((1, 3), np.int8),
            np.zeros(1),
            np.zeros(1, bool),
            np.zeros(3, np.int64),
        ),
    )
    state.V[:], state.Q[:] = 9 * x[1][:, None], 9 * x[1]
    plan = [Epoch(noise=0, hidden_step=0, visible_step=1)] * 9 + [
        Epoch(noise=1, hidden_step=1, visible_step=1)
    ] * 9
    rule = SparseSettings(1, True, 1, 9, 9, 1, 9, False, 0.0, 0.0)

    def callback(epoch, hidden, visible):
        seen.append((epoch, visible))
        return epoch == 4

    once = x[:1], x[1:2]
    errors, _ = learn_sparse(
        *once,
        np.zeros((1, 3)),
        state,
        rule,
        plan,
        rng=np.random.default_rng(0),
        compiled=compiled,
        callback=callback,
    )
    assert seen == [(1, 0), (2, 0), (3, 0), (4, 0)]
    assert len(errors) == 4


@pytest.mark.parametrize("compiled", [False, True])
def test_v_continues_alone_where_every_transition_is_made_but_not_with_its_margin(compiled):
    """`converged_` promises margins: practice that is left is used for them, too; other targets are
    not.
    """
    X = sa.datasets.random_periodic(9, 20, rng=0)
    inputs, targets, _ = transitions(*check_sequences([X]))
    n, M, rng = len(inputs), 60, np.random.default_rng(0)
    rule = SparseSettings(2, True, 1, 9, 9, 1, 100, False, 0.0, 0.0)
    practice = Epoch(noise=0, hidden_step=0, visible_step=1)
    redraw = Epoch(noise=0, hidden_step=1, visible_step=1, redraw_above=0.0, at_most=0.01)
    state = SparseState(
        *(
            rng.integers(-3, 4, (M, 21)),
            np.zeros((20, M), dtype=np.int64),
            np.zeros((M, 20), dtype=np.int64),
        ),
        *(
            np.zeros((M, 0), dtype=np.int64),
            np.zeros(M),
            np.zeros((n, M), dtype=np.int8),
            np.zeros(n),
            np.zeros(n, bool),
        ),
        np.zeros(M, np.int64),
    )
    before = state.targets.copy()
    plan = [practice] * 17
    errors, converged = learn_sparse(
        inputs, targets, np.zeros((n, M)), state, rule, plan, rng=rng, compiled=compiled
    )
    assert not state.wrong.any()
    assert errors[-1, 1] > 0
    assert not converged
    plan = [redraw] * 5 + [dataclasses.replace(practice, at_most=0.5)] * 2000
    errors, converged = learn_sparse(
        inputs, targets, np.zeros((n, M)), state, rule, plan, rng=rng, compiled=compiled
    )
    assert converged
    assert len(errors) < 2000
    assert np.array_equal(state.targets, before)


def largest_margin(A):
    """The largest least product of a vector of length 1 with the rows of A (Lawson and Hanson's
    least distance programming).
    """
    E, f = np.vstack([A.T, np.ones(len(A))]), np.append(np.zeros(A.shape[1]), 1.0)
    r = E @ nnls(E, f)[0] - f
    return 1 / np.linalg.norm(r[:-1] / r[-1])


def test_hidden_neurons_that_raise_their_margins_come_near_the_largest_there_is():
    rng = np.random.default_rng(0)
    n, n_in, M, b = 40, 30, 6, 3
    x = np.where(rng.random((n + 1, n_in)) < 0.5, 1, -1).astype(np.int8)
    zeros = np.zeros((n_in, M), dtype=np.int64)
    state = SparseState(
        *(
            np.zeros((M, n_in + 1), dtype=np.int64),
            zeros,
            zeros.T.copy(),
            zeros.T[:, :0].copy(),
            np.zeros(M),
        ),
        *(
            (rng.random((n, M)) < 0.1).astype(np.int8),
            np.zeros(n),
            np.zeros(n, bool),
            np.zeros(M, np.int64),
        ),
    )
    rule = SparseSettings(1, True, b, 30, 30, 1, 1, False, 0.0, 0.0)
    x_b = np.column_stack([x[:-1], np.full(n, b)]).astype(float)
    s, reached = np.where(state.targets, 1.0, -1.0), []
    for _ in range(2):
        epochs = [Epoch(noise=0, hidden_step=1, visible_step=0)] * 1000
        learn_sparse(x[:-1], x[1:], np.zeros((n, M)), state, rule, epochs, rng=rng)
        margins = np.min(s.T * (state.U @ x_b.T), axis=1) / np.linalg.norm(state.U, axis=1)
        reached.append(margins / [largest_margin(s[:, [i]] * x_b) for i in range(M)])
    assert np.all(reached[0] > 0.8)
    assert np.all(reached[1] > 0.9)
    assert np.all(reached[1] <= 1 + 1e-9)
    assert np.all(state.V == 0)


@settings(max_examples=15)
@given(
    found=sequences(max_n=8, min_n=3),
    noise=st.sampled_from(["auto", 0, 2]),
    code=st.sampled_from(["winners", "thresholds"]),
    target_from=st.sampled_from(["current", "next"]),
    order=st.sampled_from([1, 1, 2]),
    decay=st.sampled_from(["auto", True, False]),
)
def test_both_engines_learn_the_same_network(found, noise, code, target_from, order, decay):
    found = [x for x in found if len(x) > order] or [
        np.array([[1, 1, 1], [1, -1, 1], [-1, 1, 1]], dtype=np.int8)
    ]
    options = {
        "noise": noise,
        "code": code,
        "target_from": target_from,
        "order": order,
        "decay": decay,
        "on_conflict": "learn",
    }
    nets = [
        fit_quietly(
            sa.SparseSequenceAttractor(12, max_epochs=20, random_state=3, engine=engine, **options),
            found,
        )
        for engine in ("exact", "reference")
    ]
    assert same(*nets)
    assert nets[0].converged_ == nets[1].converged_


@pytest.mark.parametrize(
    "generator", [np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64]
)
def test_kernels_draw_from_any_generator_what_the_plain_loop_draws(generator):
    X = sa.datasets.random_periodic(30, 40, rng=0)  # more inputs than `TINY`: noise stays
    nets, left = [], []
    for engine in ("exact", "reference"):
        rng = np.random.Generator(generator(7))
        nets.append(
            fit_quietly(
                sa.SparseSequenceAttractor(15, max_epochs=30, random_state=rng, engine=engine), X
            )
        )
        left.append(rng.integers(2**63))
    assert nets[0].noise_ > 0
    assert same(*nets)
    assert left[0] == left[1]


def test_every_instruction_set_learns_the_same_network():
    X = sa.datasets.random_periodic(80, 70, rng=0)
    nets, best = [], kernels.instruction_set()
    try:
        for isa in kernels.instruction_sets():
            kernels.use(isa)
            nets.append(
                fit_quietly(sa.SparseSequenceAttractor(90, max_epochs=30, random_state=0), X)
            )
            nets.append(
                fit_quietly(
                    sa.SparseSequenceAttractor(90, max_epochs=30, noise=0, random_state=0), X
                )
            )
    finally:
        kernels.use(best)
    assert all(same(a, b) for a, b in zip(nets, nets[2:], strict=False))


def test_the_default_network_stores_200_patterns_and_falls_back_to_them_from_everywhere():
    net = sa.SparseSequenceAttractor(500, random_state=0, max_epochs=150).fit(X200)
    assert sa.retrieved(net.recall(sa.noise.flip(X200[0], 10, rng=1), steps=600), X200)
    assert sa.basin_fraction(net, X200, flips=10, rng=2) >= 0.995


def test_it_stores_more_patterns_than_it_has_hidden_neurons():
    X = sa.datasets.random_periodic(121, 60, rng=5)
    net = sa.SparseSequenceAttractor(100, random_state=0).fit(X)
    assert net.score(X) == 1.0
    assert np.array_equal(net.recall(X[0], steps=120), X)


@pytest.mark.slow
def test_v_continues_alone_where_it_has_errors_left_and_stores_more_for_it():
    hasty, patient = [], []
    for seed in range(8):
        X = sa.datasets.random_periodic(181, 60, rng=seed)
        for scores, max_epochs in ((hasty, 750), (patient, "auto")):
            net = fit_quietly(
                sa.SparseSequenceAttractor(100, max_epochs=max_epochs, random_state=seed), X
            )
            assert net.n_iter_ <= 750 or max_epochs == "auto"
            scores.append(net.score(X))
    assert all(more >= less for more, less in zip(patient, hasty, strict=True))
    assert sum(score == 1 for score in patient) > sum(score == 1 for score in hasty) + 2


def test_without_noise_learning_ends_with_exactly_zero_errors():
    net = sa.SparseSequenceAttractor(300, noise=0, random_state=0).fit(X200)
    assert net.converged_
    assert net.hidden_errors_[-1] == net.visible_errors_[-1] == 0
    assert net.n_iter_ == len(net.hidden_errors_) < 500
    # Every margin holds, in the weights themselves.
    h = X200[:-1].astype(float) @ net.U_.T + net.hidden_bias_
    assert np.all((h > net.kappa_active_) | (h < -net.kappa))
    g = net.hidden(X200[:-1]).astype(float) @ net.V_.T
    assert np.all(g * X200[1:] > net.kappa)


def test_without_a_bias_sparse_codes_do_not_work():
    with_bias, without = (
        fit_quietly(sa.SparseSequenceAttractor(500, bias=b, max_epochs=60, random_state=0), X200)
        for b in ("auto", 0)
    )
    assert with_bias.score(X200) == 1.0
    assert without.score(X200) < 0.5
    assert np.all(without.hidden_bias_ == 0)


def test_the_same_call_works_for_moving_digits():
    X = sa.datasets.moving_digits(8, length=10, size=40, rng=3)
    net = sa.SparseSequenceAttractor(200, random_state=0).fit(X)
    assert net.clean_first_  # frames lie near each other
    assert net.noise_ > 0
    assert net.converged_
    first = X.reshape(8, 10, -1)[:, 0]
    assert np.array_equal(
        net.recall(sa.noise.flip(first, 60, rng=0), steps=9)[:, 1:], X.reshape(8, 10, -1)[:, 1:]
    )


def test_pictures_that_are_practised_with_noise_from_the_start_leave_hidden_neurons_silent():
    X = sa.datasets.moving_digits(8, length=10, size=40, rng=3)
    first, at_once = (
        fit_quietly(
            sa.SparseSequenceAttractor(
                200, noise=160, clean_first=clean, max_epochs=200, random_state=0
            ),
            X,
        )
        for clean in (True, False)
    )
    assert first.score(X) == 1
    assert at_once.score(X) < 0.5


def test_a_film_whose_frames_are_nearly_equal_is_learned_without_noise_and_stored():
    X = as_sequences(textured_film())
    net = sa.SparseSequenceAttractor(200, random_state=0).fit(X)
    assert net.noise_ == 0
    assert net.converged_
    assert net.score(X) == 1


def test_where_no_hidden_neuron_answers_the_next_pattern_is_plus_one_everywhere():
    net = fit_quietly(
        sa.SparseSequenceAttractor(60, random_state=0, max_epochs=60),
        sa.datasets.random_periodic(20, 40, rng=1),
    )
    states = sa.datasets.random_periodic(200, 40, rng=2)
    silent = ~net.hidden(states).any(axis=1)
    assert silent.any()
    assert np.all(net.step(states[silent]) == 1)


def test_more_than_one_transition_a_hidden_neuron_changes_the_defaults_and_options_overrule_them():
    X = sa.datasets.random_periodic(90, 40, rng=0)
    roomy, crowded = (
        fit_quietly(sa.SparseSequenceAttractor(M, max_epochs=2, random_state=0), X)
        for M in (200, 70)
    )
    assert roomy.noise_ > crowded.noise_
    given = fit_quietly(
        sa.SparseSequenceAttractor(
            70, max_epochs=2, active_weight=2, homeostasis=0.05, random_state=0
        ),
        X,
    )
    assert (given.active_weight_, given.homeostasis_) == (2, 0.05)


@given(
    n_in=st.integers(8, 300),
    n_hidden=st.integers(3, 4000),
    load=st.floats(0.05, 3),
    seed=st.integers(0, 9),
)
@settings(max_examples=40, deadline=None)
def test_hidden_neurons_get_no_more_patterns_than_their_inputs_can_distinguish(
    n_in, n_hidden, load, seed
):
    n = max(2, round(load * n_hidden))
    few = np.random.default_rng(seed).choice(np.array([-1, 1], dtype=np.int8), (60, n_in))
    X = few[
        np.arange(n) % 60
    ]  # as many transitions as wanted; how many differ does not matter here
    values = choose_defaults(sa.SparseSequenceAttractor(n_hidden), X, X, max(1, n_in // 10))
    load = n / n_hidden
    assert values["n_winners"] == 3 or values["n_winners"] * load <= 0.04 * n_in
    assert 3 <= values["n_winners"] <= max(3, math.ceil(n_hidden / 250))


def test_with_too_many_winners_in_a_crowd_hidden_neurons_fall_silent():
    X = sa.datasets.random_periodic(241, 60, correlation=0.5, rng=0)
    few, many = (
        fit_quietly(sa.SparseSequenceAttractor(120, n_winners=k, max_epochs=300, random_state=0), X)
        for k in (3, 8)
    )
    assert few.score(X) > 0.7
    assert few.hidden(X[:-1]).sum(axis=1).mean() > 2.8
    assert many.score(X) < 0.3
    assert many.hidden(X[:-1]).sum(axis=1).mean() < 5


@pytest.mark.parametrize("how", [{}, {"bias": 0.5}])
@pytest.mark.parametrize(("T", "N"), [(61, 40), (201, 60), (1001, 100)])
def test_independent_patterns_are_not_alike_and_correlated_ones_are(how, T, N):
    for seed in range(5):
        patterns = [
            sa.datasets.random_periodic(T, N, rng=seed, **each).patterns[:-1]
            for each in (how, {"correlation": 0.5})
        ]
        independent, correlated = (how_alike(each, typical_distance(each)) for each in patterns)
        assert independent < 1.1 < correlated


def test_in_a_crowd_patterns_that_are_alike_get_more_feedback_and_are_separated_by_it():
    usual, more = [], []
    for seed in range(4):
        X = sa.datasets.random_periodic(201, 80, correlation=0.5, rng=seed)
        of_random = fit_quietly(
            sa.SparseSequenceAttractor(100, max_epochs=1),
            sa.datasets.random_periodic(201, 80, rng=seed),
        )
        for scores, feedback in ((usual, of_random.learned_feedback_), (more, "auto")):
            net = fit_quietly(
                sa.SparseSequenceAttractor(
                    100, learned_feedback=feedback, max_epochs=450, random_state=seed
                ),
                X,
            )
            scores.append(net.score(X))
        assert net.learned_feedback_ > 1.4 * of_random.learned_feedback_
    assert np.mean(more) > np.mean(usual) + 0.03


def test_hidden_activity_is_sparse_and_fairly_shared():
    net = sa.SparseSequenceAttractor(500, random_state=0, max_epochs=100).fit(X200)
    zeta = net.hidden(X200[:-1])
    assert set(np.unique(zeta)) == {0, 1}
    assert abs(zeta.sum(axis=1).mean() - net.n_winners_) < 0.5
    assert zeta.sum(axis=0).max() <= 10


def test_one_seed_gives_one_network_for_any_number_of_threads():
    nets = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            nets.append(
                fit_quietly(sa.SparseSequenceAttractor(300, max_epochs=40, random_state=7), X200)
            )
    assert same(*nets)


def test_learning_on_after_loading_equals_never_having_saved(tmp_path):
    A, B = sa.datasets.random_periodic(12, 40, rng=0), sa.datasets.random_periodic(12, 40, rng=1)
    net = sa.SparseSequenceAttractor(60, max_epochs=60, random_state=0).fit(A)
    net.save(tmp_path / "net.npz")
    loaded = sa.load(tmp_path / "net.npz")
    assert isinstance(loaded, sa.SparseSequenceAttractor)
    learned = net.n_iter_
    for _ in range(5):
        net.partial_fit([A, B])
        loaded.partial_fit([A, B])
    assert net.noise_ > 0
    assert same(net, loaded)
    assert net.n_iter_ == loaded.n_iter_ == learned + 5


def test_a_sequence_can_be_added_to_a_trained_network():
    A, B = sa.datasets.random_periodic(40, 60, rng=0), sa.datasets.random_periodic(40, 60, rng=1)
    net = sa.SparseSequenceAttractor(300, random_state=0, max_epochs=100).fit(A)
    assert net.score(B) < 0.1
    for _ in range(120):
        net.partial_fit([A, B])
    assert net.score([A, B]) == 1.0


def test_a_stream_alone_is_learned():
    A = sa.datasets.random_periodic(20, 60, rng=0)
    net = sa.SparseSequenceAttractor(100, random_state=0)
    for _ in range(150):
        net.partial_fit(A)
    assert net.score(A) == 1.0


def test_patterns_with_two_successors_are_learned_with_more_context():
    X = np.array(
        [[1, 1, -1, 1], [1, -1, -1, 1], [1, 1, -1, 1], [-1, 1, 1, 1], [-1, -1, 1, -1]],
        dtype=np.int8,
    )
    with pytest.raises(ValueError, match="order=2"):
        sa.SparseSequenceAttractor(40).fit(X)
    net = sa.SparseSequenceAttractor(40, order="auto", random_state=0).fit(X)
    assert net.order_ == 2
    assert np.array_equal(net.recall(X[:2], steps=3), X)


def test_callbacks_see_every_epoch_and_can_stop():
    seen = []

    def callback(epoch, hidden, visible):
        seen.append((epoch, hidden, visible))
        return epoch == 7

    net = fit_quietly(sa.SparseSequenceAttractor(50, random_state=0), X200[:30], callback=callback)
    assert net.n_iter_ == 7
    assert seen == list(zip(range(1, 8), net.hidden_errors_, net.visible_errors_, strict=True))


def test_progress_is_printed_when_asked_for(capsys):
    fit_quietly(sa.SparseSequenceAttractor(50, random_state=0, verbose=2, max_epochs=3), X200[:30])
    assert capsys.readouterr().err.count("epoch") == 3


def test_a_network_that_could_not_store_everything_warns():
    with pytest.warns(ConvergenceWarning, match="visible errors left"):
        sa.SparseSequenceAttractor(8, random_state=0, max_epochs=5).fit(X200)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_hidden": 0}, "n_hidden must be at least 1"),
        ({"n_winners": 0}, "n_winners must be at least 1"),
        ({"n_hidden": 5, "n_winners": 6}, "n_winners must be at most n_hidden, which is 5"),
        ({"code": "dense"}, "code must be one of 'winners', 'thresholds'"),
        ({"target_from": "past"}, "target_from must be one of"),
        ({"bias": -1}, "bias must be at least 0"),
        ({"noise": -2}, "noise must be at least 0"),
        ({"noise": 31}, "noise must be at most"),
        ({"kappa": 0}, "kappa must be above 0"),
        ({"eta_hidden": -1.0}, "eta_hidden must be above 0"),
        ({"learned_feedback": -1.0}, "learned_feedback must be 0 or more"),
        ({"redraw_tolerance": 2}, "redraw_tolerance is a fraction"),
        ({"max_epochs": 0}, "max_epochs must be at least 1"),
    ],
)
def test_bad_options_are_rejected_in_one_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        sa.SparseSequenceAttractor(**options).fit(sa.datasets.random_periodic(5, 30, rng=0))


@pytest.mark.parametrize(
    "options",
    [{"bias": 1.5}, {"noise": "some"}, {"decay": 1}, {"n_hidden": "many"}, {"eta_visible": "x"}],
)
def test_options_of_a_wrong_type_are_rejected(options):
    with pytest.raises(TypeError, match=f"{next(iter(options))} must be"):
        sa.SparseSequenceAttractor(**options).fit(sa.datasets.random_periodic(5, 30, rng=0))


# -- the numbers we claim; minutes, on fresh seeds
# -----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("T", "trials", "fewest", "least_basin"),
    [
        (100, 100, 100, 0.999),
        (200, 100, 100, 0.999),
        (300, 100, 100, 0.999),
        (400, 100, 100, 0.999),
        (500, 100, 99, 0.998),
        (600, 100, 98, 0.995),
        (700, 20, 19, 0.985),
        (800, 20, 18, 0.965),
        (900, 20, 17, 0.92),
        (1000, 20, 13, 0.85),
        (1100, 20, 4, 0.6),
    ],
)
def test_default_settings_store_up_to_1100_patterns_in_500_hidden_neurons(
    T, trials, fewest, least_basin
):
    found, basins = 0, []
    for trial in range(trials):
        rng = np.random.default_rng([31, T, trial])
        X = sa.datasets.random_periodic(T, 100, rng=rng)
        net = fit_quietly(sa.SparseSequenceAttractor(500, random_state=rng), X)
        found += sa.retrieved(net.recall(sa.noise.flip(X[0], 10, rng=rng), steps=4 * T), X)
        basins.append(sa.basin_fraction(net, X, flips=10, rng=rng))
    assert found >= fewest
    assert np.mean(basins) >= least_basin


@pytest.mark.slow
def test_larger_networks_store_twice_as_many_patterns_as_they_have_hidden_neurons_too():
    found, basins = 0, []
    for trial in range(8):
        rng = np.random.default_rng([37, trial])
        X = sa.datasets.random_periodic(2000, 200, rng=rng)
        net = fit_quietly(sa.SparseSequenceAttractor(1000, random_state=rng), X)
        found += sa.retrieved(net.recall(sa.noise.flip(X[0], 20, rng=rng), steps=8000), X)
        basins.append(sa.basin_fraction(net, X, flips=20, rng=rng))
    assert found >= 6
    assert np.mean(basins) >= 0.94


@pytest.mark.slow
@pytest.mark.parametrize("T", [100, 200, 300, 400, 500, 600, 700])
def test_the_convergent_setting_ends_without_errors(T):
    for trial in range(3):
        rng = np.random.default_rng([32, T, trial])
        X = sa.datasets.random_periodic(T, 100, rng=rng)
        net = sa.SparseSequenceAttractor(500, noise=0, random_state=rng).fit(X)
        assert net.converged_
        assert net.score(X) == 1.0


@pytest.mark.slow
def test_the_convergent_setting_is_the_plain_loop_bit_for_bit_at_full_size():
    X = sa.datasets.random_periodic(300, 100, rng=33)
    nets = [
        fit_quietly(
            sa.SparseSequenceAttractor(500, noise=0, max_epochs=60, random_state=0, engine=engine),
            X,
        )
        for engine in ("exact", "reference")
    ]
    assert same(*nets)


@pytest.mark.slow
@pytest.mark.parametrize(("stored", "fewest"), [(80, 80), (160, 158)])
@pytest.mark.parametrize("seed", [34, 35, 36])
def test_sequences_of_moving_digits_are_recalled_in_all_frames(seed, stored, fewest):
    X = sa.datasets.moving_digits(stored, rng=seed)
    net = sa.SparseSequenceAttractor(1000, random_state=seed).fit(X)
    assert net.converged_
    frames = X.reshape(stored, 20, -1)
    recalled = net.recall(sa.noise.flip(frames[:, 0], 300, rng=seed), steps=19)
    assert np.all(recalled[:, 1:] == frames[:, 1:], axis=(1, 2)).sum() >= fewest


def tiny_sequences():
    """XOR, and random loops of so few units that a flip or two may turn one pattern into
    another.
    """
    sizes = [(4, 2), (5, 3), (9, 4), (20, 5), (16, 6), (20, 8), (20, 10), (20, 12)]
    return [sa.datasets.xor(), *(sa.datasets.random_periodic(T, N, rng=N) for T, N in sizes)]


@pytest.mark.parametrize("n_hidden", [60, 200])
def test_tiny_networks_store_what_they_are_given_with_the_defaults(n_hidden):
    for X in tiny_sequences():
        for seed in range(3):
            net = sa.SparseSequenceAttractor(n_hidden, max_epochs=100, random_state=seed).fit(X)
            assert net.score(X) == 1


@pytest.mark.parametrize("T", [3, 5, 8])
def test_a_tiny_network_that_works_with_noise_is_not_learned_again(T):
    X = sa.datasets.random_periodic(T, 12, rng=T)
    by_default = sa.SparseSequenceAttractor(60, max_epochs=60, random_state=0).fit(X)
    chosen = sa.SparseSequenceAttractor(
        60, max_epochs=60, random_state=0, noise=by_default.noise_
    ).fit(X)
    assert by_default.noise_ > 0
    np.testing.assert_array_equal(by_default.U_, chosen.U_)
    np.testing.assert_array_equal(by_default.V_, chosen.V_)


def test_given_noise_is_not_changed_and_learning_that_was_stopped_does_not_start_again():
    X = sa.datasets.xor()
    assert (
        fit_quietly(
            sa.SparseSequenceAttractor(60, max_epochs=30, random_state=0, noise=1), X
        ).noise_
        == 1
    )
    epochs = []
    net = sa.SparseSequenceAttractor(60, random_state=0)
    fit_quietly(
        net, X, callback=lambda epoch, hidden, visible: bool(epochs.append(epoch)) or epoch == 2
    )
    assert epochs == [1, 2]
