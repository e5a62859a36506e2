"""Grids of trials: combinations, errors, and seeds that depend on nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqattractor.networks import REGISTRY, make_network
from seqattractor.networks.registry import parameters_of
from seqattractor.study import Grid, read_grid, run_trial
from seqattractor.study.protocol import RETRIEVAL, Point, seed_of
from seqattractor.study.settings import DEFAULTS
from seqattractor.study.trial import draw_sequences

ISSUE_GRID = """
[grid]
network = ["attractor", "sparse"]
n = [40]
m = [80]
t = [10, 20, 30]
flips = [4]
trials = 20
seed = 11
"""


def write(tmp_path, text):
    path = tmp_path / "grid.toml"
    path.write_text(text)
    return path


def test_a_grid_file_gives_every_combination_once(tmp_path):
    grid = read_grid(write(tmp_path, ISSUE_GRID))
    found = [(p.settings["network"], p.settings["t"]) for p in grid.points()]
    assert found == [(network, t) for network in ("attractor", "sparse") for t in (10, 20, 30)]
    assert all(
        p.settings["n"] == 40 and p.settings["flips"] == 4 and p.seed == 11 for p in grid.points()
    )
    assert len({trial.key for trial in grid.all_trials()}) == 6 * 20


def test_single_values_need_no_brackets_and_repeated_ones_count_once(tmp_path):
    grid = read_grid(write(tmp_path, '[grid]\nnetwork = "lookup"\nn = 30\nt = [5, 5, 8]'))
    assert [p.settings["t"] for p in grid.points()] == [5, 8]


def test_the_first_trial_of_every_point_comes_before_any_second():
    numbers = [trial.number for trial in Grid({"t": [5, 6, 7]}, trials=3).all_trials()]
    assert numbers == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_a_parameter_goes_only_to_networks_that_have_it():
    grid = Grid({"network": ["attractor", "lookup"], "m": [50, 60], "eta": [0.1, 0.2]})
    settings = [p.settings for p in grid.points()]
    assert sum(s["network"] == "attractor" for s in settings) == 4
    assert [s for s in settings if s["network"] == "lookup"] == [{"network": "lookup"}]


def test_a_table_of_one_network_holds_its_parameters_alone(tmp_path):
    text = '[grid]\nnetwork = ["attractor", "dense"]\nm = 50\n[grid.dense]\ndegree = [3, 4]'
    settings = [p.settings for p in read_grid(write(tmp_path, text)).points()]
    assert [s.get("degree") for s in settings] == [None, 3, 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[grid]\nfoo = 1", "unknown key 'foo'; the keys are network, n, m, t, .*kappa, eta"),
        ('[grid]\nnetwork = "atractor"', "no network 'atractor'; did you mean 'attractor', "),
        ("[grid]\nt = []", "the list of t is empty"),
        ("[grid]\nt = 1", "t must be at least 2, but it is 1"),
        ("[grid]\nn = 2.5", "n must be a whole number"),
        ("[grid]\nn = 5\nflips = 6", "flips = 6 is more than the 5 units"),
        (
            "[grid]\ncorrelation = [0.5, 1.5]",
            "correlation must be 0 or more and below 1, but it is 1.5",
        ),
        ("[grid]\npattern_bias = -1.0", "pattern_bias must lie between -1 and 1, but it is -1.0"),
        ("[grid]\ncorrelation = 'much'", "correlation must be a number"),
        ("[grid]\nmeasure_basin = 3", "measure_basin must be true or false"),
        ("[grid]\neta = nan", "eta must be finite"),
        ("[grid]\ntrials = 0", "trials must be at least 1, but it is 0"),
        ("[grid]\ntrials = [3, 4]", "trials must be a whole number"),
        ("[grid]\nrandom_state = 3", "unknown key 'random_state'"),
        ("[grid]\n[grid.lookup]\norder = 2", "'lookup', which is not in the grid"),
        ("[grid]\n[grid.nothing]\norder = 2", "names no network"),
        ("[other]\nt = 3", "must hold one table"),
        ("[grid", "not a TOML file"),
    ],
)
def test_a_wrong_grid_is_rejected_in_one_sentence_that_names_the_file(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(ValueError, match=message) as caught:
        read_grid(path)
    assert str(path) in str(caught.value)


def test_a_setting_at_its_default_is_the_same_point_as_one_that_is_not_given():
    assert (
        Grid({"t": 20}).points()[0].key
        == Grid({"t": 20, "n": DEFAULTS["n"], "correlation": 0}).points()[0].key
    )


def test_whole_numbers_and_floats_are_the_same_setting():
    assert Grid({"kappa": 2}).points()[0].key == Grid({"kappa": 2.0}).points()[0].key


def test_seeds_stay_what_they_are():
    # Written down once: if this changes, every stored study would be continued with other trials.
    point = Point(RETRIEVAL, {"network": "attractor", "t": 20}, seed=11)
    assert point.key == "b05f236e9b7c8aab44faca9d4265932b"
    assert seed_of(11, point.settings, 3).generate_state(2).tolist() == [3442049694, 1128250027]


@given(
    st.dictionaries(st.sampled_from(["n", "m", "t", "eta"]), st.integers(2, 9), min_size=1),
    st.integers(0, 5),
    st.integers(0, 3),
)
def test_a_seed_depends_on_settings_seed_and_trial_and_not_on_their_order(settings, seed, trial):
    state = seed_of(seed, settings, trial).generate_state(4)
    turned = dict(reversed(settings.items()))
    assert np.array_equal(state, seed_of(seed, turned, trial).generate_state(4))
    others = [
        (seed + 1, settings, trial),
        (seed, settings, trial + 1),
        (seed, settings | {"t": 10}, trial),
    ]
    for other in others:
        assert not np.array_equal(state, seed_of(*other).generate_state(4))


MIXING = {
    "gillett",
    "gillett-sparse",
}  # their rates end in a mixture of all patterns of a short loop (tests/zoo/test_rates.py)
FOR_CHAINS = {
    "fiete"
    # each neuron fires once; of random patterns, in which half of the units are active, it stores
    # none
}


@pytest.mark.parametrize("name", [name for name in REGISTRY if name not in MIXING | FOR_CHAINS])
def test_every_short_name_makes_a_network_that_recalls_a_short_sequence(name):
    outcome = run_trial({"network": name, "n": 40, "m": 80, "t": 5}, np.random.SeedSequence(5))
    assert outcome["success"]
    assert outcome["tau"] == 0


def test_an_unknown_parameter_of_a_network_is_rejected_with_the_known_ones():
    with pytest.raises(ValueError, match="'lookup' has no parameter 'eta'; it has order"):
        make_network("lookup", eta=1)
    assert "eta" in parameters_of("attractor")


def test_several_sequences_are_loops_without_a_common_pattern():
    X, lengths = draw_sequences(4, 6, 12, rng=np.random.default_rng(0))
    assert lengths.tolist() == [6, 6, 6, 6]
    loops = X.reshape(4, 6, 12)
    assert np.array_equal(loops[:, 0], loops[:, -1])
    assert len({x.tobytes() for x in X}) == 4 * 5


def test_a_trial_measures_what_the_library_measures():
    settings = {
        "network": "attractor",
        "n": 30,
        "m": 60,
        "t": 8,
        "flips": 3,
        "sequences": 2,
        "measure_basin": True,
    }
    outcome = run_trial(settings, np.random.SeedSequence(1))
    again = run_trial(settings, np.random.SeedSequence(1))
    assert outcome == again
    assert outcome["retrieved"] <= 2
    assert outcome["success"] == (outcome["retrieved"] == 2)
    assert 0 <= outcome["basin"] <= 1
    assert outcome["epochs"] >= 1


def test_more_flips_than_the_sequences_can_bear_are_no_success():
    settings = {"network": "one-hot", "n": 40, "t": 6}
    assert run_trial(settings, np.random.SeedSequence(0))["success"]
    assert not run_trial(settings | {"flips": 12}, np.random.SeedSequence(0))["success"]
    assert not run_trial(settings | {"recall_noise": 12}, np.random.SeedSequence(0))["success"]
