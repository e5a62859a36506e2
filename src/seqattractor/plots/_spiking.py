"""Spikes of a network of integrate-and-fire neurons."""

from __future__ import annotations

from typing import Literal

import numpy as np
from matplotlib.axes import Axes

from seqattractor._checks import check_count, check_kind
from seqattractor.networks.spiking import SpikingRecall
from seqattractor.plots._house import BLUE, GREY, RED, axes_or_new, draws


@draws
def spike_raster(
    run: SpikingRecall,
    *,
    start: float | None = None,
    stop: float | None = None,
    n_neurons: int = 100,
    ax: Axes | None = None,
) -> Axes:
    """Draw the spikes of a run: a row for each neuron, hidden neurons above visible ones.

    Hidden neurons are those that fire at all, ordered by their first spikes.
    Grey lines stand half way between patterns.

    Parameters
    ----------
    run : SpikingRecall
    start, stop : float, optional
        Which part of the run to show, in seconds; by default all.
    n_neurons : int
        How many neurons of each layer to show at most, evenly spread over it.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 40, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=30, random_state=0).fit(X)
    >>> ax = spike_raster(sa.spiking_recall(net, X[0], 9))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['hidden', 'visible']
    """
    check_kind(run, SpikingRecall, "run", "what spiking_recall gives")
    most = check_count(n_neurons, "n_neurons")
    first = -run.tau / 2 if start is None else float(start)
    last = (len(run.patterns) - 0.5) * run.tau if stop is None else float(stop)
    ax = axes_or_new(ax)
    sizes: dict[Literal["hidden", "visible"], int]
    sizes = {"hidden": run.active.shape[1], "visible": run.patterns.shape[1]}
    places, names, top = [], [], 0
    for name, n in sizes.items():
        if n == 0:
            continue
        color = RED if name == "hidden" else BLUE
        times, neurons = run.spikes(name)
        if name == "hidden":
            firing, at, number = np.unique(neurons, return_index=True, return_inverse=True)
            neurons, n = np.argsort(np.argsort(at))[number], len(firing)
        chosen = np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))
        kept = np.isin(neurons, chosen) & (times >= first) & (times < last)
        n = len(chosen)
        row = np.searchsorted(chosen, neurons[kept]) + top
        ax.vlines(times[kept], row - 0.5, row + 0.5, color=color, linewidth=1.4)
        places.append(top + (n - 1) / 2)
        names.append(name)
        top += n + 1
    middles = (np.arange(len(run.patterns) + 1) - 0.5) * run.tau
    for middle in middles[(middles >= first) & (middles <= last)]:
        ax.axvline(middle, color=GREY, linewidth=0.4, zorder=0)
    ax.set_yticks(places, names, rotation=90, va="center")
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel="time, s", xlim=(first, last), ylim=(top - 0.5, -1.5))
    return ax
