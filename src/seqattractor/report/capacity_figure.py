"""The figure of a map of capacity: capacity against M, N or the number of sequences, and success against T."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

if TYPE_CHECKING:
    from seqattractor.experiments._capacity import Capacity
    from seqattractor.experiments._laws import Law

__all__ = ["capacity_figure"]

_SYMBOLS = {"n": "N", "m": "M", "sequences": "S"}


def capacity_figure(groups: Sequence[Sequence[Capacity]], laws: Sequence[Law | None]) -> Figure:
    """Draw capacities with their laws, and the curves of success against T behind them.

    Parameters
    ----------
    groups : list of lists of Capacity
        One list for each law.
    laws : list of Law or None

    Returns
    -------
    Figure
    """
    capacities = [each for group in groups for each in group]
    axis = next((name for name in ("m", "sequences", "n") if _varies(capacities, name)), None)
    lines = [name for name in ("network", "n", "m", "sequences") if name != axis and _varies(capacities, name)]
    curves: dict[str, list[tuple[Capacity, Law | None]]] = {}
    for group, law in zip(groups, laws, strict=True):
        for each in group:
            curves.setdefault(", ".join(_told(name, each) for name in lines), []).append((each, law))
    panels = len(curves) if len(capacities) > 1 else 1
    first = int(axis is not None)
    figure, axes = plt.subplots(1, first + panels, figsize=(4.6 * first + 3.4 * panels, 3.9), squeeze=False)
    if axis is not None:
        _draw_capacities(axes[0, 0], axis, curves)
    for ax, (title, pairs) in zip(axes[0, first:], curves.items(), strict=True):
        _draw_success(ax, [each for each, _ in pairs], axis)
        ax.set_title(title or "success against length")
    return figure


def _draw_capacities(ax: Axes, axis: str, curves: dict[str, list[tuple[Capacity, Law | None]]]) -> None:
    """Capacity against one setting, a line for each combination of the others, with the law dashed."""
    values = sorted({each.settings[axis] for pairs in curves.values() for each, _ in pairs})
    for k, (label, pairs) in enumerate(curves.items()):
        color = f"C{k % 6}"
        pairs.sort(key=lambda pair: float(pair[0].settings[axis]))
        x = np.array([each.settings[axis] for each, _ in pairs], dtype=float)
        t = np.array([each.t for each, _ in pairs], dtype=float)
        ends = np.abs(np.array([[each.low, each.high] for each, _ in pairs], dtype=float).T - t)
        ax.errorbar(x, t, yerr=ends, fmt="osD^vP"[k % 6], color=color, markersize=5, capsize=2, label=label or None)
        law = pairs[0][1]
        if law is not None and len(x) > 1:
            fine = np.geomspace(x[0], x[-1], 50)
            ax.plot(fine, [law(pairs[0][0].settings | {axis: value}) for value in fine], "--", color=color, linewidth=1.2)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(values, [f"{value:g}" for value in values])
    ax.xaxis.set_minor_formatter(NullFormatter())
    # An interval may reach down to 1 where a rare failure cannot be told from a rate below the one asked for.
    low, high = ax.set_ylim(bottom=max(ax.get_ylim()[0], 0.4 * min(each.t for pairs in curves.values() for each, _ in pairs)))
    ticks = [tick * 10**power for power in range(5) for tick in (1, 2, 3, 5) if low <= tick * 10**power <= high]
    ax.set_yticks(ticks, [str(tick) for tick in ticks])
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("number of sequences S" if axis == "sequences" else _SYMBOLS[axis])
    some = next(iter(curves.values()))[0][0]
    ax.set_ylabel(f"longest T with {some.success:.0%} success")
    laws = any(law is not None for pairs in curves.values() for _, law in pairs)
    ax.set_title("95 % intervals" + (", law dashed" if laws else ""))
    ax.grid(visible=True)
    if len(curves) > 1:
        ax.legend(fontsize=8)


def _draw_success(ax: Axes, capacities: Sequence[Capacity], axis: str | None) -> None:
    """Success against T: the curve of each search, and its trials as dots of an area that shows how many."""
    longest = max(max(each.tried) for each in capacities)
    shortest = min(min(each.tried) for each in capacities)
    for k, each in enumerate(capacities):
        T = np.geomspace(shortest, longest, 150)
        color = mpl.colormaps["viridis"](0.85 * k / max(len(capacities) - 1, 1))
        label = _told(axis, each) if axis is not None else None
        ax.plot(T, 100 * each.curve.rate(T), color=color, label=label, linewidth=1.4)
        rates = [100 * right / n for right, n in each.tried.values()]
        ax.scatter(list(each.tried), rates, s=[3 * n for _, n in each.tried.values()], color=color, alpha=0.45, linewidths=0)
    ax.axhline(100 * capacities[0].success, color=mpl.rcParams["grid.color"], linestyle=":")
    ax.set_xscale("log")
    ticks = [tick * 10**power for power in range(5) for tick in (1, 2, 5) if shortest <= tick * 10**power <= longest]
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_ylim(-4, 104)
    ax.set_xlabel("T")
    ax.set_ylabel("success, %")
    ax.grid(visible=True)
    if axis is not None:
        ax.legend(fontsize=7)


def _varies(capacities: Sequence[Capacity], name: str) -> bool:
    """Whether a setting has more than one value, and one everywhere."""
    values = {each.settings[name] for each in capacities}
    return len(values) > 1 and None not in values


def _told(name: str, each: Capacity) -> str:
    """A setting in a legend."""
    value: Any = each.settings[name]
    return str(value) if name == "network" else f"{_SYMBOLS[name]} = {value}"
