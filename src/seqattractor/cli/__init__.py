"""The command line: start with `seqattractor --help`. One file per command, each loaded only when
it is used.
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module

import click

from seqattractor import __version__
from seqattractor._suggest import did_you_mean

__all__ = ["main"]

# The commands in the order in which a newcomer meets them, with the line that --help shows.
_COMMANDS = {
    "demo": "See a walking figure learned and recalled from noise, in seconds, and saved as a GIF.",
    "reproduce": "Compute the paper's tables and figures beside its own numbers, with a report.",
    "learn": "Learn your own sequences: "
    "GIFs, folders of frames, videos, arrays, tables, music, spikes.",
    "recall": "Recall a learned sequence from a corrupted cue "
    "and write it as a GIF, a strip, MIDI, ...",
    "inspect": "Show what a model stores and guarantees: "
    "margins, certificate, attractors, hidden codes.",
    "replay": "Test whether candidate events of a recording replay its laps.",
    "export": "Write a model for other tools: ONNX, NIR, safetensors.",
    "sweep": "Run grids of trials that survive interruptions: run, status, export, plot.",
    "capacity": "Find the longest sequence that a network stores, with an interval; "
    "for lists of N and M, a map and a law.",
    "compare": "Compare all sequence memories, and your own, on one test.",
    "lab": "See a sequence memory learn and recall, in the browser.",
}


class SuggestingGroup(click.Group):
    """A group that suggests a command for a misspelt one, whatever the version of click."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, or fail with a suggestion."""
        name = str(args[0])
        if (
            self.get_command(ctx, name) is None
            and not ctx.resilient_parsing
            and not name.startswith("-")
        ):
            meant = did_you_mean(name, self.list_commands(ctx))
            ctx.fail(
                f"No such command {name!r}." + (f" {meant[0].upper()}{meant[1:]}" if meant else "")
            )
        return super().resolve_command(ctx, args)


class _LazyGroup(SuggestingGroup):
    """Commands whose modules are imported when they are called, so that --help is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"seqattractor.cli.{name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


_EPILOG = """\b
New here? This takes a few seconds:
  seqattractor demo
And with a film of your own:
  seqattractor learn cat.gif -o cat.npz
  seqattractor recall cat.npz --flips 500 -o back.gif"""


@click.group(
    cls=_LazyGroup, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="seqattractor")
def group() -> None:
    """Store sequences in attractor networks and recall them from corrupted cues.

    The network is that of Lu & Wu, "Learning Sequence Attractors in Recurrent Networks with Hidden
    Neurons", with our extensions. `seqattractor COMMAND --help` explains a command.
    """


def main() -> None:
    """Run the command line: an error that the user can fix is one sentence and exit code 2, Ctrl-C
    is 130.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: click.echo(
                f"warning: {message}", err=True
            )  # for people
            group(standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped.", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        if example := _example(error):
            click.echo(f"For example: {example}", err=True)
        sys.exit(error.exit_code)
    except (
        BrokenPipeError
    ):  # whoever read the output has seen enough; nothing more can be written, not even at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (ValueError, TypeError, OSError, MemoryError) as error:
        click.echo(f"seqattractor: {_sentence(error)}", err=True)
        sys.exit(2)


def _example(error: click.ClickException) -> str | None:
    """Return the first example in the help of a command that was called in a wrong way."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None or isinstance(context.command, click.Group):  # their help lists commands
        return None
    lines = map(str.strip, (context.command.epilog or "").splitlines())
    return next((line for line in lines if line.startswith("seqattractor ")), None)


def _sentence(error: Exception) -> str:
    """Return the message of an error, without the error number of the system."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}."
    if isinstance(error, MemoryError):
        return (
            f"there is not enough memory ({error or 'it ran out'}); ask for fewer neurons, "
            "patterns or processes."
        )
    return str(error)
