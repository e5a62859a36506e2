"""What a memory has stored while it learns one sequence after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from seqattractor.plots._house import GREY

Rows = Sequence[Mapping[str, Any]]


def draw_continual(
    axes: Sequence[Axes], curves: Mapping[str, Rows], looks: Mapping[str, Mapping[str, Any]]
) -> None:
    """Draw, against the number of sequences learned, how many are stored, what is left of the
    first, and what is saved beside the weights.

    Each row has `learned`, `stored`, `first` and `bits_saved`, and may have the ends of a range of
    what is stored, `low` and `high`.
    """
    for name, rows in curves.items():
        learned = [row["learned"] for row in rows]
        look = {"markersize": 4, "linewidth": 1.4, "markevery": max(1, len(rows) // 9)}
        look |= dict(looks[name])
        for ax, key, unit in zip(axes, ("stored", "first", "bits_saved"), (1, 100, 1e-3), strict=True):
            y = [None if row[key] is None else unit * row[key] for row in rows]
            ax.plot(learned, y, label=name, **look)
        if "low" in rows[0]:
            ends = ([row[end] for row in rows] for end in ("low", "high"))
            axes[0].fill_between(learned, *ends, color=look["color"], alpha=0.15, linewidth=0)
    most = max(row["learned"] for rows in curves.values() for row in rows)
    axes[0].plot([0, most], [0, most], color=GREY, linewidth=1.0, linestyle=":", zorder=1)
    labels = ("sequences stored", "transitions of the first, %", "saved beside the weights, kbit")
    for ax, label in zip(axes, labels, strict=True):
        ax.set(xlabel="sequences learned", ylabel=label, xlim=(0, None))
        ax.grid(visible=True)
    axes[1].set_ylim(-4, 104)
