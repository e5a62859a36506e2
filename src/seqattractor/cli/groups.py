"""Groups of commands that say which command may have been meant."""

from __future__ import annotations

import click

from seqattractor._suggest import did_you_mean


def complete_network(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Give the networks whose short names begin so."""
    from seqattractor.networks.registry import REGISTRY

    return [name for name in REGISTRY if name.startswith(incomplete)]


def complete_target(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Give the targets of `reproduce` that begin so."""
    from seqattractor.paper.target import TARGETS

    return [name for name in (*TARGETS, "neighbours", "all") if name.startswith(incomplete)]


class SuggestingGroup(click.Group):
    """A group that answers a misspelt command with the one that is like it, whatever the version of click."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say what was meant."""
        name = str(args[0])
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing and not name.startswith("-"):
            meant = did_you_mean(name, self.list_commands(ctx))
            ctx.fail(f"No such command {name!r}." + (f" {meant[0].upper()}{meant[1:]}" if meant else ""))
        return super().resolve_command(ctx, args)
