"""Capacities: how long a sequence networks store, against their size, and the success behind it."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import NullFormatter

from seqattractor._checks import check_counts, say
from seqattractor.plots._house import GREY, axes_or_new, check_color, draws

_SYMBOLS = {"n": "N", "m": "M", "sequences": "S"}


@draws
def capacity_curve(
    capacity: Any,
    *,
    color: Any = None,
    label: str | None = None,
    ends: tuple[int, int] | None = None,
    theory: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw success against the length T: the curve of a search for a capacity, and its trials as
    dots sized by their number.

    Parameters
    ----------
    capacity : Capacity
        As `seqattractor.capacity` gives it.
    color, label : optional
        Of the curve.
    ends : tuple of int, optional
        The smallest and the largest T; by default those that were tried.
    theory : bool
        Whether to draw what theory says (`seqattractor.theory.limits`), dash-dotted where no
        weights could do better, dotted else.

    Examples
    --------
    >>> import seqattractor as sa
    >>> capacities = sa.measure_capacity("hebbian", n=30, flips=1, max_trials=8)
    >>> capacity_curve(capacities.groups[0][0]).get_xlabel()
    'T'
    """
    if not hasattr(capacity, "tried"):
        raise TypeError(
            "capacity must be a Capacity, one of those that sa.measure_capacity gives, but it is "
            f"{say(capacity)}."
        )
    if color is not None:
        check_color(color)
    first, last = (
        (min(capacity.tried), max(capacity.tried))
        if ends is None
        else check_counts(ends, "ends", 1, 10**9)
    )
    ax = axes_or_new(ax)
    T = np.geomspace(first, last, 150)
    (line,) = ax.plot(T, 100 * capacity.curve.rate(T), color=color, label=label, linewidth=1.4)
    rates = [100 * right / n for right, n in capacity.tried.values()]
    areas = [3 * n for _, n in capacity.tried.values()]
    ax.scatter(
        list(capacity.tried), rates, s=areas, color=line.get_color(), alpha=0.45, linewidths=0
    )
    ax.axhline(100 * capacity.success, color=mpl.rcParams["grid.color"], linestyle=":")
    for k, limit in enumerate(capacity.limits if theory else ()):
        ax.axvline(limit.t, label=_name(limit), **_look(k, limit))
        first, last = min(first, round(limit.t)), max(last, round(limit.t))
    if theory and capacity.limits:
        _legend_beside(ax)
    ax.set_xscale("log")
    _ticks(ax.xaxis, _round_numbers(first, last, (1, 2, 5)))
    ax.set(xlabel="T", ylabel="success, %", ylim=(-4, 104))
    ax.grid(visible=True)
    return ax


@draws
def capacity_map(capacities: Any, *, theory: bool = True, ax: Axes | None = None) -> Axes:
    """Draw capacities with intervals against the size that varies, and the law that they follow
    dashed.

    Parameters
    ----------
    capacities : CapacityMap
        As `seqattractor.capacity` gives it. One capacity alone is drawn by `capacity_curve`.
    theory : bool
        Whether to draw what theory says (`seqattractor.theory.limits`), dash-dotted where no
        weights could do better, dotted else: in grey, or in the colour of the capacities that it
        concerns if it differs between them.

    Examples
    --------
    >>> import seqattractor as sa
    >>> capacity_map(sa.measure_capacity("hebbian", n=[20, 40], flips=1, max_trials=8)).get_xlabel()
    'N'
    """
    if not hasattr(capacities, "groups"):
        raise TypeError(
            f"capacities must be what sa.measure_capacity gives, but it is {say(capacities)}."
        )
    ax = axes_or_new(ax)
    axis, groups = capacity_groups(capacities)
    every = [each for pairs in groups.values() for each, _ in pairs]
    if axis is None:
        return capacity_curve(every[0], theory=theory, ax=ax)
    for k, (label, pairs) in enumerate(groups.items()):
        x = np.array([each.settings[axis] for each, _ in pairs], dtype=float)
        t = np.array([each.t for each, _ in pairs], dtype=float)
        ends = np.abs(np.array([[each.low, each.high] for each, _ in pairs], dtype=float).T - t)
        ax.errorbar(
            x,
            t,
            yerr=ends,
            fmt="osD^vP"[k % 6],
            color=f"C{k % 6}",
            markersize=5,
            capsize=2,
            label=label or None,
        )
        first, law = pairs[0]
        if law is not None and len(x) > 1:
            fine = np.geomspace(x[0], x[-1], 50)
            ax.plot(
                fine,
                [law(first.settings | {axis: value}) for value in fine],
                "--",
                color=f"C{k % 6}",
                linewidth=1.2,
            )
    if theory:
        _draw_limits(ax, axis, [[each for each, _ in pairs] for pairs in groups.values()])
    ax.set(xscale="log", yscale="log")
    _ticks(ax.xaxis, sorted({each.settings[axis] for each in every}))
    # An interval may reach down to 1 where rare failures are consistent with a rate below the one
    # asked for.
    low, high = ax.set_ylim(bottom=max(ax.get_ylim()[0], 0.4 * min(each.t for each in every)))
    _ticks(ax.yaxis, _round_numbers(low, high, (1, 2, 3, 5)))
    ax.set_xlabel("number of sequences S" if axis == "sequences" else _SYMBOLS[axis])
    ax.set_ylabel(f"longest T with {every[0].success:.0%} success")
    ax.set_title("95 % intervals" + (", law dashed" if any(capacities.laws) else ""))
    ax.grid(visible=True)
    if theory and any(each.limits for each in every):
        _legend_beside(ax)
    elif len(groups) > 1:
        ax.legend(fontsize=8, loc="upper left")
    return ax


def _draw_limits(ax: Axes, axis: str, groups: list[list[Any]]) -> None:
    """Draw what theory says of each group of capacities: once, in grey, what it says of all of
    them.
    """
    lines: dict[str, dict[tuple[tuple[float, float], ...], list[int]]] = {}
    kinds: dict[str, Any] = {}
    for g, group in enumerate(groups):
        points: dict[str, list[tuple[float, float]]] = {}
        for each in group:
            for limit in each.limits:
                points.setdefault(limit.name, []).append((each.settings[axis], limit.t))
                kinds[limit.name] = limit
        for name, path in points.items():
            lines.setdefault(name, {}).setdefault(tuple(path), []).append(g)
    for k, (name, different) in enumerate(lines.items()):
        for number, (line, concerned) in enumerate(different.items()):
            look = _look(k, kinds[name])
            if len(concerned) < len(groups):
                look["color"] = f"C{concerned[0] % 6}"
            label = None if number else _name(kinds[name])
            ax.plot(*np.array(line).T, label=label, **look)


def _look(k: int, limit: Any) -> dict[str, Any]:
    """The line of a limit, the k-th of a plot."""
    dots = (0, (1, 1 + k % 3))
    return {"linestyle": "-." if limit.ceiling else dots, "linewidth": 1.3, "color": GREY}


def _legend_beside(ax: Axes) -> None:
    """Put a legend where it covers no point."""
    ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _name(limit: Any) -> str:
    """A limit in a legend."""
    return f"{'at most' if limit.ceiling else 'theory'}: {limit.name}"


def _round_numbers(low: float, high: float, digits: tuple[int, ...]) -> list[int]:
    """Return the numbers between that consist of one of these digits and zeros."""
    return [
        digit * 10**power
        for power in range(5)
        for digit in digits
        if low <= digit * 10**power <= high
    ]


def _ticks(axis: Axis, values: list[int]) -> None:
    """Label a logarithmic axis at these values only."""
    axis.set_ticks(values, labels=[f"{value:g}" for value in values])
    axis.set_minor_formatter(NullFormatter())


def capacity_groups(capacities: Any) -> tuple[str | None, dict[str, list[tuple[Any, Any]]]]:
    """Return the size along the axis of a map, if one varies, and capacities with their laws by the
    label of their line.
    """
    every = [
        (each, law)
        for group, law in zip(capacities.groups, capacities.laws, strict=True)
        for each in group
    ]

    def varies(name: str) -> bool:
        values = {each.settings[name] for each, _ in every}
        return len(values) > 1 and None not in values

    axis = next((name for name in ("m", "sequences", "n") if varies(name)), None)
    lines = [name for name in ("network", "n", "m", "sequences") if name != axis and varies(name)]
    groups: dict[str, list[tuple[Any, Any]]] = {}
    for each, law in sorted(every, key=lambda pair: float(pair[0].settings[axis]) if axis else 0.0):
        groups.setdefault(", ".join(capacity_label(each, name) for name in lines), []).append(
            (each, law)
        )
    return axis, groups


def capacity_label(capacity: Any, name: str) -> str:
    """A setting in a legend."""
    value = capacity.settings[name]
    return str(value) if name == "network" else f"{_SYMBOLS[name]} = {value}"
