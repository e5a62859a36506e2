"""Arguments that make no sense are rejected with one sentence that names the fault, wherever they
are given.
"""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LinearRegression

import seqattractor as sa
from quiet import quietly
from seqattractor import _checks
from seqattractor.sequences import _patterns as patterns

X = np.array(sa.datasets.random_periodic(8, 30, rng=0))
NET = sa.SequenceAttractor(n_hidden=60, random_state=0).fit(X)


def rejection_of(call, *args, **kwargs):
    """Return the sentence with which a call is rejected."""
    with pytest.raises((ValueError, TypeError)) as error:
        quietly(call, *args, **kwargs)
    sentence = str(error.value)
    assert sentence
    assert "\n" not in sentence
    assert len(sentence) < 400
    return sentence


@pytest.mark.parametrize(
    "net", ["x", None, 3, sa.zoo.LookupMemory, LinearRegression().fit([[1.0]], [1.0])]
)
@pytest.mark.parametrize(
    "ask",
    [
        sa.basin_fraction,
        sa.robustness_curve,
        sa.lesion_curve,
        sa.certify,
        sa.find_attractors,
        sa.hidden_activity,
        sa.lost_starts,
        sa.plots.hidden_raster,
    ],
)
def test_only_networks_can_be_analysed(ask, net):
    assert "must be a network that has learned" in rejection_of(ask, net, X)


def test_a_network_that_has_not_learned_is_rejected():
    for ask in (
        sa.basin_fraction,
        sa.robustness_curve,
        sa.lesion_curve,
        sa.certify,
        sa.find_attractors,
        sa.hidden_activity,
        sa.lost_starts,
    ):
        assert "not fitted" in rejection_of(ask, sa.zoo.LookupMemory(), X)


@pytest.mark.parametrize(
    "data",
    [
        np.array([[10**400, -1], [1, 1]], dtype=object),
        [[10**400, -1], [1, 1]],
        np.array([[Fraction(10**400), 1], [1, 1]], dtype=object),
        [[1, -1], [1]],
        np.array([[1j, 1], [1, 1]]),
        np.array([[None, 1], [1, 1]]),
        np.array(["2020-01-01"], dtype="M8[D]"),
        csr_array(X),
        iter([]),
        (x for x in X),
        {1, -1},
        "x",
        None,
        5,
        [],
        np.zeros((0, 3)),
    ],
    ids=lambda data: type(data).__name__,
)
@pytest.mark.parametrize(
    "take",
    [
        NET.score,
        sa.zoo.LookupMemory().fit,
        sa.separable,
        sa.find_conflicts,
        sa.Sequences,
        sa.unbinarize,
    ],
)
def test_data_that_are_no_array_of_patterns_are_rejected(take, data):
    rejection_of(take, data)


@pytest.mark.parametrize("iterator", [iter([]), (x for x in ()), map(int, []), [], ()])
def test_iterators_without_anything_are_rejected(iterator):
    for take in (
        sa.success_rate,
        sa.binarize,
        sa.noise.as_generator,
        sa.plots.state_space,
        NET.recall,
        sa.close_loops,
    ):
        more = {NET.recall: (3,)}.get(take, ())
        if not (
            take is sa.noise.as_generator and isinstance(iterator, (list, tuple))
        ):  # an empty list is a seed of numpy's
            rejection_of(take, iterator, *more, **({"order": 1} if take is sa.close_loops else {}))


@pytest.mark.parametrize("engine", ["exact", "reference"])
@pytest.mark.parametrize(
    "parameters",
    [
        *(
            {"kappa": k}
            for k in (
                2**63,
                10**30,
                10**400,
                Fraction(10**400),
                1e308,
                float("nan"),
                "x",
                True,
                1j,
                5e-324,
            )
        ),
        *({"eta": k} for k in (10**400, 1e308, 1e-320, 0, -1, None, np.array([1.0]))),
        *({"n_hidden": k} for k in (10**30, 2**62, 10**12, 0, 2.5, "x", True)),
        *({"max_epochs": k} for k in (10**30, 2**64, 0, 1.5)),
        *({"init_scale": k} for k in (1e300, 10**400, -1)),
        *({"input_threshold": k} for k in (1e300, 10**400, float("inf"))),
        *({"order": k} for k in (10**30, 0, "x", np.array(["auto", "auto"]))),
    ],
    ids=lambda p: (
        f"{next(iter(p))}-{str(next(iter(p.values())))[:12]}" if isinstance(p, dict) else None
    ),
)
def test_parameters_that_cannot_be_reckoned_with_are_rejected(engine, parameters):
    sentence = rejection_of(
        sa.SequenceAttractor(
            **{"n_hidden": 10, "engine": engine, "random_state": 0} | parameters
        ).fit,
        X,
    )
    assert next(iter(parameters)).removeprefix("n_").split("_")[0] in sentence


@pytest.mark.parametrize(
    "name",
    [
        "bias",
        "noise",
        "active_weight",
        "n_winners",
        "eta_hidden",
        "learned_feedback",
        "kappa_active",
    ],
)
@pytest.mark.parametrize(
    "value", [10**30, 2**63, 10**400, -1, "x", None, 1j, float("nan")], ids=lambda v: str(v)[:6]
)
def test_parameters_of_the_sparse_network_are_rejected(name, value):
    if name in ("eta_hidden", "learned_feedback") and value in (10**30, 2**63):
        pytest.skip("large, but one can reckon with it")
    assert name in rejection_of(
        sa.SparseSequenceAttractor(20, random_state=0, **{name: value}).fit, X
    )


def test_noise_that_makes_no_sense_is_rejected():
    for frame in (np.inf, np.nan, -1, 0, 10**30, "x", [2**32, 2**32], (2.5, 12), [[5, 6]]):
        rejection_of(sa.noise.occlude, X, frame)
    for fraction in (0, 2, np.nan, "x", None, 10**400, 1j):
        rejection_of(sa.noise.occlude, X, 30, fraction=fraction)
    for block in (((0, 2, 3),), ((0, 10**30),), "x", 5, ((2, 1),), ((0.5, 2),)):
        rejection_of(sa.noise.occlude, X, 30, block)
    for k in (-1, 31, 2.0, "x", True, 10**400, np.array([1])):
        rejection_of(sa.noise.flip, X, k)
    for rng in (
        -1,
        "x",
        1.5,
        True,
        object(),
        [-1],
        ["x"],
        np.ones(3),
        np.broadcast_to(np.int8(1), 10**7),
    ):
        rejection_of(sa.noise.flip, X, 2, rng)


def test_sizes_beyond_the_memory_are_rejected_before_any_is_taken():
    for starts in (10**30, 10**15, 2**62, 0, -1, 2.5, True):
        rejection_of(sa.find_attractors, NET, X, starts=starts)
    assert "memory" in rejection_of(sa.find_attractors, NET, X, starts=10**15)
    assert "memory" in rejection_of(sa.robustness_curve, NET, X, trials=10**15)
    assert "memory" in rejection_of(NET.recall, X[0], 10**15)
    assert "memory" in rejection_of(sa.SequenceAttractor(n_hidden=10**12).fit, X)
    assert "memory" in rejection_of(sa.SparseSequenceAttractor(n_hidden=10**12).fit, X)
    assert "memory" in rejection_of(sa.zoo.LatentPredictiveMemory(n_latent=10**12).fit, X)
    assert "memory" in rejection_of(sa.datasets.random_periodic, 10**12, 100)
    assert "memory" in rejection_of(sa.datasets.moving_digits, 2, 10**9)
    assert "memory" in rejection_of(sa.close_loops, sa.datasets.xor(), order=10**15)


def test_counts_of_small_integers_do_not_wrap():
    """np.int8(100) is 100, also where a product of it is far more than 127."""
    plain = sa.SequenceAttractor(n_hidden=100, random_state=0).fit(X)
    small = sa.SequenceAttractor(n_hidden=np.int8(100), random_state=0).fit(X)
    assert np.array_equal(plain.U_, small.U_)
    assert np.array_equal(
        sa.datasets.random_periodic(np.int8(100), np.int8(120), rng=0),
        sa.datasets.random_periodic(100, 120, rng=0),
    )
    lengths = np.array([100, 100], dtype=np.int8)
    assert sa.Sequences(
        sa.datasets.random_sequences(2, 100, 40, rng=0).patterns, lengths
    ).lengths.tolist() == [100, 100]
    assert (
        sa.datasets.walker(np.int8(100), shrink=np.int8(4)).shape
        == sa.datasets.walker(100, shrink=4).shape
    )
    assert sa.analysis.wilson_interval(np.int8(100), np.int8(120)) == sa.analysis.wilson_interval(
        100, 120
    )


def test_a_rejected_figure_leaves_no_empty_figure_behind():
    from matplotlib import pyplot as plt

    for draw in (
        sa.plots.certificate_profile,
        sa.plots.attractor_bars,
        sa.plots.raster,
        sa.plots.filmstrip,
        sa.plots.code_overlap,
    ):
        rejection_of(draw, "x")
    assert "Axes" in rejection_of(sa.plots.raster, X, ax="x")
    assert not plt.get_fignums()


def test_conflicts_can_be_copied_and_sent():
    found = sa.find_conflicts([[1, 1], [1, -1], [1, 1], [-1, 1]])
    for made in (copy.copy(found), copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert (len(made), made.context, made.shortest) == (
            len(found),
            found.context,
            found.shortest,
        )


def test_results_are_asked_for_what_they_have():
    comparison = sa.compare("random", ["lookup"], values=[5], trials=2)
    assert "lookup" in rejection_of(comparison.row, "x", 5)
    rejection_of(comparison.row, "lookup", 6)
    rejection_of(sa.separable(X).proof, 30)
    rejection_of(sa.robustness_curve(NET, X, flips=[1], trials=2, rng=0).at, 1)


def test_values_are_described_on_one_short_line():
    class Silent:
        def __repr__(self):
            raise RuntimeError

    for value in (
        10**400,
        10**5000,
        -(10**400),
        Fraction(10**400),
        np.eye(100),
        np.array(3),
        "x" * 1000,
        "a\nb",
        Silent(),
        [X] * 3,
    ):
        text = _checks.say(value)
        assert len(text) <= 80
        assert "\n" not in text
    assert (_checks.say(3), _checks.say("x"), _checks.say(10**400)) == (
        "3",
        "'x'",
        "a number of 401 digits",
    )


def test_a_small_integer_type_is_an_ordinary_number_to_the_sparse_network():
    X = sa.datasets.random_periodic(6, 40, rng=0)
    one, other = (
        sa.SparseSequenceAttractor(60, bias=b, random_state=0).fit(X) for b in (127, np.int8(127))
    )
    assert np.array_equal(one.U_, other.U_)


def test_a_comparison_takes_whole_numbers_only():
    with pytest.raises(TypeError, match="m must be a whole number"):
        sa.compare("random", ["lookup"], values=[5], trials=1, m=10.0)
    with pytest.raises(ValueError, match="trials must be at least 1"):
        sa.compare("random", ["lookup"], values=[5], trials=0)


def test_names_are_counted_before_they_are_read():
    endless = np.broadcast_to(np.int8(1), (2**40, 2))
    for given in ({"names": endless}, {"units": endless}):
        with pytest.raises(ValueError, match="must name every"):
            sa.Sequences(X[:2], **given)


def test_patterns_beyond_the_memory_are_rejected_before_they_are_read(monkeypatch):
    monkeypatch.setattr(patterns, "pieces", lambda *sizes: pytest.fail("they are read"))
    with pytest.raises(MemoryError, match="Unable to allocate"):
        sa.SequenceAttractor(20).fit(np.broadcast_to(np.int8(1), (2**40, 2)))
