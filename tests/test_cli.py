"""The command line as a whole: quick, and one sentence for what the user can mend."""

import subprocess
import sys

import pytest


def run(*arguments, cwd=None):
    command = [sys.executable, "-m", "seqattractor", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["recall", "none.npz", "-o", "x.gif"], "there is no model file none.npz"),
        (["sweep", "run", "none.toml", "--out", "s.db"], "none.toml: no such file or directory"),
        (["nonsense"], "No such command 'nonsense'"),
        (["reproduce", "fig99"], "there is no target 'fig99'"),
    ],
)
def test_a_mistake_gets_one_sentence_exit_code_2_and_leaves_nothing(arguments, says, tmp_path):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_help_lists_the_commands():
    done = run("--help")
    assert done.returncode == 0
    for command in ("reproduce", "learn", "recall", "inspect", "sweep", "capacity", "compare", "lab", "bench"):
        assert f"  {command} " in done.stdout
