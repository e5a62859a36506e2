"""The tutorials can be followed: all their code and all their commands, from the first line to the
last, in an empty folder.
"""

import doctest
import re
from pathlib import Path

import pytest

from shown_commands import run, shown

PAGES = sorted((Path(__file__).parents[2] / "docs").glob("tutorial_*.rst"))
_FILE = re.compile(r"to ``([\w.]+)``\.[^\n]*\n\n\.\. code-block:: toml\n\n((?:   .*\n|\n)+)")


def follow(page: str) -> None:
    """Run the code and the commands of a page in their order."""
    checker = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    names: dict[str, object] = {}
    for name, content in _FILE.findall(page):
        Path(name).write_text(re.sub("^   ", "", content, flags=re.MULTILINE))
    for part in re.split(r"(?=^\.\. code-block:: console$)", page, flags=re.MULTILINE):
        for program, *words in shown(part):
            if program == "seqattractor":
                run(words)
        examples = doctest.DocTestParser().get_doctest(part, names, "tutorial", None, 0)
        checker.run(examples, clear_globs=False)
        names = examples.globs
    assert checker.failures == 0


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.slow) if page.stem == "tutorial_capacity" else page
        for page in PAGES
    ],
    ids=[page.stem.removeprefix("tutorial_") for page in PAGES],
)
def test_a_tutorial_can_be_followed(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    follow(page.read_text())


def test_a_tutorial_with_a_mistake_is_noticed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError):
        follow(">>> 1 + 1\n3\n")
    with pytest.raises(AssertionError, match="no-such-command"):
        follow(".. code-block:: console\n\n   $ seqattractor no-such-command\n")
