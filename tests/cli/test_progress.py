"""The one progress display: lines where there is no terminal, a bar where there is one, and nothing
for programs.
"""

import contextlib
import os
import re
import subprocess
import sys

import pytest
from sklearn.exceptions import ConvergenceWarning

import seqattractor as sa
from seqattractor import _progress as progress
from seqattractor._progress import epoch_progress, trial_progress
from seqattractor.study import Grid, Progress, run_sweep


def test_without_a_terminal_a_line_comes_at_the_end(capsys):
    with trial_progress("sweep") as show:
        for done in range(4):
            show(Progress(done, 0, 3))
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "sweep: 3 of 3 trials\n"


def test_now_and_then_a_line_counts_trials_and_failures(capsys, monkeypatch):
    moments = [
        (1.0, Progress(5, 0, 30)),
        (9.0, Progress(6, 0, 30)),
        (12.0, Progress(16, 2, 30)),
        (20.0, Progress(20, 2, 30)),
    ]
    now = iter([0.0, *(seconds for seconds, _ in moments)])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    with trial_progress("sweep") as show:
        for _, trials in moments:
            show(trials)
    assert capsys.readouterr().err == "sweep: 16 of 30 trials, 2 failed\n"


def test_for_a_program_there_is_nothing_to_see(capsys):
    with trial_progress("sweep", quiet=True) as show, epoch_progress(10, quiet=True) as show_epoch:
        show(Progress(1, 0, 1))
        show_epoch(1, 5, 5)
    printed = capsys.readouterr()
    assert printed.out + printed.err == ""


def test_python_users_get_the_same_with_verbose(capsys, tmp_path):
    news = []
    run_sweep(
        Grid({"network": "lookup", "n": 20, "t": 5}, trials=3),
        tmp_path / "s.db",
        verbose=True,
        progress=news.append,
    )
    sa.compare("random", ["lookup"], values=[5], trials=2, verbose=True)
    sa.measure_capacity("hebbian", n=20, flips=1, max_trials=4, verbose=True)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "sweep: 3 of 3 trials",
        "compare random: 2 of 2 trials",
        "capacity: 4 of 4 trials",
    ]
    assert news[-1] == Progress(3, 0, 3)
    with pytest.raises(TypeError, match="verbose must be True or False"):
        sa.compare("random", ["lookup"], values=[5], trials=2, verbose="yes")
    assert capsys.readouterr().err == ""


def epochs_printed(seconds_per_epoch, epochs, monkeypatch, capsys):
    """The epochs of which a fit without a terminal prints a line with verbose=1, if each takes so
    many seconds.
    """
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)

    def pass_time(*_):
        nonlocal now
        now += seconds_per_epoch

    X = sa.datasets.random_periodic(60, 20, rng=0)  # too much for it, so that all epochs are needed
    with pytest.warns(ConvergenceWarning):
        sa.VisibleNetwork(max_epochs=epochs, random_state=0, verbose=1).fit(X, callback=pass_time)
    printed = capsys.readouterr()
    assert printed.out == ""
    return [
        int(number)
        for number in re.findall(
            r"^learning: (\d+) of \d+ epochs, 0 hidden, \d+ visible errors$",
            printed.err,
            re.MULTILINE,
        )
    ]


def test_a_long_fit_prints_lines_and_a_short_one_prints_one(capsys, monkeypatch):
    assert epochs_printed(0.001, 300, monkeypatch, capsys) == [300]
    assert epochs_printed(3.0, 9, monkeypatch, capsys) == [
        5,
        9,
    ]  # 12 s after the start, and the end
    assert epochs_printed(60.0, 3, monkeypatch, capsys) == [2, 3]


def test_on_a_terminal_fit_draws_a_bar():
    pty = pytest.importorskip("pty")  # only where there are terminals of this kind
    code = (
        "import seqattractor as sa\nX = sa.datasets.random_periodic(8, 40, rng=0)\n"
        "net = sa.VisibleNetwork(engine='reference', random_state=0, "
        "verbose=1).fit(X)\nprint(net.n_iter_)"
    )
    seen, terminal = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    drawn = b""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=terminal, env=environment
    ) as process:
        os.close(terminal)
        with (
            os.fdopen(seen, "rb", buffering=0) as screen,
            contextlib.suppress(OSError),
        ):  # at its end a terminal is an error
            while part := screen.read(4096):
                drawn += part
        epochs = int(process.stdout.read())
    assert process.returncode == 0
    words = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn.decode())
    assert "━" in words
    assert f"{epochs}/{epochs} 0 hidden, 0 visible errors" in words
