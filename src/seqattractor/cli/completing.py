"""What a shell offers when somebody presses Tab behind an option or an argument with many names."""

from __future__ import annotations

import click


def complete_network(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Give the networks whose short names begin so."""
    from seqattractor.networks.registry import REGISTRY

    return [name for name in REGISTRY if name.startswith(incomplete)]


def complete_target(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Give the targets of `reproduce` that begin so."""
    from seqattractor.paper.target import TARGETS

    return [name for name in (*TARGETS, "neighbours", "all") if name.startswith(incomplete)]
