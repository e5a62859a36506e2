"""Large studies: counts by SQL and row by row are those of a plain computation on a list, and no list of trials is kept."""

import json
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
from test_store import POINT, clear_page, damage

from seqattractor.cli.sweep import command
from seqattractor.study import Grid, Store, run_sweep
from seqattractor.study import contents as contents
from seqattractor.study import count as count
from seqattractor.study import store as store_module
from seqattractor.study import table as table
from seqattractor.study.protocol import Rounds, Trial, code_digest
from seqattractor.study.run import run_trials
from seqattractor.study.store import Finished
from seqattractor.study.study import TrialRows, read_study, study_in

GRIDS = [{"network": "lookup", "n": 20, "t": [5, 9]}, {"network": ["attractor", "lookup"], "t": 9, "n": [20, 30], "eta": 0.5}]
POINTS = Rounds((point, 1) for settings in GRIDS for point in Grid(settings).points())
CODE = {trial.point.key: f"0+{code_digest()}" for trial in POINTS}
OTHER = "0+of another time"
INDEX = "trials_counted"

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
studies = st.lists(trials, max_size=40, unique_by=lambda trial: (trial["point"].key, trial["number"]))
numbers = st.tuples(st.integers(0, 6), st.integers(0, 6))  # trials of each grid; 0 for a grid that the study does not have


def finished(trial):
    """A trial as the store takes it."""
    outcome = None if trial["error"] else {"success": trial["success"], "epochs": 7}
    version = CODE[trial["point"].key] if trial["this_code"] else OTHER
    return Finished(Trial(trial["point"], trial["number"]), outcome, trial["error"], trial["seconds"], "here", version)


def filled(store, study, numbers):
    """Put a study into a store."""
    for settings, number in zip(GRIDS, numbers, strict=True):
        if number:
            store.add_grid(Grid(settings, trials=number).as_json())
    store.add([finished(trial) for trial in study])
    return store


def plain_counts(study, numbers):
    """What `sweep status` has to say of a study, from a list of its trials."""
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


# -- counts ---------------------------------------------------------------------------------------------------------------


@given(studies, numbers)
def test_what_is_counted_in_sql_and_row_by_row_is_what_a_list_gives(study, numbers):
    with Store() as store:
        filled(store, study, numbers)
        assert without_notes(study_in(store)) == plain_counts(study, numbers)
        assert without_notes(count.count_in(store)) == plain_counts(study, numbers)


@given(studies)
def test_points_have_the_successes_of_their_own_trials(study):
    expected = {}
    for trial in study:
        settings = trial["point"].settings
        row = expected.setdefault((settings["network"], settings.get("eta"), settings.get("t"), settings["n"]), [0, 0, 0])
        row[0] += trial["error"] is None
        row[1] += trial["error"] is not None
        row[2] += trial["error"] is None and trial["success"]
    with Store() as store:
        rows = study_in(filled(store, study, (0, 0))).rows()
    found = {
        (row["network"], row.get("eta"), row["t"], row["n"]): [row["trials"], row["failed"], row["successes"]] for row in rows
    }
    assert found == expected
    assert len(rows) == len(found)


@given(studies)
def test_a_table_has_every_trial_once_in_the_order_of_settings_and_numbers(study):
    def in_order(trial):
        settings = trial["point"].settings
        eta = settings.get("eta")
        return settings["network"], settings["n"], settings["t"], eta is not None, eta or 0, trial["number"]

    with Store() as store:
        rows = list(TrialRows(filled(store, study, (0, 0)), study_in(store), timing=True))
    told = [(row["network"], row["n"], row["t"], row.get("eta"), row["trial"], row["success"], row["error"]) for row in rows]
    expected = [
        (
            *(trial["point"].settings.get(name) for name in ("network", "n", "t", "eta")),
            trial["number"],
            None if trial["error"] else trial["success"],
            trial["error"],
        )
        for trial in sorted(study, key=in_order)
    ]
    assert told == expected
    assert [row["seconds"] for row in rows] == [trial["seconds"] for trial in sorted(study, key=in_order)]


@given(studies, st.data())
def test_damaged_rows_are_in_no_count_and_no_table(tmp_path_factory, study, data):
    path = tmp_path_factory.mktemp("damage") / "s.db"
    with Store(path) as store:
        filled(store, study, (4, 0))
    broken = data.draw(st.sets(st.sampled_from(range(len(study))))) if study else set()
    for k in broken:
        change = data.draw(st.sampled_from(["seconds = seconds + 1", "host = 'there'", "version = '1+x'", "checksum = ''"]))
        damage(path, f"UPDATE trials SET {change} WHERE point = ? AND trial = ?", study[k]["point"].key, study[k]["number"])
    whole = [trial for k, trial in enumerate(study) if k not in broken]
    with Store(path, readonly=True) as store:
        found = study_in(store)
        rows = list(TrialRows(store, found))
    assert len(found.damaged) == len(broken)
    assert without_notes(found) == plain_counts(whole, (4, 0)) | {"study": str(path), "damaged": found.damaged}
    assert sorted((row["t"], row["n"], row["trial"]) for row in rows) == sorted(
        (trial["point"].settings["t"], trial["point"].settings["n"], trial["number"]) for trial in whole
    )


@given(studies)
def test_keys_of_trials_that_are_over_are_those_of_a_dict(study):
    plain = {(trial["point"].key, trial["number"]): None if trial["error"] else finished(trial).version for trial in study}
    with Store() as store:
        over = filled(store, study, (0, 0)).keys()
    assert over == plain
    assert len(over) == len(plain)
    for point in {trial["point"].key for trial in study}:
        assert [number for number in range(-1, 9) if (point, number) in over] == sorted(n for key, n in plain if key == point)
    assert ("no point", 0) not in over


# -- what a study of many rows says ---------------------------------------------------------------------------------------


def invoke(*arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def large(tmp_path, monkeypatch):
    """A study that counts as large, for it has one row more than are checked without being asked."""
    monkeypatch.setattr(count, "CHECKED_UP_TO", 11)
    path = tmp_path / "s.db"
    assert run_sweep(Grid({"network": "lookup", "n": 20, "t": [5, 9]}, trials=6), path).added == 12
    return path


def test_a_large_study_is_counted_from_an_index_without_a_look_at_every_trial(large, monkeypatch):
    statements, connect = [], sqlite3.connect

    def traced(*args, **options):
        db = connect(*args, **options)
        db.set_trace_callback(statements.append)
        return db

    monkeypatch.setattr(store_module.sqlite3, "connect", traced)
    assert count.look_at(large).trials == 12
    monkeypatch.undo()
    counting = [statement for statement in statements if "count(*) AS" in statement]
    assert counting
    with closing(sqlite3.connect(large)) as db:
        plans = [detail for statement in counting for *_, detail in db.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert any(f"USING COVERING INDEX {INDEX}" in plan for plan in plans)
    assert "SCAN trials" not in plans


HEAVY = ("matplotlib", "pandas", "PIL", "scipy", "sklearn")


@pytest.mark.parametrize("arguments", [["status"], ["status", "--verify"], ["status", "--json"], ["export", "-o", "t.csv"]])
@pytest.mark.parametrize("checked_up_to", [11, 12])
def test_looking_at_a_study_loads_nothing_that_learns_or_draws(large, tmp_path, arguments, checked_up_to):
    """Which would take longer than the look itself, and most of its memory."""
    code = f"""
import sys
from seqattractor.cli import main
from seqattractor.study import count as _count
_count.CHECKED_UP_TO = {checked_up_to}
sys.argv = {["seqattractor", "sweep", *arguments, str(large)]}
main()
print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)
"""
    shown = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "12" in shown.stdout
    assert shown.stderr.splitlines()[-1] == "[]"


def test_drawing_a_study_loads_nothing_that_learns(large, tmp_path):
    loaded = "print([name for name in ('sklearn', 'scipy') if name in sys.modules])"
    code = f"import sys; from seqattractor.cli import main; main(); {loaded}"
    arguments = ["sweep", "plot", str(large), "-o", "figure.png"]
    shown = subprocess.run([sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines() == ["figure.png", "[]"]


def test_status_of_a_large_study_counts_says_so_and_shows_no_success(large):
    shown = invoke("status", large).output
    assert "12 trials over, 0 missing, 0 failed" in shown
    assert "The 12 rows of" in shown
    assert "were counted, not checked: damage does not show. `sweep status --verify` checks every row" in shown
    assert "successes" not in shown
    assert json.loads(invoke("status", large, "--json").stdout)["points"] is None
    checked = invoke("status", large, "--verify").output
    assert "counted" not in checked
    assert "successes" in checked


def test_status_of_a_study_up_to_the_limit_checks_every_row(large, monkeypatch):
    monkeypatch.setattr(count, "CHECKED_UP_TO", 12)
    damage(large, "UPDATE trials SET outcome = replace(outcome, 'true', 'false') WHERE trial = 3")
    assert "2 damaged rows are left out and count as missing: trial 3 of the point" in invoke("status", large).output


def test_damage_of_a_large_study_is_named_by_verify_export_and_plot_and_is_in_none_of_their_numbers(large, tmp_path):
    damage(large, "UPDATE trials SET outcome = replace(outcome, 'true', 'false') WHERE trial = 3")
    assert "12 trials over" in invoke("status", large).output  # rows, as it says
    said = "2 damaged rows are left out"
    verified = json.loads(invoke("status", large, "--verify", "--json").stdout)
    assert (verified["trials"], verified["missing"], len(verified["damaged"])) == (10, 2, 2)
    assert [point["successes"] for point in verified["points"]] == [5, 5]
    exported = invoke("export", large, "-o", tmp_path / "s.csv")
    assert "10 rows. 2 trials of its grids are missing." in exported.output
    assert said in exported.output
    assert said in invoke("plot", large, "-o", tmp_path / "s.png").output
    with pytest.warns(UserWarning, match=said):
        assert "10 were there, 2 added" in invoke("run", "--resume", "-o", large, "--jobs", 1).output


def test_a_large_study_with_a_damaged_list_of_grids_or_without_a_table_says_so(large):
    damage(large, "DELETE FROM grids")
    damage(large, "DROP TABLE set_aside")
    shown = invoke("status", large).output
    assert "its list of grids is damaged" in shown
    assert "it has no table set_aside" in shown


def test_a_large_study_in_which_counting_stumbles_over_damage_is_checked_row_by_row(large):
    with Store(large) as store:
        store.add([Finished(Trial(POINT, number), {"success": True}, None, 0.5, "here", "0") for number in range(200)])
    clear_page(large, of_table=False)
    shown = invoke("status", large).output
    assert "SQLite finds it damaged" in shown
    assert "counted, not checked" not in shown
    assert len(list(read_study(large).finished)) == 212
    clear_page(large, of_table=True)
    assert "SQLite finds it damaged" in invoke("status", large).output
    assert 0 < len(list(read_study(large).finished)) < 212


@pytest.mark.parametrize("change", ["trial = 'x' || trial"])
def test_a_large_study_whose_rows_make_no_sense_is_checked_row_by_row(large, change):
    damage(large, f"UPDATE trials SET {change} WHERE settings LIKE '%: 9%'")
    shown = invoke("status", large).output
    assert "6 trials over, 6 missing" in shown
    assert "6 damaged rows are left out" in shown


# -- no list of trials ----------------------------------------------------------------------------------------------------


class WatchedRow(dict):
    """A row of which one can know whether it is still kept."""


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_is_written_without_keeping_its_rows(tmp_path, monkeypatch, kind):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(table, "_GROUP", 10)
    alive, largest = weakref.WeakValueDictionary(), 0

    class Rows:
        def __iter__(self):
            nonlocal largest
            for number in range(90):
                row = alive[number] = WatchedRow(t=number, word="a" if number else None)
                largest = max(largest, len(alive))
                yield row

    assert table.export(Rows(), tmp_path / f"t.{kind}") == 90
    assert 0 < largest <= 2  # the one that was written last, and the next
    if kind == "parquet":
        read = pytest.importorskip("pyarrow.parquet").ParquetFile(tmp_path / "t.parquet")
        assert read.num_row_groups == 9
        assert read.read().to_pylist() == [{"t": number, "word": "a" if number else None} for number in range(90)]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_every_row_of_a_table_is_checked_once(large, tmp_path, monkeypatch, kind):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    checked = []
    real = contents.is_whole
    monkeypatch.setattr(contents, "is_whole", lambda row, *columns: checked.append(tuple(row)[:2]) or real(row, *columns))
    assert "12 rows" in invoke("export", large, "-o", tmp_path / f"s.{kind}").output
    trials = [key for key in checked if isinstance(key[1], int)]  # grids are checked, too
    assert len(trials) == len(set(trials)) == 12


def test_rows_of_a_table_are_gone_through_once(tmp_path):
    pyarrow = pytest.importorskip("pyarrow.parquet")
    rows = (
        {"t": number, "word": None if number < 15_000 else "a", "mixed": number if number < 19_999 else "b"}
        for number in range(20_000)
    )
    assert table.export(rows, tmp_path / "t.parquet") == 20_000
    read = pyarrow.read_table(tmp_path / "t.parquet").to_pylist()
    assert read[:2] == [{"t": 0, "word": None, "mixed": "0"}, {"t": 1, "word": None, "mixed": "1"}]
    assert read[-1] == {"t": 19_999, "word": "a", "mixed": "b"}


def test_a_study_that_changes_between_counting_and_writing_is_not_exported():
    with Store() as store:
        store.add([Finished(Trial(POINT, number), {"success": True}, None, 0.5, "here", "0") for number in range(5)])
        rows = TrialRows(store, study_in(store))
        store.add([Finished(Trial(POINT, 5), {"success": True}, None, 0.5, "here", "0")])
        with pytest.raises(OSError, match="was changed while it was read; run the same command again"):
            list(rows)


def test_a_table_shows_one_moment_of_a_study_that_is_written_meanwhile(tmp_path):
    trials = [Finished(Trial(POINT, number), {"success": True}, None, 0.5, "here", "0") for number in range(6)]
    with Store(tmp_path / "s.db") as writer, Store(tmp_path / "s.db", readonly=True) as store:
        writer.add(trials[:4])
        with store.at_one_moment():
            rows = TrialRows(store, study_in(store))
            writer.add(trials[4:])
            assert len(list(rows)) == 4
        assert study_in(store).trials == 6


@given(st.lists(st.tuples(st.sampled_from([trial.point for trial in POINTS]), st.integers(0, 4)), max_size=12))
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
    """Against sets of keys: also where runs begin at different places, and where trials of other code are done again."""
    wanted = Rounds((trial.point, number) for trial in POINTS)
    good = {(t["point"].key, t["number"]) for t in study if not current or (t["this_code"] and t["error"] is None)}
    over = {(t["point"].key, t["number"]): t for t in study}
    asked = []

    def pretend(trials):
        for trial in trials:
            asked.append(trial.key)
            yield [Finished(trial, {"success": True}, None, 0.0, "here", CODE[trial.point.key])]

    with Store() as store:
        filled(store, study, (0, 0))
        for _ in range(runs):
            store.start_run("another")
        report = run_trials(wanted, store, pretend, current=current)
    keys = {trial.key for trial in wanted}
    assert sorted(asked) == sorted(keys - good)
    assert (report.total, report.before, report.added) == (len(keys), len(keys & good), len(keys - good))
    kept = [over[key] for key in keys & good]
    assert report.by_other_code == sum(not t["this_code"] and t["error"] is None for t in kept)


def test_a_study_that_is_whole_can_be_opened_while_another_process_writes(tmp_path):
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.add([Finished(Trial(POINT, 0), {"success": True}, None, 0.5, "here", "0")])
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with Store(path) as store:
            assert len(store.keys()) == 1
