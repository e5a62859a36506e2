"""The recurrent network: its gradient is the slope of its loss, and it learns what a user expects
of it.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import oracle_scaffold
import seqattractor as sa
from quiet import fit_quietly
from seqattractor.zoo.recurrent import Adam, Weights, backpropagate

X = sa.datasets.random_periodic(9, 30, rng=0)


def draw(rng, n, B, N, H):
    """Weights, what copies see, what comes next, hidden states at the start, and where copies
    forget.
    """
    shapes = [(H, N), (H, H), (N, H), (H,), (N,)]
    weights = Weights(*(rng.standard_normal(shape) for shape in shapes))
    x, target = rng.choice([-1.0, 1.0], (n, B, N)), rng.choice([-1.0, 1.0], (n, N))
    return weights, x, target, rng.standard_normal((B, H)), rng.integers(0, 2, (n, B)).astype(float)


sizes = {
    "n": st.integers(1, 4),
    "B": st.integers(1, 2),
    "N": st.integers(1, 3),
    "H": st.integers(1, 3),
    "seed": st.integers(0, 10**6),
}


@settings(max_examples=40, deadline=None)
@given(**sizes)
def test_the_gradient_is_the_slope_of_the_loss_written_index_by_index(n, B, N, H, seed):
    weights, *run = draw(np.random.default_rng(seed), n, B, N, H)
    plain = [part.tolist() for part in run]

    def loss(changed):
        return oracle_scaffold.recurrent_loss([part.tolist() for part in changed], *plain)

    found = backpropagate(weights, *run)
    assert found.loss == pytest.approx(loss(weights), rel=1e-9)
    for k, slope in enumerate(found.slope):
        for place in np.ndindex(slope.shape):
            sides = []
            for move in (1e-5, -1e-5):
                changed = [part.copy() for part in weights]
                changed[k][place] += move
                sides.append(loss(changed))
            assert slope[place] == pytest.approx((sides[0] - sides[1]) / 2e-5, rel=1e-4, abs=1e-8)


@settings(max_examples=40)
@given(**sizes)
def test_recall_with_weights_set_by_hand_follows_the_definition(n, B, N, H, seed):
    rng = np.random.default_rng(seed)
    weights, x, *_ = draw(rng, n, B, N, H)
    net = fit_quietly(
        sa.zoo.RecurrentNetwork(H, max_epochs=1, random_state=0, on_conflict="learn"),
        x[:1, 0].repeat(2, axis=0),
    )
    net.W_in_, net.W_rec_, net.W_out_, net.hidden_bias_, net.visible_bias_ = weights
    h, state = [0.0] * H, x[0, 0].tolist()
    for answer in net.recall(x[0, 0], steps=5)[1:].tolist():
        h, fields = oracle_scaffold.recurrent_fields(*(part.tolist() for part in weights), state, h)
        if min(map(abs, fields)) < 1e-9:
            break
        state = [1 if y >= 0 else -1 for y in fields]
        assert answer == state


def test_adam_makes_first_steps_of_its_rate_down_the_slope():
    weights = Weights(*(np.zeros(shape) for shape in [(2, 3), (2, 2), (3, 2), (2,), (3,)]))
    slope = Weights(*(np.full(part.shape, 7.0) for part in weights))
    adam = Adam(weights, 0.5)
    adam.go(weights, slope)
    assert all(np.allclose(part, -0.5) for part in weights)
    adam.go(weights, slope)
    assert all(np.allclose(part, -1.0) for part in weights)


def test_it_recalls_a_loop_round_after_round_from_noisy_cues_at_any_place():
    net = sa.zoo.RecurrentNetwork(60, random_state=0).fit(X)
    assert net.converged_
    for path in net.recall(sa.noise.flip(X[:-1], 3, rng=1), steps=100):
        assert sa.retrieved(path, X)


def test_it_distinguishes_repeated_patterns_by_what_came_before():
    A, B, C = X[:3]
    net = sa.zoo.RecurrentNetwork(40, on_conflict="learn", random_state=0).fit([A, B, A, C, A])
    assert net.score([A, B, A, C, A]) == 1
    with pytest.raises(ValueError, match="occurs again"):
        sa.zoo.RecurrentNetwork(40).fit([A, B, A, C, A])


def test_an_open_sequence_is_recalled_to_its_end_beside_others():
    line, loop = sa.datasets.random_periodic(8, 30, rng=3)[:-1], X
    net = sa.zoo.RecurrentNetwork(80, random_state=0).fit([line, loop])
    assert net.score([line, loop]) == 1
    assert np.array_equal(net.recall(line[0], steps=6), line)


def test_it_advises_where_it_did_not_learn_everything():
    with pytest.warns(
        ConvergenceWarning,
        match=r"allow more epochs \(max_epochs\) or use more hidden neurons or store less",
    ):
        net = sa.zoo.RecurrentNetwork(5, max_epochs=2, random_state=0).fit(X)
    assert net.n_iter_ == len(net.losses_) == len(net.visible_errors_) == 2


def test_the_callback_hears_of_every_epoch_and_can_end_learning(capsys):
    heard = []
    net = fit_quietly(
        sa.zoo.RecurrentNetwork(20, random_state=0, verbose=2),
        X,
        callback=lambda *news: heard.append(news) or len(heard) == 4,
    )
    assert net.n_iter_ == 4
    assert [errors for *_, errors in heard] == net.visible_errors_.tolist()
    assert "epoch 4: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_hidden": 0},
        {"learning_rate": 0.0},
        {"learning_rate": 1.5},
        {"max_epochs": 0},
        {"tol": -1.0},
        {"noise": 1.0},
        {"forgetting": -0.1},
    ],
)
def test_senseless_parameters_are_rejected(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        sa.zoo.RecurrentNetwork(**parameters).fit(X)


@pytest.mark.slow
def test_fifty_patterns_are_learned_and_recalled_from_cues_with_a_tenth_of_their_units_flipped():
    recalled = 0
    for seed in range(5):
        Y = sa.datasets.random_periodic(50, 100, rng=seed)
        net = fit_quietly(sa.zoo.RecurrentNetwork(100, random_state=seed), Y)
        recalled += sa.retrieved(net.recall(sa.noise.flip(Y[0], 10, rng=seed), steps=150), Y)
    assert recalled >= 4
