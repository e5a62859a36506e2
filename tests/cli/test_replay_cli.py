"""`seqattractor replay`: from a session to a report, a table and a copy, or one sentence."""

import csv
import json
import re
import warnings

import numpy as np
import pytest
from pynwb import NWBHDF5IO
from sklearn.exceptions import ConvergenceWarning

import seqattractor as sa

KINDS = {"forward": 3, "reverse": 3, "rates": 3}
SESSION = sa.datasets.recording(n_cells=40, n_laps=3, n_events=KINDS, loss=0.2, rng=0)
QUICK = ["--shuffles", 60, "--hidden", 200, "--ensemble", 2, "--jobs", 1]
NWB = ["session.nwb", "--learn", "laps", "--events", "events", *QUICK]


@pytest.fixture
def session(tmp_path):
    SESSION.write_nwb(tmp_path / "session.nwb")
    return tmp_path


def test_a_session_becomes_a_report_a_table_and_a_copy(run, session):
    outs = ["report.html", "table.csv", "tested.nwb"]
    code, out, err = run("replay", *NWB, *(word for name in outs for word in ("-o", name)))
    assert code == 0, err
    assert (
        "Laps: The order of the bins matters, but constant rates predict the laps no worse" in out
    )
    assert re.search(r"Events: [3-6] of 9 events are replay", out)
    assert out.index("Laps:") < out.index("Events:")
    assert out.splitlines()[-3:] == [f"saved as {name}" for name in outs]
    with open(session / "table.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    starts = [[float(row["start"]), float(row["end"])] for row in rows]
    assert np.allclose(starts, SESSION.events)
    with NWBHDF5IO(session / "tested.nwb", "r") as file:
        table = file.read().intervals["replay"].to_dataframe()
    for name in ("p", "q", "score", "speed", "from_pattern"):
        assert np.allclose(table[name], [float(row[name]) for row in rows])
    learned = sa.replay.consensus([lap > 0 for lap in SESSION.lap_counts(0.1)])
    given = {"max_epochs": 3000, "on_conflict": "learn"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        nets = [sa.SequenceAttractor(200, random_state=k, **given).fit(learned) for k in (0, 1)]
    events = SESSION.event_counts(0.02)
    tested = sa.replay.test(nets, events, n_shuffles=60, rng=0)
    assert np.allclose(table["p"], tested.p_values)
    page = (session / "report.html").read_text()
    assert page.count("<img") == 2 * 4  # each for light and for dark
    assert "follows</th>" not in page  # there is one map only
    for title in ("Is there a sequence in the laps?", "Do events replay it?", "Methods", "Events"):
        assert f"<h2>{title}</h2>" in page


def test_the_methods_have_every_number(run, session):
    code, out, err = run("replay", *NWB, "--json", "--seed", 3, "--max-speed", 5, "--null", "order")
    assert (code, err) == (0, "")
    found = json.loads(out)
    laps, events = ([*map(len, each)] for each in (SESSION.lap_counts(), SESSION.event_counts()))
    for words in (
        "40 units in session.nwb",
        f"bins of 100 ms in 3 laps (laps; {min(laps)} to {max(laps)} bins each)",
        f"bins of 20 ms in 9 candidate events (events; {min(events)} to {max(events)} bins each)",
        "more than 0.5",
        "40 visible and 200 hidden",
        "kappa = 1.0, eta = 0.001",
        "max_epochs = 3000",
        "2 networks of",
        "random_state = 3 to 4",
        "200 random orders",
        "d = 1 to 8",
        "k = 1 to 5",
        "the same bins in random order, 60 shuffles",
        "/ (1 + 60)",
        "The p values of 9 events were adjusted",
        "Benjamini and Hochberg",
        f"seqattractor {sa.__version__}, seed 3.",
    ):
        assert words in found["methods"], words
    learned = r"in \d+( to \d+)? epochs, \d of 2 .*; each stores at least \d+\.\d % of the trans"
    assert re.search(learned, found["methods"])
    assert len(found["events"]) == 9
    assert found["replay"] == sum(row["q"] <= 0.05 for row in found["events"])


@pytest.mark.slow
def test_tables_of_spikes_and_epochs_will_do(run, tmp_path):
    for name, rows in (
        ("spikes", zip(SESSION.times.tolist(), SESSION.cells.tolist(), strict=True)),
        ("laps", SESSION.laps.tolist()),
        ("events", SESSION.events.tolist()),
    ):
        (tmp_path / f"{name}.csv").write_text("".join(f"{a!r},{b!r}\n" for a, b in rows))
    SESSION.write_nwb(tmp_path / "session.nwb")
    given = ["spikes.csv", "--learn", "laps.csv", "--events", "events.csv", *QUICK]
    code, out, err = run("replay", *given, "--json")
    assert code == 0, err
    from_nwb = json.loads(run("replay", *NWB, "--json")[1])
    assert json.loads(out)["events"][0]["p"] == from_nwb["events"][0]["p"]
    code, _, err = run("replay", *given, "-o", "tested.nwb")
    assert (code, err.count("\n")) == (2, 1)
    assert "would be a copy of an NWB file, and spikes.csv is none" in err


@pytest.mark.filterwarnings("default:.*epochs of spikes.npy were left out")
def test_each_map_of_the_laps_is_a_sequence_of_its_own(run, tmp_path):
    kinds = {"forward": 4, "rates": 2}
    session = sa.datasets.recording(40, 6, kinds, n_maps=2, loss=0.2, rng=0)
    session.write_nwb(tmp_path / "session.nwb")
    code, out, err = run("replay", *NWB, "--maps", "map", "--json", "-o", "report.html")
    assert (code, err) == (0, "")
    found, page = json.loads(out), (tmp_path / "report.html").read_text()
    assert "follows</th>" in page
    assert f"<td>map {session.event_maps[0]}</td>" in page
    assert "in more than 0.5 of the laps of each of the 2 maps on average" in found["methods"]
    follows = [row["follows"] for row in found["events"][:4]]
    assert follows == [f"map {m}" for m in session.event_maps[:4]]
    np.save(tmp_path / "spikes.npy", np.column_stack([session.times, session.cells]))
    with open(tmp_path / "laps.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["start", "end", "Arm"])
        writer.writerow([100.0, 100.001, "neither"])  # too short for a bin
        for (start, end), m in zip(session.laps.tolist(), session.lap_maps, strict=True):
            writer.writerow([start, end, m])
    (tmp_path / "events.csv").write_text(
        "".join(f"{a!r},{b!r}\n" for a, b in session.events.tolist())
    )
    given = ["spikes.npy", "--learn", "laps.csv", "--events", "events.csv", *QUICK]
    code, out, err = run("replay", *given, "--maps", "Arm", "--json")
    assert code == 0, err
    assert "1 of 7 epochs" in err
    assert [row["p"] for row in json.loads(out)["events"]] == [row["p"] for row in found["events"]]
    code, _, err = run("replay", *given, "--maps", "way")
    assert code == 2
    assert "laps.csv has no column called 'way'" in err.splitlines()[-1]


@pytest.mark.filterwarnings("default:.*epochs of spikes.npy were left out")
def test_events_that_are_too_short_for_a_bin_are_left_out_with_a_warning(run, tmp_path):
    events = [*SESSION.events.tolist()[:2], [100.0, 100.001], *SESSION.events.tolist()[2:]]
    SESSION.write_nwb(tmp_path / "session.nwb")
    np.save(tmp_path / "spikes.npy", np.column_stack([SESSION.times, SESSION.cells]))
    for name, rows in (("laps", SESSION.laps.tolist()), ("events", events)):
        (tmp_path / f"{name}.csv").write_text("".join(f"{a!r},{b!r}\n" for a, b in rows))
    given = ["spikes.npy", "--learn", "laps.csv", "--events", "events.csv", *QUICK]
    code, out, err = run("replay", *given, "-o", "table.csv")
    assert (code, out[:5]) == (0, "Laps:")
    assert "1 of 10 epochs" in err
    rows = (tmp_path / "table.csv").read_text().splitlines()[1:]
    found = [[float(cell) for cell in row.split(",")[1:3]] for row in rows]
    assert np.allclose(found, SESSION.events)


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["nothing.nwb", *NWB[1:]], "there is no file nothing.nwb"),
        ([*NWB, "-o", "report.pdf"], "report.pdf must end in .html"),
        ([*NWB, "-o", "no/report.html"], "the folder no does not exist"),
        ([*NWB, "-o", "session.nwb"], "would be written over what is read"),
        (["session.nwb", "--learn", "runs", "--events", "events"], "no table of intervals called"),
        (["session.nwb", "--learn", "laps", "--events", "ripples"], "called 'ripples'; there are"),
        (["session.nwb", "--learn", "laps", "--events", "events", "--bin", "90"], "none that"),
        ([*NWB, "--key", "position"], "threshold"),
        ([*NWB, "--maps", "arm"], "has no column called 'arm'; it has start_time, stop_time, map"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(run, session, words, match):
    code, out, err = run("replay", *words)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert match in err
    assert [path.name for path in session.iterdir()] == ["session.nwb"]


def test_ctrl_c_leaves_what_stood_there(run, session, monkeypatch):
    def stops(*_, **__):
        raise KeyboardInterrupt

    (session / "report.html").write_text("as it was")
    monkeypatch.setattr("seqattractor.tasks.replay.test", stops)
    code, _, err = run("replay", *NWB, "-o", "report.html", "-o", "tested.nwb")
    assert (code, err.splitlines()[-1]) == (130, "stopped.")
    assert (session / "report.html").read_text() == "as it was"
    assert sorted(path.name for path in session.iterdir()) == ["report.html", "session.nwb"]


def test_learning_spikes_mentions_the_check(run, session):
    learned = ["session.nwb", "--bin", 0.1, "--epochs", "laps", "-o", "laps.npz"]
    _, _, err = run("learn", *learned, "--hidden", 100, "--max-epochs", 20)
    [note] = [line for line in err.splitlines() if "seqattractor replay" in line]
    assert note.startswith("note: any laps can be stored")


@pytest.mark.slow
@pytest.mark.parametrize("null", ["cells", "circular", "poisson"])
def test_every_null_and_any_number_of_processes_give_a_report(run, session, null):
    code, out, err = run("replay", *NWB, "--null", null, "--json")
    assert code == 0, err
    two = run("replay", *NWB, "--null", null, "--json", "--jobs", 2)[1]
    assert json.loads(two)["events"] == json.loads(out)["events"]
