"""Pictures of a recall, pixel by pixel: truth, cue and recall side by side, frame after frame, and
as a strip.

Black and white is an array of indices into one small palette, so that a GIF needs no conversion: 0
to 31 are greys, then the two colours of wrong units. Grey and colour films, whose pixels are
several units each, are arrays of red, green and blue, with the errors in a panel of their own: in
the recall itself, a mark would hide the grey value that came back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from seqattractor.sequences import Lengths, LevelCode, Patterns
from seqattractor.sequences._level_code import picture_shape
from seqattractor.sequences._patterns import row_overlaps

Picture = NDArray[np.uint8]
"""Indices into the palette, shape (height, width), or red, green and blue, shape (height, width,
3).
"""

BLACK, GROUND, INK, WHITE, EXTRA, MISSING = 0, 4, 26, 31, 32, 33
PALETTE: list[int] = (
    [level * 255 // 31 for level in range(32) for _ in range(3)] + [230, 159, 0] + [86, 180, 233]
)
RGB = np.array(PALETTE, dtype=np.uint8).reshape(-1, 3)
FAINTEST = 0.3  # how much of the colour of an error the smallest one has: one level must be seen
PANEL = 192  # pixels that the longer side of a panel should have at least
RASTER_WIDTH = 600
GAP, LINE, NAMES_WIDTH, LEGEND_WIDTH = 8, 18, 64, 88
MAX_MOMENTS = 300  # frames of an animation


@dataclass(frozen=True)
class Recalled:
    """One recall with all that is needed to show it or to write it."""

    recall: Patterns
    """What the network did, shape (K, N); the first `order` rows are the cue. With order 0 these
    are patterns, not a recall.
    """
    truth: Patterns | None
    """What it should have done, shape (L, N) with L <= K, where that is known."""
    order: int
    frame_shape: tuple[int, ...]
    rate: float | None = None
    units: list[str] | None = None
    step: float | None = None
    kind: str = "array"
    lengths: Lengths | None = None
    """How many rows belong to each sequence, where these are patterns of several."""
    caught: tuple[int, str] | None = None
    """From which row on the truth is something else than the cue asks for, because the recall
    follows that, and what it is.
    """
    code: LevelCode | None = None  # how units stand for grey values or colours, where they do

    @property
    def picture_shape(self) -> tuple[int, int] | None:
        """Height and width, where frames are pictures."""
        return picture_shape(self.frame_shape, self.code)

    def values(self, states: Patterns) -> NDArray[np.float64]:
        """Return what units stand for: the values of patterns with a code, shape (..., *frame_shape
        without its last axis).
        """
        assert self.code is not None
        return self.code.decode(states.reshape(*states.shape[:-1], *self.frame_shape))

    @cached_property
    def value_errors(self) -> NDArray[np.float64] | None:
        """Of patterns with a code: the mean size of the errors of values, at each step for which
        the truth is known, (L,).
        """
        if self.code is None or self.truth is None:
            return None
        pairs = zip(self.recall, self.truth, strict=False)
        return np.array(
            [np.abs(self.values(state) - self.values(truth)).mean() for state, truth in pairs]
        )

    @cached_property
    def overlaps(self) -> NDArray[np.float64]:
        """Overlap with the truth at each step for which it is known, shape (L,)."""
        truth = self.recall[:0] if self.truth is None else self.truth
        return row_overlaps(self.recall[: len(truth)], truth)

    @property
    def seconds(self) -> float | None:
        """Return how long a row lasts, where rows are time bins of a recording."""
        return 1.0 / self.rate if self.kind in ("spikes", "traces") and self.rate else None

    @property
    def title(self) -> str:
        """Return what stands beside the rows of `recall`."""
        return "recall" if self.order else "patterns"

    def truth_at(self, t: int) -> str:
        """Return what stands beside the truth of a row."""
        return f"caught: {self.caught[1]}" if self.caught and t >= self.caught[0] else "stored"

    def step_at(self, t: int) -> int:
        """Return the number of steps that the network has made at a row; 0 for the cue."""
        return max(0, t - self.order + 1)

    @cached_property
    def stored(self) -> Picture:
        """Return the truth as a picture, shape (K, N), and ground where it is not known."""
        stored = np.full(self.recall.shape, GROUND, dtype=np.uint8)
        if self.truth is not None:
            stored[: len(self.truth)] = mark(self.truth)
        return stored

    @cached_property
    def judged(self) -> Picture:
        """Return the recall as a picture, shape (K, N), with errors marked where the truth is known
        and the cue is over.
        """
        picture = mark(self.recall)
        if self.truth is not None:
            known = slice(self.order, len(self.truth))
            picture[known] = mark(self.recall[known], self.truth[known])
        return picture


def mark(states: Patterns, truth: Patterns | None = None) -> Picture:
    """Turn +-1 into palette indices: on white, off black; wrongly on orange, wrongly off blue; of
    the same shape.
    """
    picture = np.where(states > 0, WHITE, BLACK).astype(np.uint8)
    if truth is not None:
        picture[(states > 0) & (truth < 0)] = EXTRA
        picture[(states < 0) & (truth > 0)] = MISSING
    return picture


def shade(recalled: Recalled, state: Patterns) -> Picture:
    """Return one pattern with a code as red, green and blue, shape (height, width, 3)."""
    assert recalled.code is not None
    assert recalled.picture_shape is not None
    code, values = recalled.code, recalled.values(state)
    bright = np.round((values - code.low) / (code.high - code.low) * 255).astype(np.uint8)
    return np.array(
        np.broadcast_to(bright.reshape(*recalled.picture_shape, -1), (*recalled.picture_shape, 3))
    )


def mark_errors(recalled: Recalled, state: Patterns, truth: Patterns) -> Picture:
    """The errors of one pattern with a code, (height, width, 3): orange where too bright, blue
    where too dark, black where right.

    The colour is the stronger, the larger the error, of red, green and blue the largest.
    """
    assert recalled.code is not None
    assert recalled.picture_shape is not None
    wrong = (recalled.values(state) - recalled.values(truth)).reshape(*recalled.picture_shape, -1)
    size = np.abs(wrong).max(axis=2, keepdims=True) / (recalled.code.high - recalled.code.low)
    strength = np.where(size > 0, FAINTEST + (1 - FAINTEST) * size, 0.0)
    color = np.where(wrong.sum(axis=2, keepdims=True) >= 0, RGB[EXTRA], RGB[MISSING])
    return np.asarray(np.round(color * strength), dtype=np.uint8)


def frames_of(recalled: Recalled) -> Iterator[Picture]:
    """Draw the moments of a recall one after the other, as pictures of one size."""
    draw = _raster_moment if recalled.picture_shape is None else _film_moment
    for t in _moments(recalled, MAX_MOMENTS):
        yield draw(recalled, t)


def strip_of(recalled: Recalled, n_frames: int = 10) -> Picture:
    """Draw a recall as one picture: rows of frames over time, or, for units without a shape,
    rasters.
    """
    if recalled.picture_shape is None:
        return _raster_moment(recalled, len(recalled.recall) - 1)
    columns = []
    for t in _moments(recalled, n_frames):
        rows = _rows_at(recalled, t)
        frames = [_panel(row, 128) for row in rows.values()]
        title = "cue" if t < recalled.order else f"{recalled.step_at(t)}"
        columns.append(_below([_text(title, frames[0].shape[1]), *frames]))
    side = _below([_text("step", 56), *[_text(row, 56, frames[0].shape[0]) for row in rows]])
    body = _beside([side, _beside(columns)])
    return _framed(_below([body, *_legend(recalled, body.shape[1])]))


def _moments(recalled: Recalled, most: int) -> list[int]:
    """Return at most so many times, evenly from the first to the last."""
    K = len(recalled.recall)
    moments: list[int] = np.unique(np.linspace(0, K - 1, min(K, most)).round().astype(int)).tolist()
    return moments


def _rows_at(recalled: Recalled, t: int) -> dict[str, Picture]:
    """Return truth and recall at one time, and with a code the errors, as frames by their names."""
    if recalled.code is None:
        rows = {} if recalled.truth is None else {"stored": recalled.stored[t]}
        rows |= {recalled.title: recalled.judged[t]}
        return {name: row.reshape(recalled.frame_shape) for name, row in rows.items()}
    state, truth = recalled.recall[t], recalled.truth
    if truth is None:
        return {recalled.title: shade(recalled, state)}
    unknown = np.full((*(recalled.picture_shape or ()), 3), RGB[GROUND], dtype=np.uint8)
    known = t < len(truth)
    return {
        "stored": shade(recalled, truth[t]) if known else unknown,
        recalled.title: shade(recalled, state),
        "error": mark_errors(recalled, state, truth[t]) if known else unknown,
    }


def _film_moment(recalled: Recalled, t: int) -> Picture:
    """Truth, cue and recall at one time, side by side, with a line of text and a bar of time; with
    a code also the errors.
    """
    rows = _rows_at(recalled, t)
    panels = {recalled.truth_at(t): rows.pop("stored")} if "stored" in rows else {}
    if recalled.order:
        cue = recalled.recall[recalled.order - 1]
        panels["cue"] = (
            mark(cue).reshape(recalled.frame_shape)
            if recalled.code is None
            else shade(recalled, cue)
        )
    shown = {title: _panel(picture, PANEL) for title, picture in (panels | rows).items()}
    if "error" in shown and shown["error"].shape[1] >= 160:
        shown["error (orange: too bright)"] = shown.pop("error")
    body = _beside(
        [_below([_text(title, panel.shape[1]), panel]) for title, panel in shown.items()]
    )
    return _framed(
        _below([body, _caption(recalled, t, body.shape[1]), *_legend(recalled, body.shape[1])])
    )


def _raster_moment(recalled: Recalled, t: int) -> Picture:
    """Rasters of truth and recall up to one time, one above the other: time to the right, units
    upwards.
    """
    K, N = recalled.recall.shape
    wide, high = max(1, RASTER_WIDTH // K), max(1, min(12, PANEL // N))
    panels = {} if recalled.truth is None else {recalled.truth_at(t): recalled.stored}
    columns = "column is" if recalled.order == 1 else f"{recalled.order} columns are"
    title = f"{recalled.title} (the first {columns} the cue)" if recalled.order else recalled.title
    panels[title] = np.where(np.arange(K)[:, None] > t, np.uint8(GROUND + 2), recalled.judged)
    width = max(K * wide, 220)
    rows = [
        part
        for title, x in panels.items()
        for part in (_text(title, width), _enlarged(x.T[::-1], high, wide))
    ]
    seconds = [_seconds(K, wide, recalled.rate)] if recalled.rate and recalled.seconds else []
    body = _below([*rows, *seconds, _caption(recalled, t, width), *_legend(recalled, width)])
    if recalled.units is None:
        return _framed(body)
    names = _names(recalled.units[::-1], high)
    side = _below([part for _ in panels for part in (_text("", NAMES_WIDTH), names)])
    below = np.full((len(body) - len(side), NAMES_WIDTH), GROUND, dtype=np.uint8)
    return _framed(_beside([np.concatenate([side, below]), body]))


def _seconds(columns: int, wide: int, rate: float) -> Picture:
    """Return an axis of seconds below rasters with so many columns of so many pixels: at most eight
    labels, in round steps.
    """
    whole = columns / rate
    power = 10.0 ** np.floor(np.log10(whole / 8))
    apart = next(power * k for k in (1, 2, 5, 10) if whole / (power * k) <= 8)
    picture = np.full((LINE, columns * wide), GROUND, dtype=np.uint8)
    for second in np.arange(0.0, whole, apart):
        left = round(second * rate * wide)
        label = _text(f"{second:.3g} s", 48)[:, : max(0, columns * wide - left)]
        picture[:, left : left + label.shape[1]] = label
        picture[:4, left : left + 1] = INK
    return picture


def _names(units: list[str], high: int) -> Picture:
    """Names of units beside a raster of so many pixels for each, as many as have room."""
    picture = np.full((len(units) * high, NAMES_WIDTH), GROUND, dtype=np.uint8)
    for k in range(0, len(units), -(-LINE // high)):
        top = max(0, k * high + (high - LINE) // 2)
        if top + LINE <= len(picture):
            picture[top : top + LINE] = _text(units[k][:8], NAMES_WIDTH)
    return picture


def _caption(recalled: Recalled, t: int, width: int) -> Picture:
    """Return a bar of time, the step, and the overlap."""
    K = len(recalled.recall)
    bar = np.full((3, width), GROUND + 5, dtype=np.uint8)
    bar[:, : round(width * (t + 1) / K)] = INK
    words = f"step {recalled.step_at(t)} of {recalled.step_at(K - 1)}"
    if recalled.seconds:
        words += f"   {t * recalled.seconds:.3g} s"
    if t < len(recalled.overlaps) and width >= 160:
        words += f"   overlap {recalled.overlaps[t]:.3f}"
    if recalled.value_errors is not None and t < len(recalled.value_errors) and width >= 320:
        words += f"   mean error {recalled.value_errors[t]:.3g}"
    return np.concatenate([bar, _text(words, width)])


def _legend(recalled: Recalled, width: int) -> list[Picture]:
    """What the two colours mean, where they occur: in one line, in two where it is narrow, nothing
    where words have no room.
    """
    known = slice(recalled.order, None if recalled.truth is None else len(recalled.truth))
    if (
        recalled.truth is None
        or recalled.code is not None
        or np.array_equal(recalled.recall[known], recalled.truth[known])
    ):
        return []
    parts = []
    for colour, words in ((EXTRA, "wrongly on"), (MISSING, "wrongly off")):
        part = _text(f"     {words}", LEGEND_WIDTH)
        part[LINE // 2 - 5 : LINE // 2 + 5, :10] = colour
        parts.append(part)
    return (
        [_beside(parts)]
        if width >= 2 * LEGEND_WIDTH + GAP
        else parts
        if width >= LEGEND_WIDTH
        else []
    )


def _panel(frame: Picture, pixels: int) -> Picture:
    """Return a frame, enlarged so that its longer side has about this many pixels."""
    scale = max(1, round(pixels / max(frame.shape[:2])))
    return _enlarged(frame, scale, scale)


def _enlarged(picture: Picture, high: int, wide: int) -> Picture:
    """Return a picture with so many rows and columns for each of its own."""
    return np.repeat(np.repeat(picture, high, axis=0), wide, axis=1)


def _text(words: str, width: int, height: int = LINE) -> Picture:
    """Return a line of text on the ground, in the middle of a given height."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("L", (width, height), 0)
    above = max(0, (height - LINE) // 2)
    ImageDraw.Draw(image).text((0, above + 2), words, fill=255, font=ImageFont.load_default(12))
    strength = np.asarray(image, dtype=np.float64) / 255.0
    return np.round(GROUND + strength * (INK - GROUND)).astype(np.uint8)


def _below(parts: list[Picture]) -> Picture:
    """Put pictures one below the other, filled up with ground to one width."""
    width = max(part.shape[1] for part in parts)
    return np.concatenate(
        [_padded(part, (0, 4), (0, width - part.shape[1])) for part in _alike(parts)]
    )[:-4]


def _beside(parts: list[Picture]) -> Picture:
    """Put pictures of one height side by side."""
    return np.concatenate([_padded(part, (0, 0), (0, GAP)) for part in _alike(parts)], axis=1)[
        :, :-GAP
    ]


def _framed(picture: Picture) -> Picture:
    """Return a margin, and even sides, as video wants them."""
    height, width = picture.shape[:2]
    return _padded(picture, (GAP, GAP + height % 2), (GAP, GAP + width % 2))


def _alike(parts: list[Picture]) -> list[Picture]:
    """Return pictures in red, green and blue, if one of them is."""
    coloured = any(part.ndim == 3 for part in parts)
    return [RGB[part] if coloured and part.ndim == 2 else part for part in parts]


def _padded(picture: Picture, above_below: tuple[int, int], beside: tuple[int, int]) -> Picture:
    """Return a picture with ground around it."""
    if picture.ndim == 2:
        return np.pad(picture, (above_below, beside), constant_values=GROUND)
    return np.pad(
        picture, (above_below, beside, (0, 0)), constant_values=int(RGB[GROUND, 0])
    )  # a grey
