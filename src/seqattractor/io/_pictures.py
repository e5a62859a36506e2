"""Pictures: animated GIF, WebP and PNG, still pictures, and folders of frames in natural order."""

from __future__ import annotations

import re
import struct
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._options import FORMATS, Budget, Options, TooLargeError
from seqattractor.io._recording import MAX_FRAMES, Recording, collect_frames
from seqattractor.sequences._columns import natural_key

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES = 2**29
MAX_SCANS = 500  # of a progressive JPEG; cameras and programs write about ten
_NAMES = {"GIF": ".gif", "PNG": ".png", "JPEG": ".jpg", "WEBP": ".webp", "BMP": ".bmp", "TIFF": ".tif", "PPM": ".ppm"}
_BEGINNINGS = {
    **{"GIF": rb"GIF8[79]a", "PNG": rb"\x89PNG\r\n\x1a\n", "JPEG": rb"\xff\xd8\xff", "WEBP": rb"RIFF....WEBP"},
    **{"BMP": rb"BM", "TIFF": rb"II\*\0|MM\0\*|II\+\0|MM\0\+", "PPM": rb"P[0-9fFy]"},
}


def formats_of(path: Path) -> list[str]:
    """What a picture may be, by its name; where the name does not say, all that we read, and never more than that."""
    known = {**{suffix: name for name, suffix in _NAMES.items()}, ".apng": "PNG", ".jpeg": "JPEG", ".tiff": "TIFF"}
    known |= {".pgm": "PPM", ".pbm": "PPM"}
    suffix = path.suffix.lower()
    return [known[suffix]] if suffix in known else list(_NAMES)


def _kind_of(path: Path) -> str:
    """Return the format of a picture by its first bytes, which must be one that its name allows."""
    with path.open("rb") as file:
        start = file.read(16)
    kind = next((name for name, begins in _BEGINNINGS.items() if re.match(begins, start, re.DOTALL)), None)
    expected = formats_of(path)
    if kind is None or kind not in expected:
        what = f"as {expected[0]}" if len(expected) == 1 else "as a picture"
        does = f"it begins as a {kind} file does, so give it the ending {_NAMES[kind]}" if kind else "save it again"
        raise ValueError(f"{path} cannot be read {what}: it is damaged, or its name does not fit what it is; {does}.")
    return kind


def _count_scans(path: Path, kind: str) -> int:
    """Count how often a decoder goes over each frame: once, but for progressive JPEGs; a GIF that is cut short is rejected."""
    if kind not in ("GIF", "JPEG"):
        return 1
    if path.stat().st_size > MAX_BYTES:
        raise TooLargeError(f"{path} has more than {MAX_BYTES / 1e6:.0f} MB, more than any picture that is read; shrink it.")
    data = path.read_bytes()
    if kind == "GIF" and not _has_end_mark(data):  # Pillow would read the frames before the cut
        raise ValueError(f"{path} is damaged or cut short: it has no end mark; save or download it again.")
    scans = data.count(b"\xff\xda") if kind == "JPEG" else 1  # a marker that image data cannot contain
    if scans > MAX_SCANS:
        raise TooLargeError(f"{path} has more than {MAX_SCANS} scans, which takes hours to decode; save it again.")
    return scans


def _has_end_mark(gif: bytes) -> bool:
    """Whether the blocks of a GIF lead to its end mark."""
    try:
        at = 13 + _table_size(gif[10])
        while gif[at] in (0x21, 0x2C):  # an extension, or an image with its descriptor and colour table
            at += 2 if gif[at] == 0x21 else 11 + _table_size(gif[at + 9])
            while gif[at]:  # data in blocks of up to 255 bytes
                at += 1 + gif[at]
            at += 1
        return gif[at] == 0x3B
    except IndexError:
        return False


def _table_size(flags: int) -> int:
    """How many bytes the colour table takes that the flags announce."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


SUFFIXES = FORMATS["pictures"].suffixes
BAND = 2**18  # pixels that are converted at a time: in between they need twelve bytes each
BRIGHTNESS = (0.0, 255.0)  # of black and of white
TILE_WIDTH, TILE_LENGTH = 322, 323  # tags of a TIFF
WHAT_PILLOW_RAISES = (
    *(OSError, EOFError, SyntaxError, struct.error, IndexError, KeyError, TypeError, OverflowError, ValueError),
    *(AttributeError, ZeroDivisionError, RuntimeError, NotImplementedError, AssertionError),
)


def read_pictures(path: Path, options: Options) -> Recording:
    """Read the frames of one picture file, or of a folder of pictures, as grey values or in colour."""
    if path.is_dir():
        return _read_folder(path, options)
    durations: list[float] = []
    last = None if options.frames is None else options.frames[1]
    frames = collect_frames(_frames_of(path, durations, Budget(), last, colour=options.colour), options, path)
    milliseconds = float(np.median(durations)) if durations else 0.0
    rate = 1000.0 / milliseconds if milliseconds > 0 else None
    return Recording([frames], "pictures", [path.stem], rate=rate, value_range=BRIGHTNESS)


def _read_folder(path: Path, options: Options) -> Recording:
    """Read the pictures of a folder, sorted naturally, as the frames of one sequence."""
    files = pictures_in(path, key=lambda file: natural_key(file.name))
    if not files:
        raise ValueError(f"the folder {path} holds no pictures ({', '.join(s[1:] for s in SUFFIXES)}).")
    if len(files) > MAX_FRAMES:
        raise TooLargeError(f"the folder {path} holds more than {MAX_FRAMES} pictures.")
    budget = Budget()
    frames = (next(_frames_of(file, [], budget, 1, colour=options.colour)) for file in files)
    return Recording([collect_frames(frames, options, path)], "pictures", [path.resolve().name], value_range=BRIGHTNESS)


def pictures_in(folder: Path, key: Callable[[Path], Any]) -> list[Path]:
    """The pictures of a folder, sorted; hidden files are none."""
    pictures = (f for f in folder.iterdir() if f.is_file() and f.suffix.lower() in SUFFIXES and not f.name.startswith("."))
    return sorted(pictures, key=key)


def read_still(path: Path) -> NDArray[Any]:
    """The first frame of a picture file, shape (height, width)."""
    return next(_frames_of(path, [], Budget(), 1))


def _frames_of(
    path: Path, durations: list[float], budget: Budget, last: int | None, *, colour: bool = False
) -> Iterator[NDArray[Any]]:
    """Go through the frames of a picture file up to `last`; every way in which it can be broken is one ValueError."""
    from PIL import Image, ImageSequence, UnidentifiedImageError

    kind = _kind_of(path)
    scans = _count_scans(path, kind)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own limit is lower
            if kind == "PNG":
                with Image.open(path, formats=[kind]) as picture:
                    picture.verify()  # all checksums
            picture = Image.open(path, formats=[kind])
        with picture:
            Budget().spend(path, *picture.size, scans * min(getattr(picture, "n_frames", 1), last or MAX_FRAMES))
            for frame in ImageSequence.Iterator(picture):
                _check_frame(path, frame, budget)
                values = _values(frame, "RGB" if colour else "L")  # a WebP knows the duration of a frame only when it is decoded
                duration = frame.info.get("duration", 0)
                durations.append(float(duration) if isinstance(duration, (int, float)) else 0.0)
                yield values
                if kind == "JPEG":  # phones hide further pictures behind the one that they show
                    break
    except TooLargeError:
        raise
    except Image.DecompressionBombError:
        raise TooLargeError(f"{path} promises too many pixels to store; shrink it first.") from None
    except UnidentifiedImageError:
        raise ValueError(f"{path} cannot be read as {kind}: it is damaged; save it again.") from None
    except WHAT_PILLOW_RAISES as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
        raise ValueError(f"{path} is damaged or cut short ({reason}); save it again.") from None


def _check_frame(path: Path, frame: Image, budget: Budget) -> None:
    """Reject a frame that is too large before it is decoded, or the tiles of which are."""
    budget.spend(path, *frame.size)
    tags = getattr(frame, "tag_v2", {})
    tile = [tags.get(tag, 1) for tag in (TILE_WIDTH, TILE_LENGTH)]
    if all(isinstance(side, int) for side in tile):
        Budget().spend(path, *tile)


def _values(frame: Image, mode: str) -> NDArray[Any]:
    """Values 0 to 255 of a frame on a white page, shape (height, width) for the mode L and (height, width, 3) for RGB."""
    if frame.mode in ("I;16", "I;16B", "I;16L", "I", "F"):  # sixteen bits and more: scale by the type's range, or as it is
        grey = np.asarray(frame, dtype=np.float32)
        grey = grey / 257.0 if grey.max(initial=0) > 255 else grey
        return grey if mode == "L" else np.stack([grey] * 3, axis=2)
    frame.load()
    width, height = frame.size
    values = np.empty((height, width) if mode == "L" else (height, width, 3), dtype=np.uint8)
    rows = max(1, BAND // max(width, 1))
    for top in range(0, height, rows):
        values[top : top + rows] = _band_values(frame.crop((0, top, width, min(top + rows, height))), mode)
    return values


def _band_values(band: Image, mode: str) -> NDArray[np.uint8]:
    """Values of some rows."""
    from PIL import Image as pil

    if "A" in band.getbands() or "transparency" in band.info:
        seen = band.convert("RGBA")
        band = pil.alpha_composite(pil.new("RGBA", seen.size, "white"), seen)
    return np.asarray(band.convert(mode), dtype=np.uint8)
