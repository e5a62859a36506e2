"""The study file: nothing lost, nothing twice, and clear errors when the disk does not want."""

import ctypes
import multiprocessing
import resource
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import threading
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqattractor.study import Grid, Store, run_sweep
from seqattractor.study import study as study
from seqattractor.study import table as table
from seqattractor.study.protocol import RETRIEVAL, Point, Protocol, Trial
from seqattractor.study.store import Finished, snapshot

POINT = Point(RETRIEVAL, {"network": "lookup", "t": 10}, seed=0)


def finished(number, point=POINT, *, success=True, error=None, host="here"):
    outcome = None if error else {"success": success, "retrieved": int(success)}
    return Finished(Trial(point, number), outcome, error, 0.25, host, "1.0+abc")


def test_what_is_added_is_there_after_closing(tmp_path):
    with Store(tmp_path / "s.db") as store:
        assert store.add([finished(0), finished(1, error="ValueError: no")]) == 2
    with Store(tmp_path / "s.db", readonly=True) as store:
        assert list(store.finished()) == [finished(0), finished(1, error="ValueError: no")]
        assert store.get(Trial(POINT, 1)) == finished(1, error="ValueError: no")
        assert store.get(Trial(POINT, 2)) is None


def test_the_same_trial_is_stored_once_and_the_first_stays(tmp_path):
    with Store(tmp_path / "s.db") as store:
        assert store.add([finished(0, host="first")]) == 1
        assert store.add([finished(0, host="second"), finished(1)]) == 1
        assert [each.host for each in store.finished()] == ["first", "here"]


def test_failed_trials_can_be_forgotten(tmp_path):
    with Store(tmp_path / "s.db") as store:
        store.add([finished(0), finished(1, error="MemoryError: ")])
        assert store.forget_failed() == 1
        assert list(store.finished()) == [finished(0)]


def test_a_study_stores_its_grids(tmp_path):
    grid = Grid(
        {"network": ["dense", "lookup"], "t": [5, 10]},
        trials=3,
        seed=2,
        only={"dense": {"degree": 3}},
    )
    with Store(tmp_path / "s.db") as store:
        store.add_grid(grid.as_json())
        store.add_grid(grid.as_json())
    with Store(tmp_path / "s.db", readonly=True) as store:
        (again,) = map(Grid.from_json, store.grids())
    assert [trial.key for trial in again.all_trials()] == [trial.key for trial in grid.all_trials()]


def write_many(path, host, barrier):
    """Open a study at the same moment as others and write the same trials, one by one."""
    barrier.wait()
    with Store(path) as store:
        for number in range(100):
            store.add([finished(number, host=host)])


def test_processes_that_write_the_same_trials_at_once_store_each_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    hosts = ["one", "two"]
    writers = [
        context.Process(target=write_many, args=(tmp_path / "s.db", host, barrier))
        for host in hosts
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    with Store(tmp_path / "s.db", readonly=True) as store:
        assert sorted(each.trial.number for each in store.finished()) == list(range(100))
    with sqlite3.connect(tmp_path / "s.db") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


def test_a_study_that_another_process_makes_at_this_very_moment_is_ours(tmp_path, monkeypatch):
    others = []

    class Interrupted(sqlite3.Connection):
        def execute(self, sql, *arguments):
            if sql == "PRAGMA user_version" and not others:
                others.append(threading.Thread(target=lambda: Store(tmp_path / "s.db").close()))
                others[0].start()
                others[0].join(
                    1.0
                )  # it waits until this look at the file is over, or gets in between
            return super().execute(sql, *arguments)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Interrupted))
    Store(tmp_path / "s.db").close()
    others[0].join()


def test_a_full_disk_is_one_sentence_and_loses_no_committed_trial(tmp_path):
    code = """
        import sys
        from test_store import Store, finished
        with Store(sys.argv[1]) as store:
            for number in range(100_000):
                store.add([finished(number)])
                print(number, flush=True)
    """
    limit = 200_000
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "s.db")],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        check=False,
    )
    assert (
        "s.db cannot be written (disk I/O error); look for a full disk"
        in done.stderr.splitlines()[-1]
    )
    committed = len(done.stdout.split())
    assert committed > 10
    with Store(tmp_path / "s.db") as store:
        assert len(list(store.finished())) == committed
        store.add([finished(committed)])  # with space again, it continues


def test_files_that_are_no_studies_are_rejected_and_left_alone(tmp_path):
    text = tmp_path / "notes.db"
    text.write_text("not a database at all, but something dear to the user\n" * 50)
    before = text.read_bytes()
    for readonly in (True, False):
        with pytest.raises(ValueError, match=r"notes.db is not a study"):
            Store(text, readonly=readonly)
    assert text.read_bytes() == before
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE precious (x)")
    other.close()
    with pytest.raises(ValueError, match="but not a study"):
        Store(tmp_path / "other.db")


def test_a_study_of_another_version_is_rejected(tmp_path):
    Store(tmp_path / "s.db").close()
    db = sqlite3.connect(tmp_path / "s.db")
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(ValueError, match=r"another version of seqattractor \(format 99, not 4\)"):
        Store(tmp_path / "s.db")


def test_a_study_without_checksums_is_one_sentence_and_left_alone(tmp_path):
    Store(tmp_path / "s.db").close()
    damage(tmp_path / "s.db", "ALTER TABLE trials DROP COLUMN checksum")
    with pytest.raises(
        OSError,
        match=r"s.db is damaged \(no such column: checksum\); put a copy of it in its place",
    ):
        Store(tmp_path / "s.db")
    with pytest.raises(OSError, match=r"s.db is damaged \(no such column: checksum\)"):
        study.read_study(tmp_path / "s.db")


# -- damage
# --------------------------------------------------------------------------------------------------


def damage(path, statement, *values):
    """Change a study behind its back."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement, values)


def clear_page(path):
    """Clear a page with rows of the table."""
    content = bytearray(path.read_bytes())
    pages = (slice(start, start + 4096) for start in range(8 * 4096, len(content), 4096))
    content[next(page for page in pages if POINT.key.encode() in content[page])] = bytes(4096)
    path.write_bytes(content)


@pytest.mark.parametrize(
    "change",
    [
        "outcome = replace(outcome, 'true', 'false')",
        "outcome = json_remove(outcome, '$.success')",
        "outcome = substr(outcome, 2)",
        "seed = 1",
        "settings = replace(settings, '10', '20')",
        "trial = 7",
        "version = '1.0+abd'",
        "seconds = 0.5",
        "checksum = ''",
    ],
)
def test_a_damaged_row_is_named_and_left_out_and_a_copy_of_the_rest_continues(tmp_path, change):
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.add([finished(number) for number in range(3)])
    damage(path, f"UPDATE trials SET {change} WHERE trial = 1")
    before = path.read_bytes()
    with Store(path, readonly=True) as store:
        assert list(store.finished()) == [finished(0), finished(2)]
        assert store.get(Trial(POINT, 1)) is None
        (name,) = study.study_in(store).damaged
        assert store.copy_to(tmp_path / "rest.db") == 2
    assert name.startswith(f"trial {7 if 'trial' in change else 1} of the point '{POINT.key}'")
    with pytest.raises(
        OSError,
        match=(
            r"s.db: 1 damaged row is left out .* trial . of the point .* `seqattractor sweep "
            r"export .*rest"
        ),
    ):
        Store(path)
    assert path.read_bytes() == before
    with Store(tmp_path / "rest.db") as store:
        assert store.add([finished(1)]) == 1
        assert list(store.finished()) == [finished(number) for number in range(3)]


def test_a_damaged_grid_is_named(tmp_path):
    path = tmp_path / "s.db"
    grids = [Grid({"network": "lookup", "n": n, "t": 5}, trials=3).as_json() for n in (20, 30)]
    with Store(path) as store:
        for grid in grids:
            store.add_grid(grid)
    damage(path, "UPDATE grids SET grid = replace(grid, '30', '31') WHERE grid LIKE '%30%'")
    with Store(path, readonly=True) as store:
        assert store.grids() == grids[:1]
    assert (
        "1 damaged row is left out and counts as missing: a grid, "
        in study.read_study(path).notes[0]
    )


def test_a_page_that_cannot_be_read_costs_its_own_rows_and_a_copy_of_the_rest_continues(tmp_path):
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.add([finished(number) for number in range(200)])
    clear_page(path)
    with Store(path, readonly=True) as store:
        there = list(store.finished())
        assert store.copy_to(tmp_path / "rest.db") == len(there)
    assert 100 < len(there) < 200
    assert there == [finished(each.trial.number) for each in there]
    assert "s.db is damaged: SQLite finds" in study.read_study(path).notes[0]
    with pytest.raises(
        OSError,
        match=r"s.db is damaged: SQLite finds .* `seqattractor sweep export .*s.db -o rest.db`",
    ):
        Store(path)
    with Store(tmp_path / "rest.db") as store:
        assert list(store.finished()) == there
        assert store.add([finished(number) for number in range(200)]) == 200 - len(there)


def test_a_copy_of_a_study_overwrites_no_file(tmp_path):
    with Store() as store:
        store.add([finished(0)])
        assert store.copy_to(tmp_path / "s.db") == 1
        with pytest.raises(ValueError, match=r"s.db exists already; give another name"):
            store.copy_to(tmp_path / "s.db")


def test_a_study_of_which_nothing_can_be_read_is_one_sentence_with_its_name(tmp_path):
    path = tmp_path / "s.db"
    for change, words in (
        ("DROP TABLE trials", "no such table"),
        ("ALTER TABLE trials DROP COLUMN host", "no such column"),
    ):
        path.unlink(missing_ok=True)
        Store(path).close()
        damage(path, change)
        before = path.read_bytes()
        for opened in (Store, study.read_study):
            with pytest.raises(
                OSError, match=rf"s.db is damaged \(.*{words}.*\); put a copy of it in its place"
            ):
                opened(path)
        assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert len(path.read_bytes()) == len(before)


def test_a_study_that_was_cut_off_is_reported_as_damaged(tmp_path):
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.add([finished(number) for number in range(200)])
    path.write_bytes(path.read_bytes()[:20_000])
    for readonly in (True, False):
        with pytest.raises(
            OSError,
            match=r"the study .*s.db is damaged \(database disk image is malformed\); put a copy",
        ):
            Store(path, readonly=readonly)
    assert path.stat().st_size == 20_000


PARTS = [("",), ("-wal",), ("-shm",), ("-wal", "-shm"), ("", "-wal", "-shm")]


@pytest.mark.parametrize(
    "parts", PARTS, ids=lambda parts: "all" if len(parts) == 3 else " ".join(parts) or "main"
)
@pytest.mark.parametrize("replaced", [False, True])
def test_a_study_deleted_or_replaced_during_a_run_is_reported_and_committed_trials_are_saved(
    tmp_path, parts, replaced
):
    path = tmp_path / "s.db"
    with Store(tmp_path / "other.db") as other:
        other.start_run()
        other.add([finished(number, host="other") for number in range(5)])
        for part in parts:
            shutil.copy(tmp_path / f"other.db{part}", tmp_path / f"new{part}")
    with Store(path) as store:
        store.add([finished(0)])
    store = Store(path)
    store.add([finished(1)])
    for part in parts:
        if replaced:
            (tmp_path / f"new{part}").rename(tmp_path / f"s.db{part}")
        else:
            (tmp_path / f"s.db{part}").unlink()
    lost = f"s.db{parts[0]}"
    with pytest.raises(
        OSError,
        match=rf"{lost} was deleted or replaced .* every committed trial \(2\) is in .*s.db.saved",
    ):
        store.add([finished(2)])
    store.close()
    with Store(tmp_path / "s.db.saved") as saved:
        assert list(saved.finished()) == [finished(0), finished(1)]
        saved.add([finished(2)])
    if (
        not replaced and "" not in parts
    ):  # SQLite still had the log: all of it is in the study, which opens as ever
        with Store(path) as again:
            assert list(again.finished()) == [finished(0), finished(1)]
            again.add([finished(2)])
        assert sorted(each.name for each in tmp_path.glob("s.db*")) == ["s.db", "s.db.saved"]
    if replaced and "" in parts:  # nothing of ours got into it
        with closing(sqlite3.connect(path)) as db:
            assert ("here",) not in db.execute("SELECT host FROM trials").fetchall()


def test_the_log_of_a_study_behind_a_link_is_watched_too(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "s.db").symlink_to(tmp_path / "real" / "s.db")
    store = Store(tmp_path / "s.db")
    (tmp_path / "real" / "s.db-wal").unlink()
    with pytest.raises(OSError, match=r"s.db-wal was deleted"):
        store.add([finished(0)])
    store.close()


def test_a_study_whose_log_was_deleted_opens_again_when_the_other_program_ends(tmp_path):
    """SQLite rejects it until then, and that is safe: the other program could still write the log
    that was deleted.
    """
    path = tmp_path / "s.db"
    look = (
        f"import sqlite3; db = sqlite3.connect({str(path)!r}); print(*db.execute('SELECT * FROM "
        "trials'), flush=True); input()"
    )
    store = Store(path)
    with subprocess.Popen(
        [sys.executable, "-c", look], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout.readline() == "\n"
        store.add([finished(0)])
        (tmp_path / "s.db-wal").unlink()
        with pytest.raises(
            OSError, match=r"s.db-wal was deleted .* every committed trial \(1\) is in .*s.db.saved"
        ):
            store.add([finished(1)])
        store.close()
        with pytest.raises(
            OSError, match=r"s.db cannot be opened for writing .* another program that has it open"
        ):
            Store(path)
        program.communicate("\n")
    with Store(path) as again:
        again.add([finished(1)])


@pytest.mark.slow
def test_a_sweep_whose_log_is_deleted_raises_and_the_same_command_finishes_it(tmp_path):
    """Also where somebody looks at the study in between, whose SQLite finds an index of a log that
    is gone.
    """
    path = tmp_path / "s.db"
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import os, subprocess, sys
        from seqattractor.cli import main
        from seqattractor.study import run as _run
        real = _run.Store.add

        def add(store, finished, **options):
            added = real(store, finished, **options)
            if finished[0].trial.number == 3:
                os.unlink(f"{store.path}-wal")
                look = [sys.executable, "-m", "seqattractor", "sweep", "status", str(store.path)]
                print(subprocess.run(look, capture_output=True, text=True))
            return added

        _run.Store.add = add
        main()
        """)
    )
    command = [
        "sweep",
        "run",
        "--network",
        "lookup",
        "--n",
        "20",
        "--t",
        "5",
        "--trials",
        "20",
        "-o",
        str(path),
        "--jobs",
        "1",
    ]
    done = subprocess.run(
        [sys.executable, str(script), *command], capture_output=True, text=True, check=False
    )
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 2
    assert "s.db-wal was deleted or replaced" in last
    assert "every committed trial (4) is in" in last
    assert "rollback" not in done.stdout + done.stderr
    with Store(tmp_path / "s.db.saved", readonly=True) as saved:
        assert len(list(saved.finished())) == 4
    again = subprocess.run(
        [sys.executable, "-m", "seqattractor", *command], capture_output=True, text=True, check=True
    )
    assert again.stdout.startswith(f"{path}: 20 trials, ")


def test_an_error_of_sqlite_is_reported_in_its_own_words():
    """Not in those of a ROLLBACK after which SQLite itself had rolled back."""

    def fail(db):
        with snapshot(db):
            db.rollback()
            raise sqlite3.OperationalError("disk I/O error")

    with (
        closing(sqlite3.connect(":memory:")) as db,
        pytest.raises(sqlite3.OperationalError, match="disk I/O error"),
    ):
        fail(db)


def test_a_copy_of_a_running_study_without_its_log_opens_and_counts_what_it_lacks(tmp_path):
    grid = Grid({"network": "lookup", "n": 20, "t": 5}, trials=7)
    with Store(tmp_path / "s.db") as store:
        store.add_grid(grid.as_json())
        store.start_run()
        store.add([finished(0, next(iter(grid.points())))])
        shutil.copy(tmp_path / "s.db", tmp_path / "copy.db")
    shown = study.read_study(tmp_path / "copy.db")
    assert shown.trials + shown.missing == 7
    assert run_sweep(grid, tmp_path / "copy.db").total == 7


@pytest.mark.skipif(
    not sys.platform.startswith("linux"),
    reason="drops a capability of root, to whom nothing is read-only",
)
def test_a_folder_that_becomes_read_only_during_a_run_costs_nothing(tmp_path):
    code = """
        import os, sys
        from test_store import Grid, Store, finished, study
        folder = sys.argv[1]
        with Store(f"{folder}/s.db") as store:
            store.add([finished(0)])
            os.chmod(folder, 0o555)
            store.add([finished(1)])
        assert study.read_study(f"{folder}/s.db").trials == 2
        Store(f"{folder}/s.db").close()
        Store(f"{folder}/new.db")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)],
        preexec_fn=lambda: ctypes.CDLL(None).prctl(
            24, 1, 0, 0, 0
        ),  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        check=False,
    )
    tmp_path.chmod(0o755)
    last = done.stderr.splitlines()[-1]
    assert (
        "new.db cannot be opened for writing (unable to open database file); look for a full disk, "
        "a read-only folder" in last
    )
    with Store(tmp_path / "s.db") as store:
        assert list(store.finished()) == [finished(0), finished(1)]


def test_protocols_share_a_file_and_are_distinguished(tmp_path):
    other = Point(Protocol("other", "some.module:function"), POINT.settings, POINT.seed)
    with Store(tmp_path / "s.db") as store:
        store.add([finished(0), finished(0, other)])
        assert [each.trial.point.protocol.name for each in store.finished(other.protocol)] == [
            "other"
        ]
        assert list(store.finished()) == [finished(0)]


def test_trials_of_other_code_or_that_failed_can_be_replaced(tmp_path):
    def by(version, number=0, **what):
        return replace(finished(number, **what), version=version)

    with Store(tmp_path / "s.db") as store:
        store.add([by("1+old"), by("1+new", 1), by("1+new", 2, error="MemoryError")])
        new = [by("1+new", number, host="again") for number in range(3)]
        assert store.add(new) == 0
        assert store.add(new, replace=True) == 2
        assert [each.host for each in store.finished()] == ["again", "here", "again"]


def test_a_store_without_a_file_has_its_trials_while_it_is_open():
    with Store() as store:
        store.add([finished(0)])
        assert store.get(Trial(POINT, 0)) == finished(0)


def test_missing_files_and_folders_are_reported_as_missing(tmp_path):
    with pytest.raises(ValueError, match="there is no study"):
        Store(tmp_path / "s.db", readonly=True)
    with pytest.raises(ValueError, match="does not exist; make it first"):
        Store(tmp_path / "nowhere" / "s.db")
    with pytest.raises(ValueError, match="is a folder"):
        Store(tmp_path)


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="needs a folder that also root cannot write"
)
def test_a_folder_that_cannot_be_written_is_one_sentence():
    with pytest.raises(OSError, match=r"cannot be opened for writing .*read-only folder"):
        Store("/proc/study.db")


# -- tables
# --------------------------------------------------------------------------------------------------


def rows_of(trials, **options):
    """The rows of a study of some trials."""
    with Store() as store:
        for each in trials:
            store.add([each])
        return list(study.trial_rows(store, study.study_in(store), **options))


def point_rows(trials):
    with Store() as store:
        store.add(trials)
        return study.study_in(store).rows()


@given(st.permutations(range(6)))
def test_rows_have_one_order_whatever_order_trials_finished_in(order):
    points = [
        POINT,
        Point(RETRIEVAL, {"network": "lookup", "t": 9}, 0),
        Point(RETRIEVAL, {"network": "attractor", "eta": 0.5}, 0),
    ]
    trials = [finished(number, point) for point in points for number in (0, 1)]
    rows = rows_of([trials[k] for k in order])
    assert rows == rows_of(trials)
    assert [(row["network"], row["t"], row["trial"]) for row in rows] == [
        ("attractor", 50, 0),
        ("attractor", 50, 1),
        ("lookup", 9, 0),
        ("lookup", 9, 1),
        ("lookup", 10, 0),
        ("lookup", 10, 1),
    ]


def test_times_and_hosts_are_in_the_table_only_if_wanted():
    here, there = ([finished(0, host=host)] for host in ("here", "there"))
    assert table.as_csv(rows_of(here)) == table.as_csv(rows_of(there))
    (row,) = rows_of(here, timing=True)
    assert (row["host"], row["seconds"], row["version"]) == ("here", 0.25, "1.0+abc")


def test_points_count_successes_of_the_trials_that_did_not_fail():
    (row,) = point_rows([finished(0), finished(1, success=False), finished(2, error="x")])
    assert (row["trials"], row["failed"], row["successes"], row["rate"]) == (2, 1, 1, 0.5)
    assert row["low"] < 0.5 < row["high"]
    (row,) = point_rows([finished(0, error="x")])
    assert (row["trials"], row["rate"]) == (0, None)


def test_parquet_holds_the_same_rows_as_csv(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    mixed = (
        Point(RETRIEVAL, {"network": "sparse", "bias": "auto"}, 0),
        Point(RETRIEVAL, {"network": "sparse", "bias": 3}, 0),
    )
    rows = rows_of([finished(0), *(finished(0, point) for point in mixed)])
    table.export(rows, tmp_path / "t.parquet")
    read = parquet.read_table(tmp_path / "t.parquet").to_pylist()
    for theirs, ours in zip(read, rows, strict=True):
        assert theirs == {**ours, "bias": None if ours["bias"] is None else str(ours["bias"])}


def test_a_table_of_another_kind_is_rejected_before_anything_is_written(tmp_path):
    with pytest.raises(ValueError, match=r"\.csv or \.parquet"):
        table.export([{"a": 1}], tmp_path / "t.xlsx")
    assert not list(tmp_path.iterdir())
