"""Links lead somewhere, without a look at the web: to pages, headings, labels, pictures and files
of the repository.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MARKDOWN = sorted(
    {
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("paper/*.md"),
        *ROOT.glob(".github/*.md"),
    }
)
PAGES = sorted(
    {
        *DOCS.glob("*.rst"),
        *DOCS.glob("*.inc"),
        *ROOT.glob("examples/plot_*.py"),
        ROOT / "examples" / "README.rst",
    }
)
# What Sphinx writes when it builds the documentation.
BUILT = {"gallery/index", "generated/cli", "generated/playground.inc"}
# Paths on pages begin here.
HERE = (ROOT, ROOT / "src", ROOT / "src" / "seqattractor")
FOLDERS = [
    "docs",
    "tests",
    "benchmarks",
    "examples",
    "release",
    "src",
    "seqattractor",
    *(path.parent.name for path in HERE[2].glob("*/__init__.py")),
]
NAMED_FILE = re.compile(rf"(?<![\w./<-])(?:{'|'.join(FOLDERS)})/[\w./-]*\w")


def headings(markdown):
    """The anchors that the headings of a page get."""
    titles = re.findall(r"^#+ (.+)$", markdown, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def dead_links_of_markdown(page):
    """The relative links and pictures of a page that lead nowhere."""
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)", text, flags=re.MULTILINE):
        file, _, heading = "".join(target).partition("#")
        if re.match(r"[a-z]+:", file):
            continue
        path = page.parent / file if file else page
        if not path.exists() or (
            heading and heading not in headings(path.read_text(encoding="utf-8"))
        ):
            yield "".join(target)


def dead_links_of_rst(text, labels):
    """The pages, labels, pictures and included files of a page that are not there."""
    contents = re.findall(r"^\.\. toctree::\n((?:   .*\n|\n)+)", text, flags=re.MULTILINE)
    entries = [
        line.strip()
        for block in contents
        for line in block.splitlines()
        if line.strip() and ":" not in line
    ]
    named = (
        re.findall(r":doc:`(?:[^`<]*<)?([^`>]+)>?`", text)
        + re.findall(r":link: (\S+)\n +:link-type: doc", text)
        + entries
    )
    yield from (name for name in named if name not in BUILT and not list(DOCS.glob(f"{name}.*")))
    yield from (
        name for name in re.findall(r":ref:`(?:[^`<]*<)?([^`>]+)>?`", text) if name not in labels
    )
    files = re.findall(
        r"^ *\.\. (?:image|figure|include|literalinclude):: (\S+)", text, flags=re.MULTILINE
    )
    drawn = re.compile(
        r"gallery/images/sphx_glr_(plot_\w+)_\d{3}\.png"
    )  # by an example, when the gallery is built
    yield from (
        name
        for name in files
        if name not in BUILT and not (DOCS / drawn.sub(r"../examples/\1.py", name)).exists()
    )


def missing_files(text):
    """Files and folders of the repository that a page names, and that are not there."""
    return [
        name
        for name in NAMED_FILE.findall(text)
        if not any((place / name).exists() for place in HERE)
    ]


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: page.stem)
def test_every_link_of_a_markdown_page_leads_somewhere(page):
    assert list(dead_links_of_markdown(page)) == []


@pytest.fixture(scope="module")
def labels():
    """What `:ref:` may name: labels of pages, and examples of the gallery."""
    own = {
        name
        for page in PAGES
        for name in re.findall(
            r"^\.\. _([^`:]+):$", page.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
    }
    return own | {f"sphx_glr_gallery_{path.name}" for path in ROOT.glob("examples/plot_*.py")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_and_picture_of_a_page_is_there(page, labels):
    assert list(dead_links_of_rst(page.read_text(encoding="utf-8"), labels)) == []


@pytest.mark.parametrize("page", [*MARKDOWN, *PAGES], ids=lambda page: page.name)
def test_every_file_that_a_page_names_is_there(page):
    if page.name.lower() != "changelog.md":  # which names files that once were
        assert missing_files(page.read_text(encoding="utf-8")) == []


def test_every_picture_is_shown_somewhere():
    text = "".join(page.read_text(encoding="utf-8") for page in (*MARKDOWN, *PAGES))
    assert [
        path.name for path in (DOCS / "images").iterdir() if f"images/{path.name}" not in text
    ] == []


def test_a_link_that_leads_nowhere_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A page\n\n[itself](#a-page) [gone](#gone) ![picture](gone.png) "
        "[web](https://example.org)\n\n[way]: gone.md\n"
    )
    assert list(dead_links_of_markdown(page)) == ["#gone", "gone.png", "gone.md"]
    text = (
        ":doc:`sparse` :doc:`this <gone>` :ref:`here` :ref:`there <lost>`\n\n.. toctree::\n   "
        ":hidden:\n\n   away\n"
    )
    assert list(dead_links_of_rst(text, {"here"})) == ["gone", "away", "lost"]
    assert list(
        dead_links_of_rst(".. image:: images/lab.png\n\n.. image:: images/gone.png\n", {})
    ) == ["images/gone.png"]
    text = "`docs/sparse.rst`, `seqattractor/gone.py`, `io/_write.py`, benchmarks/gone.py."
    assert missing_files(text) == ["seqattractor/gone.py", "benchmarks/gone.py"]
