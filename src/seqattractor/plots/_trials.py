"""Results of many trials: comparisons of networks, and capacities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes

from seqattractor.plots._curves import success_curve

__all__ = ["capacity_curve", "comparison_curves"]

_COLORS = ("#3a8fc7", "#e69f00", "#009e73", "#d55e00", "#8a6fc0", "#8a8a8a", "#c05fa0", "#5fb0b0", "#a08030", "#606060")
_MARKERS = "osD^vP*X<>"


def comparison_curves(comparison: Any, ax: Axes | None = None, *, networks: Sequence[str] | None = None) -> Axes:
    """Draw success with intervals against the axis of the test, a curve for each network.

    Parameters
    ----------
    comparison : Comparison
        As `seqattractor.compare` gives it.
    ax : Axes, optional
    networks : list of str, optional
        Some of the networks only.

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
    ax = _new_axes() if ax is None else ax
    values = comparison.settings["values"]
    names = [network["network"] for network in comparison.networks] if networks is None else list(networks)
    for k, name in enumerate(names):
        rows = [comparison.row(name, value) for value in values]
        counts = [row["successes"] for row in rows], [row["trials"] for row in rows]
        look: dict[str, Any] = {"color": _COLORS[k % 10], "marker": _MARKERS[k % 10], "linestyle": "-" if k < 10 else "--"}
        shift = 0.6 * ((k + 0.5) / len(names) - 0.5)
        success_curve(ax, range(len(values)), *counts, shift=shift, label=name, **look)
    ax.set_xticks(range(len(values)), [str(value) for value in values])
    ax.set_xlabel(comparison.settings["axis"])
    ax.set_title(comparison.settings["title"])
    if names:
        ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return ax


def capacity_curve(
    capacity: Any, ax: Axes | None = None, *, color: Any = None, label: str | None = None, ends: tuple[int, int] | None = None
) -> Axes:
    """Draw success against the length T: the curve of a search for a capacity, and its trials as dots of a fitting area.

    Parameters
    ----------
    capacity : Capacity
        As `seqattractor.capacity` gives it.
    ax : Axes, optional
    color, label : optional
        Of the curve.
    ends : tuple of int, optional
        The least and the greatest T; by default those that were tried.

    Returns
    -------
    Axes
    """
    ax = _new_axes() if ax is None else ax
    first, last = (min(capacity.tried), max(capacity.tried)) if ends is None else ends
    T = np.geomspace(first, last, 150)
    (line,) = ax.plot(T, 100 * capacity.curve.rate(T), color=color, label=label, linewidth=1.4)
    rates = [100 * right / n for right, n in capacity.tried.values()]
    areas = [3 * n for _, n in capacity.tried.values()]
    ax.scatter(list(capacity.tried), rates, s=areas, color=line.get_color(), alpha=0.45, linewidths=0)
    ax.axhline(100 * capacity.success, color=mpl.rcParams["grid.color"], linestyle=":")
    ax.set_xscale("log")
    ticks = [tick * 10**power for power in range(5) for tick in (1, 2, 5) if first <= tick * 10**power <= last]
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.xaxis.set_minor_formatter(mpl.ticker.NullFormatter())
    ax.set(xlabel="T", ylabel="success, %", ylim=(-4, 104))
    ax.grid(visible=True)
    return ax


def _new_axes() -> Axes:
    """The axes of a new figure."""
    from matplotlib import pyplot as plt

    return plt.subplots(layout="constrained")[1]
