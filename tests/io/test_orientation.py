"""Which way round a table stands, and whether it is a table at all or a list of spikes."""

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
    lines += [
        [*([] if rows is None else [rows[k]]), *map(str, row)]
        for k, row in enumerate(values.tolist())
    ]
    path.write_text("\n".join(separator.join(line) for line in lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("beside", "asked", "units", "rate"),
    [
        (
            {"corner": "neuron", "columns": BINS, "rows": NEURONS},
            "a name before each row, such as 'n0'",
            NEURONS,
            20.0,
        ),
        (
            {"corner": "unit", "columns": BINS, "rows": list("31524")},
            "such as '3'",
            list("31524"),
            20.0,
        ),
        ({"rows": NEURONS}, "such as 'n0'", NEURONS, None),
        ({"columns": BINS}, "times above its columns, 0 to 1.95", None, 20.0),
        (
            {
                "corner": "roi",
                "columns": [f"bin_{k}" for k in range(40)],
                "rows": list("12345"),
                "separator": "\t",
            },
            "such as '1'",
            list("12345"),
            None,
        ),
    ],
    ids=["named", "numbered", "names only", "times only", "tabs"],
)
def test_a_table_that_may_stand_either_way_round_is_asked_about(
    tmp_path, beside, asked, units, rate
):
    path = write(tmp_path / "r.csv", **beside)
    with pytest.raises(
        ValueError,
        match=f"{asked}; give time_axis 1 if each column is a time step, 0 if each row is",
    ):
        sa.io.load(path)
    data = sa.io.load(path, time_axis=1)
    assert np.array_equal(data, WANTED)
    assert (data.units, data.rate) == (units, rate)
    assert sa.io.load(path, time_axis=0).shape == (5, 40)


@pytest.mark.parametrize(
    "beside",
    [
        {"corner": "time", "columns": NEURONS, "rows": BINS},
        {
            "corner": "",
            "columns": NEURONS,
            "rows": [str(k) for k in range(40)],
        },  # pandas with its count of rows
        {"columns": NEURONS},
        {"corner": "frame", "columns": NEURONS, "rows": [f"f{k}" for k in range(40)]},
        {},
    ],
    ids=["times", "pandas", "names", "frames", "nothing"],
)
def test_a_table_of_time_by_neurons_is_read_without_a_question(tmp_path, beside):
    path = write(tmp_path / "r.csv", values=RASTER.T, **beside)
    data = sa.io.load(path)
    assert np.array_equal(data, WANTED)
    assert data.units == (NEURONS if "columns" in beside else None)


def test_a_name_before_some_rows_only_is_one_sentence(tmp_path):
    (tmp_path / "r.csv").write_text("n1,0,1\nn2,x,1\n")
    with pytest.raises(
        ValueError, match=r"line 2 of .* has 'x' in column 2, which is not a number"
    ):
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
        with pytest.raises(
            ValueError, match=r"begins with the number|in column 1, which is not a number"
        ):
            sa.io.load(tmp_path / "r.csv")


def test_several_sequences_cannot_have_time_along_the_columns(tmp_path):
    (tmp_path / "r.csv").write_text("n1,0,1\nn2,1,1\n\nn1,1,1\nn2,0,0\n")
    with pytest.raises(ValueError, match="only one sequence"):
        sa.io.load(tmp_path / "r.csv", time_axis=1)


def test_times_beside_an_array_that_fit_its_columns_are_asked_about(tmp_path):
    np.savez(tmp_path / "a.npz", raster=RASTER, times=0.05 * np.arange(40), unit_id=[7, 3, 5, 1, 2])
    with pytest.raises(
        ValueError, match="an entry of 'times' for each column of 'raster'; give time_axis 1"
    ):
        sa.io.load(tmp_path / "a.npz")
    with (
        on_terms(Terms("lab")),
        pytest.raises(ValueError, match="turn it so that each row is a time step"),
    ):
        sa.io.load(tmp_path / "a.npz")
    data = sa.io.load(tmp_path / "a.npz", time_axis=1)
    assert np.array_equal(data, WANTED)
    assert data.rate == 20.0
    np.savez(
        tmp_path / "b.npz", raster=RASTER.T, times=0.05 * np.arange(40), unit_id=[7, 3, 5, 1, 2]
    )
    data = sa.io.load(tmp_path / "b.npz")
    assert np.array_equal(data, WANTED)
    assert data.rate == 20.0


def test_the_command_line_names_its_option_for_the_time_axis(run, tmp_path):
    write(tmp_path / "r.csv", corner="neuron", columns=BINS, rows=NEURONS)
    code, _, err = run("learn", "r.csv", "-o", "m.npz", "--hidden", 60)
    assert code == 2
    assert "such as 'n0'; give --time-axis 1 if each column is a time step" in err
    np.savetxt(tmp_path / "plain.csv", RASTER, fmt="%d", delimiter=",")
    _, out, err = run("learn", "plain.csv", "-o", "m.npz", "--hidden", 60)
    assert (
        "note: plain was read as 5 time steps (rows) of 40 units (columns); if its rows are units, "
        "give --time-axis 1." in err
    )
    _, out, err = run("learn", "plain.csv", "-o", "m.npz", "--hidden", 60, "--time-axis", 1)
    assert "40 patterns of 5 units" in out
    assert "was read as" not in err


# -- spikes
# --------------------------------------------------------------------------------------------------

SPIKES = [(0.013, 4), (0.02, 2), (0.131, 4), (0.31, 7), (0.45, 2), (0.46, 4)]
HEADERS = [
    ("time", "unit"),
    ("unit", "time"),
    ("spike_times", "neuron"),
    ("cell_id", "t"),
    ("cluster", "timestamps"),
]


@pytest.mark.parametrize("header", HEADERS, ids=",".join)
def test_headers_determine_which_column_is_which(tmp_path, header):
    times_first = header[0] in ("time", "spike_times")
    lines = [",".join(header), *(f"{t},{u}" if times_first else f"{u},{t}" for t, u in SPIKES)]
    (tmp_path / "s.csv").write_text("\n".join(lines))
    data = sa.io.load(tmp_path / "s.csv", bin=0.1)
    assert (data.units, data.shape, data.kind) == (["2", "4", "7"], (5, 3), "spikes")
    assert data[0].tolist() == [1, 1, -1]
    for options in (
        {},
        {"threshold": "otsu"},
    ):  # a threshold would make two meaningless units of it
        with pytest.raises(
            ValueError,
            match=(
                f"looks like spike times .*{header[0]} and {header[1]}.*; give the width of a time "
                "bin"
            ),
        ):
            sa.io.load(tmp_path / "s.csv", **options)


def test_times_in_milliseconds_are_brought_to_seconds(tmp_path):
    (tmp_path / "s.csv").write_text(
        "unit;time (ms)\n" + "".join(f"{u};{1000 * t:g}\n" for t, u in SPIKES)
    )
    (tmp_path / "t.csv").write_text("time,unit\n" + "".join(f"{t},{u}\n" for t, u in SPIKES))
    assert np.array_equal(
        sa.io.load(tmp_path / "s.csv", bin=0.1), sa.io.load(tmp_path / "t.csv", bin=0.1)
    )


def test_a_list_of_spikes_with_more_columns_is_not_taken_for_a_table(tmp_path):
    (tmp_path / "s.csv").write_text(
        "trial,unit,time\n" + "".join(f"0,{u},{t}\n" for t, u in SPIKES)
    )
    with pytest.raises(
        ValueError,
        match=r"\(its columns are unit and time\); give .* with bin, and keep no other columns",
    ):
        sa.io.load(tmp_path / "s.csv")


def test_two_columns_of_numbers_may_be_spikes(tmp_path):
    (tmp_path / "s.csv").write_text("\n".join(f"{t},{u}" for t, u in SPIKES))
    with pytest.raises(
        ValueError,
        match=r"times and units of spikes, give the width of a time bin in seconds with bin",
    ):
        sa.io.load(tmp_path / "s.csv")


def test_two_columns_that_are_no_spikes_are_a_table(tmp_path):
    (tmp_path / "two.csv").write_text("".join(f"{k % 2},{k // 2 % 2}\n" for k in range(12)))
    assert sa.io.load(tmp_path / "two.csv").shape == (12, 2)
    (tmp_path / "real.csv").write_text(
        "".join(f"{np.sin(k):.3f},{np.cos(k):.3f}\n" for k in range(12))
    )
    assert sa.io.load(tmp_path / "real.csv", threshold=0).shape == (12, 2)


def test_arrays_of_spikes_need_a_bin(tmp_path):
    times, units = zip(*SPIKES, strict=True)
    np.savez(tmp_path / "s.npz", spike_time=times, spike_unit=units, position=np.zeros(3))
    with pytest.raises(ValueError, match="name one with key, and for spike times give also bin"):
        sa.io.load(tmp_path / "s.npz")
    assert sa.io.load(tmp_path / "s.npz", bin=0.1).shape == (5, 3)


def test_spikes_are_recalled_with_counts_per_unit_and_written_with_names_and_seconds(run, tmp_path):
    rng = np.random.default_rng(1)
    spikes = [
        (0.1 * t + 0.05, f"u{k}") for t in range(30) for k in np.flatnonzero(rng.random(12) < 0.3)
    ]
    (tmp_path / "s.csv").write_text("unit,time\n" + "".join(f"{u},{t:.3f}\n" for t, u in spikes))
    assert run("learn", "s.csv", "--bin", 0.1, "-o", "m.npz")[0] == 0
    code, out, _ = run("recall", "m.npz", "-o", "again.csv", "-o", "again.png")
    lines = out.splitlines()
    assert code == 0
    heading = next(
        k for k, line in enumerate(lines) if line.split() == ["unit", "recalled", "missed", "false"]
    )
    row = lines[heading + 1].split()
    assert (row[0][0], row[2:]) == ("u", ["0", "0"])
    written = (tmp_path / "again.csv").read_text().splitlines()
    data = sa.io.load(tmp_path / "s.csv", bin=0.1)
    assert written[0] == ",".join(["time", *data.units])
    assert [line.split(",")[0] for line in written[1:4]] == ["0", "0.1", "0.2"]
    again = sa.io.load(tmp_path / "again.csv")
    assert np.array_equal(again, data)
    assert (again.units, again.rate) == (data.units, 10.0)
