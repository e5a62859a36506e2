"""Pictures of where states go: the attractors that starts come to, and paths through the state space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count, check_finite, check_kind
from seqattractor.analysis._attractors import Attractors
from seqattractor.plots._house import BLUE, GREEN, GREY, ORANGE, RED, axes_or_new

_MOST_STATES = 2000  # to find the plane from


def attractor_bars(attractors: Attractors, *, most: int = 12, ax: Axes | None = None) -> Axes:
    """Draw how many starts came to each attractor, stored ones in another colour than spurious ones.

    Parameters
    ----------
    attractors : Attractors
    most : int
        How many to show; the rest are put together.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 30, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=60, random_state=0).fit(X)
    >>> ax = attractor_bars(sa.find_attractors(net, X, flips=2, rng=0))
    >>> ax.get_xlabel()
    'starts, %'
    """
    check_kind(attractors, Attractors, "attractors", "what find_attractors gives")
    most = check_count(most, "most", 0)
    ax = axes_or_new(ax)
    total = len(attractors.which)
    bars = []
    for a in attractors.attractors[:most]:
        name = a.name if a.stored is not None or a.mirror_of is not None else f"{a.name}, period {a.period}"
        color = BLUE if a.stored is not None else ORANGE
        bars.append((name, a.starts, color))
    rest = sum(a.starts for a in attractors.attractors[most:])
    if rest:
        bars.append((f"{len(attractors) - most} others", rest, GREY))
    if attractors.unfinished:
        bars.append(("not settled", attractors.unfinished, GREY))
    for y, (_, count, color) in enumerate(bars):
        ax.barh(y, 100 * count / total, color=color)
        ax.text(100 * count / total + 1, y, str(count), va="center", fontsize=8)
    ax.set_yticks(range(len(bars)), [name for name, _, _ in bars])
    ax.invert_yaxis()
    ax.set(xlim=(0, 112), xlabel="starts, %")
    ax.grid(axis="x")
    return ax


def state_space(stored: Sequence[ArrayLike], trajectories: Sequence[ArrayLike] = (), *, ax: Axes | None = None) -> Axes:
    """Draw stored sequences and some trajectories in the plane in which the stored states spread most (principal components).

    Parameters
    ----------
    stored : sequence of arrays, each of shape (T_s, N)
        Visible patterns or hidden states.
    trajectories : sequence of arrays, each of shape (K, N)
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(9, 30, rng=0)
    >>> ax = state_space([X], [sa.noise.flip(X, 3, rng=0)])
    >>> len(ax.lines)
    3
    """
    from sklearn.decomposition import PCA

    sequences = _paths(stored, "stored")
    if not sequences:
        raise ValueError("stored is empty: give at least one sequence of states.")
    N = sequences[0].shape[1]
    paths = _paths(trajectories, "trajectories")
    if any(x.shape[1] != N for x in (*sequences, *paths)):
        raise ValueError("all sequences and trajectories must have the same number of neurons.")
    ax = axes_or_new(ax)
    states = np.concatenate(sequences)
    some = states[:: -(-len(states) // _MOST_STATES)]
    plane = PCA(min(2, *some.shape), random_state=0)
    with np.errstate(invalid="ignore"):  # states that are all equal spread nowhere
        plane.fit(some)
    parts = np.nan_to_num(plane.explained_variance_ratio_)
    for k, path in enumerate(paths):
        points = _two(plane.transform(path))
        ax.plot(*points.T, color=GREY, linewidth=0.8, alpha=0.8, label="recall" if k == 0 else None)
        ax.plot(*points[0], "o", color=GREY, markersize=4, label="cue" if k == 0 else None)
    colours = (BLUE, ORANGE, GREEN, RED)
    for s, sequence in enumerate(stored):
        points = _two(plane.transform(np.asarray(sequence, dtype=np.float64)))
        name = "stored" if len(stored) == 1 else f"sequence {s}"
        ax.plot(*points.T, "o-", color=colours[s % 4], markersize=3, linewidth=1.2, label=name if s < 6 else None)
    ax.set(**{f"{axis}label": f"component {k + 1} ({part:.0%})" for k, (axis, part) in enumerate(zip("xy", parts, strict=False))})
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def _paths(given: Any, name: str) -> list[NDArray[np.float64]]:
    """Several arrays of states, each checked."""
    check_kind(given, (list, tuple, np.ndarray), name, "a list of arrays of states")
    return [check_finite(x, f"{name}[{k}]", "time", "neurons") for k, x in enumerate(given)]


def _two(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two coordinates, also of states on a line."""
    return points if points.shape[1] == 2 else np.column_stack([points[:, 0], np.zeros(len(points))])
