"""Video through ffmpeg, which the extra `video` brings: ``pip install "seqattractor[video]"``."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.datasets.options import Options
from seqattractor.datasets.recording import Recording, collect_frames

__all__ = ["SUFFIXES", "ffmpeg", "read_video"]

SUFFIXES = (".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".ogv", ".wmv")
MAX_PIXELS = 2**25


def ffmpeg() -> ModuleType:
    """Import imageio-ffmpeg, or say how to get it."""
    try:
        return import_module("imageio_ffmpeg")
    except ImportError:
        raise ValueError('videos need ffmpeg; install it with: pip install "seqattractor[video]".') from None


def read_video(path: Path, options: Options) -> Recording:
    """Read the frames of a video as grey values."""
    # Only this file may be opened: a playlist under the name of a video must not make ffmpeg read other files or the network.
    reader = ffmpeg().read_frames(str(path), pix_fmt="gray", input_params=["-protocol_whitelist", "file"])
    try:
        meta = next(reader)
        width, height = meta["size"]
        if width * height > MAX_PIXELS:
            raise ValueError(f"{path} promises {width} x {height} pixels, more than anyone stores; make it smaller first.")
        frames = collect_frames(_as_arrays(reader, width, height), options, path)
    except (OSError, RuntimeError, StopIteration, KeyError, IndexError):
        raise ValueError(
            f"{path} cannot be read as a video; it is damaged, cut short, or of a kind ffmpeg does not know."
        ) from None
    finally:
        reader.close()
    rate = float(meta.get("fps") or 0.0)
    return Recording([frames], "pictures", [path.stem], rate=rate or None)


def _as_arrays(reader: Iterator[bytes], width: int, height: int) -> Iterator[NDArray[Any]]:
    """See the bytes of each frame as a picture, shape (height, width)."""
    for data in reader:
        yield np.frombuffer(data, dtype=np.uint8).reshape(height, width)
