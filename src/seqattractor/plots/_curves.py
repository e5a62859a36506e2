"""Success with its intervals, of one network or of many, and errors over epochs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any, NamedTuple, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import (
    MOST,
    check_choice,
    check_counts,
    check_finite,
    check_flag,
    check_kind,
    check_number,
    say,
)
from seqattractor.analysis._retrieval import wilson_interval
from seqattractor.networks.registry import REGISTRY, make_network, takes_hidden
from seqattractor.plots._house import BLUE, GREEN, GREY, ORANGE, RED, axes_or_new, draws
from seqattractor.theory import limits

# Beside the five of `_house`: safe for colour-blind readers, and visible on light and dark ground.
_PURPLE, _TEAL, _PINK, _BROWN = "#8a6fc0", "#5fb0b0", "#cc79a7", "#a08030"


class Look(NamedTuple):
    """The look of a network's curve. Marker and line distinguish it from those of a similar colour,
    and in print.
    """

    color: str
    """The user's networks have the colour of the text."""
    marker: str
    line: str = "-"
    filled: bool = True


LOOKS: dict[str, Look] = {
    "attractor": Look(BLUE, "o"),
    "attractor-V": Look(BLUE, "o", "--", filled=False),
    "attractor-hebbian": Look(BLUE, "v", ":", filled=False),
    "attractor-bias": Look(BLUE, "s", "-."),
    "attractor-learned-targets": Look(BLUE, "D", ":"),
    "sparse": Look(RED, "D"),
    "hebbian": Look(GREEN, "s"),
    "slow-synapses": Look(GREEN, "s", "--", filled=False),
    "pseudo-inverse": Look(GREEN, "^", "-."),
    "perceptron": Look(_PURPLE, "v"),
    "perceptron-bias": Look(_PURPLE, "v", "--", filled=False),
    "leaky-perceptron": Look(_PURPLE, "<", ":"),
    "predictive": Look(_TEAL, "P"),
    "predictive-2": Look(_TEAL, "P", "--", filled=False),
    "brea": Look(_TEAL, "X"),
    "fiete": Look(_TEAL, ">", ":"),
    "dense": Look(ORANGE, "^", "--"),
    "dense-3": Look(ORANGE, ">", "-."),
    "dense-auto": Look(ORANGE, "s", ":", filled=False),
    "dense-exponential": Look(ORANGE, "D", "--", filled=False),
    "dense-pseudo-inverse": Look(ORANGE, "v", ":"),
    "modern-hopfield": Look(ORANGE, "p", "-."),
    "mixed": Look(ORANGE, "X", ":", filled=False),
    "gillett": Look(_PINK, "o", "-."),
    "gillett-sparse": Look(_PINK, "o", ":", filled=False),
    "gsemm-dense": Look(_PINK, "s", "-."),
    "gsemm-linear": Look(_PINK, "s", ":", filled=False),
    "eden": Look(_PINK, "D", "-."),
    "scaffold": Look(_BROWN, "h"),
    "bcpnn": Look(_BROWN, "^", "--"),
    "innate": Look(_BROWN, "v", ":"),
    "pinning": Look(_BROWN, "P", "-."),
    "one-hot": Look(GREY, "d"),
    "sdm": Look(GREY, "s", "--"),
    "clone-hmm": Look(GREY, "P", "-."),
    "rnn": Look(GREY, "X", "--", filled=False),
    "lookup": Look(GREY, "p", ":", filled=False),
}
"""By the short name of the registry."""

_OF_USERS = [
    (marker, line, filled)
    for line in ("-", "--", "-.", ":")
    for filled in (True, False)
    for marker in "oDs^vPXph<>"
]


_REHEARSALS = {"none": ("v", ":"), "self": ("o", "-"), "cues": ("s", "--"), "patterns": ("^", "-.")}
"""Marker and line of networks that rehearse, which are called "network (rehearsal)"."""


def looks_of(names: Sequence[str]) -> dict[str, Look]:
    """Return the looks of networks, also of the user's, by their names."""
    color = str(mpl.rcParams["text.color"])
    ways = cycle(_OF_USERS)
    looks = dict[str, Look]()
    for name in names:
        network, _, rehearsal = name.removesuffix(")").rpartition(" (")
        if rehearsal in _REHEARSALS:
            marks = _REHEARSALS[rehearsal]
            looks[name] = Look(LOOKS[network].color if network in LOOKS else color, *marks)
        else:
            looks[name] = LOOKS[name] if name in LOOKS else Look(color, *next(ways))
    return looks


def as_line(look: Look) -> dict[str, Any]:
    """Return a look as options of matplotlib's lines."""
    ground, point = mpl.rcParams["axes.facecolor"], mpl.rcParams["font.size"] / 10
    # Edges separate markers on top of each other.
    inside, edge, width = (look.color, ground, 0.5) if look.filled else (ground, look.color, 1.0)
    marker = {"markerfacecolor": inside, "markeredgecolor": edge, "markeredgewidth": width * point}
    return {"color": look.color, "marker": look.marker, "linestyle": look.line, **marker}


_MARKERS = "osD^vP*X"
_COLUMNS = 3  # of a legend above the axes
_PANELS = 4  # in a row
_SYMBOLS = {"n": "N", "m": "M", "t": "T"}


@draws
def success_curve(
    x: ArrayLike,
    successes: Sequence[int],
    trials: Sequence[int],
    *,
    shift: float = 0.0,
    ax: Axes | None = None,
    **line: Any,
) -> Axes:
    """Draw success in percent over `x` with 95 % Wilson intervals.

    Parameters
    ----------
    x : array of shape (n,)
    successes, trials : sequence of int, length n
    shift : float
        Added to `x`, so that intervals of several curves do not cover each other.
    **line
        For ``ax.errorbar``, such as ``label`` and ``color``.

    Examples
    --------
    >>> ax = success_curve([70, 80], [9, 4], [10, 10], label="here")
    >>> ax.get_ylabel()
    'success, %'
    """
    rates, ends = _percent(successes, trials)
    x = check_finite(x, "x", "points")
    if len(x) != len(rates):
        raise ValueError(f"there are {len(x)} points and {len(rates)} rates; give as many of each.")
    shift = check_number(shift, "shift")
    return _draw_rates(x + shift, rates, ends, axes_or_new(ax), line)


def _draw_rates(
    x: NDArray[Any],
    rates: NDArray[np.float64],
    ends: NDArray[np.float64],
    ax: Axes,
    line: dict[str, Any],
) -> Axes:
    """Draw rates in percent, (n,), with the ends of their intervals, (2, n)."""
    options: dict[str, Any] = {
        "marker": "o",
        "markersize": 4,
        "linewidth": 1.4,
        "elinewidth": 1.0,
        "capsize": 2,
    } | line
    ax.errorbar(x, rates, yerr=np.abs(ends - rates), **options)
    ax.set(ylim=(-4, 104), ylabel="success, %")
    ax.grid(visible=True)
    return ax


def _percent(
    successes: Sequence[int], trials: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Success in percent, (n,), and the ends of its Wilson intervals, (2, n)."""
    counts = check_counts(successes, "successes", 0, MOST), check_counts(trials, "trials", 1, MOST)
    if len(counts[0]) != len(counts[1]):
        raise ValueError(
            f"successes and trials belong together, but there are {len(counts[0])} and "
            f"{len(counts[1])}."
        )
    pairs = list(zip(*(each.tolist() for each in counts), strict=True))
    return np.array([100 * s / n for s, n in pairs]), 100 * np.array(
        [wilson_interval(s, n) for s, n in pairs]
    ).T


@draws
def error_curves(hidden: ArrayLike, visible: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw the average errors of an epoch over epochs: (1/M) sum mu and (1/N) sum nu.

    Parameters
    ----------
    hidden, visible : array of shape (epochs,)
        Already divided by the number of neurons.

    Examples
    --------
    >>> ax = error_curves([3.0, 1.0, 0.0], [5.0, 2.0, 0.0])
    >>> ax.get_xlabel()
    'epoch'
    """
    hidden, visible = (
        check_finite(hidden, "hidden", "epochs"),
        check_finite(visible, "visible", "epochs"),
    )
    ax = axes_or_new(ax)
    for errors, color, dash, label in (
        (hidden, ORANGE, "--", r"hidden neurons, $\Sigma\mu\,/\,M$"),
        (visible, BLUE, "-", r"visible neurons, $\Sigma\nu\,/\,N$"),
    ):
        ax.plot(
            np.arange(1, len(errors) + 1), errors, dash, color=color, label=label, linewidth=1.6
        )
    ax.set(xlabel="epoch", ylabel="errors per neuron", ylim=(0, None))
    ax.grid(visible=True)
    ax.legend(loc="upper right")
    return ax


@draws
def comparison_curves(
    comparison: Any,
    *,
    networks: Sequence[str] | None = None,
    legend: str | None = "right",
    theory: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw success with 95 % Wilson intervals at the true values of what varies; a network looks
    the same in every figure.

    Parameters
    ----------
    comparison : Comparison
        As `seqattractor.compare` gives it.
    networks : list of str, optional
        Some of the networks only.
    legend : str or None
        Beside the axes ("right") or "above" them, where it covers no point; None for none.
    theory : bool
        Whether to mark how long a random sequence of one network could be by
        `seqattractor.theory.limits`, where this is within the axis: dash-dotted where no weights
        could do better, dotted else.

    Examples
    --------
    >>> import seqattractor as sa
    >>> comparison = sa.compare("random", ["hebbian", "lookup"], values=[5, 40], trials=2)
    >>> ax = comparison_curves(comparison)
    >>> ax.get_xlabel(), ax.lines[0].get_xdata()
    ('period length T', array([ 5, 40]))
    """
    if not hasattr(comparison, "results"):
        raise TypeError(f"comparison must be what sa.compare gives, but it is {say(comparison)}.")
    if networks is not None:
        check_kind(networks, (list, tuple), "networks", "a list of names")
    if legend is not None:
        check_choice(legend, "legend", ("right", "above"))
    every = [network["network"] for network in comparison.networks]
    names = every if networks is None else list(networks)
    values = comparison.settings["values"]
    curves = [[comparison.row(name, value) for value in values] for name in names]
    ax = axes_or_new(ax)
    numbers = all(isinstance(value, (int, float)) for value in values)
    x = list(values) if numbers else list(range(len(values)))
    looks, small = looks_of(every), mpl.rcParams["font.size"] / 10
    thick = {"linewidth": 1.3 * small, "elinewidth": 0.8 * small}
    for k, (name, rows) in enumerate(zip(names, curves, strict=True)):
        # Curves that meet, as at 100 %, show one around the other.
        size = (9 - 3.5 * k / max(len(names) - 1, 1)) * small
        look = {
            "markersize": size,
            "capsize": 0.4 * size,
            "zorder": 2 + k / 100,
            **thick,
            **as_line(looks[name]),
        }
        rates = np.array([100 * row["successes"] / row["trials"] for row in rows])
        intervals = 100 * np.array(
            [[row[end] for row in rows] for end in ("low", "high")]
        )  # none where all trials are the same
        _draw_rates(np.array(x), rates, intervals, ax, {"label": name, **look})
    of_length = comparison.settings["protocol"] == "random" and comparison.settings["varies"] == "t"
    marked = (
        check_flag(theory, "theory") and of_length and _mark_limits(comparison, names, looks, ax)
    )
    if not numbers:
        ax.set_xticks(x, [str(value) for value in values])
    elif all(isinstance(value, int) for value in values):
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    ax.set_xlabel(comparison.settings["axis"])
    ax.set_title(comparison.settings["title"])
    if names and legend == "right":
        ax.legend(*entries(ax), loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    elif names and legend == "above":
        ax.set_title("")
        columns = 1 if marked else min(_COLUMNS, len(names))  # names of limits are long
        ax.legend(
            *entries(ax),
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=columns,
            frameon=False,
            borderaxespad=0.3,
        )
    return ax


def _mark_limits(comparison: Any, names: list[str], looks: dict[str, Look], ax: Axes) -> bool:
    """Mark along T what theory says about networks under short names, what it says of several once;
    return whether there was anything to mark.
    """
    s = comparison.settings
    hidden = {row["network"]: row["hidden"] for row in comparison.networks}
    marked = set[tuple[str, float]]()
    for name in (name for name in names if name in REGISTRY):
        own = {"n_hidden": hidden[name]} if takes_hidden(name) and hidden[name] else {}
        for limit in limits(make_network(name, **own), s["sizes"]["n"], success=0.5):
            inside = min(s["values"]) <= limit.t <= max(s["values"])
            if inside and (limit.name, limit.t) not in marked:
                marked.add((limit.name, limit.t))
                ax.axvline(
                    limit.t,
                    color=looks[name].color,
                    linestyle="-." if limit.ceiling else ":",
                    linewidth=1.2,
                    label=f"{'at most' if limit.ceiling else 'theory'}: {limit.name}",
                )
    return bool(marked)


def entries(ax: Axes) -> tuple[list[Any], list[str]]:
    """Return the lines of curves, without their intervals, and then those of theory, with their
    names, for a legend.
    """
    named: list[Any] = [line for line in ax.lines if not str(line.get_label()).startswith("_")]
    curves: list[Any] = list(ax.containers)
    lines = [curve[0] for curve in curves] + named
    return lines, [str(each.get_label()) for each in curves + named]


def study_curves(
    study: Any,
    *,
    axis: str | None = None,
    hue: str | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw success against one setting: colours are the values of another, panels those of all
    others that vary.

    Parameters
    ----------
    study : Study
        As `seqattractor.study.read_study` gives it.
    axis : str, optional
        The setting along the axis; by default t if it varies, else the first setting that does.
    hue : str, optional
        The setting that colours show; by default the network if it varies, else the setting with
        the most values.
    legend : bool
        Whether to add a legend of the colours.
    ax : Axes, optional
        By default new ones, a panel for each combination of the settings that neither the axis nor
        colours show.

    Returns
    -------
    Axes
        Of the first panel.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import seqattractor as sa
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.db"
    >>> settings = {"network": "lookup", "n": [20, 30], "flips": [1, 2, 3], "t": [5, 10]}
    >>> report = sa.study.run_sweep(sa.study.Grid(settings, trials=3), path)
    >>> ax = study_curves(sa.study.read_study(path))
    >>> ax.get_xlabel(), [panel.get_title() for panel in ax.figure.axes], len(ax.containers)
    ('T', ['N = 20', 'N = 30'], 3)
    """
    if not hasattr(study, "varying"):
        raise TypeError(f"study must be what read_study gives, but it is {say(study)}.")
    check_flag(legend, "legend")
    rows = [row for row in study.rows() if row["trials"]]
    if not rows:
        raise ValueError(f"{study.path} has no finished trials yet; there is nothing to draw.")
    names = study.varying()
    numbers = [name for name in names if all(isinstance(row[name], (int, float)) for row in rows)]
    if axis is None:
        axis = "t" if "t" in numbers or not numbers else numbers[0]
    if (
        not isinstance(axis, str)
        or axis not in rows[0]
        or any(not isinstance(row[axis], (int, float)) for row in rows)
    ):
        raise ValueError(
            f"{say(axis)} is not a setting with a number at every point; those that vary are "
            f"{', '.join(numbers) or 'none'}."
        )
    settings_of = {
        (row["network"], name) for row in rows for name in names if row[name] is not None
    }

    def lacks(row: dict[str, Any], name: str) -> bool:
        return (row["network"], name) not in settings_of

    others = [
        name
        for name in names
        if name != axis and len({row[name] for row in rows if not lacks(row, name)}) > 1
    ]
    if hue is None:
        hue = (
            "network"
            if "network" in others
            else max(others, key=lambda name: len({row[name] for row in rows}), default=None)
        )
    elif hue not in others:
        raise ValueError(
            f"{say(hue)} is not a setting that varies beside {axis}; those are "
            f"{', '.join(others) or 'none'}."
        )
    rest = [name for name in others if name != hue]
    # A network that lacks a setting stands in the panels of all its values, and adds none.
    complete = [row for row in rows if not any(lacks(row, name) for name in rest)] or rows
    panels = [
        dict(zip(rest, values, strict=True))
        for values in dict.fromkeys(tuple(row[name] for name in rest) for row in complete)
    ]
    if ax is not None and rest:
        raise ValueError(
            f"{', '.join(rest)} vary, too, and need panels of their own; leave out ax."
        )
    axes = [axes_or_new(ax)] if len(panels) == 1 else _new_panels(len(panels))
    least, most = (end(row["trials"] for row in rows) for end in (min, max))
    title = (
        f"{least if least == most else f'{least} to {most}'} trials at each point, 95 % Wilson "
        "intervals"
    )
    if rest:
        axes[0].figure.suptitle(title)
    hues = list(dict.fromkeys(row[hue] for row in rows)) if hue else [None]
    looks = _looks_of_hues(hue, hues)
    points = sorted({float(row[axis]) for row in rows})
    spacing = (points[-1] - points[0]) / 100  # so that intervals do not cover each other
    for k, (panel, values) in enumerate(zip(axes, panels, strict=True)):
        panel.set_title(", ".join(_label(name, value) for name, value in values.items()) or title)
        here = [
            row
            for row in rows
            if all(row[name] == value or lacks(row, name) for name, value in values.items())
        ]
        for j, (value, look) in enumerate(zip(hues, looks, strict=True)):
            found = sorted(
                (row for row in here if hue is None or row[hue] == value),
                key=lambda row: float(row[axis]),
            )
            if not found:
                continue
            label = None if hue is None or lacks(found[0], hue) else _label(hue, value)
            x, successes, trials = (
                [row[key] for row in found] for key in (axis, "successes", "trials")
            )
            success_curve(
                x,
                successes,
                trials,
                shift=spacing * (j - (len(hues) - 1) / 2),
                ax=panel,
                label=label,
                **look,
            )
        if len(points) <= 16:
            panel.set_xticks(points, [f"{value:g}" for value in points])
        panel.set_xlabel(_SYMBOLS.get(axis, axis))
        if k % _PANELS:  # the axis of success stands at the left end of a row
            panel.set_ylabel("")
    if others and legend:
        _legend_beside(axes)
    return axes[0]


def _new_panels(count: int) -> list[Axes]:
    """Return several panels of a new figure, at most `_PANELS` in a row, with one axis of
    success.
    """
    from matplotlib import pyplot as plt

    columns = min(count, _PANELS)
    rows = -(-count // columns)
    size = (3.2 * columns + 1.2, 2.9 * rows + 0.5)
    figure, axes = plt.subplots(
        rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for unused in axes.flat[count:]:
        figure.delaxes(unused)
    return list(axes.flat[:count])


def _looks_of_hues(name: str | None, values: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the looks of the values of a setting: networks as everywhere, others in colours of
    which none comes twice.
    """
    if name == "network":
        looks = looks_of([str(value) for value in values])
        return [{"markersize": 6, **as_line(looks[str(value)])} for value in values]
    few = len(values) <= len(mpl.rcParams["axes.prop_cycle"])
    colors = [
        f"C{k}" if few else mpl.colormaps["viridis"](0.9 * k / (len(values) - 1))
        for k in range(len(values))
    ]
    return [
        {"color": color, "marker": _MARKERS[k % len(_MARKERS)]} for k, color in enumerate(colors)
    ]


def _legend_beside(axes: Sequence[Axes]) -> None:
    """Add a legend right of the axes or, of several panels, of the whole figure."""
    if len(axes) == 1:
        axes[0].legend(*entries(axes[0]), loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
        return
    found = {label: line for ax in axes for line, label in zip(*entries(ax), strict=True)}
    cast(Figure, axes[0].figure).legend(
        found.values(), found.keys(), loc="outside right center", fontsize=8
    )


def _label(name: str, value: Any) -> str:
    """Format a setting for a title or a legend."""
    return (
        str(value)
        if name == "network"
        else f"{_SYMBOLS.get(name, name)} = {'default' if value is None else value}"
    )
