"""The README is true: its snippets run, and every command explains itself. (Its commands:
test_commands_in_docs.py.)
"""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from seqattractor.cli import group

README = Path(__file__).parents[2] / "README.md"
TEXT = README.read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.S)


@pytest.mark.parametrize("code", SNIPPETS, ids=lambda code: code.splitlines()[0])
def test_each_snippet_runs_and_prints_what_its_comments_promise(
    code, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(README), "exec"), {})
    printed = capsys.readouterr().out.split("\n")
    promised = re.findall(r"print\(.*\)\s+# (True|False|[\d.]+)", code)
    assert [line for line in printed if line] == promised or not promised


def test_the_speed_in_the_first_lines_is_that_of_the_table_like_for_like():
    """About eighty times for random patterns, a thousand or more for pictures, if the plain loop
    stopped there, too.
    """
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in TEXT.splitlines()
        if re.search(r"\| [\d,]+x \|$", line)
    ]
    ratios = {row[0].split(",")[0]: [] for row in rows}
    for row in rows:
        ratios[row[0].split(",")[0]].append(int(row[-1].replace(",", "").rstrip("x")))
    assert (
        "like for like about eighty times for random patterns, about a thousand times or more for "
        "pictures" in TEXT
    )
    assert all(60 <= ratio <= 100 for ratio in ratios.pop("random patterns"))
    assert set(ratios) == {"moving digits", "walking figure"}
    assert all(ratio >= 950 for (ratio,) in ratios.values())


@pytest.mark.parametrize("command", group.list_commands(None))
def test_every_command_explains_itself(command):
    result = CliRunner().invoke(group, [command, "--help"])
    assert result.exit_code == 0, result.output
    assert "Usage:" in result.output
    assert len(result.output.splitlines()) > 4
