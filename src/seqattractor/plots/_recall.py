"""Pictures of a recall: its frames beside what should have come, and its overlap with that."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count
from seqattractor.analysis._retrieval import overlap
from seqattractor.plots._frames import name_rows, spread_times, stacked, tiles
from seqattractor.plots._house import BLUE, GREY, ORANGE, axes_or_new, unframed
from seqattractor.sequences import check_frame_shape, check_patterns

_OFF, _ON, _EXTRA, _MISSING = range(4)
_COLOURS = ListedColormap(["#101010", "#ffffff", ORANGE, "#56b4e9"])


def recall_strip(
    trajectory: ArrayLike,
    frame_shape: tuple[int, ...],
    *,
    truth: ArrayLike | None = None,
    order: int = 1,
    n_frames: int = 8,
    ax: Axes | None = None,
) -> Axes:
    """Draw frames of a recall side by side: on white, off black, wrongly on orange, wrongly off blue.

    Parameters
    ----------
    trajectory : array of +-1, shape (K, N)
        As `recall` returns it; the first rows are the cue, in which nothing is called wrong.
    frame_shape : tuple of int
        (height, width); of units without a shape, ``(N,)``, all times are drawn as columns, with the first unit at the bottom.
    truth : array of +-1, shape (K, N), optional
        What should have come; then a row of stored frames stands above.
    order : int
        How many rows are the cue.
    n_frames : int
        How many times to show, evenly spread.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 20, rng=0)
    >>> ax = recall_strip(sa.noise.flip(X, 3, rng=0), (4, 5), truth=X, n_frames=3)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['0', '2', '5']
    """
    states = check_patterns(trajectory, "trajectory")
    known = None if truth is None else check_patterns(truth, "truth", n_features=states.shape[1])
    frame_shape = check_frame_shape(frame_shape, states.shape[1])
    if len(frame_shape) > 2:
        raise ValueError(f"frames are drawn in two dimensions, but their shape is {frame_shape}.")
    order, n_frames = check_count(order, "order"), check_count(n_frames, "n_frames")
    ax = axes_or_new(ax)
    flat = len(frame_shape) == 1
    if flat:
        states, known = states[:, ::-1], None if known is None else known[:, ::-1]
    K = len(states)
    times = np.arange(K) if flat else spread_times(K, n_frames)
    shape = (frame_shape[0], 1) if flat else (frame_shape[0], frame_shape[1])
    beside, below = 0 if flat else max(1, shape[1] // 16), max(1, shape[0] // 16)  # pixels between frames and between rows
    rows = {"recall": _marked(states, known, order)}
    if known is not None:
        rows = {"stored": _filled(_marked(known, None, order), K)} | rows
    strips = [tiles(frames[times].reshape(-1, *shape), beside) for frames in rows.values()]
    picture = stacked(strips, below)
    ax.imshow(picture, cmap=_COLOURS, vmin=0, vmax=3, interpolation="nearest", aspect="auto" if flat else "equal")
    pitch = shape[1] + beside
    shown = times if not flat else times[:: max(1, len(times) // 8)]
    ax.set_xticks([np.searchsorted(times, t) * pitch + (shape[1] - 1) / 2 for t in shown], [str(t) for t in shown])
    name_rows(ax, list(rows), shape[0], below)
    ax.set_xlabel("step")
    unframed(ax)
    return ax


def overlap_curve(
    trajectory: ArrayLike, truth: ArrayLike, *, X: ArrayLike | None = None, ax: Axes | None = None, **line: Any
) -> Axes:
    """Draw the overlap of a recall with what should have come, over time.

    Parameters
    ----------
    trajectory : array of +-1, shape (K, N)
    truth : array of +-1, shape (L, N)
        The first min(K, L) rows are compared.
    X : array of +-1, shape (T, N), optional
        All stored patterns: a thin line shows the overlap with the one that is nearest.
    ax : Axes, optional
    **line
        For ``ax.plot``, such as ``label`` and ``color``.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 20, rng=0)
    >>> ax = overlap_curve(sa.noise.flip(X, 5, rng=0), X, X=X)
    >>> ax.lines[-1].get_ydata().tolist()
    [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    """
    states = check_patterns(trajectory, "trajectory")
    known = check_patterns(truth, "truth", n_features=states.shape[1])
    ax = axes_or_new(ax)
    length = min(len(states), len(known))
    if X is not None:
        nearest = overlap(states, X).max(axis=1)
        ax.plot(np.arange(len(states)), nearest, color=GREY, linewidth=0.9, linestyle=":", label="nearest stored pattern")
    together = 2.0 * (states[:length] == known[:length]).mean(axis=1) - 1.0
    options: dict[str, Any] = {"color": BLUE, "linewidth": 1.6, "label": "right pattern"} | line
    ax.plot(np.arange(length), together, **options)
    ax.set(xlabel="step", ylabel="overlap", ylim=(min(-0.05, float(together.min()) - 0.05), 1.05))
    ax.grid(visible=True)
    return ax


def _marked(states: NDArray[np.int8], truth: NDArray[np.int8] | None, order: int) -> NDArray[np.float64]:
    """Colours of units: on, off, and, beside the truth, wrongly on or off; the cue is never called wrong."""
    marked = np.where(states > 0, _ON, _OFF).astype(np.float64)
    if truth is not None:
        length = min(len(states), len(truth))
        part, right, seen = marked[order:length], truth[order:length], states[order:length]
        part[(seen > 0) & (right < 0)] = _EXTRA
        part[(seen < 0) & (right > 0)] = _MISSING
    return marked


def _filled(frames: NDArray[np.float64], K: int) -> NDArray[np.float64]:
    """Cut or fill up with empty frames to K of them."""
    return np.pad(frames[:K], ((0, max(0, K - len(frames))), (0, 0)), constant_values=np.nan)
