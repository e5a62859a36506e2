"""The documentation is true: what its pages show, its code does."""

import doctest
import re
import textwrap
from contextlib import nullcontext
from pathlib import Path

import pytest

import seqattractor as sa
from dask_cluster import dask_cluster

PAGES = [
    path
    for path in sorted((Path(__file__).parents[2] / "docs").glob("*.rst"))
    if not path.stem.startswith("sg_")
]


# Tutorials are followed from the first line to the last, commands and all, in test_tutorials.py.
WITH_CODE = [
    path for path in PAGES if ">>>" in path.read_text() and not path.stem.startswith("tutorial_")
]


# A test has no GPU and little time.
INSTEAD = {"cuda": "cpu", "1000, axis": "2, axis", "n_hidden=5000": "n_hidden=50"}


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda path: path.stem)
def test_the_code_of_a_page_does_what_it_shows(page, tmp_path):
    text = page.read_text()
    examples = doctest.DocTestParser().get_doctest(
        text, {"__name__": "__main__"}, page.stem, str(page), 0
    )
    checker = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    checker.run(examples, clear_globs=False)
    assert checker.tries
    assert not checker.failures
    names = {"X": sa.datasets.random_periodic(10, 20, rng=0), **examples.globs}
    for block in re.findall(
        r"^\.\. code-block:: python\n\n((?:   .*\n|\n)+)", text, flags=re.MULTILINE
    ):
        code = re.sub("|".join(INSTEAD), lambda found: INSTEAD[found[0]], textwrap.dedent(block))
        with dask_cluster(tmp_path, 1) if "tcp://" in code else nullcontext() as cluster:
            exec(re.sub(r"tcp://[\w:]+", lambda _: cluster.address, code), names)


def test_every_block_of_python_is_on_a_page_whose_code_is_run():
    assert [
        page.stem
        for page in PAGES
        if "code-block:: python" in page.read_text() and page not in WITH_CODE
    ] == []


def test_every_page_is_in_a_table_of_contents():
    entries = {
        line.strip()
        for page in PAGES
        for contents in re.findall(
            r"^\.\. toctree::\n((?:   .*\n|\n)+)", page.read_text(), flags=re.MULTILINE
        )
        for line in contents.splitlines()
    }
    assert [path.stem for path in PAGES if path.stem not in {"index", *entries}] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_lines_of_code_fit_beside_both_sidebars(page):
    """105 characters at 1300 pixels (docs/_static/seqattractor.css)."""
    code = re.findall(r"^(?:(?:>>>|\.\.\.) .*|    ?\$ .*)$", page.read_text(), flags=re.MULTILINE)
    is_table = re.compile(r"\.\.\. .*   +[.\d]")  # a row of a table may begin with three dots, too
    assert [line for line in code if len(line.strip()) > 105 and not is_table.match(line)] == []
