"""Frames, tensors and arrays of other packages as X; estimators that are pickled, copied and put
into pipelines.
"""

import copy
import pickle
import types
from importlib.resources import files

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pynapple as nap
import pytest
import sklearn
import xarray as xr
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

import seqattractor as sa
from quiet import fit_quietly
from seqattractor.networks import make_network, network_names
from seqattractor.networks.registry import parameters_of

X = np.array(sa.datasets.random_periodic(6, 8, rng=0))
NAMES = list("abcdefgh")
TIMES = np.arange(len(X)) * 0.1


FORMS = {
    "float64": X.astype(float),
    "float32": X.astype(np.float32),
    "int64": X.astype(np.int64),
    "lists": X.tolist(),
    "booleans": X > 0,
    "lists of booleans": (X > 0).tolist(),
    "0 and 1": (X > 0).astype(np.int64),
    "unsigned 0 and 1": (X > 0).astype(np.uint8),
    "0.0 and 1.0": (X > 0).astype(float),
    "pandas": pd.DataFrame(X, columns=NAMES),
    "pandas with missing-value types": pd.DataFrame(X).astype("Int64"),
    "pandas booleans": pd.DataFrame(X > 0, columns=NAMES).astype("boolean"),
    "polars": pl.DataFrame(X, schema=NAMES),
    "polars booleans": pl.DataFrame(X > 0, schema=NAMES),
    "xarray": xr.DataArray(X, dims=["time", "unit"], coords={"unit": NAMES}),
    "xarray with time last": xr.DataArray(X.T, dims=["unit", "time"], coords={"unit": NAMES}),
    "pynapple": nap.TsdFrame(t=TIMES, d=X, columns=NAMES),
    "pynapple booleans": nap.TsdFrame(t=TIMES, d=(X > 0).astype(int)),
}
NAMED = {
    "pandas",
    "pandas booleans",
    "polars",
    "polars booleans",
    "xarray",
    "xarray with time last",
    "pynapple",
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_patterns_in_any_form_teach_the_same(form):
    given = FORMS[form]
    net = sa.SequenceAttractor(20, random_state=0)
    plain = fit_quietly(copy.deepcopy(net), X)
    net = fit_quietly(net, given)
    assert np.array_equal(net.V_, plain.V_)
    assert net.score(given) == plain.score(X)
    assert np.array_equal(net.step(given), plain.step(X))
    assert np.array_equal(net.recall(given, steps=3), plain.recall(X, steps=3))
    two = fit_quietly(copy.deepcopy(net), [given, given])
    assert np.array_equal(two.V_, fit_quietly(copy.deepcopy(plain), [X, X]).V_)
    assert np.array_equal(sa.Sequences(given).patterns, X)
    assert hasattr(net, "feature_names_in_") == (form in NAMED)
    if form in NAMED:
        assert net.feature_names_in_.tolist() == NAMES
        assert net.feature_names_in_.dtype == object
        assert two.feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            np.array([[1, 0], [-1, 1]]),
            r"only -1 and \+1, or only 0 and 1, but X\[0, 1\] is 0; .*sa\.binarize",
        ),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), r"X\[0, 1\] is 0\.5; .*sa\.binarize"),
        (pd.DataFrame([[1, 2], [3, 4]]), r"X\[0, 1\] is 2; .*sa\.binarize"),
        (pd.DataFrame([[1, None], [1, 1]]), r"X\[0, 1\] is NaN"),
        (xr.DataArray(np.ones((2, 2, 2)), dims=["time", "y", "x"]), "two dimensions"),
    ],
)
def test_all_other_values_are_rejected(given, message):
    with pytest.raises(ValueError, match=message):
        sa.zoo.HebbianMemory().fit(given)


def test_columns_keep_their_names_and_order(tmp_path):
    frame = pd.DataFrame(X, columns=NAMES)
    net = sa.VisibleNetwork(kappa=0.1, random_state=0).fit(frame)
    swapped = frame[NAMES[::-1]]
    for use in (net.score, net.step, net.partial_fit, lambda given: net.recall(given, steps=1)):
        with pytest.raises(
            ValueError,
            match=r"has the column 'h' where the network learned 'a'.*net\.feature_names_in_",
        ):
            use(swapped)
    assert net.score(swapped[net.feature_names_in_]) == net.score(X) == 1.0
    for name in ("m.npz", "m.safetensors"):
        net.export(tmp_path / name)
        assert sa.load(tmp_path / name).feature_names_in_.tolist() == NAMES
    assert not hasattr(net.fit(X), "feature_names_in_")
    net.feature_names_in_ = np.array(["a"], dtype=object)
    with pytest.raises(ValueError, match="feature_names_in_ does not name every unit"):
        net.save(tmp_path / "m.npz")


QUICK = {
    "n_hidden": 6,
    "n_latent": 4,
    "max_epochs": 2,
    "trials": 2,
    "n_init": 1,
    "read_out_interval": 1.0,
    "max_steps": 2,
}


@pytest.mark.parametrize("name", network_names())
def test_estimators_survive_pickle_joblib_and_deepcopy(name, tmp_path):
    known = parameters_of(name)
    net = make_network(
        name, **{key: value for key, value in QUICK.items() if key in known}, on_conflict="learn"
    )
    if "random_state" in known:
        net.set_params(random_state=0)
    for learned in (False, True):
        if learned:
            fit_quietly(net, pd.DataFrame(X, columns=NAMES))
        joblib.dump(net, tmp_path / "net.joblib")
        for twin in (
            pickle.loads(pickle.dumps(net)),
            joblib.load(tmp_path / "net.joblib"),
            copy.deepcopy(net),
        ):
            assert repr(twin) == repr(net)
            assert vars(twin).keys() == vars(net).keys()
            if learned:
                assert twin.feature_names_in_.tolist() == NAMES
                before = copy.deepcopy(net)  # networks that fire by chance move their generator on
                assert np.array_equal(
                    twin.recall(X[: net.order_].squeeze(), 3),
                    before.recall(X[: net.order_].squeeze(), 3),
                )


def test_given_networks_survive_pickle_and_deepcopy():
    net = sa.networks.from_arrays(np.eye(8))
    for twin in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        assert np.array_equal(twin.recall(X[0], 3), net.recall(X[0], 3))


def test_pipelines_with_pandas_output_feed_networks():
    raw = pd.DataFrame(X + np.random.default_rng(0).uniform(-0.4, 0.4, X.shape), columns=NAMES)
    with sklearn.config_context(transform_output="pandas"):
        pipeline = make_pipeline(Binarizer(threshold=0.0), sa.zoo.PseudoInverseMemory()).fit(raw)
        assert pipeline.score(raw) == 1.0
    net = pipeline[-1]
    assert net.feature_names_in_.tolist() == NAMES
    assert np.array_equal(net.recall(X[0], 5), X)


def test_the_package_declares_that_it_has_types():
    root = files("seqattractor")
    assert (root / "py.typed").is_file()
    for package in ("", "networks", "io", "datasets", "analysis", "plots", "study"):
        stub = (root / package if package else root) / "__init__.pyi"
        assert stub.is_file()
    assert isinstance(sa.networks, types.ModuleType)
