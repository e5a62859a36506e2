"""The figure of a map of capacity: capacity against M, N or the number of sequences, and success against T."""

from __future__ import annotations

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from seqattractor.plots._capacity import capacity_curve, capacity_groups, capacity_label, capacity_map
from seqattractor.tasks.capacity import CapacityMap


def capacity_figure(capacities: CapacityMap) -> Figure:
    """Draw capacities with their laws, and the curves of success against T behind them.

    Parameters
    ----------
    capacities : CapacityMap

    Returns
    -------
    Figure
    """
    axis, groups = capacity_groups(capacities)
    first = int(axis is not None)
    figure, axes = plt.subplots(1, first + len(groups), figsize=(4.6 * first + 3.4 * len(groups), 3.9), squeeze=False)
    if axis is not None:
        capacity_map(capacities, ax=axes[0, 0])
    for ax, (title, pairs) in zip(axes[0, first:], groups.items(), strict=True):
        lengths = [t for each, _ in pairs for t in each.tried]
        for k, (each, _) in enumerate(pairs):
            color = mpl.colormaps["viridis"](0.85 * k / max(len(pairs) - 1, 1))
            label = None if axis is None else capacity_label(each, axis)
            capacity_curve(each, ax=ax, color=color, label=label, ends=(min(lengths), max(lengths)))
        ax.set_title(title or "success against length")
        if axis is not None:
            ax.legend(fontsize=7, loc="lower left")
    return figure
