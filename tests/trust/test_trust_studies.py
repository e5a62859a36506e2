"""Damaged studies: what is exported is true, damage is reported, and a run completes a copy of the
rest.
"""

import json
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from campaign import alone, campaign
from click.testing import CliRunner

from seqattractor.cli.sweep import command
from seqattractor.study import Grid, Store, read_study, run_sweep

GRIDS = [
    Grid(
        {"network": ["lookup", "one-hot"], "n": 20, "t": [5, 9, 14], "flips": 2}, trials=8, seed=1
    ),
    Grid(
        {
            "network": ["hebbian", "attractor"],
            "n": 16,
            "m": 12,
            "t": 6,
            "max_epochs": 30,
            "engine": "reference",
        },
        trials=8,
    ),
    Grid(
        {"network": "lookup", "n": 3, "t": 20}, trials=2
    ),  # these fail: there are not so many patterns
]
TRIALS = 6 * 8 + 2 * 8 + 2


def invoke(*arguments):
    return CliRunner().invoke(
        command, [str(argument) for argument in arguments], catch_exceptions=False
    )


@pytest.fixture(scope="module")
def truth(tmp_path_factory):
    """A folder with the undamaged study, its table, and the same study as a killed sweep leaves it,
    with a log beside it.
    """
    folder = tmp_path_factory.mktemp("truth")
    assert run_sweep(GRIDS, folder / "s.db").total == TRIALS
    invoke("export", folder / "s.db", "-o", folder / "s.csv")
    killed = folder / "killed"
    killed.mkdir()
    finished = list(read_study(folder / "s.db").finished)
    with Store(folder / "open.db") as store:
        for grid in GRIDS:
            store.add_grid(grid.as_json())
        for each in finished:
            store.add([each])
        for end in ("", "-wal"):
            shutil.copy(folder / f"open.db{end}", killed / f"s.db{end}")
    run_sweep(Grid({"network": "lookup", "n": 20, "t": 4}, trials=3), folder / "other.db")
    return folder


# -- damage: each takes the folder of the truth, the path of a copy, and a random generator
# ----------------------------------


def overwrite(path, change):
    content = bytearray(path.read_bytes())
    change(content)
    path.write_bytes(content)


def flip_bits(truth, path, rng, number=1):
    def change(content):
        for _ in range(number):
            content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))

    overwrite(path, change)


def flip_many_bits(truth, path, rng):
    flip_bits(truth, path, rng, number=int(rng.integers(2, 40)))


def flip_a_bit_of_the_header(truth, path, rng):
    def change(content):
        content[rng.integers(100)] ^= 1 << int(rng.integers(8))

    overwrite(path, change)


def flip_a_bit_of_the_log(truth, path, rng):
    for end in ("", "-wal"):
        shutil.copy(truth / "killed" / f"s.db{end}", path.with_name(path.name + end))
    flip_bits(truth, path.with_name("s.db-wal"), rng)


def cut(truth, path, rng):
    overwrite(
        path, lambda content: content.__delitem__(slice(int(rng.integers(len(content))), None))
    )


def pages_of(path):
    return path.stat().st_size // 4096


def fill_a_page(truth, path, rng):
    page = int(rng.integers(pages_of(path))) * 4096
    filling = bytes(4096) if rng.random() < 0.7 else rng.bytes(4096)
    overwrite(path, lambda content: content.__setitem__(slice(page, page + 4096), filling))


def copy_a_page_over_another(truth, path, rng):
    one, other = (int(page) * 4096 for page in rng.integers(pages_of(path), size=2))
    overwrite(
        path,
        lambda content: content.__setitem__(slice(one, one + 4096), content[other : other + 4096]),
    )


def edit(path, *statements):
    with closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(*(statement if isinstance(statement, tuple) else (statement,)))


def some_row(path, rng):
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT point, trial FROM trials").fetchall()
    return rows[rng.integers(len(rows))]


COLUMNS = [
    "point",
    "trial",
    "settings",
    "seed",
    "seconds",
    "host",
    "version",
    "protocol",
    "times",
    "checksum",
]


def edit_a_value(truth, path, rng):
    values = [
        "7",
        "NULL",
        "x'00ff'",
        "'{}'",
        "'428'",
        "'{\"success\": true}'",
        "1e999",
        "trial + 1",
        "seconds + 1e-9",
        "-1",
    ]
    column, value = rng.choice(COLUMNS), rng.choice(values)
    value = (
        "x''" if value == "NULL" and column in ("point", "trial") else value
    )  # the key cannot be NULL
    edit(
        path,
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')",
    )
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            f"UPDATE OR REPLACE trials SET {column} = {value} WHERE point = ? AND trial = ?",
            some_row(path, rng),
        )


def edit_an_outcome(truth, path, rng):
    changes = [
        "replace(outcome, 'true', 'false')",
        "replace(outcome, '1', '2')",
        "'{}'",
        "substr(outcome, 2)",
        "outcome || ' '",
    ]
    changes += [
        "json_set(outcome, '$.epochs', 468)",
        "json_set(outcome, '$.new', 1)",
        "json_remove(outcome, '$.success')",
    ]
    change = (
        f"UPDATE trials SET outcome = {rng.choice(changes)} WHERE point = ? AND trial = ? AND "
        "error IS NULL"
    )
    edit(path, (change, some_row(path, rng)))


def swap_outcomes(truth, path, rng):
    one, other = some_row(path, rng), some_row(path, rng)
    columns = "outcome, error, seconds, version" + (", checksum" if rng.random() < 0.5 else "")
    with closing(sqlite3.connect(path)) as db, db:
        read = f"SELECT {columns} FROM trials WHERE point = ? AND trial = ?"
        contents = [db.execute(read, key).fetchone() for key in (one, other)]
        for key, content in zip((other, one), contents, strict=True):
            places = ", ".join("?" * len(content))
            db.execute(
                f"UPDATE trials SET ({columns}) = ({places}) WHERE point = ? AND trial = ?",
                (*content, *key),
            )


def copy_a_row(truth, path, rng):
    point, trial = some_row(path, rng)
    with closing(sqlite3.connect(path)) as db, db:
        names = [name for _, name, *_ in db.execute("PRAGMA table_info(trials)")]
        chosen = ", ".join("trial + 100" if name == "trial" else name for name in names)
        db.execute(
            f"INSERT INTO trials SELECT {chosen} FROM trials WHERE point = ? AND trial = ?",
            (point, trial),
        )


def delete_rows(truth, path, rng):
    table = rng.choice(["trials", "grids", "runs"])
    edit(
        path,
        f"DELETE FROM {table} WHERE abs(random()) % 3 = 0"
        if table == "trials"
        else f"DELETE FROM {table}",
    )


def edit_the_grids(truth, path, rng):
    changes = [
        "grid = replace(grid, '8', '3')",
        "grid = '{}'",
        "grid = 'x'",
        "grid = NULL",
        "checksum = ''",
    ]
    edit(
        path,
        f"UPDATE OR REPLACE grids SET {rng.choice(changes)} WHERE rowid = {rng.integers(1, 4)}",
    )


def drop_a_table(truth, path, rng):
    edit(path, f"DROP TABLE {rng.choice(['trials', 'grids', 'runs'])}")


def drop_a_column(truth, path, rng):
    column = rng.choice(["settings", "seed", "seconds", "host", "version", "times", "checksum"])
    edit(path, f"ALTER TABLE trials DROP COLUMN {column}")


def rename_a_column(truth, path, rng):
    edit(path, f"ALTER TABLE trials RENAME COLUMN {rng.choice(COLUMNS)} TO something")


def change_the_header(truth, path, rng):
    edit(
        path,
        f"PRAGMA {rng.choice(['user_version', 'application_id'])} = "
        f"{rng.choice([0, 1, 2, 4, 99, 2**30])}",
    )


def put_another_file_there(truth, path, rng):
    kind = int(rng.integers(6))
    if kind == 0:
        path.write_bytes(b"")
    elif kind == 1:
        path.write_bytes(rng.bytes(int(rng.integers(1, 20_000))))
    elif kind == 2:
        path.write_text("network,t,success\nlookup,5,true\n" * 100)
    elif kind == 3:
        path.unlink()
        edit(path, "CREATE TABLE precious (x)")
    elif kind == 4:
        shutil.copy(truth / "other.db", path)
    else:
        path.unlink()


DAMAGE = [flip_bits] * 6 + [flip_many_bits, cut, fill_a_page, edit_a_value, edit_an_outcome] * 2
DAMAGE += [
    flip_a_bit_of_the_header,
    flip_a_bit_of_the_log,
    copy_a_page_over_another,
    swap_outcomes,
    copy_a_row,
    delete_rows,
]
DAMAGE += [
    edit_the_grids,
    drop_a_table,
    drop_a_column,
    rename_a_column,
    change_the_header,
    put_another_file_there,
]


# -- verdicts
# --------------------------------------------------------------------------------------------------


def damaged_studies(folder, truth, cases):
    """The campaign."""
    known = {
        each.trial.key: each
        for name in ("s.db", "other.db")
        for each in read_study(truth / name).finished
    }
    with campaign("damaged studies") as verdicts:
        for case in range(cases):
            rng = np.random.default_rng([14, case])
            path = folder / str(case) / "s.db"
            path.parent.mkdir()
            shutil.copy(truth / "s.db", path)
            damage = DAMAGE[case % len(DAMAGE)]
            damage(truth, path, rng)
            with verdicts.case(f"case {case}: {damage.__name__}", rejections=(ValueError, OSError)):
                check(truth, path, known, resumed=case % 5 == 0)
            shutil.rmtree(path.parent)
    return verdicts


@pytest.mark.parametrize("cases", [56, pytest.param(500, marks=pytest.mark.trust)])
def test_what_a_damaged_study_exports_is_true_and_a_run_completes_the_rest(tmp_path, truth, cases):
    alone(damaged_studies, tmp_path, truth, cases).finish(cases, keep=cases == 500)


def check(truth, path, known, *, resumed):
    """Look at a damaged study and export it, and then perhaps run it again: everything must be
    true.
    """
    status = json.loads(invoke("status", path, "--json").stdout)
    finished = list(read_study(path).finished)
    keys = {each.trial.key for each in finished}
    assert all(known[each.trial.key] == each for each in finished), "a trial is not what it was"
    assert status["trials"] == len(keys) == len(finished), "a trial is counted twice"
    wanted = {trial.key for grid in GRIDS for trial in grid.all_trials()}
    with Store(path, readonly=True) as store:
        grids = store.grids()
    if {grid.as_json() for grid in GRIDS} <= set(grids):
        assert status["missing"] == len(wanted - keys), "trials are missing and not counted"
    table = path.with_suffix(".csv")
    if finished:
        exported = invoke("export", path, "-o", table)
        assert len(table.read_bytes().splitlines()) == 1 + len(keys)
        assert bool(status["notes"]) <= ("warning:" in exported.stderr), (
            "export does not report the damage"
        )
        if keys == wanted:
            assert table.read_bytes() == (truth / "s.csv").read_bytes()
    if not resumed:
        return
    if status["notes"]:
        with pytest.raises(OSError, match="damaged"):
            run_sweep(GRIDS, path)
        path = path.with_name("rest.db")
        invoke("export", path.with_name("s.db"), "-o", path)
    run_sweep(GRIDS, path)
    again = json.loads(invoke("status", path, "--json").stdout)
    assert (again["damaged"], again["notes"], again["missing"]) == ([], [], 0)
    if not keys - wanted:
        assert again["trials"] == TRIALS
        invoke("export", path, "-o", table)
        assert table.read_bytes() == (truth / "s.csv").read_bytes(), (
            "the table is not the same after a run"
        )
