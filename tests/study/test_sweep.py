"""Sweeps: the same table with any executor, whatever is killed on the way."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace

import pytest
from click.testing import CliRunner
from matplotlib import pyplot as plt

from seqattractor.cli.sweep import command
from seqattractor.study import Grid, Store, run_sweep
from seqattractor.study import executors as executors
from seqattractor.study import study as study
from seqattractor.study import table as table
from seqattractor.study.protocol import RETRIEVAL, Point, Trial
from seqattractor.study.run import run_trials

# The plain loop: workers that are killed again and again should not have to load compiled code each
# time.
PARAMETERS = {"max_epochs": 50, "engine": "reference"}
SETTINGS = {
    "network": ["attractor", "lookup"],
    "n": 30,
    "m": 40,
    "t": [6, 12],
    "flips": 3,
    **PARAMETERS,
}
GRID = Grid(SETTINGS, trials=25, seed=4)


def csv_of(path):
    with Store(path, readonly=True) as store:
        return table.as_csv(study.trial_rows(store, study.study_in(store)))


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    path = tmp_path_factory.mktemp("sweep") / "whole.db"
    report = run_sweep(GRID, path)
    assert (report.added, report.failed) == (100, 0)
    return csv_of(path)


# -- who runs it
# --------------------------------------------------------------------------------------------------


def start(path, jobs):
    """Start the same sweep from the command line, in a process of its own."""
    options = [
        f"--{key}={','.join(map(str, values))}"
        for key, values in GRID.settings.items()
        if key not in PARAMETERS
    ]
    options += [f"--set={key}={value}" for key, value in PARAMETERS.items()]
    options += ["--trials", str(GRID.trials), "--seed", str(GRID.seed)]
    command_line = [sys.executable, "-m", "seqattractor", "sweep", "run", "-o", str(path), *options]
    return subprocess.Popen(
        [*command_line, "--jobs", str(jobs), "--json"], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_two_sweeps_on_one_file_share_the_work(tmp_path, uninterrupted):
    path = tmp_path / "s.db"
    both = [start(path, 1), start(path, 1)]
    reports = [json.loads(sweep.communicate()[0]) for sweep in both]
    assert [sweep.returncode for sweep in both] == [0, 0]
    assert sum(report["added"] for report in reports) == 100
    assert csv_of(path) == uninterrupted


@pytest.mark.slow
def test_a_trial_in_which_workers_always_die_is_recorded_and_the_others_continue(monkeypatch):
    # A worker that ends itself is what the out-of-memory killer leaves behind; only its trial is to
    # blame.
    monkeypatch.setattr(executors, "do_trials", die_in_trial_one)
    monkeypatch.setattr(executors, "_GIVE_UP", 2)
    trials = [
        Trial(Point(RETRIEVAL, {"network": "lookup", "n": 20, "t": 5}, 0), number)
        for number in range(4)
    ]
    found = [each for some in executors.in_processes(1)(iter(trials)) for each in some]
    errors = {each.trial.number: each.error for each in found}
    assert len(found) == 4
    assert "died every time" in errors.pop(1)
    assert errors == {0: None, 2: None, 3: None}


@pytest.mark.slow
def test_trials_that_wait_for_one_in_which_workers_die_are_done_after_it(monkeypatch):
    monkeypatch.setattr(executors, "do_trials", die_in_trial_one)
    monkeypatch.setattr(executors, "_GIVE_UP", 1)
    point = Point(RETRIEVAL, {"network": "lookup", "n": 20, "t": 5}, 0)
    found = []

    def trials():
        yield Trial(point, 1)
        while not found:
            yield None
        yield Trial(point, 2)

    for some in executors.in_processes(1)(trials()):
        found += some
    assert [each.trial.number for each in found] == [1, 2]


def test_short_trials_that_are_handed_over_together_are_each_done_once(monkeypatch):
    monkeypatch.setattr(executors, "do_trials", do_nothing)
    point = Point(RETRIEVAL, {"network": "lookup", "n": 20, "t": 5}, 0)
    found = [
        each
        for some in executors.in_processes(1)(Trial(point, number) for number in range(60))
        for each in some
    ]
    assert sorted(each.trial.number for each in found) == list(range(60))


def do_nothing(trials):
    return [
        executors.Finished(trial, {"success": True}, None, 0.0, "here", "1") for trial in trials
    ]


def die_in_trial_one(trials):
    if any(trial.number == 1 for trial in trials):
        os._exit(9)
    return do_nothing(trials)


def test_results_of_workers_that_run_other_code_are_rejected_where_only_this_code_counts(tmp_path):
    def elsewhere(trials):
        for trial in trials:
            yield [replace(executors.do_trial(trial), host="far", version="0.1+another")]

    trials = Grid({"network": "lookup", "n": 20, "t": 5}, trials=2).all_trials()
    with Store(tmp_path / "s.db") as store:
        with pytest.raises(ValueError, match="the worker on far runs other code than this process"):
            run_trials(trials, store, elsewhere, current=True)
        assert (
            run_trials(trials, store, elsewhere).added == 2
        )  # a sweep stores them, and `sweep status` reports them
        assert run_trials(trials, store, executors.in_this_process, current=True).added == 2
        assert run_trials(trials, store, executors.in_this_process, current=True).before == 2


@pytest.mark.parametrize(
    "who",
    [
        {},
        *(
            pytest.param(who, marks=pytest.mark.slow)
            for who in ({"jobs": 2}, {"dask": "local", "jobs": 2})
        ),
    ],
)
def test_a_study_that_is_deleted_while_a_sweep_runs_does_not_end_as_if_all_were_well(
    tmp_path, who, uninterrupted
):
    if "dask" in who:
        pytest.importorskip("distributed")
    path = tmp_path / "s.db"

    def delete(progress):
        if progress.done >= 3:
            path.unlink(missing_ok=True)

    message = r"s\.db was deleted or replaced while .*; every committed trial \(\d+\) is in .*saved"
    with pytest.raises(OSError, match=message):
        run_sweep(GRID, path, progress=delete, **who)
    (tmp_path / "s.db.saved").rename(path)
    assert run_sweep(GRID, path).before >= 3
    assert csv_of(path) == uninterrupted


# -- what a user does
# -----------------------------------------------------------------------------------------------


def invoke(*arguments):
    return CliRunner().invoke(
        command, [str(argument) for argument in arguments], catch_exceptions=False
    )


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    (folder / "grid.toml").write_text(
        '[grid]\nnetwork = ["lookup", "one-hot"]\nn = 20\nt = [5, 9]\nflips = 2\ntrials = 4\nseed '
        "= 1"
    )
    assert invoke("run", folder / "grid.toml", "-o", folder / "s.db", "--jobs", 1).exit_code == 0
    return folder


def test_a_sweep_adds_only_what_is_missing(small, tmp_path):
    path = tmp_path / "s.db"
    assert (
        "0 were there, 16 added"
        in invoke("run", small / "grid.toml", "-o", path, "--jobs", 1).output
    )
    assert (
        "16 were there, 0 added"
        in invoke("run", small / "grid.toml", "-o", path, "--jobs", 1).output
    )
    more = invoke("run", small / "grid.toml", "-o", path, "--jobs", 1, "--trials", 5, "--json")
    assert json.loads(more.stdout) == {
        "study": str(path),
        "total": 20,
        "before": 16,
        "added": 4,
        "failed": 0,
        "by_other_code": 0,
    }


def test_a_study_is_resumed_without_its_grid_file(small, tmp_path):
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.add_grid(Grid({"network": "lookup", "n": 20, "t": 5}, trials=3).as_json())
    assert "3 added" in invoke("run", "-o", path, "--resume", "--jobs", 1).output


def test_status_shows_points_failures_and_what_is_missing(tmp_path):
    path = tmp_path / "s.db"
    done = invoke(
        "run",
        "-o",
        path,
        "--network",
        "lookup",
        "--n",
        "3,20",
        "--t",
        20,
        "--trials",
        2,
        "--jobs",
        1,
    )
    assert "2 of them failed" in done.output
    shown = invoke("status", path).output
    assert "4 trials over, 0 missing, 2 failed" in shown
    assert "failed: ValueError: there are only 8 different patterns of 3 units" in shown
    with Store(path) as store:
        store.add_grid(Grid({"network": "lookup", "n": 20, "t": 20}, trials=7).as_json())
    summary = json.loads(invoke("status", path, "--json").output)
    assert (summary["trials"], summary["missing"], summary["failed"]) == (4, 5, 2)
    assert [point["successes"] for point in summary["points"]] == [0, 2]


def test_status_answers_for_a_new_and_for_an_empty_file(tmp_path):
    Store(tmp_path / "new.db").close()
    (tmp_path / "empty.db").touch()
    for name in ("new.db", "empty.db"):
        assert "0 trials over, 0 missing, 0 failed" in invoke("status", tmp_path / name).output
        with pytest.raises(ValueError, match=f"{name} has no grid to resume"):
            invoke("run", "--resume", "-o", tmp_path / name)


def test_trials_of_other_code_are_reported_by_run_status_and_export(small, tmp_path):
    path = tmp_path / "s.db"
    with Store(small / "s.db", readonly=True) as theirs, Store(path) as store:
        store.add([replace(each, version="0.1+another") for each in list(theirs.finished())[:5]])
    note = "Other code than this did 5 of these trials."
    ran = invoke("run", small / "grid.toml", "-o", path, "--jobs", 1)
    assert f"16 trials, 5 were there, 11 added. {note}" in ran.output
    assert note in invoke("status", path).output
    assert note in invoke("export", path, "-o", tmp_path / "s.csv").output
    assert (
        json.loads(invoke("run", small / "grid.toml", "-o", path, "--jobs", 1, "--json").stdout)[
            "by_other_code"
        ]
        == 5
    )


def test_damage_is_reported_and_a_study_of_the_rest_is_completed(small, tmp_path):
    path = tmp_path / "s.db"
    path.write_bytes((small / "s.db").read_bytes())
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "UPDATE trials SET outcome = outcome || ' ' WHERE trial = 2 AND settings LIKE '%: 9%'"
        )
    shown = invoke("status", path).output
    assert "14 trials over, 2 missing" in shown
    assert "2 damaged rows are left out and count as missing: trial 2 of the point" in shown
    exported = invoke("export", path, "-o", tmp_path / "s.csv")
    assert "14 rows. 2 trials of its grids are missing." in exported.stdout
    assert "2 damaged rows are left out" in exported.output
    assert "2 damaged rows are left out" in invoke("plot", path, "-o", tmp_path / "s.png").output
    with pytest.raises(OSError, match="2 damaged rows are left out and count as missing"):
        invoke("run", "--resume", "-o", path, "--jobs", 1)
    rest = tmp_path / "rest.db"
    assert "rest.db: a study of 14 trials." in invoke("export", path, "-o", rest).output
    assert "14 were there, 2 added" in invoke("run", "--resume", "-o", rest, "--jobs", 1).output
    for study_file, name in ((small / "s.db", "a"), (rest, "b")):
        invoke("export", study_file, "-o", tmp_path / f"{name}.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_a_seed_that_no_study_could_store_is_rejected_before_any_work(tmp_path):
    with pytest.raises(ValueError, match=r"seed must be at most"):
        invoke("run", "-o", tmp_path / "s.db", "--network", "lookup", "--t", 5, "--seed", 2**63)
    assert not (tmp_path / "s.db").exists()


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_sweep_of_which_every_trial_fails_does_not_end_as_if_all_were_well(tmp_path, options):
    done = invoke(
        "run",
        "-o",
        tmp_path / "s.db",
        "--network",
        "lookup",
        "--n",
        3,
        "--t",
        20,
        "--trials",
        2,
        "--jobs",
        1,
        *options,
    )
    assert done.exit_code == 1
    assert "2" in done.output


def test_failed_trials_are_done_again_only_on_request(tmp_path):
    path = tmp_path / "s.db"
    grid = Grid({"network": "lookup", "n": 3, "t": 20}, trials=2)
    assert run_sweep(grid, path).failed == 2
    assert run_sweep(grid, path).added == 0
    assert run_sweep(grid, path, retry_failed=True).added == 2


def test_exported_tables_are_the_same_bytes_every_time(small, tmp_path):
    for name in ("a", "b"):
        assert invoke("export", small / "s.db", "-o", tmp_path / f"{name}.csv").exit_code == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    heading, *lines = (tmp_path / "a.csv").read_text().splitlines()
    assert len(lines) == 16
    assert "host" not in heading
    invoke("export", small / "s.db", "-o", tmp_path / "timing.csv", "--timing")
    assert "seconds,host,version" in (tmp_path / "timing.csv").read_text()
    invoke("export", small / "s.db", "-o", tmp_path / "points.csv", "--points")
    assert len((tmp_path / "points.csv").read_text().splitlines()) == 5


def test_plot_draws_a_picture(small, tmp_path):
    assert invoke("plot", small / "s.db", "-o", tmp_path / "s.png").exit_code == 0
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="'network' is not a setting with a number"):
        invoke("plot", small / "s.db", "-o", tmp_path / "s.png", "--x", "network")
    with pytest.raises(ValueError, match=r"\.png, \.pdf or \.svg"):
        invoke("plot", small / "s.db", "-o", tmp_path / "s.bmp")


def test_three_settings_are_an_axis_colours_that_never_repeat_and_panels(tmp_path):
    flips = list(range(8))
    run_sweep(
        Grid({"network": "lookup", "n": [20, 30], "flips": flips, "t": [4, 6]}, trials=1),
        tmp_path / "s.db",
    )
    found = study.read_study(tmp_path / "s.db")
    figure = found.plot().figure
    assert [panel.get_title() for panel in figure.axes] == ["N = 20", "N = 30"]
    for panel in figure.axes:
        lines = [curve[0] for curve in panel.containers]
        assert len({str(line.get_color()) for line in lines}) == len(flips)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        f"flips = {k}" for k in flips
    ]
    assert found.plot(legend=False).figure.legends == []
    assert [panel.get_title() for panel in found.plot(hue="n").figure.axes] == [
        f"flips = {k}" for k in flips
    ]
    with pytest.raises(ValueError, match="n vary, too, and need panels of their own; leave out ax"):
        found.plot(ax=plt.subplots()[1])
    with pytest.raises(
        ValueError, match="'m' is not a setting that varies beside t; those are n, flips"
    ):
        found.plot(hue="m")
    assert (
        invoke(
            "plot", tmp_path / "s.db", "-o", tmp_path / "s.png", "--hue", "n", "--no-legend"
        ).exit_code
        == 0
    )
    plt.close("all")


def test_a_network_without_hidden_neurons_stands_beside_each_number_of_them(tmp_path):
    run_sweep(Grid({**SETTINGS, "m": [20, 40]}, trials=1), tmp_path / "s.db")
    found = study.read_study(tmp_path / "s.db")
    figure = found.plot().figure
    assert {
        panel.get_title(): [curve.get_label() for curve in panel.containers]
        for panel in figure.axes
    } == {"M = 20": ["attractor", "lookup"], "M = 40": ["attractor", "lookup"]}
    plt.close(figure)


def test_a_sweep_without_anything_to_run_raises_with_the_remedy(tmp_path):
    assert "give a GRID file" in invoke("run", "-o", tmp_path / "s.db").output
    assert not (tmp_path / "s.db").exists()


def test_a_wrong_key_ends_with_exit_code_2_before_a_study_is_made(tmp_path):
    arguments = ["sweep", "run", "-o", str(tmp_path / "s.db"), "--t", "10", "--set", "foo=1"]
    done = subprocess.run(
        [sys.executable, "-m", "seqattractor", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("seqattractor: unknown key 'foo'; the keys are network")
    assert not (tmp_path / "s.db").exists()


@pytest.mark.slow  # a measurement
def test_keeping_the_books_costs_less_than_5_ms_a_trial(tmp_path):
    started = time.process_time()
    run_sweep(Grid({"network": "lookup", "n": 10, "t": 3}, trials=300), tmp_path / "s.db")
    total = time.process_time() - started
    with Store(tmp_path / "s.db", readonly=True) as store:
        trials = list(store.finished())
    started = time.process_time()
    for each in trials:
        executors.do_trial(each.trial)
    alone = time.process_time() - started
    assert (total - alone) / len(trials) < 0.005


@pytest.mark.skipif(
    not hasattr(signal, "pthread_sigmask"), reason="this system cannot block signals"
)
def test_ctrl_c_means_nothing_to_a_worker_from_its_first_moment_on():
    with executors.process_pool(2) as pool:
        blocked = pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, []).result()
    assert signal.SIGINT in blocked  # before a line of ours ran there: it came with the process
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
