"""Which way round a table stands, and whether it is a table at all or a list of spikes."""

import warnings

import numpy as np
import pytest

import seqattractor as sa
from seqattractor.io._options import Terms, on_terms

RASTER = (np.random.default_rng(0).random((5, 40)) < 0.3).astype(int)  # five neurons, forty bins
WANTED = np.where(RASTER.T, 1, -1)
BINS = [f"{0.05 * k:.2f}" for k in range(40)]
NEURONS = [f"n{k}" for k in range(5)]


def write(path, *, corner=None, columns=None, rows=None, values=RASTER, separator=","):
    """A table with what stands above and before its numbers."""
    lines = [] if columns is None else [[*([] if corner is None else [corner]), *columns]]
    lines += [[*([] if rows is None else [rows[k]]), *map(str, row)] for k, row in enumerate(values.tolist())]
    path.write_text("\n".join(separator.join(line) for line in lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("beside", "why", "units", "rate"),
    [
        ({"corner": "neuron", "columns": BINS, "rows": NEURONS}, "the first column is called 'neuron'", NEURONS, 20.0),
        ({"corner": "", "columns": map(str, range(40)), "rows": NEURONS}, "the rows are called 'n0' to 'n4'", NEURONS, None),
        ({"corner": "unit", "columns": BINS, "rows": list("31524")}, "the first column is called 'unit'", list("31524"), 20.0),
        ({"rows": NEURONS}, "the rows are called 'n0' to 'n4'", NEURONS, None),
        (
            {"corner": "", "columns": BINS, "rows": list("ABCDE")},
            "the rows have names and the columns times",
            list("ABCDE"),
            20.0,
        ),
        ({"columns": BINS}, "the columns are headed by times, 0 to 1.95", None, 20.0),
        ({"columns": [f"t{k}" for k in range(40)]}, "the columns are called 't0' to 't39'", None, None),
        (
            {"corner": "roi", "columns": [f"bin_{k}" for k in range(40)], "rows": list("12345"), "separator": "\t"},
            "'roi'",
            None,
            None,
        ),
    ],
    ids=["named", "pandas", "numbered", "names only", "words and times", "times only", "words for times", "tabs"],
)
def test_a_table_of_neurons_by_time_is_noticed_and_told(tmp_path, beside, why, units, rate):
    path = write(tmp_path / "r.csv", **beside)
    with pytest.warns(UserWarning, match=r"is read as 5 units \(rows\) x 40 time steps \(columns\), because ") as told:
        data = sa.io.load(path)
    assert len(told) == 1
    assert why in str(told[0].message)
    assert "time_axis 0 makes rows time steps" in str(told[0].message)
    assert np.array_equal(data, WANTED)
    assert data.rate == rate
    assert units is None or data.units == units
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = sa.io.load(path, time_axis=1)
        assert np.array_equal(said, WANTED)
        assert said.units == data.units
        assert sa.io.load(path, time_axis=0).shape == (5, 40)


@pytest.mark.parametrize(
    "beside",
    [
        {"corner": "time", "columns": NEURONS, "rows": BINS},
        {"corner": "", "columns": NEURONS, "rows": [str(k) for k in range(40)]},  # pandas with its count of rows
        {"columns": NEURONS},
        {"rows": [f"2024-05-01 10:00:{k:02d}" for k in range(40)]},
        {"corner": "frame", "columns": NEURONS, "rows": [f"f{k}" for k in range(40)]},
        {},
    ],
    ids=["times", "pandas", "names", "dates", "frames", "nothing"],
)
def test_a_table_of_time_by_neurons_is_read_without_a_word(tmp_path, beside):
    path = write(tmp_path / "r.csv", values=RASTER.T, **beside)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = sa.io.load(path)
    assert np.array_equal(data, WANTED)
    assert data.units == (NEURONS if "columns" in beside else None)


def test_names_that_may_be_either_are_asked_about(tmp_path):
    path = write(tmp_path / "r.csv", rows=list("ABCDE"))
    with pytest.raises(ValueError, match="such as 'A', and nothing says whether rows are units or time steps: give time_axis 1"):
        sa.io.load(path)
    assert sa.io.load(path, time_axis=1).units == list("ABCDE")
    assert sa.io.load(path, time_axis=0).shape == (5, 40)


def test_a_name_before_some_rows_only_is_one_sentence(tmp_path):
    (tmp_path / "r.csv").write_text("n1,0,1\nn2,x,1\n")
    with pytest.raises(ValueError, match=r"line 2 of .* has 'x' in column 2, which is not a number"):
        sa.io.load(tmp_path / "r.csv")
    (tmp_path / "s.csv").write_text("n1,0,1\nn2,1\n")
    with pytest.raises(ValueError, match=r"line 2 of .* has 1 values, but the lines before have 2"):
        sa.io.load(tmp_path / "s.csv")


@pytest.mark.parametrize("word", ["-", "x", ":", "1e", "n1", "2024-01-01"])
def test_a_damaged_number_in_the_first_column_is_not_a_name(tmp_path, word):
    rows = [row.split(",") for row in ["0,1,1", "1,0,1", "1,1,0"]]
    for line in range(3):
        damaged = [[word, *row[1:]] if k == line else row for k, row in enumerate(rows)]
        (tmp_path / "r.csv").write_text("\n".join(",".join(row) for row in damaged))
        with pytest.raises(ValueError, match=r"begins with the number|in column 1, which is not a number"):
            sa.io.load(tmp_path / "r.csv")


def test_several_sequences_cannot_have_time_along_the_columns(tmp_path):
    (tmp_path / "r.csv").write_text("n1,0,1\nn2,1,1\n\nn1,1,1\nn2,0,0\n")
    with pytest.raises(ValueError, match="only one sequence"), pytest.warns(UserWarning, match="is read as 2 units"):
        sa.io.load(tmp_path / "r.csv")


def test_times_beside_an_array_say_which_way_round_it_is(tmp_path):
    np.savez(tmp_path / "a.npz", raster=RASTER, times=0.05 * np.arange(40), unit_id=[7, 3, 5, 1, 2])
    with pytest.warns(UserWarning, match="because the array 'times' beside it has an entry for each column"):
        data = sa.io.load(tmp_path / "a.npz")
    assert np.array_equal(data, WANTED)
    assert (data.units, data.rate) == (["7", "3", "5", "1", "2"], 20.0)
    np.savez(tmp_path / "b.npz", raster=RASTER.T, times=0.05 * np.arange(40), unit_id=[7, 3, 5, 1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = sa.io.load(tmp_path / "b.npz")
    assert np.array_equal(data, WANTED)
    assert (data.units, data.rate) == (["7", "3", "5", "1", "2"], 20.0)


def test_the_lab_which_has_no_options_asks_for_the_other_way_round(tmp_path):
    path = write(tmp_path / "r.csv", rows=NEURONS)
    with on_terms(Terms("lab")), pytest.raises(ValueError, match="turn it so that each row is a time step"):
        sa.io.load(path)


@pytest.mark.filterwarnings("default")
def test_the_command_line_says_what_was_assumed_and_what_turns_it(run, tmp_path):
    write(tmp_path / "r.csv", corner="neuron", columns=BINS, rows=NEURONS)
    code, out, err = run("learn", "r.csv", "-o", "m.npz", "--hidden", 60)
    assert code in (0, 1)
    assert "40 patterns of 5 units" in out
    assert "warning: r.csv is read as 5 units (rows) x 40 time steps (columns), because" in err
    assert "--time-axis 1 says so without this warning, --time-axis 0 makes rows time steps" in err
    np.savetxt(tmp_path / "plain.csv", RASTER, fmt="%d", delimiter=",")
    _, out, err = run("learn", "plain.csv", "-o", "m.npz", "--hidden", 60)
    assert "note: plain was read as 5 time steps (rows) of 40 units (columns); if its rows are units, give --time-axis 1." in err
    _, out, err = run("learn", "plain.csv", "-o", "m.npz", "--hidden", 60, "--time-axis", 1)
    assert "40 patterns of 5 units" in out
    assert "was read as" not in err


# -- spikes -------------------------------------------------------------------------------------------------------------

SPIKES = [(0.013, 4), (0.02, 2), (0.131, 4), (0.31, 7), (0.45, 2), (0.46, 4)]
HEADERS = [("time", "unit"), ("unit", "time"), ("spike_times", "neuron"), ("cell_id", "t"), ("cluster", "timestamps")]


@pytest.mark.parametrize("header", HEADERS, ids=",".join)
def test_headers_say_which_column_is_which(tmp_path, header):
    times_first = header[0] in ("time", "spike_times")
    lines = [",".join(header), *(f"{t},{u}" if times_first else f"{u},{t}" for t, u in SPIKES)]
    (tmp_path / "s.csv").write_text("\n".join(lines))
    data = sa.io.load(tmp_path / "s.csv", bin=0.1)
    assert (data.units, data.shape, data.kind) == (["2", "4", "7"], (5, 3), "spikes")
    assert data[0].tolist() == [1, 1, -1]
    for options in ({}, {"threshold": "otsu"}):  # a threshold would make two meaningless units of it
        with pytest.raises(
            ValueError, match=f"looks like spike times .*{header[0]} and {header[1]}.*; give the width of a time bin"
        ):
            sa.io.load(tmp_path / "s.csv", **options)


def test_times_in_milliseconds_are_brought_to_seconds(tmp_path):
    (tmp_path / "s.csv").write_text("unit;time (ms)\n" + "".join(f"{u};{1000 * t:g}\n" for t, u in SPIKES))
    (tmp_path / "t.csv").write_text("time,unit\n" + "".join(f"{t},{u}\n" for t, u in SPIKES))
    assert np.array_equal(sa.io.load(tmp_path / "s.csv", bin=0.1), sa.io.load(tmp_path / "t.csv", bin=0.1))


def test_a_list_of_spikes_with_more_columns_is_not_taken_for_a_table(tmp_path):
    (tmp_path / "s.csv").write_text("trial,unit,time\n" + "".join(f"0,{u},{t}\n" for t, u in SPIKES))
    with pytest.raises(ValueError, match=r"\(its columns are unit and time\); give .* with bin, and keep no other columns"):
        sa.io.load(tmp_path / "s.csv")


@pytest.mark.parametrize("units_first", [False, True])
def test_two_columns_without_names_are_recognised_too(tmp_path, units_first):
    lines = [f"{u},{t}" if units_first else f"{t},{u}" for t, u in SPIKES]
    (tmp_path / "s.csv").write_text("\n".join(lines))
    where = "times in column 2 and units in column 1" if units_first else "times in column 1 and units in column 2"
    for options in ({}, {"threshold": "otsu"}):
        with pytest.raises(ValueError, match=rf"looks like spike times \({where}\); give the width of a time bin"):
            sa.io.load(tmp_path / "s.csv", **options)


def test_two_columns_that_are_no_spikes_are_a_table(tmp_path):
    (tmp_path / "two.csv").write_text("".join(f"{k % 2},{k // 2 % 2}\n" for k in range(12)))
    assert sa.io.load(tmp_path / "two.csv").shape == (12, 2)
    (tmp_path / "real.csv").write_text("".join(f"{np.sin(k):.3f},{np.cos(k):.3f}\n" for k in range(12)))
    assert sa.io.load(tmp_path / "real.csv", threshold=0).shape == (12, 2)


def test_arrays_of_spikes_are_recognised(tmp_path):
    times, units = zip(*SPIKES, strict=True)
    np.savez(tmp_path / "s.npz", spike_time=times, spike_unit=units, position=np.zeros(3))
    with pytest.raises(ValueError, match=r"looks like spike times \(its arrays spike_time and spike_unit\); give .* with bin"):
        sa.io.load(tmp_path / "s.npz")
    assert sa.io.load(tmp_path / "s.npz", bin=0.1).shape == (5, 3)


def test_spikes_are_recalled_with_counts_per_unit_and_written_with_names_and_seconds(run, tmp_path):
    rng = np.random.default_rng(1)
    spikes = [(0.1 * t + 0.05, f"u{k}") for t in range(30) for k in np.flatnonzero(rng.random(12) < 0.3)]
    (tmp_path / "s.csv").write_text("unit,time\n" + "".join(f"{u},{t:.3f}\n" for t, u in spikes))
    assert run("learn", "s.csv", "--bin", 0.1, "-o", "m.npz")[0] == 0
    code, out, _ = run("recall", "m.npz", "-o", "again.csv", "-o", "again.png")
    lines = out.splitlines()
    assert code == 0
    heading = next(
        k for k, line in enumerate(lines) if line.split() == ["unit", "spikes", "recalled", "false", "recall", "precision"]
    )
    row = lines[heading + 1].split()
    assert (row[0][0], row[1] == row[2], row[3:]) == ("u", True, ["0", "100%", "100%"])
    written = (tmp_path / "again.csv").read_text().splitlines()
    data = sa.io.load(tmp_path / "s.csv", bin=0.1)
    assert written[0] == ",".join(["time", *data.units])
    assert [line.split(",")[0] for line in written[1:4]] == ["0", "0.1", "0.2"]
    again = sa.io.load(tmp_path / "again.csv")
    assert np.array_equal(again, data)
    assert (again.units, again.rate) == (data.units, 10.0)
