"""Patterns and sequences as pictures: strips of frames, a column for each time, and recalls beside
the stored frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import as_numbers, check_count, check_finite, check_kind, say
from seqattractor.analysis._retrieval import overlap
from seqattractor.plots._house import BLUE, GREY, ORANGE, RED, axes_or_new, draws, unframed
from seqattractor.sequences import Sequences, check_frame_shape, check_patterns


@draws
def filmstrip(
    frames: ArrayLike,
    *,
    label: str = "",
    numbers: Sequence[int] | None = None,
    value_range: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw frames side by side: of +-1, +1 white and -1 black, or in grey or colour.

    Parameters
    ----------
    frames : array of shape (T, height, width), or with a range in colour (T, height, width, 3)
    label : str
        To the left of the strip.
    numbers : sequence of int, optional
        Times to write above the frames.
    value_range : (low, high), optional
        Which values are black and white, of frames in grey or colour; ``X.values`` of pictures lie
        between 0 and 255.

    Examples
    --------
    >>> ax = filmstrip(np.ones((3, 8, 6)), label="x(t)")
    >>> ax.images[0].get_array().shape
    (8, 22)
    """
    in_colour = value_range is not None and np.ndim(frames) == 4
    pictures = check_finite(
        frames, "frames", "time", "height", "width", *(["channels"] if in_colour else [])
    )
    if in_colour and pictures.shape[3] != 3:
        raise ValueError(
            "frames in colour have 3 channels, red, green and blue, but the shape is "
            f"{pictures.shape}."
        )
    if value_range is not None:
        low, high = (
            check_finite(value_range, "value_range", "ends").tolist()
            if np.shape(value_range) == (2,)
            else (0, 0)
        )
        if not low < high:
            raise ValueError(
                "value_range must be (low, high) with low below high, but it is "
                f"{say(value_range)}."
            )
        pictures = np.clip((pictures - low) / (high - low), 0, 1)
    check_kind(label, str, "label", "a text")
    if numbers is not None:
        check_kind(numbers, (list, tuple, range, np.ndarray), "numbers", "a list of times")
    ax = axes_or_new(ax)
    height, width = pictures.shape[1:3]
    gap = max(1, width // 30)
    if value_range is None:
        _black_and_white(ax, tiles(pictures, 2 * gap))
    else:
        show_shades(ax, tiles(pictures, 2 * gap))
        ax.set(xticks=[], yticks=[])
        unframed(ax)
    for k, number in enumerate(numbers if numbers is not None else ()):
        ax.text(
            k * (width + 2 * gap) + width / 2,
            -0.03 * height,
            f"{number}",
            ha="center",
            va="bottom",
            fontsize=8,
        )
    ax.set_ylabel(label, rotation=0, ha="right", va="center")
    return ax


@draws
def raster(
    X: ArrayLike, *, title: str = "", wrong: ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a sequence as the paper's figures 1 and 4 do: a column for each time, +1 white and -1
    black.

    Parameters
    ----------
    X : array of +-1, shape (T, N)
    title : str
    wrong : array of bool, shape (T, N), optional
        Units to mark with a dot.

    Examples
    --------
    >>> ax = raster(np.ones((7, 10)))
    >>> ax.images[0].get_array().shape
    (10, 7)
    """
    patterns = check_finite(X, "X", "time", "neurons")
    check_kind(title, str, "title", "a text")
    if wrong is not None and as_numbers(wrong, "wrong").shape != patterns.shape:
        raise ValueError(f"wrong must have the shape of X, {patterns.shape}.")
    ax = axes_or_new(ax)
    _black_and_white(ax, patterns.T.astype(float))
    T, N = patterns.shape
    for t in np.arange(T - 1) + 0.5:
        ax.axvline(t, color=GREY, linewidth=0.5)
    for j in np.arange(N - 1) + 0.5:
        ax.axhline(j, color=GREY, linewidth=0.5)
    if wrong is not None:
        times, units = np.nonzero(as_numbers(wrong, "wrong"))
        ax.plot(times, units, "o", color=RED, markersize=4)
    ax.set_title(title)
    return ax


@draws
def sequence_rows(
    X: Sequences, *, n_frames: int = 10, n_sequences: int = 8, ax: Axes | None = None
) -> Axes:
    """Draw sequences: a row of frames for each, or, where units have no rows and columns, a column
    for each time.

    Parameters
    ----------
    X : Sequences
    n_frames : int
        How many frames of each sequence to show at most, from its beginning to its end.
    n_sequences : int
        How many sequences to show at most.

    Examples
    --------
    >>> import seqattractor as sa
    >>> sequence_rows(sa.datasets.moving_digits(2, 5)).get_yticklabels()[1].get_text()
    'sequence 1'
    """
    check_kind(X, Sequences, "X", "Sequences, as datasets and loaders give them")
    n_frames, n_sequences = (
        check_count(n_frames, "n_frames"),
        check_count(n_sequences, "n_sequences"),
    )
    ax = axes_or_new(ax)
    names, sequences = X.names[:n_sequences], X.split()[:n_sequences]
    if X.picture_shape is not None:
        height, width = X.picture_shape
        below, beside = (
            max(1, height // 16),
            max(1, width // 16),
        )  # pixels between rows and between frames
        shown = [_brightness(x[spread_times(len(x), n_frames)], X) for x in sequences]
        picture = stacked([tiles(frames, beside) for frames in shown], below)
        name_rows(ax, names, height, below)
        ax.set_xticks([])
        show_shades(ax, picture)
    else:
        picture = np.concatenate(sequences).T.astype(np.float64)
        ends = np.cumsum([len(x) for x in sequences])
        for end in ends[:-1]:
            ax.axvline(end - 0.5, color="C0")
        ax.set_xticks(
            [end - len(x) / 2 - 0.5 for end, x in zip(ends, sequences, strict=True)], names
        )
        ax.set(ylabel="unit", yticks=[])
        ax.imshow(
            picture,
            cmap="gray",
            vmin=-1,
            vmax=1,
            interpolation="nearest",
            aspect="equal" if X.frame_shape[1:] else "auto",
        )
    unframed(ax)
    return ax


def _brightness(states: NDArray[Any], X: Sequences) -> NDArray[np.float64]:
    """Return the brightness of patterns of `X`, from 0 to 1, as frames (T, height, width), in
    colour (T, height, width, 3).
    """
    frames = states.reshape(len(states), *X.frame_shape)
    if X.code is None:
        return (frames > 0).astype(np.float64)
    return (X.code.decode(frames) - X.code.low) / (X.code.high - X.code.low)


def show_shades(ax: Axes, picture: NDArray[np.float64]) -> None:
    """Show values from 0, black, to 1, white, or in colour, and NaN not at all."""
    if picture.ndim == 3:
        seen = np.isfinite(picture).all(axis=2, keepdims=True)
        picture = np.concatenate([np.where(seen, picture, 0.0), seen], axis=2)
    ax.imshow(picture, cmap="gray", vmin=0, vmax=1, interpolation="nearest")


def tiles(frames: NDArray[Any], gap: int) -> NDArray[np.float64]:
    """Put frames (T, height, width, ...) side by side with `gap` empty columns, NaN, between:
    (height, columns, ...).
    """
    margins = ((0, 0), (0, 0), (0, gap), (0, 0))[: frames.ndim]
    padded = np.pad(frames.astype(np.float64), margins, constant_values=np.nan)
    row = np.concatenate(list(padded), axis=1)
    return row[:, : row.shape[1] - gap]


def stacked(strips: Sequence[NDArray[np.float64]], gap: int) -> NDArray[np.float64]:
    """Put pictures of one height below each other with `gap` empty rows between; what is left on
    the right is empty, too.
    """
    pitch = len(strips[0]) + gap
    sides = (len(strips) * pitch - gap, max(strip.shape[1] for strip in strips))
    picture = np.full((*sides, *strips[0].shape[2:]), np.nan)
    for k, strip in enumerate(strips):
        picture[k * pitch :][: len(strip), : strip.shape[1]] = strip
    return picture


def name_rows(ax: Axes, names: Sequence[str], height: int, gap: int) -> None:
    """Write names beside the rows of a stacked picture."""
    ax.set_yticks([k * (height + gap) + (height - 1) / 2 for k in range(len(names))], names)


def spread_times(length: int, most: int) -> NDArray[np.int64]:
    """At most this many times of 0 ... length - 1, evenly spread, the first and the last among
    them.
    """
    return np.unique(np.linspace(0, length - 1, min(length, most)).astype(np.int64))


def _black_and_white(ax: Axes, picture: NDArray[np.float64]) -> None:
    """Show +1 white, -1 black and NaN not at all, without ticks but with a frame."""
    ax.imshow(
        picture, cmap=ListedColormap(["black", "white"]), vmin=-1, vmax=1, interpolation="nearest"
    )
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(bool(np.isfinite(picture).all()))
    ax.spines[:].set_color(GREY)


_OFF, _ON, _EXTRA, _MISSING = range(4)
_COLOURS = ListedColormap(["#101010", "#ffffff", ORANGE, "#56b4e9"])


@draws
def recall_strip(
    trajectory: ArrayLike,
    frame_shape: tuple[int, ...],
    *,
    truth: ArrayLike | None = None,
    order: int = 1,
    n_frames: int = 8,
    ax: Axes | None = None,
) -> Axes:
    """Draw frames of a recall side by side: on white, off black, wrongly on orange, wrongly off
    blue.

    Parameters
    ----------
    trajectory : array of +-1, shape (K, N)
        As `recall` returns it; the first rows are the cue, in which nothing is called wrong.
    frame_shape : tuple of int
        (height, width); of units without a shape, ``(N,)``, all times are drawn as columns, with
        the first unit at the bottom.
    truth : array of +-1, shape (K, N), optional
        What should have come; then a row of stored frames stands above.
    order : int
        How many rows are the cue.
    n_frames : int
        How many times to show, evenly spread.

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
    beside, below = (
        0 if flat else max(1, shape[1] // 16),
        max(1, shape[0] // 16),
    )  # pixels between frames and between rows
    rows = {"recall": _marked(states, known, order)}
    if known is not None:
        rows = {"stored": _filled(_marked(known, None, order), K)} | rows
    strips = [tiles(frames[times].reshape(-1, *shape), beside) for frames in rows.values()]
    picture = stacked(strips, below)
    ax.imshow(
        picture,
        cmap=_COLOURS,
        vmin=0,
        vmax=3,
        interpolation="nearest",
        aspect="auto" if flat else "equal",
    )
    pitch = shape[1] + beside
    shown = times if not flat else times[:: max(1, len(times) // 8)]
    ax.set_xticks(
        [np.searchsorted(times, t) * pitch + (shape[1] - 1) / 2 for t in shown],
        [str(t) for t in shown],
    )
    name_rows(ax, list(rows), shape[0], below)
    ax.set_xlabel("step")
    unframed(ax)
    return ax


@draws
def overlap_curve(
    trajectory: ArrayLike,
    truth: ArrayLike,
    *,
    X: ArrayLike | None = None,
    ax: Axes | None = None,
    **line: Any,
) -> Axes:
    """Draw the overlap of a recall with what should have come, over time.

    Parameters
    ----------
    trajectory : array of +-1, shape (K, N)
    truth : array of +-1, shape (L, N)
        The first min(K, L) rows are compared.
    X : array of +-1, shape (T, N), optional
        All stored patterns: a thin line shows the overlap with the one that is nearest.
    **line
        For ``ax.plot``, such as ``label`` and ``color``.

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
        ax.plot(
            np.arange(len(states)),
            nearest,
            color=GREY,
            linewidth=0.9,
            linestyle=":",
            label="nearest stored pattern",
        )
    together = 2.0 * (states[:length] == known[:length]).mean(axis=1) - 1.0
    options: dict[str, Any] = {"color": BLUE, "linewidth": 1.6, "label": "right pattern"} | line
    ax.plot(np.arange(length), together, **options)
    ax.set(xlabel="step", ylabel="overlap", ylim=(min(-0.05, float(together.min()) - 0.05), 1.05))
    ax.grid(visible=True)
    return ax


def _marked(
    states: NDArray[np.int8], truth: NDArray[np.int8] | None, order: int
) -> NDArray[np.float64]:
    """Colours of units: on, off, and, beside the truth, wrongly on or off; the cue is never called
    wrong.
    """
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
