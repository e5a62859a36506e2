"""Comparisons of networks: success against the axis of a test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from seqattractor.plots._curves import success_curve
from seqattractor.plots._house import new_axes

_COLORS = ("#3a8fc7", "#e69f00", "#009e73", "#d55e00", "#8a6fc0", "#8a8a8a", "#c05fa0", "#5fb0b0", "#a08030", "#606060")
_MARKERS = "osD^vP*X<>"


def comparison_curves(comparison: Any, *, networks: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw success with intervals against the axis of the test, a curve for each network.

    Parameters
    ----------
    comparison : Comparison
        As `seqattractor.compare` gives it.
    networks : list of str, optional
        Some of the networks only.
    ax : Axes, optional
        By default new ones.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import seqattractor as sa
    >>> comparison = sa.compare("random", ["hebbian", "lookup"], values=[5, 40], trials=2)
    >>> comparison_curves(comparison).get_xlabel()
    'period length T'
    """
    ax = ax or new_axes()
    values = comparison.settings["values"]
    names = [network["network"] for network in comparison.networks] if networks is None else list(networks)
    for k, name in enumerate(names):
        rows = [comparison.row(name, value) for value in values]
        counts = [row["successes"] for row in rows], [row["trials"] for row in rows]
        look: dict[str, Any] = {"color": _COLORS[k % 10], "marker": _MARKERS[k % 10], "linestyle": "-" if k < 10 else "--"}
        shift = 0.6 * ((k + 0.5) / len(names) - 0.5)
        success_curve(range(len(values)), *counts, shift=shift, label=name, ax=ax, **look)
    ax.set_xticks(range(len(values)), [str(value) for value in values])
    ax.set_xlabel(comparison.settings["axis"])
    ax.set_title(comparison.settings["title"])
    if names:
        ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return ax
