"""Studies: counts are those of a plain computation on a list, and tables are written row by row."""

import sqlite3
import subprocess
import sys
import weakref
from contextlib import closing
from itertools import islice

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from test_store import POINT, damage

from seqattractor.cli.sweep import command
from seqattractor.study import Grid, Store, run_sweep
from seqattractor.study import table as table
from seqattractor.study.protocol import Rounds, Trial, code_digest
from seqattractor.study.run import run_trials
from seqattractor.study.store import Finished
from seqattractor.study.study import study_in, trial_rows

GRIDS = [
    {"network": "lookup", "n": 20, "t": [5, 9]},
    {"network": ["attractor", "lookup"], "t": 9, "n": [20, 30], "eta": 0.5},
]
POINTS = Rounds((point, 1) for settings in GRIDS for point in Grid(settings).points())
CODE = {trial.point.key: f"0+{code_digest()}" for trial in POINTS}
OTHER = "0+of another time"

trials = st.fixed_dictionaries(
    {
        "point": st.sampled_from([trial.point for trial in POINTS]),
        "number": st.integers(0, 7),
        "error": st.sampled_from([None, None, None, "ValueError: no", "MemoryError: "]),
        "success": st.booleans(),
        "this_code": st.booleans(),
        "seconds": st.sampled_from([0.0, 0.25, 3.0]),
    }
)
studies = st.lists(
    trials, max_size=40, unique_by=lambda trial: (trial["point"].key, trial["number"])
)
numbers = st.tuples(
    st.integers(0, 6), st.integers(0, 6)
)  # trials of each grid; 0 for a grid that the study does not have


def finished(trial):
    """A trial as the store takes it."""
    outcome = None if trial["error"] else {"success": trial["success"], "epochs": 7}
    version = CODE[trial["point"].key] if trial["this_code"] else OTHER
    return Finished(
        Trial(trial["point"], trial["number"]),
        outcome,
        trial["error"],
        trial["seconds"],
        "here",
        version,
    )


def filled(store, study, numbers):
    """Put a study into a store."""
    for settings, number in zip(GRIDS, numbers, strict=True):
        if number:
            store.add_grid(Grid(settings, trials=number).as_json())
    store.add([finished(trial) for trial in study])
    return store


def plain_counts(study, numbers):
    """Return what `sweep status` must report on a study, from a list of its trials."""
    over = {(trial["point"].key, trial["number"]) for trial in study}
    wanted = {
        (point.key, number)
        for settings, n in zip(GRIDS, numbers, strict=True)
        if n
        for point in Grid(settings).points()
        for number in range(n)
    }
    return {
        "study": ":memory:",
        "trials": len(study),
        "missing": len(wanted - over),
        "failed": sum(trial["error"] is not None for trial in study),
        "errors": sorted({trial["error"] for trial in study} - {None}),
        "by_other_code": sum(not trial["this_code"] for trial in study),
        "seconds": sum(trial["seconds"] for trial in study),
        "damaged": [],
    }


def without_notes(counts):
    return {name: value for name, value in counts.summary.items() if name != "notes"}


# -- counts
# --------------------------------------------------------------------------------------------------


@given(studies, numbers)
def test_counts_of_a_study_are_those_of_a_list(study, numbers):
    with Store() as store:
        filled(store, study, numbers)
        assert without_notes(study_in(store)) == plain_counts(study, numbers)


@given(studies)
def test_points_have_the_successes_of_their_own_trials(study):
    expected = {}
    for trial in study:
        settings = trial["point"].settings
        row = expected.setdefault(
            (settings["network"], settings.get("eta"), settings.get("t"), settings["n"]), [0, 0, 0]
        )
        row[0] += trial["error"] is None
        row[1] += trial["error"] is not None
        row[2] += trial["error"] is None and trial["success"]
    with Store() as store:
        rows = study_in(filled(store, study, (0, 0))).rows()
    found = {
        (row["network"], row.get("eta"), row["t"], row["n"]): [
            row["trials"],
            row["failed"],
            row["successes"],
        ]
        for row in rows
    }
    assert found == expected
    assert len(rows) == len(found)


@given(studies)
def test_a_table_has_every_trial_once_in_the_order_of_settings_and_numbers(study):
    def in_order(trial):
        settings = trial["point"].settings
        eta = settings.get("eta")
        return (
            settings["network"],
            settings["n"],
            settings["t"],
            eta is not None,
            eta or 0,
            trial["number"],
        )

    with Store() as store:
        rows = list(trial_rows(filled(store, study, (0, 0)), study_in(store), timing=True))
    reported = [
        (
            row["network"],
            row["n"],
            row["t"],
            row.get("eta"),
            row["trial"],
            row["success"],
            row["error"],
        )
        for row in rows
    ]
    expected = [
        (
            *(trial["point"].settings.get(name) for name in ("network", "n", "t", "eta")),
            trial["number"],
            None if trial["error"] else trial["success"],
            trial["error"],
        )
        for trial in sorted(study, key=in_order)
    ]
    assert reported == expected
    assert [row["seconds"] for row in rows] == [
        trial["seconds"] for trial in sorted(study, key=in_order)
    ]


@given(studies, st.data())
def test_damaged_rows_are_in_no_count_and_no_table(tmp_path_factory, study, data):
    path = tmp_path_factory.mktemp("damage") / "s.db"
    with Store(path) as store:
        filled(store, study, (4, 0))
    broken = data.draw(st.sets(st.sampled_from(range(len(study))))) if study else set()
    for k in broken:
        change = data.draw(
            st.sampled_from(
                ["seconds = seconds + 1", "host = 'there'", "version = '1+x'", "checksum = ''"]
            )
        )
        damage(
            path,
            f"UPDATE trials SET {change} WHERE point = ? AND trial = ?",
            study[k]["point"].key,
            study[k]["number"],
        )
    whole = [trial for k, trial in enumerate(study) if k not in broken]
    with Store(path, readonly=True) as store:
        found = study_in(store)
        rows = list(trial_rows(store, found))
    assert len(found.damaged) == len(broken)
    assert without_notes(found) == plain_counts(whole, (4, 0)) | {
        "study": str(path),
        "damaged": found.damaged,
    }
    assert sorted((row["t"], row["n"], row["trial"]) for row in rows) == sorted(
        (trial["point"].settings["t"], trial["point"].settings["n"], trial["number"])
        for trial in whole
    )


# -- a quick look
# --------------------------------------------------------------------------------------------------


def invoke(*arguments):
    return CliRunner().invoke(
        command, [str(argument) for argument in arguments], catch_exceptions=False
    )


@pytest.fixture
def small(tmp_path):
    """A study of twelve trials."""
    path = tmp_path / "s.db"
    assert run_sweep(Grid({"network": "lookup", "n": 20, "t": [5, 9]}, trials=6), path).added == 12
    return path


HEAVY = ("matplotlib", "PIL")


@pytest.mark.parametrize("arguments", [["status"], ["status", "--json"], ["export", "-o", "t.csv"]])
def test_looking_at_a_study_loads_nothing_that_draws(small, tmp_path, arguments):
    code = f"""
import sys
from seqattractor.cli import main
sys.argv = {["seqattractor", "sweep", *arguments, str(small)]}
main()
print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)
"""
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "12" in shown.stdout
    assert shown.stderr.splitlines()[-1] == "[]"


# -- no list of trials
# --------------------------------------------------------------------------------------------------


class WatchedRow(dict):
    """A row that can be recognized in the study."""


def test_csv_is_written_without_keeping_its_rows(tmp_path):
    alive, largest = weakref.WeakValueDictionary(), 0

    class Rows:
        def __iter__(self):
            nonlocal largest
            for number in range(90):
                row = alive[number] = WatchedRow(t=number, word="a" if number else None)
                largest = max(largest, len(alive))
                yield row

    assert table.export(Rows(), tmp_path / "t.csv") == 90
    assert 0 < largest <= 2  # the one that was written last, and the next


def test_rows_of_a_table_are_read_once(tmp_path):
    pyarrow = pytest.importorskip("pyarrow.parquet")
    rows = (
        {
            "t": number,
            "word": None if number < 15_000 else "a",
            "mixed": number if number < 19_999 else "b",
        }
        for number in range(20_000)
    )
    assert table.export(rows, tmp_path / "t.parquet") == 20_000
    read = pyarrow.read_table(tmp_path / "t.parquet").to_pylist()
    assert read[:2] == [{"t": 0, "word": None, "mixed": "0"}, {"t": 1, "word": None, "mixed": "1"}]
    assert read[-1] == {"t": 19_999, "word": "a", "mixed": "b"}


def test_a_table_shows_one_moment_of_a_study_that_is_written_meanwhile(tmp_path):
    trials = [
        Finished(Trial(POINT, number), {"success": True}, None, 0.5, "here", "0")
        for number in range(6)
    ]
    with Store(tmp_path / "s.db") as writer, Store(tmp_path / "s.db", readonly=True) as store:
        writer.add(trials[:4])
        with store.at_one_moment():
            rows = trial_rows(store, study_in(store))
            writer.add(trials[4:])
            assert len(list(rows)) == 4
        assert study_in(store).trials == 6


@given(
    st.lists(
        st.tuples(st.sampled_from([trial.point for trial in POINTS]), st.integers(0, 4)),
        max_size=12,
    )
)
def test_rounds_are_those_of_a_plain_loop_and_are_made_when_asked_for(wanted):
    most = {}
    for point, number in wanted:
        most[point.key] = max(number, most.get(point.key, 0))
    plain = [(key, k) for k in range(5) for key in most if k < most[key]]
    rounds = Rounds(wanted)
    assert [trial.key for trial in rounds] == plain
    assert len(rounds) == len(plain)
    assert all(trial in rounds for trial in rounds)
    assert Trial(POINT, 0) not in rounds
    endless = Rounds([(POINT, 10**15)])
    assert len(endless) == 10**15
    assert [trial.number for trial in islice(endless, 3)] == [0, 1, 2]


@given(studies, st.integers(1, 8), st.booleans(), st.integers(0, 3))
def test_a_run_does_what_is_missing_once_and_counts_what_was_there(study, number, current, runs):
    """Against sets of keys: also where runs begin at different places, and where trials of other
    code are done again.
    """
    wanted = Rounds((trial.point, number) for trial in POINTS)
    good = {
        (t["point"].key, t["number"])
        for t in study
        if not current or (t["this_code"] and t["error"] is None)
    }
    over = {(t["point"].key, t["number"]): t for t in study}
    asked = []

    def pretend(trials):
        for trial in trials:
            asked.append(trial.key)
            yield [Finished(trial, {"success": True}, None, 0.0, "here", CODE[trial.point.key])]

    with Store() as store:
        filled(store, study, (0, 0))
        for _ in range(runs):
            store.start_run()
        report = run_trials(wanted, store, pretend, current=current)
    keys = {trial.key for trial in wanted}
    assert sorted(asked) == sorted(keys - good)
    assert (report.total, report.before, report.added) == (
        len(keys),
        len(keys & good),
        len(keys - good),
    )
    left = [over[key] for key in keys & good]
    assert report.by_other_code == sum(not t["this_code"] and t["error"] is None for t in left)


def test_a_study_that_is_whole_can_be_opened_while_another_process_writes(tmp_path):
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.add([Finished(Trial(POINT, 0), {"success": True}, None, 0.5, "here", "0")])
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with Store(path) as store:
            assert len(list(store.finished())) == 1
