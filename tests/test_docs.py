"""The documentation tells the truth: what its pages show, its code does."""

import doctest
import re
from pathlib import Path

import pytest

PAGES = [path for path in sorted((Path(__file__).parents[1] / "docs").glob("*.rst")) if not path.stem.startswith("sg_")]


@pytest.mark.parametrize("page", [path for path in PAGES if ">>>" in path.read_text()], ids=lambda path: path.stem)
def test_the_examples_of_a_page_give_what_it_shows(page):
    failed, tried = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    )
    assert tried
    assert not failed


def test_every_page_is_in_the_table_of_contents():
    index = (PAGES[0].parent / "index.rst").read_text().split()
    assert [path.stem for path in PAGES if path.stem not in {"index", *index}] == []


def test_every_entry_of_the_changelog_stands_once():
    """A merge that went wrong put entries into two sections, once."""
    text = (PAGES[0].parents[1] / "CHANGELOG.md").read_text()
    entries = [" ".join(entry.split()) for entry in re.split(r"^(?:- |#.*$)", text, flags=re.MULTILINE)]
    entries = [entry for entry in entries if entry]
    assert len(entries) > 50
    assert sorted(set(entries)) == sorted(entries)
