"""Passing the same seed everywhere is safe: functions that take `rng` share no random numbers."""

import contextlib
import inspect
from itertools import combinations

import numpy as np
import pytest

import seqattractor as sa
from quiet import fit_quietly
from seqattractor.networks import make_network, network_names
from seqattractor.networks.registry import parameters_of
from seqattractor.tasks.inspect import inspect_network
from seqattractor.tasks.recall import Corruption, recall_often
from seqattractor.tasks.stored import Stored

N, SEEDS = 48, 400
ONES = np.ones(N, dtype=np.int8)
PAIR = np.stack([ONES, -ONES])


class Recorder(sa.SequenceMemory):
    """A network that repeats and stores its inputs."""

    def fit_transitions(self, transitions, callback=None):
        self.seen_ = []

    def next_patterns(self, states, memory=None):
        self.seen_.append(np.array(states))
        return states


class Enough(Exception):
    """What was to be seen was seen."""


class Witness(Recorder):
    """Keeps the first states that it is shown, and wants no more."""

    def next_patterns(self, states, memory=None):
        super().next_patterns(states)
        raise Enough


def seen_by(call):
    """What a network is shown first."""
    net = Witness().fit(PAIR)
    with contextlib.suppress(Enough):
        call(net)
    return net.seen_[0][0]


def often(net, seed):
    """Trials as the command line makes them."""
    stored, corruption = Stored.of(sa.Sequences(PAIR)), Corruption(flips=N // 2)
    recall_often(
        net,
        PAIR[:1],
        corruption,
        1,
        trials=1,
        stored=stored,
        place=(0, 0),
        frame_shape=(N,),
        rng=seed,
    )


def lesions(seed):
    """Which of two hidden neurons each of N lesions removed: only one of them makes the next
    pattern.
    """
    net = sa.networks.from_arrays([[1, 1], [1, 1]], [[1, 0], [1, 0]], visible_bias=-0.5)
    curve = sa.lesion_curve(net, np.ones((2, 2)), fractions=[0.5], draws=N, rng=seed)
    return np.where(curve.right[0] == 1, 1, -1)


def dead_neurons(seed):
    """Which half of N neurons never fires, where all others always do."""
    always = sa.networks.from_arrays(np.ones((1, N)), np.ones((N, 1)))
    return sa.spiking_recall(always, ONES, 1, dead_visible=N // 2, rng=seed).patterns[1]


# What each function draws from a seed, as N numbers.
DRAWS = {
    "random_periodic": lambda s: sa.datasets.random_periodic(3, N, rng=s)[0],
    "random_sequences": lambda s: sa.datasets.random_sequences(1, 2, N, rng=s)[0],
    "branching": lambda s: sa.datasets.branching(1, 3, N, shared=1, rng=s)[0],
    "moving_digits": lambda s: sa.datasets.moving_digits(1, 2, size=40, n_digits=1, rng=s)[0][
        :: 1600 // N
    ][:N],
    "recording": lambda s: np.diff(
        sa.datasets.recording(n_cells=200, n_laps=1, n_events=0, rng=s).times
    )[:N],
    "flip": lambda s: sa.noise.flip(ONES, N // 2, rng=s),
    "occlude": lambda s: sa.noise.occlude(ONES, N, fraction=0.5, rng=s),
    "recall": lambda s: Recorder().fit(PAIR).recall(ONES, steps=1, noise=N // 2, rng=s)[1],
    "basin_fraction": lambda s: seen_by(
        lambda net: sa.basin_fraction(net, PAIR, flips=N // 2, settle=1, rng=s)
    ),
    "robustness_curve": lambda s: seen_by(
        lambda net: sa.robustness_curve(net, PAIR, flips=[N // 2], trials=1, rng=s)
    ),
    "lesion_curve": lesions,
    "spiking_recall": dead_neurons,
    "recall_often": lambda s: seen_by(lambda net: often(net, s)),
    "inspect_network": lambda s: seen_by(
        lambda net: inspect_network(net, PAIR, np.array([2]), starts=1, rng=s)
    ),
    "find_attractors": lambda s: (
        sa.find_attractors(Recorder().fit(PAIR), starts=1, rng=s).attractors[0].patterns[0]
    ),
}
PASSES_ON = {"as_generator": "any caller", "lost_starts": "basin"}
"""Functions that draw nothing themselves, or what another one draws: `lost_starts` looks into the
very starts of `basin`.
"""


def public_functions_with_rng():
    """Their names, in all packages that users import from."""
    modules = [sa, sa.datasets, sa.io, sa.noise, sa.analysis, sa.study, sa.networks]
    things = {
        name: getattr(module, name)
        for module in modules
        for name in getattr(module, "__all__", dir(module))
    }
    things |= {"recall": sa.SequenceMemory.recall}
    functions = {
        name: thing
        for name, thing in things.items()
        if inspect.isfunction(thing) and not name.startswith("_")
    }
    return {
        name
        for name, function in functions.items()
        if "rng" in inspect.signature(function).parameters
    }


def test_every_public_function_with_rng_is_looked_at():
    assert public_functions_with_rng() <= {*DRAWS, *PASSES_ON}


@pytest.fixture(scope="module")
def drawn():
    """What each draws, seed after seed, standardised: (seeds, N)."""
    values = {
        name: np.array([draw(seed) for seed in range(SEEDS)], dtype=np.float64)
        for name, draw in DRAWS.items()
    }
    centred = {name: x - x.mean(axis=0) for name, x in values.items()}
    return {name: x / np.maximum(x.std(axis=0), 1e-9) for name, x in centred.items()}


@pytest.mark.parametrize(("one", "other"), list(combinations(DRAWS, 2)))
def test_two_functions_with_the_same_seed_draw_unrelated_numbers(drawn, one, other):
    correlation = np.abs(drawn[one].T @ drawn[other] / SEEDS)
    assert correlation.max() < 6 / np.sqrt(
        SEEDS
    )  # six standard deviations; a shared stream gives .3 to 1


RANDOM_ARRAYS = ("P_", "U_", "W_", "W_o_", "mask_", "J_", "W_pg_", "A_", "W_in_")
"""What networks draw: the first of these that a network has."""


@pytest.fixture(scope="module")
def weights():
    """Random weights of every network that has some, seed after seed, standardised: (seeds,
    weights).
    """
    drawn = {}
    for name in network_names():
        known = parameters_of(name)
        if (
            "random_state" not in known or name == "clone-hmm"
        ):  # what that draws is forgotten when it counts: entries are 0 or 1
            continue
        small = {
            "n_hidden": 1,
            "n_latent": 1,
            "max_epochs": 1,
            "trials": 1,
            "init_scale": 1,
            "connectivity": 0.5,
        }
        small = {key: value for key, value in small.items() if key in known}
        nets = [
            fit_quietly(make_network(name, **small, random_state=seed), PAIR)
            for seed in range(SEEDS)
        ]
        first = next(key for key in RANDOM_ARRAYS if hasattr(nets[0], key))
        values = np.array([getattr(net, first).ravel() for net in nets])
        drawn[name] = (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-9)
    return drawn


@pytest.mark.parametrize("one", DRAWS)
def test_a_network_with_the_same_seed_draws_unrelated_weights(drawn, weights, one):
    for name, values in weights.items():
        correlation = np.abs(drawn[one].T @ values / SEEDS)
        assert correlation.max() < 6 / np.sqrt(SEEDS), name


def test_flips_with_the_seed_of_the_patterns_take_both_kinds_of_units():
    turned = [
        sa.noise.flip(x := sa.datasets.random_periodic(2, 100, rng=s)[0], 10, rng=s) != x
        for s in range(50)
    ]
    on = [
        float((sa.datasets.random_periodic(2, 100, rng=s)[0][where] > 0).mean())
        for s, where in enumerate(turned)
    ]
    assert 0.4 < np.mean(on) < 0.6
