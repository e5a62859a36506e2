"""Commands that pages show, in their blocks of code and quoted in their sentences."""

from __future__ import annotations

import re
import shlex

import click
from click.testing import CliRunner

from seqattractor.cli import group

PROGRAMS = ("seqattractor", "make", "python", "pip")
_FENCED = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_IN_A_BLOCK = re.compile(rf"^(?: +\$ | {{4}}(?={'|'.join(PROGRAMS)} ))(.+)$", re.MULTILINE)
_QUOTED = re.compile(
    rf"(?<!`)(`{{1,2}})((?:{'|'.join((*PROGRAMS, *group.list_commands(None)))}) [^`]+)\1"
)


def shown(page: str) -> list[list[str]]:
    """The words of each command in the blocks of a page: behind a prompt, indented by four spaces,
    or between fences.
    """
    page = _FENCED.sub(lambda block: re.sub("^", "    ", block[1], flags=re.MULTILINE), page)
    lines = _IN_A_BLOCK.findall(re.sub(r"\\\n *", "", page))
    return [shlex.split(command, comments=True) for line in lines for command in line.split(" && ")]


def quoted(page: str) -> list[list[str]]:
    """The words of each command in the sentences of a page, where `seqattractor` may be left
    out.
    """
    commands = [shlex.split(command) for _, command in _QUOTED.findall(page)]
    return [words if words[0] in PROGRAMS else ["seqattractor", *words] for words in commands]


def parse(words: list[str]) -> click.Context:
    """Let the command line read the words behind `seqattractor`, as if it were called with them,
    and run nothing.
    """
    command: click.Command = group
    context = click.Context(group, info_name="seqattractor")
    while words and isinstance(command, click.Group):
        name, command, words = command.resolve_command(context, words)
        if isinstance(command, click.Group):
            context = click.Context(command, context, name)
        else:
            context = command.make_context(name, words, context)
    return context


def run(words: list[str]) -> str:
    """Run the command line with the words behind `seqattractor`, and give what it printed, in one
    line.
    """
    result = CliRunner().invoke(group, words)
    assert result.exit_code == 0, f"{' '.join(words)}\n{result.output}\n{result.exception!r}"
    return " ".join(result.output.split())
