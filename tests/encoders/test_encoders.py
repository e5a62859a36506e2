"""Encoders: numbers become patterns of +-1 and come back, alone, in pipelines and in grid searches
of scikit-learn.
"""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import seqattractor as sa
from films import grey_film
from seqattractor.encoders import LevelCode, LevelEncoder, PopulationEncoder, ThresholdEncoder

TABLES = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 4)),
    elements=st.floats(-1e6, 1e6, allow_subnormal=False, width=32),
)
ENCODERS = [
    ThresholdEncoder(0.0),
    ThresholdEncoder("median", per="column"),
    LevelEncoder(4),
    LevelEncoder(5, code="gray", value_range="common"),
    PopulationEncoder(6, n_active=2),
]


@parametrize_with_checks(ENCODERS)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# -- codes, beside plain ones
# ---------------------------------------------------------------------------------------------


def reflected(bits):
    """The Gray code of all numbers of so many bits: those of one bit less after a 0, then the same
    backwards after a 1.
    """
    shorter = reflected(bits - 1) if bits > 1 else [""]
    return [f"0{word}" for word in shorter] + [f"1{word}" for word in reversed(shorter)]


def words(n_levels, kind):
    """The code of every level as a word of zeros and ones."""
    if kind == "thermometer":
        return ["1" * level + "0" * (n_levels - 1 - level) for level in range(n_levels)]
    bits = 1
    while 2**bits < n_levels:
        bits += 1
    return reflected(bits)[:n_levels]


@pytest.mark.parametrize("kind", ["thermometer", "gray"])
@given(n_levels=st.integers(2, 70))
def test_codes_are_the_textbook_ones_and_are_read_again(kind, n_levels):
    code = LevelCode(n_levels, kind, low=0, high=n_levels - 1)
    units = code.encode(np.arange(n_levels))
    assert ["".join("1" if unit > 0 else "0" for unit in row) for row in units] == words(
        n_levels, kind
    )
    assert np.array_equal(code.decode(units), np.arange(n_levels))
    assert units.shape[1] == code.n_bits
    if kind == "gray":
        assert ((units[1:] != units[:-1]).sum(axis=1) == 1).all()


@given(n_levels=st.integers(2, 20), level=st.integers(0, 19), wrong=st.sets(st.integers(0, 18)))
def test_a_wrong_unit_of_a_thermometer_costs_one_level(n_levels, level, wrong):
    code = LevelCode(n_levels, low=0, high=n_levels - 1)
    level = min(level, n_levels - 1)
    units = code.encode(level)
    flipped = [unit for unit in wrong if unit < n_levels - 1]
    up = sum(1 for unit in flipped if units[unit] < 0)
    units[flipped] *= -1
    assert code.levels(units) == level + up - (len(flipped) - up)


def test_a_gray_code_above_the_highest_level_is_taken_for_that():
    code = LevelCode(5, "gray", low=0, high=4)
    assert code.decode([[1, -1, -1]]) == 4  # 7 in the code of 8 levels


@given(
    TABLES,
    st.integers(2, 40),
    st.sampled_from(["thermometer", "gray"]),
    st.sampled_from([None, "common", (-10.0, 250.0)]),
)
def test_a_number_takes_the_nearest_level_of_its_range(X, n_levels, code, value_range):
    encoder = LevelEncoder(n_levels, code=code, value_range=value_range)
    units = encoder.fit_transform(X)
    again = encoder.inverse_transform(units)
    for j in range(X.shape[1]):
        part = X[:, j] if value_range is None else X
        low, high = (part.min(), part.max()) if isinstance(value_range, str | None) else value_range
        levels = low + (high - low) * np.arange(n_levels) / (n_levels - 1)
        for x, y in zip(X[:, j], again[:, j], strict=True):
            assert abs(x - y) <= np.abs(x - levels).min() + 1e-9 * (1 + np.abs(levels).max())
    assert units.dtype == np.int8
    assert set(np.unique(units)) <= {-1, 1}


@given(TABLES)
def test_a_level_comes_back_exactly(X):
    encoder = LevelEncoder(6, value_range=(0, 255)).fit(X)
    values = encoder.inverse_transform(encoder.transform(X))
    assert np.array_equal(encoder.transform(values), encoder.transform(X))
    assert np.array_equal(encoder.inverse_transform(encoder.transform(values)), values)


def test_frames_come_back_in_their_shape_also_in_colour():
    film = grey_film(4, 8, colour=True)
    encoder = LevelEncoder(16, value_range=(0, 255)).fit(film)
    units = encoder.transform(film)
    assert units.shape == (4, 8 * 8 * 3 * 15)
    again = encoder.inverse_transform(units)
    assert again.shape == film.shape
    assert np.abs(again - film).max() <= 255 / 15 / 2
    as_sequences = sa.Sequences(units, frame_shape=(8, 8, 3, 15), code=encoder.code_)
    assert np.array_equal(as_sequences.values, again)
    with pytest.raises(ValueError, match=r"frames of shape \(4, 8, 3\)"):
        encoder.transform(film[:, :4])


# -- thresholds
# --------------------------------------------------------------------------------------------------


@given(TABLES, st.sampled_from(["all", "column", "row"]))
def test_the_median_is_that_of_all_of_each_column_or_of_each_row(X, per):
    axis = {"all": None, "column": 0, "row": 1}[per]
    expected = np.where(np.median(X, axis=axis, keepdims=True) < X, 1, -1)
    assert np.array_equal(ThresholdEncoder("median", per=per).fit_transform(X), expected)


@given(
    arrays(np.uint8, (5, 3), elements=st.integers(0, 20)).filter(lambda X: len(np.unique(X)) > 1)
)
def test_otsus_threshold_leaves_the_least_variance_on_its_sides_and_sides_come_back_as_means(X):
    def spread(cut, values):
        return sum(
            ((side - side.mean()) ** 2).sum()
            for side in (values[values <= cut], values[values > cut])
            if side.size
        )

    encoder = ThresholdEncoder().fit(X)
    units = encoder.transform(X)
    best = min(spread(cut, X.astype(float)) for cut in range(21))
    assert spread(encoder.threshold_[0], X.astype(float)) == pytest.approx(best, abs=1e-9)
    means = [X[units == side].astype(float).mean() for side in (-1, 1)]
    assert np.allclose(encoder.inverse_transform(units), np.where(units > 0, means[1], means[0]))


def test_two_values_come_back_exactly_and_columns_have_thresholds_of_their_own():
    X = np.array([[0.0, 300.0], [7.0, 100.0], [7.0, 100.0], [0.0, 300.0]])
    encoder = ThresholdEncoder(per="column")
    assert np.array_equal(encoder.inverse_transform(encoder.fit_transform(X)), X)
    still = np.array([[1.0, 5.0], [2.0, 5.0]])
    assert (encoder.fit_transform(still)[:, 1] == -1).all()  # a neuron that never changes is off
    with pytest.raises(ValueError, match="all values are 3"):
        ThresholdEncoder().fit([[3, 3]])
    with pytest.raises(ValueError, match='only the "median"'):
        ThresholdEncoder("otsu", per="row").fit(X)


# -- populations
# --------------------------------------------------------------------------------------------------


@given(
    st.integers(3, 30),
    st.integers(1, 10),
    st.booleans(),
    st.lists(st.floats(0, 1), min_size=1, max_size=9),
)
def test_a_bump_has_one_width_and_its_place_encodes_the_number(n_units, n_active, circular, values):
    n_active = min(n_active, n_units - 1)
    encoder = PopulationEncoder(n_units, n_active=n_active, value_range=(0, 1), circular=circular)
    X = np.array(values)[:, None]
    units = encoder.fit_transform(X)
    assert ((units > 0).sum(axis=1) == n_active).all()
    away = np.abs(encoder.inverse_transform(units) - X)
    apart = 1 / n_units if circular else 1 / max(n_units - n_active, 1)
    assert (np.minimum(away, 1 - away) if circular else away).max() <= apart / 2 + 1e-9


@given(st.integers(4, 14), st.integers(2, 5), st.booleans(), st.data())
def test_a_corrupted_bump_is_read_as_the_nearest(n_units, n_active, circular, data):
    n_active = min(n_active, n_units - 1)
    encoder = PopulationEncoder(
        n_units, n_active=n_active, value_range=(0, 1), circular=circular
    ).fit([[0.0]])
    places = np.arange(n_units) / n_units if circular else np.linspace(0, 1, n_units - n_active + 1)
    codes = encoder.transform(places[:, None])
    state = data.draw(arrays(np.int8, n_units, elements=st.sampled_from([-1, 1])))
    agree = (codes == state).sum(axis=1)
    if (agree == agree.max()).sum() == 1:
        assert encoder.inverse_transform(state[None])[0, 0] == pytest.approx(places[agree.argmax()])


def test_an_angle_needs_its_period():
    with pytest.raises(ValueError, match="needs its value_range"):
        PopulationEncoder(circular=True).fit([[0.0], [6.2]])
    angles = PopulationEncoder(36, n_active=9, value_range=(0, 360), circular=True).fit([[0]])
    assert np.array_equal(angles.transform([[-10]]), angles.transform([[350]]))
    assert angles.inverse_transform(angles.transform([[355], [5]])).ravel().tolist() == [0, 10]


# -- at home in scikit-learn
# ----------------------------------------------------------------------------------------------

FILM = grey_film(8, 6).reshape(8, -1)


def test_a_pipeline_learns_numbers_and_its_recall_comes_back_as_numbers():
    pipeline = make_pipeline(
        LevelEncoder(4, value_range=(0, 255)), sa.SequenceAttractor(60, random_state=0)
    ).fit(FILM)
    assert pipeline.score(FILM) == 1.0
    encoder, net = pipeline[0], pipeline[-1]
    cue = sa.noise.flip(encoder.transform(FILM[:1])[0], 8, rng=1)
    recalled = encoder.inverse_transform(net.recall(cue, steps=7))
    assert np.abs(recalled[1:] - FILM[1:]).max() <= 255 / 3 / 2


def recall_error(pipeline, X, y=None):
    """How far numbers are off, on average, in a recall from a cue with a tenth of its units
    flipped; larger is better.
    """
    encoder, net = pipeline[0], pipeline[-1]
    clean = encoder.transform(X[:1])[0]
    cue = sa.noise.flip(clean, len(clean) // 10, rng=0)
    return -np.abs(encoder.inverse_transform(net.recall(cue, steps=len(X) - 1))[1:] - X[1:]).mean()


def test_a_grid_search_finds_the_number_of_levels():
    pipeline = make_pipeline(
        LevelEncoder(value_range=(0, 255)), sa.SequenceAttractor(60, random_state=0)
    )
    everything = [
        (np.arange(len(FILM)), np.arange(len(FILM)))
    ]  # a memory is tested on what it stored
    search = GridSearchCV(
        pipeline, {"levelencoder__n_levels": [2, 4, 8]}, scoring=recall_error, cv=everything
    ).fit(FILM)
    assert search.best_params_ == {"levelencoder__n_levels": 8}
    scores = search.cv_results_["mean_test_score"]
    assert scores[0] < scores[1] < scores[2]


@pytest.mark.parametrize("encoder", ENCODERS, ids=str)
def test_data_frames_go_in_and_come_out_with_names(encoder):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"speed": [0.0, 1.0, 2.0], "angle": [3.0, -1.0, 0.5]}, index=[10, 20, 30])
    named = clone(encoder).set_output(transform="pandas").fit_transform(table)
    assert list(named.index) == [10, 20, 30]
    assert {name.split("_")[0] for name in named.columns} == {"speed", "angle"}
    assert np.array_equal(named.to_numpy(), clone(encoder).fit_transform(table))
    assert sa.zoo.LookupMemory(on_conflict="learn").fit(named).n_features_in_ == named.shape[1]


@pytest.mark.parametrize("encoder", ENCODERS, ids=str)
def test_encoders_survive_pickle(encoder):
    X = np.array([[0.0, 3.0], [1.0, -1.0]])
    fitted = clone(encoder).fit(X)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).transform(X), fitted.transform(X))


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        (LevelEncoder(1), "n_levels must be at least 2"),
        (LevelEncoder(code="roman"), "code must be one of"),
        (LevelEncoder(value_range=(2, 1)), "low below high"),
        (LevelEncoder(value_range="all"), "value_range must be None, 'common' or two numbers"),
        (ThresholdEncoder("mean"), "threshold must be one of"),
        (PopulationEncoder(4, n_active=4), "n_active must be at most 3"),
    ],
    ids=str,
)
def test_a_parameter_that_makes_no_sense_is_one_sentence(encoder, message):
    with pytest.raises(ValueError, match=message) as caught:
        encoder.fit([[0.0], [1.0]])
    assert "\n" not in str(caught.value)


def test_patterns_of_another_width_are_rejected():
    with pytest.raises(ValueError, match="X has 3 units, but LevelEncoder makes 14"):
        LevelEncoder(8).fit([[0, 1], [1, 0]]).inverse_transform([[1, 1, 1]])
