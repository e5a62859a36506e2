"""Files in the current folder that have the names of modules are not run, whatever starts Python
processes.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import seqattractor
from seqattractor._children import safe_path

SOURCE = Path(seqattractor.__file__).parent
HOSTILE = (
    "selectors",
    "seqattractor",
    "json",
    "numpy",
    "random",
    "pickle",
    "runpy",
    "multiprocessing",
    "ctypes",
)
SWEEP = [
    "sweep",
    "run",
    "--network",
    "lookup",
    "--n",
    "20",
    "--t",
    "5",
    "--trials",
    "8",
    "--jobs",
    "2",
    "-o",
    "../s.db",
]

CONSOLE_SCRIPT = """from seqattractor.cli import main

if __name__ == "__main__":
    main()
"""


@pytest.fixture
def run(tmp_path):
    """Run a command, by a script whose folder is the first on the path, in a folder that is full of
    hostile files.
    """
    for folder in ("bin", "here"):
        (tmp_path / folder).mkdir()
    trace = tmp_path / "trace"
    for name in HOSTILE:
        (tmp_path / "here" / f"{name}.py").write_text(
            f"open({str(trace)!r}, 'a').write('{name}, ')\n"
        )

    def run(*arguments):
        script = tmp_path / "bin" / "main"
        script.write_text(CONSOLE_SCRIPT)
        command = [sys.executable, str(script), *arguments]
        done = subprocess.run(
            command, cwd=tmp_path / "here", capture_output=True, text=True, check=False
        )
        assert not trace.exists(), f"{trace.read_text()} were run"
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.slow
def test_a_sweep_in_two_processes_runs_nothing_of_the_current_folder(run):
    assert "8 added" in run(*SWEEP)


def test_reading_a_picture_runs_nothing_of_the_current_folder(run, tmp_path):
    image = pytest.importorskip("PIL.Image")
    frames = [image.new("L", (8, 8), 255 * k) for k in (0, 1)]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    run("learn", "../a.gif", "-o", "../a.npz", "--network", "lookup")
    run("recall", "../a.npz", "-o", "../b.gif")
    run("inspect", "../a.npz")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        [*SWEEP, "--dask", "local"],
        [
            "capacity",
            "--network",
            "hebbian",
            "--n",
            "20",
            "--flips",
            "1",
            "--max-trials",
            "8",
            "--jobs",
            "2",
        ],
        ["compare", "--use", "../mine.py", "--networks", "lookup", "--jobs", "2"],
        ["reproduce", "table1", "--quick", "--jobs", "2", "-o", "../report"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_that_start_processes_run_nothing_of_the_current_folder(run, tmp_path, arguments):
    if "--dask" in arguments:
        pytest.importorskip("distributed")
    (tmp_path / "mine.py").write_text(
        "import seqattractor as sa\n\nmine = sa.zoo.LookupMemory(order=2)\n"
    )
    run(*arguments)


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
