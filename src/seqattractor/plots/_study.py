"""Studies: success against one setting of a sweep."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes

from seqattractor.plots._curves import success_curve
from seqattractor.plots._house import new_axes

_MARKERS = "osD^vP*X"
_SYMBOLS = {"n": "N", "m": "M", "t": "T"}


def study_curves(study: Any, *, axis: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw success against one setting, a curve for each combination of the others.

    Parameters
    ----------
    study : Study
        As `seqattractor.experiments.read_study` gives it.
    axis : str, optional
        The setting along the axis; by default t if it varies, else the first setting that does.
    ax : Axes, optional
        By default new ones.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import seqattractor as sa
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.db"
    >>> report = sa.experiments.run_sweep(sa.experiments.Grid({"network": "lookup", "n": 20, "t": [5, 10]}, trials=3), path)
    >>> study_curves(sa.experiments.read_study(path)).get_xlabel()
    'T'
    """
    rows = [row for row in study.rows() if row["trials"]]
    if not rows:
        raise ValueError(f"{study.path} has no finished trials yet; there is nothing to draw.")
    names = study.varying()
    numbers = [name for name in names if all(isinstance(row[name], (int, float)) for row in rows)]
    if axis is None:
        axis = "t" if "t" in numbers or not numbers else numbers[0]
    if axis not in rows[0] or any(not isinstance(row[axis], (int, float)) for row in rows):
        raise ValueError(
            f"{axis!r} is not a setting with a number at every point; those that vary are {', '.join(numbers) or 'none'}."
        )
    ax = ax or new_axes()
    others = [name for name in names if name != axis]
    curves: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        curves.setdefault(", ".join(_told(name, row[name]) for name in others if row[name] is not None), []).append(row)
    colors = [each["color"] for each in mpl.rcParams["axes.prop_cycle"]]
    values = sorted({float(row[axis]) for row in rows})
    apart = (values[-1] - values[0]) / 150  # so that intervals do not cover each other
    for k, (label, points) in enumerate(curves.items()):
        points.sort(key=lambda row: float(row[axis]))
        success_curve(
            [row[axis] for row in points],
            [row["successes"] for row in points],
            [row["trials"] for row in points],
            label=label or None,
            color=colors[k % len(colors)],
            marker=_MARKERS[k % len(_MARKERS)],
            shift=apart * (k - (len(curves) - 1) / 2),
            ax=ax,
        )
    if len(values) <= 16:
        ax.set_xticks(values, [f"{value:g}" for value in values])
    ax.set_xlabel(_SYMBOLS.get(axis, axis))
    least, most = (end(row["trials"] for row in rows) for end in (min, max))
    ax.set_title(f"{least if least == most else f'{least} to {most}'} trials at each point, 95 % Wilson intervals")
    if others:
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
    return ax


def _told(name: str, value: Any) -> str:
    """A setting in a legend."""
    return str(value) if name == "network" else f"{_SYMBOLS.get(name, name)} = {value}"
