"""Text art: frames of characters, one below the other with blank lines between."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._options import Options
from seqattractor.io._recording import MAX_FRAMES, Recording, collect_frames

OFF = " .·-_0"  # these characters are off, all others on
MAX_BYTES = 2**26


def read_text(path: Path, options: Options) -> Recording:
    """Read text art: a frame is a block of lines, blank lines separate the frames, and an empty row is written with dots."""
    blocks: list[list[str]] = [[]]
    for line in read_utf8(path).splitlines():
        if line.strip():
            blocks[-1].append(line.rstrip())
        elif blocks[-1]:
            blocks.append([])
    blocks = [block for block in blocks if block]
    if not blocks:
        raise ValueError(f"{path} is empty; text art has a block of lines for each frame, with blank lines between.")
    if len(blocks) > MAX_FRAMES:
        raise ValueError(f"{path} has more than {MAX_FRAMES} frames.")
    height, width = len(blocks[0]), max(len(line) for block in blocks for line in block)
    for t, block in enumerate(blocks):
        if len(block) != height:
            raise ValueError(
                f"frame {t} of {path} has {len(block)} lines, but frame 0 has {height}; "
                "all need as many (write an empty row as dots)."
            )
    frames = collect_frames((_frame(block, width) for block in blocks), options, path)
    return Recording([frames], "text", [path.stem])


def read_utf8(path: Path) -> str:
    """Read a text file that is not too large."""
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(
            f"{path} has {path.stat().st_size / 1e6:.0f} MB, more than the {MAX_BYTES / 1e6:.0f} MB that are read as text."
        )
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file (or not in UTF-8).") from None


def _frame(block: list[str], width: int) -> NDArray[np.uint8]:
    """Turn lines into zeros and ones, shape (height, width)."""
    return np.array([[character not in OFF for character in line.ljust(width)] for line in block], dtype=np.uint8)
