"""Pictures: animated GIF, WebP and PNG, still pictures, and folders of frames in natural order."""

from __future__ import annotations

import io
import re
import struct
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._options import FORMATS, Options
from seqattractor.io._recording import MAX_FRAMES, Recording, collect_frames
from seqattractor.io._terms import Budget, TooLargeError
from seqattractor.io._units import natural_key

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


def read_checked(path: Path, last: int | None) -> tuple[str, bytes | None]:
    """Find the format of a picture and check its structure up to the frame `last`; with its bytes, where they were read."""
    with path.open("rb") as file:
        start = file.read(16)
        looks = next((name for name, begins in _BEGINNINGS.items() if re.match(begins, start, re.DOTALL)), None)
        expected = formats_of(path)
        if looks not in expected:
            what = f"as {'/'.join(expected)}" if len(expected) == 1 else "as a picture"
            does = f"it begins as a {looks} file does, so give it the ending {_NAMES[looks]}" if looks else "save it again"
            raise ValueError(f"{path} cannot be read {what}: it is damaged, or its name does not fit what it is; {does}.")
        if looks not in _CHECKS:
            return looks, None
        data = start + file.read(MAX_BYTES)
    if len(data) > MAX_BYTES:
        raise TooLargeError(f"{path} has more than {MAX_BYTES / 1e6:.0f} MB, more than any picture that is read; shrink it.")
    try:
        _CHECKS[looks](path, data, last)
    except IndexError:
        raise ValueError(f"{path} is cut short: it ends before the end mark of a {looks}; save or download it again.") from None
    return looks, data


def _check_gif(path: Path, data: bytes, last: int | None) -> None:
    """Walk through the blocks of a GIF up to its end mark; a frame that reaches over the edge makes the picture larger."""
    budget, frames = Budget(), 0
    width, height = _little(data, 6, 2), _little(data, 8, 2)
    at = 13 + _table_size(data[10])
    while data[at] != 0x3B:  # the trailer
        if data[at] == 0x21:  # an extension: label, then sub-blocks
            at += 2
        elif data[at] == 0x2C:  # an image: descriptor, colour table, code size, then sub-blocks
            left, top, across, down = (_little(data, at + k, 2) for k in (1, 3, 5, 7))
            width, height = max(width, left + across), max(height, top + down)
            frames += 1
            if last is None or frames <= last:
                budget.spend(path, width, height)
            at += 11 + _table_size(data[at + 9])
        else:
            raise _damaged(path, f"there is an unknown block at byte {at}")
        while data[at]:
            at += 1 + data[at]
        at += 1


def _table_size(flags: int) -> int:
    """How many bytes the colour table takes that the flags announce."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _check_png(path: Path, data: bytes, last: int | None) -> None:
    """Walk through the chunks of a PNG up to its end mark, with their checksums, and count its frames."""
    budget, at, kind, frames = Budget(), 8, b"", 0
    while kind != b"IEND":
        size, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        if at + 12 + size > len(data):
            raise IndexError
        if zlib.crc32(data[at + 4 : at + 8 + size]) != int.from_bytes(data[at + 8 + size : at + 12 + size], "big"):
            raise _damaged(path, f"the checksum at byte {at + 8 + size} does not fit")
        if (kind == b"IHDR") != (at == 8):
            raise _damaged(path, "its header does not stand at the beginning")
        if at == 8:
            across, down = (int.from_bytes(data[k : k + 4], "big") for k in (16, 20))
            budget.spend(path, across, down)
        if kind == b"fcTL":  # the header of a frame of an animation
            frames += 1
            if last is None or frames <= last:
                budget.spend(path, across, down)
        at += 12 + size


def _check_webp(path: Path, data: bytes, last: int | None) -> None:
    """Walk through the chunks of a WebP and count its frames; all have the size of the whole."""
    end = 8 + _little(data, 4, 4)
    if end > len(data):
        raise IndexError
    first = data[12:16]
    if first == b"VP8X":
        size = 1 + _little(data, 24, 3), 1 + _little(data, 27, 3)
    elif first == b"VP8L":
        bits = _little(data, 21, 4)
        size = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    else:
        size = _little(data, 26, 2) & 0x3FFF, _little(data, 28, 2) & 0x3FFF
    budget, at, frames = Budget(), 12, 0
    budget.spend(path, *size)
    while at + 8 <= end:
        if data[at : at + 4] == b"ANMF":
            frames += 1
            if last is None or frames <= last:
                budget.spend(path, *size)
        at += 8 + (_little(data, at + 4, 4) + 1) // 2 * 2


def _check_jpeg(path: Path, data: bytes, last: int | None) -> None:
    """Walk through the segments of a JPEG: its size, and how often a decoder has to go over it."""
    budget, at, scans, size = Budget(), 2, 0, (0, 0)
    while True:
        while data[at] == 0xFF and data[at + 1] == 0xFF:  # fill bytes
            at += 1
        marker = data[at + 1]
        if data[at] != 0xFF:
            raise _damaged(path, f"there is no marker at byte {at}")
        if marker == 0xD9:  # the end
            return
        length = 0 if marker in (0x01, *range(0xD0, 0xD8)) else int.from_bytes(data[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            size = int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")
        at += 2 + length
        if marker == 0xDA:  # a scan, up to the next marker that is none of its own
            scans += 1
            budget.spend(path, *size)
            if scans > MAX_SCANS:
                raise TooLargeError(f"{path} has more than {MAX_SCANS} scans, which costs hours to decode; save it again.")
            following = _NEXT_MARKER.search(data, at)
            if following is None:
                raise IndexError
            at = following.start()


_NEXT_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
_CHECKS: dict[str, Callable[[Path, bytes, int | None], None]] = {
    **{"GIF": _check_gif, "PNG": _check_png, "WEBP": _check_webp, "JPEG": _check_jpeg}
}


def _little(data: bytes, at: int, size: int) -> int:
    """A number with its lowest byte first; past the end there is none."""
    if at + size > len(data):
        raise IndexError
    return int.from_bytes(data[at : at + size], "little")


def _damaged(path: Path, what: str) -> ValueError:
    """The error of a structure that cannot be right."""
    return ValueError(f"{path} is damaged: {what}; save it again.")


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
    try:
        kind, data = read_checked(path, last)
    except PermissionError:
        raise ValueError(f"{path} is not readable; check its permissions.") from None
    from PIL import Image, ImageSequence, UnidentifiedImageError

    source = path if data is None else io.BytesIO(data)  # what was checked is what is decoded
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own limit is lower
            picture = Image.open(source, formats=[kind])
        with picture:
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
    """Refuse a frame that is too large before it is decoded, or the tiles of which are."""
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
