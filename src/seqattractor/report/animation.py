"""Moving pictures of recall as GIF."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

GAP = 6


def recall_gif(
    truth: NDArray[np.int8], recalled: NDArray[np.int8], *, columns: int, scale: int = 1, milliseconds: int = 90
) -> bytes:
    """All sequences at once, the stored ones on the left and the recalled ones on the right.

    Parameters
    ----------
    truth, recalled : ndarray of +-1, shape (sequences, T, height, width)
    columns : int
        How many sequences stand side by side in each half.
    scale : int
        Pixels of the GIF for one unit.
    milliseconds : int
        For one frame; the corrupted first one stays longer.

    Returns
    -------
    bytes
        The GIF file.
    """
    frames = []
    for t in range(truth.shape[1]):
        halves = [_mosaic(sequences[:, t], columns) for sequences in (truth, recalled)]
        gap = np.full((halves[0].shape[0], GAP), 1, dtype=np.uint8)
        picture = np.concatenate([halves[0], gap, halves[1]], axis=1)
        frames.append(_image(picture.repeat(scale, axis=0).repeat(scale, axis=1)))
    buffer = io.BytesIO()
    durations = [8 * milliseconds] + [milliseconds] * (len(frames) - 1)
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=False)
    return buffer.getvalue()


def _mosaic(frames: NDArray[np.int8], columns: int) -> NDArray[np.uint8]:
    """Frames of shape (n, height, width) in rows of `columns`, as palette numbers: 0 black, 1 grey between, 2 white."""
    n, height, width = frames.shape
    rows = -(-n // columns)
    sheet = np.full((rows * (height + 1) + 1, columns * (width + 1) + 1), 1, dtype=np.uint8)
    for k, frame in enumerate(frames):
        top, left = 1 + (k // columns) * (height + 1), 1 + (k % columns) * (width + 1)
        sheet[top : top + height, left : left + width] = frame + 1
    return sheet


def _image(picture: NDArray[np.uint8]) -> Image.Image:
    """A picture of three greys."""
    image = Image.fromarray(picture, mode="P")
    image.putpalette([0, 0, 0, 128, 128, 128, 255, 255, 255])
    return image
