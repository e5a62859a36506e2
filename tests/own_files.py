"""Files as people bring them: a small film in several forms, and how a file is rejected."""

from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image

from seqattractor.io import load

FRAMES = np.where(np.random.default_rng(11).random((5, 12, 16)) < 0.4, 255, 0).astype(np.uint8)
PATTERNS = np.where(FRAMES.reshape(5, -1) > 127, 1, -1)
needs_ffmpeg = pytest.mark.skipif(
    find_spec("imageio_ffmpeg") is None, reason="the extra video is not installed"
)


def save_animation(path, frames=FRAMES, **options):
    """Write frames as a GIF, WebP or PNG that moves."""
    pictures = [Image.fromarray(frame) for frame in frames]
    pictures[0].save(
        path, save_all=True, append_images=pictures[1:], duration=40, loop=0, **options
    )
    return path


def save_folder(folder, frames=FRAMES, names=None):
    """Write a picture for each frame."""
    folder.mkdir()
    for k, frame in enumerate(frames):
        Image.fromarray(frame).save(folder / (names[k] if names else f"frame{k}.png"))
    return folder


def rejects(path, match, **options):
    """Assert that loading the file raises one sentence that names it."""
    with pytest.raises(ValueError, match=match) as caught:
        load(path, **options)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert str(path) in sentence
