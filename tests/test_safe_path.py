"""Files in the current folder that have the names of modules are not run, whatever starts Python processes."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import seqattractor
from seqattractor._children import safe_path

SOURCE = Path(seqattractor.__file__).parent
HOSTILE = ("selectors", "seqattractor", "json", "numpy", "random", "pickle", "runpy", "multiprocessing", "numba")
SWEEP = ["sweep", "run", "--network", "lookup", "--n", "20", "--t", "5", "--trials", "8", "--jobs", "2", "-o", "../s.db"]

# The console script, whose folder is the first on the path, and what a first use and the lab do while the page loads.
PROGRAMS = {
    "main": "from seqattractor.cli import main",
    "compilers": """
        def main():
            from seqattractor.lab.compiled import _compile_apart
            from seqattractor.learning.exact.first_use import _Helper

            helper = _Helper()
            helper.on_start(None)
            assert helper.child is not None and helper.child.wait() == 0
            assert _compile_apart().communicate()[0].split()[0] == "SequenceAttractor"
    """,
}


@pytest.fixture
def run(tmp_path):
    """Run a program in a folder that is full of hostile files."""
    for folder in ("bin", "here"):
        (tmp_path / folder).mkdir()
    trace = tmp_path / "trace"
    for name in HOSTILE:
        (tmp_path / "here" / f"{name}.py").write_text(f"open({str(trace)!r}, 'a').write('{name}, ')\n")

    def run(program, *arguments):
        script = tmp_path / "bin" / program
        script.write_text(f'{textwrap.dedent(PROGRAMS[program])}\nif __name__ == "__main__":\n    main()\n')
        command = [sys.executable, str(script), *arguments]
        done = subprocess.run(command, cwd=tmp_path / "here", capture_output=True, text=True, check=False)
        assert not trace.exists(), f"{trace.read_text()} were run"
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_a_sweep_in_two_processes_runs_nothing_of_the_current_folder(run):
    assert "8 added" in run("main", *SWEEP)


def test_processes_that_compile_run_nothing_of_the_current_folder(run):
    run("compilers")


def test_reading_a_picture_runs_nothing_of_the_current_folder(run, tmp_path):
    image = pytest.importorskip("PIL.Image")
    frames = [image.new("L", (8, 8), 255 * k) for k in (0, 1)]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    run("main", "learn", "../a.gif", "-o", "../a.npz", "--network", "lookup")
    run("main", "recall", "../a.npz", "-o", "../b.gif")
    run("main", "inspect", "../a.npz")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        [*SWEEP, "--dask", "local"],
        ["capacity", "--network", "hebbian", "--n", "20", "--flips", "1", "--max-trials", "8", "--jobs", "2"],
        ["compare", "--use", "../mine.py", "--networks", "lookup", "--jobs", "2"],
        ["reproduce", "table1", "--quick", "--jobs", "2", "-o", "../report"],
        ["demo", "-o", "../demo.gif"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_that_start_processes_run_nothing_of_the_current_folder(run, tmp_path, arguments, monkeypatch):
    if "--dask" in arguments:
        pytest.importorskip("distributed")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))  # the demo compiles in two processes, once
    (tmp_path / "mine.py").write_text("import seqattractor as sa\n\nmine = sa.LookupMemory(order=2)\n")
    run("main", *arguments)


def test_only_one_module_starts_python_by_name():
    starting = [path.name for path in SOURCE.rglob("*.py") if "sys.executable" in path.read_text()]
    assert starting == ["_children.py"]


@pytest.mark.parametrize("before", [None, "", "1"])
def test_the_environment_is_afterwards_what_it_was(monkeypatch, before):
    if before is None:
        monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    else:
        monkeypatch.setenv("PYTHONSAFEPATH", before)
    with safe_path(), safe_path():
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert os.environ.get("PYTHONSAFEPATH") == before
