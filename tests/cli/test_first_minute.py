"""The first minute with the command line: examples that can be typed, what to do next, and the
demo.
"""

import io
import shlex
import sys

import click
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from rich.console import Console

from seqattractor import cli
from seqattractor.cli import demo as demo_command
from seqattractor.report.blocks import coloured
from shown_commands import parse


def all_commands(group=cli.group, path=()):
    """Every command with the words that call it."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from all_commands(command, (*path, name))


COMMANDS = dict(all_commands())


def examples(command):
    return [
        line.strip()
        for line in (command.epilog or "").splitlines()
        if line.strip().startswith("seqattractor ")
    ]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_help_of_every_command_ends_with_examples_that_it_accepts(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results.json").write_text("{}")  # one example reads what another one wrote
    assert examples(COMMANDS[path])
    for line in examples(COMMANDS[path]):
        context = parse(shlex.split(line)[1:])
        assert f"{context.command_path} ".startswith(f"seqattractor {' '.join(path)} ")
        assert line in COMMANDS[path].get_help(click.Context(COMMANDS[path]))


def run_main(arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["seqattractor", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code, capsys.readouterr()


@pytest.mark.parametrize(
    "path",
    [path for path in COMMANDS if path[0] in ("learn", "recall", "inspect") or len(path) == 2],
    ids=" ".join,
)
def test_without_what_it_needs_a_command_names_what_is_missing_and_gives_an_example(
    path, monkeypatch, capsys
):
    code, printed = run_main(path, monkeypatch, capsys)
    assert code == 2
    assert "Missing" in printed.err
    assert printed.err.endswith(f"For example: {examples(COMMANDS[path])[0]}\n")


def test_without_a_command_the_demo_is_named(run):
    _, out, err = run()  # the code is 0 with the oldest click, and 2 with today's
    assert "\n  seqattractor demo\n" in (out + err).replace("    ", "  ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn", "none.gif", "-o", "x.npz"], "for a first try without one: seqattractor demo"),
        (
            ["learn", "film.txt", "-o", "film.gif"],
            "name it film.npz, and let `seqattractor recall` write film.gif",
        ),
        (
            ["learn", "model.npz", "-o", "x.npz"],
            "looks like a model, which has learned already; `seqattractor recall model.npz`",
        ),
        (["recall", "none.npz"], "`seqattractor learn` or `net.save` makes one"),
        (["recall", "data.npz"], "`seqattractor learn` makes models of sequences"),
        (["demo", "-o", "walk.png"], "walk.png does not end in .gif"),
        (["demo", "-o", "none/walk.gif"], "the folder none does not exist"),
        (["demo", "--flips", "20000"], "the frames have 11264 pixels"),
    ],
)
def test_a_mistake_points_to_the_next_step_and_leaves_nothing(
    arguments, message, tmp_path, monkeypatch, capsys
):
    (tmp_path / "film.txt").write_text("#.\n.#\n\n.#\n#.\n")
    np.savez(tmp_path / "model.npz", U_=np.ones((2, 2)), V_=np.ones((2, 2)))
    np.savez(tmp_path / "data.npz", X=np.ones((2, 2)))
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    code, printed = run_main(arguments, monkeypatch, capsys)
    assert code == 2
    assert message in printed.err
    assert sorted(tmp_path.iterdir()) == before


# -- the demo
# --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def walk():
    return demo_command.demo(3000, 0)


@pytest.fixture
def learned_already(monkeypatch, walk):
    monkeypatch.setattr(demo_command, "demo", lambda *_: walk)


def test_the_demo_recalls_the_whole_walk_from_a_cue_with_3000_wrong_pixels(walk):
    [flips] = [option.default for option in demo_command.command.params if option.name == "flips"]
    assert walk.recall.wrong[0] == flips == 3000
    assert walk.recall.overlaps[-1] == 1
    assert walk.recall.locked_on is not None
    assert walk.recall.verdict in walk.describe()


def test_without_a_terminal_the_demo_prints_no_control_codes_and_writes_a_gif(
    learned_already, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    first, second = (CliRunner().invoke(demo_command.command, []) for _ in range(2))
    assert first.exit_code == 0, first.output
    assert "\x1b" not in first.output
    assert "wrote demo.gif\n" in first.output
    assert "wrote demo.gif over the one that was there\n" in second.output
    assert demo_command.NEXT in first.output
    assert [path.name for path in tmp_path.iterdir()] == ["demo.gif"]
    with Image.open("demo.gif") as film:
        assert film.n_frames == 104


@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 20), (140, 40)])
def test_in_a_terminal_every_step_fits_and_the_last_one_stays(walk, width, height, monkeypatch):
    monkeypatch.setattr(demo_command.time, "sleep", lambda _: None)
    monkeypatch.setattr(demo_command, "STEPS_SHOWN", 3)
    screen = Console(
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        width=width,
        height=height,
    )
    demo_command.watch(walk, screen)
    assert "step   3 of 103" in screen.file.getvalue()
    step = demo_command.moment(walk, 1, demo_command.fitting_shrink(screen))
    lines = screen.render_lines(step, pad=False)
    assert len(lines) < height
    assert max(sum(segment.cell_length for segment in line) for line in lines[:-1]) <= width


def test_what_is_typed_next_by_the_demo_can_be_typed():
    for line in demo_command.NEXT.splitlines()[1:]:
        name, *words = shlex.split(line.strip().split("  ")[0])[1:]
        COMMANDS[(name,)].make_context(name, words)


frames = st.integers(1, 4).flatmap(
    lambda height: st.integers(1, 5).flatmap(
        lambda width: st.lists(
            st.sampled_from([-1, 1]), min_size=2 * height * width, max_size=2 * height * width
        ).map(lambda units: (np.array(units, dtype=np.int8), (2 * height, width)))
    )
)


def colours(line):
    """The upper and the lower colour of each character."""
    return [
        (s.style.color.name, s.style.bgcolor.name)
        for s in line.spans
        for _ in range(s.end - s.start)
    ]


@given(frames)
def test_a_frame_in_characters_is_the_frame(drawn):
    units, shape = drawn
    picture = units.reshape(shape) > 0
    for row, line in enumerate(coloured(units, None, shape, 1)):
        wanted = [
            tuple("#ffffff" if on else "#000000" for on in pair)
            for pair in picture[2 * row : 2 * row + 2].T
        ]
        assert colours(line) == wanted


def test_of_pixels_that_become_one_the_colour_is_the_mean():
    units = np.array(
        [[1, -1, 1, 1], [-1, 1, 1, 1], [1, 1, -1, -1], [-1, -1, -1, -1]], dtype=np.int8
    )
    [line] = coloured(units.ravel(), None, (4, 4), 2)
    assert colours(line) == [("#808080", "#808080"), ("#ffffff", "#000000")]


def test_wrong_units_are_marked_in_colour():
    [line] = coloured(np.array([1, -1]), np.array([1, 1]), (2, 1), 1)
    assert (line.plain, colours(line)) == ("▀", [("#ffffff", "#56b4e9")])
