"""The command line as a whole: quick, and one sentence for what the user can mend."""

import os
import subprocess
import sys

import pytest


def run(*arguments, cwd=None):
    command = [sys.executable, "-m", "seqattractor", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["recall", "none.npz", "-o", "x.gif"], "there is no model file none.npz"),
        (["sweep", "run", "none.toml", "--out", "s.db"], "none.toml: no such file or directory"),
        (["nonsense"], "No such command 'nonsense'"),
        (["reproduce", "fig99"], "there is no target 'fig99'"),
    ],
)
def test_a_mistake_gets_one_sentence_exit_code_2_and_leaves_nothing(arguments, message, tmp_path):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_help_lists_the_commands():
    done = run("--help")
    assert done.returncode == 0
    for command in (
        "reproduce",
        "learn",
        "recall",
        "inspect",
        "export",
        "sweep",
        "capacity",
        "compare",
        "lab",
    ):
        assert f"  {command} " in done.stdout


def test_a_network_larger_than_the_machine_is_rejected_in_one_sentence(tmp_path):
    (tmp_path / "a.txt").write_text("#.\n.#\n\n.#\n#.\n")
    done = run("learn", "a.txt", "--hidden", str(10**13), "-o", "a.npz", cwd=tmp_path)
    assert done.returncode == 2
    assert "there is not enough memory" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_reader_who_has_seen_enough_is_no_error_to_write_about():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "seqattractor", "--help"],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == b""
