"""Other dynamics for a network that has learned: what they are, and what they become in their
limits.

The oracles are loops over single neurons, and import nothing of the package.
"""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import seqattractor as sa
from quiet import fit_quietly

X = sa.datasets.random_periodic(12, 30, rng=0)
NETWORKS = {
    "paper": sa.SequenceAttractor(80, random_state=0),
    "biases, order 2": sa.SequenceAttractor(80, bias=True, order=2, random_state=0),
    "sparse": sa.SparseSequenceAttractor(80, max_epochs=60, random_state=0),
    "visible, order 2": sa.VisibleNetwork(order=2, bias=True, random_state=0),
    "one-hot": sa.OneHotNetwork(),
    "fixed U": sa.FixedHiddenNetwork(80, random_state=0),
}


@pytest.fixture(scope="module", params=NETWORKS)
def net(request):
    return fit_quietly(NETWORKS[request.param], X)


def cues_for(net, n=7):
    """Corrupted cues, (n, order, N)."""
    starts = np.stack([X[t : t + net.order_] for t in range(n)])
    return sa.noise.flip(starts.reshape(-1, 30), 3, rng=1).reshape(starts.shape)


def plain_recall(U, b, V, c, low, cue, steps, delays, drive):
    """A recall with delays and an input, neuron by neuron; xi(t) = cue for all t before."""
    (order, N), M = cue.shape, len(U)
    visible = {t: cue[max(order + t, 0)] for t in range(-50, 0)}  # xi(-order), ..., xi(-1)

    def answer_of_hidden(t):  # zeta at time t, from patterns up to t - 1
        zeta = np.empty(M)
        for i in range(M):
            h = b[i]
            for a in range(order):  # a pattern of age a
                for j in range(N):
                    x = visible[t - 1 - a - delays[j]][j]
                    h += U[i, (order - 1 - a) * N + j] * x
            zeta[i] = 1 if h >= 0 else low
        return zeta

    at_rest = answer_to_cue(U, b, low, cue)
    hidden = dict.fromkeys(range(-50, 0), at_rest)
    for t in range(steps):
        hidden[t] = answer_of_hidden(t)
        x = np.empty(N)
        for i in range(N):
            h = c[i] + drive(t)[i]
            for j in range(M):
                h += V[i, j] * hidden[t - delays[N + j]][j]
            x[i] = 1 if h >= 0 else -1
        visible[t] = x
    return np.array([visible[t] for t in range(steps)])


def answer_to_cue(U, b, low, cue):
    """What the hidden neurons answer to the cue without delays."""
    return np.array([1 if U[i] @ cue.ravel() + b[i] >= 0 else low for i in range(len(U))])


@pytest.mark.parametrize(("order", "low"), [(1, -1), (2, 0)])
def test_delays_and_input_are_those_of_a_plain_loop(order, low):
    rng = np.random.default_rng(order)
    N, M, steps = 5, 7, 9
    U, V = rng.integers(-3, 4, (M, order * N)), rng.integers(-3, 4, (N, M))
    b, c = rng.integers(-2, 3, M) + 0.5, rng.integers(-2, 3, N) + 0.5
    net = sa.networks.from_arrays(U, V, hidden_bias=b, visible_bias=c, silent=low)
    for seed in range(5):
        given = rng.normal(size=(4, N))
        cue = rng.choice([-1, 1], (order, N)).astype(np.int8)
        one = sa.Dynamics(net, delay=(0, 3), drive=given, random_state=seed)
        wanted = plain_recall(
            *(U, b, V, c, low, cue, steps, one.delays_),
            lambda t, given=given: given[t] if t < len(given) else np.zeros(N),
        )
        assert (one.recall(cue, steps)[order:] == wanted).all()
    assert len(set(one.delays_)) > 1


def outcomes(U, V, delays, xi, update, temperature, drive):
    """The probability of each pattern after one step, from all orders and all chances.

    Neurons with a delay are seen as they were before the step.
    """
    N, M = len(V), len(U)
    before = np.concatenate([xi, np.where(U @ xi >= 0, 1, -1)])
    W = np.zeros((N + M, N + M))
    W[:N, N:], W[N:, :N] = V, U
    cells = range(N + M)
    if update == "random":
        orders = list(itertools.permutations(cells))
    elif update == "asynchronous":
        orders = list(itertools.product(cells, repeat=N + M))
    else:
        orders = [[*range(N, N + M), *range(N)]]
    found = Counter()

    def go_on(now, order, p):
        if not order or p == 0:
            found[tuple(now[:N])] += p
            return
        i, *rest = order
        seen = np.where(np.array(delays) == 0, now, before)
        h = W[i] @ seen + (drive[i] if i < N else 0.0)
        active = 1 / (1 + math.exp(-2 * h / temperature)) if temperature else float(h >= 0)
        acts = 1.0 if isinstance(update, str) else update
        for state, chance in ((1, acts * active), (-1, acts * (1 - active)), (now[i], 1 - acts)):
            then = now.copy()
            then[i] = state
            if chance:
                go_on(then, rest, p * chance)

    for order in orders:
        go_on(before.copy(), list(order), 1 / len(orders))
    return found


@pytest.mark.parametrize(
    ("update", "temperature"),
    [(1.0, 1.5), (0.6, 0.0), (0.7, 2.0), ("random", 0.0), ("random", 1.0), ("asynchronous", 0.0)],
)
@pytest.mark.parametrize("delay", [0, (0, 1)])
def test_chance_and_order_have_the_probabilities_of_all_their_outcomes(update, temperature, delay):
    rng = np.random.default_rng(3)
    U, V = rng.integers(-2, 3, (2, 2)) + 0.25, rng.integers(-2, 3, (2, 2)) + 0.25
    drive = np.array([0.5, -0.25])
    net = sa.Dynamics(
        sa.networks.from_arrays(U, V),
        update=update,
        delay=delay,
        temperature=temperature,
        drive=drive,
        random_state=4,
    )
    n = 8_000
    for xi in itertools.product([-1, 1], repeat=2):
        wanted = outcomes(U, V, net.delays_, np.array(xi), update, temperature, drive)
        assert math.isclose(sum(wanted.values()), 1)
        after = Counter(map(tuple, net.step(np.tile(xi, (n, 1))).tolist()))
        for pattern in itertools.product([-1, 1], repeat=2):
            p = wanted[pattern]
            assert abs(after[pattern] / n - p) <= 5 * math.sqrt(p * (1 - p) / n) + 1e-12


def test_without_anything_else_it_is_the_recall_of_the_network(net):
    cues = cues_for(net)
    same = sa.Dynamics(net)
    assert (same.recall(cues, 25) == net.recall(cues, 25)).all()
    assert (same.recall(cues, 25, noise=4, rng=2) == net.recall(cues, 25, noise=4, rng=2)).all()
    assert same.score(X) == net.score(X)
    assert same.n_parameters() == net.n_parameters()


@pytest.mark.parametrize("name", ["paper", "biases, order 2", "sparse"])
def test_cold_neurons_without_input_are_the_same_too(name):
    """But for fields of exactly 0, as in a one-hot network, where chance decides."""
    net = fit_quietly(NETWORKS[name], X)
    cues = cues_for(net)
    cold = sa.Dynamics(net, temperature=1e-9, drive=np.zeros(30))
    assert (cold.recall(cues, 25, rng=0) == net.recall(cues, 25)).all()


def test_equal_delays_only_stretch_time():
    for name in ("paper", "sparse"):
        net = fit_quietly(NETWORKS[name], X)
        cue = sa.noise.flip(X[0], 3, rng=1)
        slow = sa.Dynamics(net, delay=2)
        path = slow.recall(cue, 5 * 11)
        assert (path[1:] == net.recall(cue, 11)[1:].repeat(5, axis=0)).all()
        assert slow.traits().steps_per_pattern == 5
        assert sa.basin_fraction(slow, X, flips=0, rng=0) == 1


def test_with_delays_everywhere_the_order_of_updates_does_not_matter(net):
    cues = cues_for(net)
    together = sa.Dynamics(net, delay=(1, 3), random_state=5)
    one_by_one = sa.Dynamics(net, delay=(1, 3), random_state=5, update="random")
    assert (together.delays_ == one_by_one.delays_).all()
    assert (together.recall(cues, 15) == one_by_one.recall(cues, 15, rng=0)).all()


def test_a_strong_input_is_what_the_network_shows(net):
    wanted = np.stack([X[5], X[2], X[7]])
    driven = sa.Dynamics(net, drive=1e6 * wanted)
    shown = driven.recall(X[: net.order_], 3)[net.order_ :]
    assert (shown == wanted).all()
    assert (sa.Dynamics(net, drive=1e6 * X[5]).recall(X[: net.order_], 9)[-1] == X[5]).all()


def test_temperature_is_in_units_of_the_margin_whatever_the_step_size():
    """Twice the margin with twice the step is the same network, and so it is when it is warm."""
    paths = []
    for scale in (1, 2):
        net = sa.SequenceAttractor(
            80, kappa=scale, eta=1e-3 * scale, init_scale=1e-3 * scale, random_state=0
        ).fit(X)
        paths.append(sa.Dynamics(net, temperature=0.8).recall(X[0], 30, rng=0))
    assert (paths[0] == paths[1]).all()
    assert (paths[0][:12] != X).any()


def test_same_seed_same_recall_and_chance_goes_on_without_one():
    net = fit_quietly(NETWORKS["paper"], X)
    for more in ({"temperature": 1.0}, {"update": 0.5}, {"update": "random"}):
        one = sa.Dynamics(net, random_state=0, **more)
        assert (one.recall(X[0], 9, rng=3) == one.recall(X[0], 9, rng=3)).all()
        first, second = one.recall(X[0], 9), one.recall(X[0], 9)
        assert (first != second).any()
        both = one.recall(np.stack([X[0], X[0]]), 9)
        assert (both[0] != both[1]).any()


def test_it_takes_part_in_comparisons_and_learns_what_it_wraps():
    base = sa.SequenceAttractor(200, random_state=0)
    hot = sa.Dynamics(base, temperature=50.0)
    found = sa.compare("random", {"cold": base, "hot": hot}, values=[5], trials=2, n=60)
    assert [found.row(name, 5)["successes"] for name in ("cold", "hot")] == [2, 0]
    assert hot.fit(X).network is base
    assert base.score(X) == 1


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"update": 0}, "update must be above 0"),
        ({"update": 1.5}, "at most 1, but it is 1.5"),
        ({"update": "sometimes"}, "'random', 'asynchronous'"),
        ({"delay": (3, 1)}, "the least and the greatest"),
        ({"delay": -1}, "delay must be"),
        ({"temperature": -1}, "temperature must be 0 or more"),
        ({"drive": [1.0, np.nan]}, "drive must be finite"),
        ({"drive": [1.0, 2.0]}, "drive has 2 columns, but the network has 30"),
    ],
)
def test_what_makes_no_sense_is_named(more, words):
    net = fit_quietly(NETWORKS["paper"], X)
    with pytest.raises(ValueError, match=words):
        sa.Dynamics(net, **more).recall(X[0], 3)


def test_networks_without_threshold_neurons_have_no_other_dynamics():
    with pytest.raises(sa.networks.NotApplicable, match="LookupMemory is not one or two layers"):
        sa.Dynamics(sa.zoo.LookupMemory().fit(X)).recall(X[0], 3)
    with pytest.raises(NotFittedError):
        sa.Dynamics(sa.SequenceAttractor()).recall(X[0], 3)
    with pytest.raises(TypeError, match="network must be a network"):
        sa.Dynamics("paper").recall(X[0], 3)


def test_a_model_file_holds_the_network_without_its_dynamics(tmp_path):
    net = fit_quietly(NETWORKS["paper"], X)
    with pytest.raises(TypeError, match="save its network"):
        sa.Dynamics(net).save(tmp_path / "model.npz")
