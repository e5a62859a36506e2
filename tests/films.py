"""Small films with nearly equal neighbouring frames, as cameras make them."""

from __future__ import annotations

import numpy as np
from PIL import Image

import seqattractor as sa


def textured_film(seed=3, n_frames=60, height=20, width=36):
    """A disc that moves over a textured scene and nearly rests now and then: bool, (T, height,
    width), no two alike in a row.
    """
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    waves = rng.uniform(-0.5, 0.5, size=(12, 2))
    scene = sum(rng.normal() * np.cos(a * x + b * y + rng.uniform(0, 6)) for a, b in waves)
    place = np.cumsum([0.12 if t // 10 % 2 else 0.9 for t in range(n_frames)])
    discs = [4 * np.exp(-((x - 4 - c) ** 2 + (y - height / 2) ** 2) / 40) for c in place]
    frames = np.array([0.3 * scene + disc > 1 for disc in discs])
    return frames[[0, *np.flatnonzero((frames[1:] != frames[:-1]).any(axis=(1, 2))) + 1]]


def as_sequences(frames, name="film"):
    """Frames as patterns with their shape."""
    return sa.Sequences(
        np.where(frames.reshape(len(frames), -1), 1, -1), frame_shape=frames.shape[1:], names=[name]
    )


def save_gif(path, frames):
    """Write frames as a GIF, each as a picture of its own."""
    pictures = [Image.fromarray(np.where(frame, 255, 0).astype(np.uint8)) for frame in frames]
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=50)


def grey_film(n_frames=12, side=16, colour=False):
    """A shaded ball that goes round over a ramp of grey, uint8 (T, side, side), or in colour (T,
    side, side, 3).
    """
    y, x = np.mgrid[0:side, 0:side]
    frames = []
    for turn in 2 * np.pi * np.arange(n_frames) / n_frames:
        far = np.hypot(
            x - side * (0.5 + 0.28 * np.cos(turn)), y - side * (0.5 + 0.28 * np.sin(turn))
        ) / (0.22 * side)
        frames.append(np.where(far < 1, 255 - 120 * far, 20 + 110 * x / side))
    grey = np.array(frames).astype(np.uint8)
    return (
        np.stack([grey, np.roll(grey, n_frames // 3, axis=0), np.flip(grey, axis=2)], axis=3)
        if colour
        else grey
    )


def save_film(path, frames):
    """Write grey or colour frames losslessly, as an animated PNG or WebP, or as a GIF."""
    pictures = [Image.fromarray(frame) for frame in frames]
    more = {"lossless": True} if str(path).endswith("webp") else {}
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=50, **more)
    return path
