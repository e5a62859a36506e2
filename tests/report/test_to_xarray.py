"""Results as arrays with named axes: the numbers are those of the rows, and an absent package is
named in a sentence.
"""

import sys

import numpy as np
import pytest

import seqattractor as sa
from seqattractor._named_axes import on_grid
from seqattractor.study import Grid, read_study, run_sweep

xarray = pytest.importorskip("xarray")
X = sa.datasets.random_periodic(8, 40, rng=0)
NET = sa.SequenceAttractor(n_hidden=80, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("result", "axis"),
    [
        (sa.certify(NET, X), "transition"),
        (sa.certify(NET, X[::-1]), "transition"),
        (sa.robustness_curve(NET, X, trials=20, rng=0), "flips"),
        (sa.lesion_curve(NET, X, draws=2, rng=0), "removed"),
        (sa.hidden_activity(NET, X), "neuron"),
        (sa.separable(sa.datasets.xor()), "neuron"),
        (sa.find_attractors(NET, X, starts=20, flips=2, rng=0), "attractor"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_columns_of_the_rows_are_variables_along_an_axis(result, axis):
    data, rows = result.to_xarray(), list(result.rows())
    assert data.sizes[axis] == len(rows)
    checked = 0
    for name in rows[0]:
        if name in data.variables and data[name].dims == (axis,):
            wanted = [np.nan if row[name] is None else row[name] for row in rows]
            np.testing.assert_array_equal(data[name], wanted)
            checked += 1
    assert checked >= 2
    assert data.attrs["result"] == type(result).__name__
    assert data.attrs["description"] == result.describe()
    assert all(variable.attrs["long_name"] for variable in data.data_vars.values())


def test_the_units_of_an_attack_are_marked():
    certificate = sa.certify(NET, X)
    marked = certificate.to_xarray().breaking_set
    assert [np.flatnonzero(row).tolist() for row in marked] == [
        sorted(units.tolist()) for units in certificate.breaking_sets
    ]


def test_lost_starts_by_first_step_and_end():
    losses = sa.lost_starts(NET, X, flips=15, rng=0)
    data = losses.to_xarray()
    for row in losses.rows():
        of_step = data.starts.sel(first_step=row["first step"])
        assert {str(end): int(of_step.sel(end=end)) for end in data.end.values} == {
            k: row[k] for k in list(row)[2:]
        }
    assert data.sizes["start"] == 7


def test_sequences_and_attractors_are_time_by_unit():
    data = sa.Sequences(
        [[1, 1], [1, -1], [-1, 1]],
        lengths=[1, 2],
        names=["a", "b"],
        units=["left", "right"],
        rate=10,
    )
    frame = data.to_xarray().patterns
    assert frame.dims == ("time", "unit")
    assert frame.sel(unit="right").values.tolist() == [1, -1, 1]
    assert frame[frame.sequence == "b"].seconds.values.tolist() == [0.0, 0.1]
    loop = sa.find_attractors(NET, X, starts=5, rng=0)[0].to_xarray()
    assert loop.patterns.shape == (7, 40)


def test_a_study_has_an_axis_for_each_setting_that_differs(tmp_path):
    path = tmp_path / "study.db"
    first = Grid(
        {"network": ["hebbian", "lookup"], "n": 20, "t": [4, 9], "flips": [0, 2]}, trials=2
    )
    run_sweep(
        [first, Grid({"network": "attractor", "n": 20, "m": 40, "t": 4, "flips": 0}, trials=2)],
        path,
    )
    study = read_study(path)
    data = study.to_xarray()
    assert set(data.rate.dims) == {"network", "m", "t", "flips"}
    assert int(data.n) == 20  # the same everywhere
    for row in study.rows():
        networks = data.rate.sel(network=row["network"], t=row["t"], flips=row["flips"])
        rates = networks.values[~np.isnan(networks)]
        assert rates.tolist() == [row["rate"]]
    assert int(data.rate.notnull().sum()) == 9  # the other combinations were not asked for


def test_to_xarray_raises_for_results_without_axes():
    for result in (sa.success_rate([1, 0]), sa.find_conflicts(X)):
        with pytest.raises(NotImplementedError, match="has no axes; its numbers are in rows"):
            result.to_xarray()


def test_without_xarray_one_sentence_explains_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(
        ImportError,
        match=r'needs xarray, which is not installed: pip install "seqattractor\[xarray\]"',
    ):
        X.to_xarray()


def test_rows_become_arrays_over_the_settings_that_vary():
    rows = [{"t": 5, "m": 80, "n": 20, "rate": 1.0}, {"t": 9, "m": 80, "n": 20, "rate": 0.5}]
    grid = on_grid(rows, ["t", "m", "n"], {"rate": "success"})
    axes, values, words = grid.variables["rate"]
    assert (axes, values.tolist(), words) == (("t",), [1.0, 0.5], "success")
    assert sorted(grid.coordinates) == ["m", "n", "t"]
