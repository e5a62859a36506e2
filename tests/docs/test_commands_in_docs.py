"""Every command that a page shows can be typed: commands, options, values and names exist, and what
is quick is really run.
"""

import ast
import re
import tomllib
from contextlib import suppress
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import seqattractor as sa
from films import grey_film, save_film, save_gif, textured_film
from nwb_files import LAPS, empty_session, with_epochs, with_spikes, write_session
from seqattractor.cli import group
from seqattractor.networks.registry import REGISTRY
from seqattractor.paper.target import TARGETS
from seqattractor.study.compare import choose_networks
from shown_commands import parse, quoted, run, shown

ROOT = Path(__file__).parents[2]
# Not the changelog, which lists what there once was.
DOCUMENTS = sorted(
    {*ROOT.glob("*.md"), *ROOT.glob("docs/*.rst"), *ROOT.glob("docs/*.inc")}
    - {ROOT / "CHANGELOG.md"}
)
SCRIPTS = sorted(
    path
    for folder in ("benchmarks", "examples", "release")
    for path in (ROOT / folder).glob("*.py")
)
PAGES = [*DOCUMENTS, ROOT / "paper" / "paper.md", *SCRIPTS]
SMALL = ["--n", "20", "--m", "10", "--t", "5", "--flips", "1", "--trials", "1", "--jobs", "1"]
NUMBERS = ("FLIPS", "TRIALS")  # which the reader chooses
MISSPELT = ["seqattractor", "lern", "cat.gif"]  # docs/notebooks.rst shows how a mistake is answered
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]
MAKE_TARGETS = re.search(
    r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
)[1].split()


def text_of(path):
    text = path.read_text(encoding="utf-8")
    return ast.get_docstring(ast.parse(text)) or "" if path.suffix == ".py" else text


def check(words):
    """Raise unless the command could be typed by somebody who has the files that it names."""
    program, *words = words
    words = [word if program == "pip" else word.strip("[]") for word in words]
    if program == "seqattractor" and not words[0].isupper():
        check_names(parse(["1" if word in NUMBERS else word for word in words]))
    elif program == "make":
        assert {word for word in words if "=" not in word} <= set(MAKE_TARGETS), words
    elif program == "pip":
        extras = ",".join(re.findall(r"\[(.+)\]", " ".join(words))).split(",")
        assert set(extras) <= {"", *EXTRAS}
    elif program == "python" and "/" in words[0]:
        source = (ROOT / words[0]).read_text(encoding="utf-8")
        assert [word for word in words if word.startswith("--") and f'"{word}"' not in source] == []


def check_names(context):
    """Networks and targets are names to the command line, which looks them up when it runs."""
    assert set(context.params.get("targets", ())) <= {*TARGETS, "neighbours", "all"}
    assert set((context.params.get("network") or "attractor").split(",")) <= set(REGISTRY)
    choose_networks((context.params.get("networks") or "all").split(","))


@pytest.fixture
def folder_of_a_reader(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("FILE").touch()


@pytest.mark.usefixtures("folder_of_a_reader")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if shown(text_of(page))], ids=lambda page: page.stem
)
def test_every_command_in_a_block_of_a_page_can_be_typed(page):
    for words in shown(text_of(page)):
        if words != MISSPELT:
            check(words)


@pytest.mark.usefixtures("folder_of_a_reader")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if quoted(text_of(page))], ids=lambda page: page.stem
)
def test_every_command_in_a_sentence_of_a_page_can_be_typed(page):
    for words in quoted(text_of(page)):
        with suppress(click.MissingParameter):  # a sentence about an option need not name the file
            check(words)


def all_options(command):
    for parameter in command.params:
        yield from parameter.opts
    if isinstance(command, click.Group):
        for name in command.list_commands(None):
            yield from all_options(command.get_command(None, name))


def test_every_option_that_a_page_names_exists():
    known = {"--help", *all_options(group)} | {
        word for path in SCRIPTS for word in re.findall(r'"(--[a-z-]+)"', path.read_text())
    }
    named = {
        word
        for page in PAGES
        for _, word in re.findall(r"(?<!`)(`{1,2})(--[a-z-]+)\b[^`]*\1", text_of(page))
    }
    assert len(named) > 50
    assert named - known == set()


@pytest.mark.parametrize(
    "line",
    [
        "seqattractor lern film.gif -o film.npz",
        "seqattractor sweep ran grid.toml",
        "seqattractor learn film.gif --colours -o film.npz",
        "seqattractor learn film.gif --levels many -o film.npz",
        "seqattractor learn film.gif",
        "seqattractor reproduce fig5a fig9",
        "seqattractor compare --networks attractor,atractor",
        "seqattractor capacity --network atractor",
        "make tests",
        "pip install '.[labs]'",
        "python benchmarks/patients.py",
        "python benchmarks/patience.py --network 4",
    ],
)
def test_a_command_with_a_mistake_is_noticed(line):
    (words,) = shown(f".. code-block:: console\n\n   $ {line}  # a comment\n")
    with pytest.raises((click.UsageError, ValueError, AssertionError, OSError)):
        check(words)


@pytest.mark.usefixtures("folder_of_a_reader")
def test_what_pages_do_with_files_of_the_reader_works():
    save_gif("cat.gif", textured_film(n_frames=8, height=32, width=40))
    save_gif("gallop.gif", textured_film(n_frames=8, height=56, width=96))
    save_film("film.gif", grey_film(n_frames=8, colour=True))
    sa.io.write_midi(
        "tune.mid", np.array([[1, -1, -1], [-1, 1, -1], [1, -1, -1], [-1, -1, 1]]), range(60, 63)
    )
    one_after_another = {
        cell: [start + 0.1 * cell + 0.05 for start, _ in LAPS] for cell in range(25)
    }
    write_session("session.nwb", with_epochs(with_spikes(empty_session(), one_after_another)))
    pages = [
        page for page in PAGES if not page.stem.startswith("tutorial_")
    ]  # these have test_tutorials.py
    commands = [
        " ".join(words)
        for page in pages
        for words in shown(text_of(page))
        if words[1] in ("learn", "recall", "inspect")
    ]
    printed = {command: run(command.split()[1:]) for command in dict.fromkeys(commands)}
    assert len(printed) >= 10
    shown_output = re.search(
        r"(note: frame 0 of tune.*?)\s+\.\.\.",
        (ROOT / "docs" / "own_data.rst").read_text(),
        re.DOTALL,
    )[1]
    assert " ".join(shown_output.split()) in printed["seqattractor learn tune.mid -o tune.npz"]


@pytest.mark.usefixtures("folder_of_a_reader")
@pytest.mark.parametrize("page", ["sweeps", "learned_targets"])
def test_the_sweeps_of_a_page_work(page):
    """With small networks, one trial at each point, and without a cluster."""
    text = (ROOT / "docs" / f"{page}.rst").read_text()
    for grid in re.findall(r"code-block:: toml\n\n((?:    .*\n)+)", text):
        Path("grid.toml").write_text(re.sub("^    ", "", grid, flags=re.MULTILINE))
    Path("OUT").mkdir()
    sweeps = [words for words in shown(text) if words[1] == "sweep" and "--dask" not in words]
    assert len(sweeps) >= 4
    for words in sweeps:
        run(words[1:] + SMALL * (words[2] == "run"))


def test_the_answer_to_a_misspelt_command_is_the_one_that_is_shown():
    answer = CliRunner().invoke(group, MISSPELT[1:]).output.splitlines()[-1]
    assert (
        f"    $ {' '.join(MISSPELT)}\n    {answer}\n"
        in (ROOT / "docs" / "notebooks.rst").read_text()
    )
