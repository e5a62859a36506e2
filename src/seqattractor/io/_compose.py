"""Pictures of a recall, pixel by pixel: truth, cue and recall side by side, frame after frame, and as a strip.

Everything is an array of indices into one small palette, so that a GIF needs no conversion: 0 to 31 are greys, then the two
colours of wrong units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from seqattractor.sequences import Lengths, Patterns

Picture = NDArray[np.uint8]

BLACK, GROUND, INK, WHITE, EXTRA, MISSING = 0, 4, 26, 31, 32, 33
PALETTE: list[int] = [level * 255 // 31 for level in range(32) for _ in range(3)] + [230, 159, 0] + [86, 180, 233]
PANEL = 192  # pixels that the longer side of a panel should have at least
RASTER_WIDTH = 600
GAP, LINE = 8, 18
MAX_MOMENTS = 300  # frames of an animation


@dataclass(frozen=True)
class Recalled:
    """One recall with all that is needed to show it or to write it."""

    recall: Patterns
    """What the network did, shape (K, N); the first `order` rows are the cue. With order 0 these are patterns, not a recall."""
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

    @cached_property
    def overlaps(self) -> NDArray[np.float64] | None:
        """Overlap with the truth at each step for which it is known, shape (L,)."""
        if self.truth is None:
            return None
        return np.asarray((self.recall[: len(self.truth)] == self.truth).mean(axis=1) * 2.0 - 1.0)

    @property
    def title(self) -> str:
        """What stands beside the rows of `recall`."""
        return "recall" if self.order else "patterns"

    def step_at(self, t: int) -> int:
        """Give the number of steps that the network has made at a row; 0 for the cue."""
        return max(0, t - self.order + 1)

    def truth_at(self, t: int) -> Patterns | None:
        """Give the truth at a time, or None where it is not known."""
        return self.truth[t] if self.truth is not None and t < len(self.truth) else None


def mark(states: Patterns, truth: Patterns | None) -> Picture:
    """Turn +-1 into palette indices: on white, off black; wrongly on orange, wrongly off blue; of the same shape."""
    picture = np.where(states > 0, WHITE, BLACK).astype(np.uint8)
    if truth is not None:
        picture[(states > 0) & (truth < 0)] = EXTRA
        picture[(states < 0) & (truth > 0)] = MISSING
    return picture


def frames_of(recalled: Recalled) -> Iterator[Picture]:
    """Draw the moments of a recall one after the other, as pictures of one size."""
    draw = _film_moment if len(recalled.frame_shape) == 2 else _raster_moment
    K = len(recalled.recall)
    for t in np.unique(np.linspace(0, K - 1, min(K, MAX_MOMENTS)).round().astype(int)):
        yield draw(recalled, int(t))


def strip_of(recalled: Recalled, n_frames: int = 10) -> Picture:
    """Draw a recall as one picture: rows of frames over time, or, for units without a shape, rasters."""
    if len(recalled.frame_shape) != 2:
        return _raster_moment(recalled, len(recalled.recall) - 1)
    K = len(recalled.recall)
    times = np.unique(np.linspace(0, K - 1, min(K, n_frames)).round().astype(int))
    scale = _scale(recalled.frame_shape, 128)
    columns = []
    for t in times:
        truth = recalled.truth_at(int(t))
        column = [] if recalled.truth is None else [_panel(_shown(truth, recalled), recalled.frame_shape, scale)]
        marked = mark(recalled.recall[t], truth if t >= recalled.order else None)
        column.append(_panel(marked, recalled.frame_shape, scale))
        width = column[0].shape[1]
        columns.append(_below([_text("cue" if t < recalled.order else f"{recalled.step_at(int(t))}", width), *column]))
    picture = _beside(columns)
    rows = [recalled.title] if recalled.truth is None else ["stored", recalled.title]
    height = recalled.frame_shape[0] * scale
    side = _below([_text("step", 56), *[_centred(_text(row, 56), height) for row in rows]])
    return _framed(_beside([side, picture]))


def _film_moment(recalled: Recalled, t: int) -> Picture:
    """Truth, cue and recall at one time, side by side, with a line of text and a bar of time."""
    scale = _scale(recalled.frame_shape, PANEL)
    truth = recalled.truth_at(t)
    panels = [] if recalled.truth is None else [("stored", _shown(truth, recalled))]
    if recalled.order:
        panels.append(("cue", mark(recalled.recall[recalled.order - 1], None)))
    panels.append((recalled.title, mark(recalled.recall[t], truth if t >= recalled.order else None)))
    shown = [_panel(picture, recalled.frame_shape, scale) for _, picture in panels]
    titled = [_below([_text(title, p.shape[1]), p]) for (title, _), p in zip(panels, shown, strict=True)]
    body = _beside(titled)
    return _framed(_below([body, _caption(recalled, t, body.shape[1])]))


def _raster_moment(recalled: Recalled, t: int) -> Picture:
    """Rasters of truth and recall up to one time, one above the other: time to the right, units upwards."""
    K, N = recalled.recall.shape
    wide = max(1, RASTER_WIDTH // K)
    high = max(1, min(12, PANEL // N))
    panels = []
    recall = mark(recalled.recall, None)
    if recalled.truth is not None:
        stored = np.full_like(recall, GROUND)
        stored[: len(recalled.truth)] = mark(recalled.truth, None)
        panels.append(("stored", stored))
        judged = slice(recalled.order, len(recalled.truth))
        recall[judged] = mark(recalled.recall[judged], recalled.truth[judged])
    recall[t + 1 :] = GROUND + 2
    columns = "column is" if recalled.order == 1 else f"{recalled.order} columns are"
    panels.append((f"{recalled.title} (the first {columns} the cue)" if recalled.order else recalled.title, recall))
    rows = []
    for title, picture in panels:
        enlarged = np.repeat(np.repeat(picture.T[::-1], high, axis=0), wide, axis=1)
        rows += [_text(title, max(enlarged.shape[1], 220)), _widened(enlarged, max(enlarged.shape[1], 220))]
    body = _below(rows)
    return _framed(_below([body, _caption(recalled, t, body.shape[1])]))


def _shown(truth: Patterns | None, recalled: Recalled) -> Picture:
    """The truth of one time, or an empty panel where it is not known."""
    return mark(truth, None) if truth is not None else np.full(recalled.recall.shape[1], GROUND, dtype=np.uint8)


def _caption(recalled: Recalled, t: int, width: int) -> Picture:
    """A bar of time, the step, and the overlap."""
    K = len(recalled.recall)
    bar = np.full((3, width), GROUND + 5, dtype=np.uint8)
    bar[:, : round(width * (t + 1) / K)] = INK
    words = f"step {recalled.step_at(t)} of {recalled.step_at(K - 1)}"
    if recalled.overlaps is not None and t < len(recalled.overlaps) and width >= 160:
        words += f"   overlap {recalled.overlaps[t]:.3f}"
    return np.concatenate([bar, _text(words, width)])


def _scale(shape: tuple[int, ...], pixels: int) -> int:
    """By how much to enlarge a frame so that its longer side has about so many pixels."""
    return max(1, round(pixels / max(shape)))


def _panel(marked: Picture, shape: tuple[int, ...], scale: int) -> Picture:
    """An enlarged frame."""
    return np.repeat(np.repeat(marked.reshape(shape), scale, axis=0), scale, axis=1)


def _text(words: str, width: int) -> Picture:
    """A line of text on the ground."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("L", (width, LINE), 0)
    ImageDraw.Draw(image).text((0, 2), words, fill=255, font=ImageFont.load_default(12))
    strength = np.asarray(image, dtype=np.float64) / 255.0
    return np.round(GROUND + strength * (INK - GROUND)).astype(np.uint8)


def _below(parts: list[Picture]) -> Picture:
    """Put pictures one below the other."""
    width = max(p.shape[1] for p in parts)
    spaced = [x for p in parts for x in (_widened(p, width), np.full((4, width), GROUND, dtype=np.uint8))]
    return np.concatenate(spaced[:-1])


def _beside(parts: list[Picture]) -> Picture:
    """Put pictures of one height side by side."""
    gap = np.full((parts[0].shape[0], GAP), GROUND, dtype=np.uint8)
    return np.concatenate([x for p in parts for x in (p, gap)][:-1], axis=1)


def _widened(picture: Picture, width: int) -> Picture:
    """Fill up to a width with ground."""
    return np.pad(picture, ((0, 0), (0, width - picture.shape[1])), constant_values=GROUND)


def _centred(picture: Picture, height: int) -> Picture:
    """Fill up to a height with ground above and below."""
    above = max(0, (height - picture.shape[0]) // 2)
    return np.pad(picture, ((above, max(0, height - picture.shape[0] - above)), (0, 0)), constant_values=GROUND)[:height]


def _framed(picture: Picture) -> Picture:
    """A margin, and even sides, as video wants them."""
    height, width = picture.shape
    return np.pad(picture, ((GAP, GAP + height % 2), (GAP, GAP + width % 2)), constant_values=GROUND)
