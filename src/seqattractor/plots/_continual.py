"""What a memory has stored while it learns one sequence after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

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
    small = mpl.rcParams["font.size"] / 10
    for k, (name, rows) in enumerate(curves.items()):
        learned = [row["learned"] for row in rows]
        # Curves that meet show one around the other, the first ones on top.
        size = (4 + 3.5 * k / max(len(curves) - 1, 1)) * small
        look = {"markersize": size, "linewidth": 1.4 * small, "zorder": 3 - k / 100, **looks[name]}
        look["markevery"] = max(1, len(rows) // 9)
        for ax, key, unit in zip(
            axes, ("stored", "first", "bits_saved"), (1, 100, 1e-3), strict=True
        ):
            ax.plot(learned, [unit * row[key] for row in rows], label=name, **look)
        if "low" in rows[0]:
            low, high = ([row[end] for row in rows] for end in ("low", "high"))
            shade = {"color": look["color"], "alpha": 0.15, "linewidth": 0}
            axes[0].fill_between(learned, low, high, **shade)
    most = max(row["learned"] for rows in curves.values() for row in rows)
    axes[0].plot([0, most], [0, most], color=GREY, linewidth=1.0, linestyle=":", zorder=1)
    labels = ("sequences stored", "transitions of the first, %", "saved, kbit")
    for ax, label in zip(axes, labels, strict=True):
        ax.set(xlabel="sequences learned", ylabel=label, xlim=(0, None))
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        ax.grid(visible=True)
    axes[0].yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes[1].set_ylim(-4, 104)
