"""Pictures: animated GIF, WebP and PNG, still pictures, and folders of frames in natural order."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._options import FORMATS, Options
from seqattractor.io._recording import MAX_FRAMES, Recording, collect_frames
from seqattractor.io._units import natural_key

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = FORMATS["pictures"].suffixes
MAX_PIXELS = 2**26  # of one picture, before anything is unpacked: a bomb promises more


def read_pictures(path: Path, options: Options) -> Recording:
    """Read the frames of one picture file, or of a folder of pictures, as grey values."""
    if path.is_dir():
        return _read_folder(path, options)
    if path.suffix.lower() == ".gif":
        _check_gif_is_whole(path)
    durations: list[float] = []
    frames = collect_frames(_frames_of(path, durations), options, path)
    milliseconds = float(np.median(durations)) if durations else 0.0
    rate = 1000.0 / milliseconds if milliseconds > 0 else None
    return Recording([frames], "pictures", [path.stem], rate=rate)


def _read_folder(path: Path, options: Options) -> Recording:
    """Read the pictures of a folder, sorted naturally, as the frames of one sequence."""
    files = pictures_in(path, key=lambda file: natural_key(file.name))
    if not files:
        raise ValueError(f"the folder {path} holds no pictures ({', '.join(s[1:] for s in SUFFIXES)}).")
    if len(files) > MAX_FRAMES:
        raise ValueError(f"the folder {path} holds more than {MAX_FRAMES} pictures.")
    return Recording([collect_frames((read_still(f) for f in files), options, path)], "pictures", [path.resolve().name])


def pictures_in(folder: Path, key: Callable[[Path], Any]) -> list[Path]:
    """The pictures of a folder, sorted; hidden files are none."""
    pictures = (f for f in folder.iterdir() if f.is_file() and f.suffix.lower() in SUFFIXES and not f.name.startswith("."))
    return sorted(pictures, key=key)


def read_still(path: Path) -> NDArray[Any]:
    """The first frame of a picture file, shape (height, width)."""
    return next(_frames_of(path, []))


def _frames_of(path: Path, durations: list[float]) -> Iterator[NDArray[Any]]:
    """Go through the frames of a picture file; every way in which it can be broken is one ValueError."""
    from PIL import Image, ImageSequence, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own limit comes next, and is lower
            picture = Image.open(path)
        with picture:
            width, height = picture.size
            if width * height > MAX_PIXELS:
                raise ValueError(f"{path} promises {width} x {height} pixels, too many to store; shrink it first.")
            for frame in ImageSequence.Iterator(picture):
                grey = _grey(frame)  # a WebP knows the duration of a frame only when it is decoded
                duration = frame.info.get("duration", 0)
                durations.append(float(duration) if isinstance(duration, (int, float)) else 0.0)
                yield grey
    except Image.DecompressionBombError:
        raise ValueError(f"{path} promises too many pixels to store; shrink it first.") from None
    except UnidentifiedImageError:
        raise ValueError(f"{path} cannot be read as a picture: it is damaged, or its name does not fit what it is.") from None
    except PermissionError:
        raise ValueError(f"{path} is not readable; check its permissions.") from None
    except (OSError, EOFError, SyntaxError, struct.error, IndexError, KeyError, TypeError, OverflowError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{path} is damaged or cut short ({reason}); save it again.") from None


def _grey(frame: Image) -> NDArray[Any]:
    """Grey values 0 to 255 of a frame on a white page, shape (height, width)."""
    from PIL import Image as pil

    if frame.mode in ("I;16", "I;16B", "I;16L", "I", "F"):  # sixteen bits and more: scale by the type's range, or as it is
        values = np.asarray(frame, dtype=np.float32)
        return values / 257.0 if values.max(initial=0) > 255 else values
    if "A" in frame.getbands() or "transparency" in frame.info:
        seen = frame.convert("RGBA")
        page = pil.new("RGBA", seen.size, "white")
        frame = pil.alpha_composite(page, seen)
    return np.asarray(frame.convert("L"), dtype=np.uint8)


def _check_gif_is_whole(path: Path) -> None:
    """Walk through the blocks of a GIF up to its end mark; Pillow would pass over frames that are missing."""
    data = path.read_bytes()
    if data[:6] not in (b"GIF87a", b"GIF89a"):
        return  # another kind of picture under this name; Pillow will say
    try:
        at = 13 + _table_size(data[10])
        while data[at] != 0x3B:  # the trailer
            if data[at] == 0x21:  # an extension: label, then sub-blocks
                at += 2
            elif data[at] == 0x2C:  # an image: descriptor, colour table, code size, then sub-blocks
                at += 11 + _table_size(data[at + 9])
            else:
                raise ValueError(f"{path} is damaged: there is an unknown block at byte {at}; save it again.")
            while data[at]:
                at += 1 + data[at]
            at += 1
    except IndexError:
        raise ValueError(f"{path} is cut short: it ends before the end mark of a GIF; save or download it again.") from None


def _table_size(flags: int) -> int:
    """How many bytes the colour table takes that the flags announce."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0
