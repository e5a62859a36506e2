"""Pictures: animated GIF, WebP and PNG, still pictures, and folders of frames in natural order."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Iterator
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
JPEG = ("JPEG", "MPO")  # the latter holds further pictures
_KINDS = {  # by which decoder of Pillow a file may be read
    **{
        ".gif": "GIF",
        ".webp": "WEBP",
        ".png": "PNG",
        ".apng": "PNG",
        ".jpg": "JPEG",
        ".jpeg": "JPEG",
        ".bmp": "BMP",
    },
    **{".tif": "TIFF", ".tiff": "TIFF", ".pgm": "PPM", ".pbm": "PPM", ".ppm": "PPM"},
}


def _count_scans(path: Path, kind: str | None) -> int:
    """Count how often a decoder goes over each frame: once, but for progressive JPEGs; a GIF that
    is cut short is rejected.
    """
    if kind not in ("GIF", *JPEG):
        return 1
    if path.stat().st_size > MAX_BYTES:
        raise TooLargeError(
            f"{path} has more than {MAX_BYTES / 1e6:.0f} MB, more than any picture that is read; "
            "shrink it."
        )
    data = path.read_bytes()
    if kind == "GIF" and not _has_end_mark(data):  # Pillow would read the frames before the cut
        raise ValueError(
            f"{path} is damaged or cut short: it has no end mark; save or download it again."
        )
    scans = (
        data.count(b"\xff\xda") if kind in JPEG else 1
    )  # a marker that image data cannot contain
    if scans > MAX_SCANS:
        raise TooLargeError(
            f"{path} has more than {MAX_SCANS} scans, which takes hours to decode; save it again."
        )
    return scans


def _has_end_mark(gif: bytes) -> bool:
    """Return whether the blocks of a GIF lead to its end mark."""
    try:
        at = 13 + _table_size(gif[10])
        while gif[at] in (
            0x21,
            0x2C,
        ):  # an extension, or an image with its descriptor and colour table
            at += 2 if gif[at] == 0x21 else 11 + _table_size(gif[at + 9])
            while gif[at]:  # data in blocks of up to 255 bytes
                at += 1 + gif[at]
            at += 1
        return gif[at] == 0x3B
    except IndexError:
        return False


def _table_size(flags: int) -> int:
    """Return how many bytes the colour table takes that the flags announce."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


SUFFIXES = FORMATS["pictures"].suffixes
BAND = 2**18  # pixels that are converted at a time: in between they need twelve bytes each
BRIGHTNESS = (0.0, 255.0)  # of black and of white
TILE_WIDTH, TILE_LENGTH = 322, 323  # tags of a TIFF
WHAT_PILLOW_RAISES = (
    *(
        OSError,
        EOFError,
        SyntaxError,
        struct.error,
        IndexError,
        KeyError,
        TypeError,
        OverflowError,
        ValueError,
    ),
    *(AttributeError, ZeroDivisionError, RuntimeError, NotImplementedError, AssertionError),
)


def read_pictures(path: Path, options: Options) -> Recording:
    """Read the frames of one picture file, or of a folder of pictures, as grey values or in
    colour.
    """
    if path.is_dir():
        return _read_folder(path, options)
    durations: list[float] = []
    last = None if options.frames is None else options.frames[1]
    frames = collect_frames(
        _frames_of(path, durations, Budget(), last, colour=options.colour), options, path
    )
    milliseconds = float(np.median(durations)) if durations else 0.0
    rate = 1000.0 / milliseconds if milliseconds > 0 else None
    return Recording([frames], "pictures", [path.stem], rate=rate, value_range=BRIGHTNESS)


def _read_folder(path: Path, options: Options) -> Recording:
    """Read the pictures of a folder, sorted naturally, as the frames of one sequence."""
    files = pictures_in(path)
    if not files:
        raise ValueError(
            f"the folder {path} holds no pictures ({', '.join(s[1:] for s in SUFFIXES)})."
        )
    if len(files) > MAX_FRAMES:
        raise TooLargeError(f"the folder {path} holds more than {MAX_FRAMES} pictures.")
    budget = Budget()
    frames = (next(_frames_of(file, [], budget, 1, colour=options.colour)) for file in files)
    return Recording(
        [collect_frames(frames, options, path)],
        "pictures",
        [path.resolve().name],
        value_range=BRIGHTNESS,
    )


def pictures_in(folder: Path) -> list[Path]:
    """Return the pictures of a folder in natural order, without hidden files."""
    pictures = (
        f
        for f in folder.iterdir()
        if f.is_file() and f.suffix.lower() in SUFFIXES and not f.name.startswith(".")
    )
    return sorted(pictures, key=lambda file: natural_key(file.name))


def _frames_of(
    path: Path, durations: list[float], budget: Budget, last: int | None, *, colour: bool = False
) -> Iterator[NDArray[Any]]:
    """Go through the frames of a picture file up to `last`; every way in which it can be broken is
    one ValueError.
    """
    from PIL import Image, ImageSequence, UnidentifiedImageError

    allowed = (
        [_KINDS[path.suffix.lower()]]
        if path.suffix.lower() in _KINDS
        else sorted(set(_KINDS.values()))
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", Image.DecompressionBombWarning
            )  # our own limit is lower
            picture = Image.open(path, formats=allowed)
            if picture.format == "PNG":
                with picture:
                    picture.verify()  # all checksums, after which it must be opened again
                picture = Image.open(path, formats=allowed)
        with picture:
            scans = _count_scans(path, picture.format)
            Budget().spend(
                path,
                *picture.size,
                scans * min(getattr(picture, "n_frames", 1), last or MAX_FRAMES),
            )
            for frame in ImageSequence.Iterator(picture):
                _check_frame(path, frame, budget)
                values = _values(
                    frame, "RGB" if colour else "L"
                )  # a WebP has the duration of a frame only when it is decoded
                duration = frame.info.get("duration", 0)
                durations.append(float(duration) if isinstance(duration, (int, float)) else 0.0)
                yield values
                if (
                    picture.format in JPEG
                ):  # phones hide further pictures behind the one that they show
                    break
    except TooLargeError:
        raise
    except Image.DecompressionBombError:
        raise TooLargeError(f"{path} declares too many pixels to store; shrink it first.") from None
    except UnidentifiedImageError:
        what = allowed[0] if len(allowed) == 1 else "a picture"
        raise ValueError(
            f"{path} cannot be read as {what}: it is damaged, or its name does not fit what it is."
        ) from None
    except WHAT_PILLOW_RAISES as error:
        reason = (
            str(error).splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
        )
        raise ValueError(f"{path} is damaged or cut short ({reason}); save it again.") from None


def _check_frame(path: Path, frame: Image, budget: Budget) -> None:
    """Reject a frame that is too large before it is decoded, or the tiles of which are."""
    budget.spend(path, *frame.size)
    tags = getattr(frame, "tag_v2", {})
    tile = [tags.get(tag, 1) for tag in (TILE_WIDTH, TILE_LENGTH)]
    if all(isinstance(side, int) for side in tile):
        Budget().spend(path, *tile)


def _values(frame: Image, mode: str) -> NDArray[Any]:
    """Return values 0 to 255 of a frame on a white page, shape (height, width) for the mode L and
    (height, width, 3) for RGB.
    """
    if frame.mode in (
        "I;16",
        "I;16B",
        "I;16L",
        "I",
        "F",
    ):  # sixteen bits and more: scale by the type's range, or as it is
        grey = np.asarray(frame, dtype=np.float32)
        grey = grey / 257.0 if grey.max(initial=0) > 255 else grey
        return grey if mode == "L" else np.stack([grey] * 3, axis=2)
    frame.load()
    width, height = frame.size
    values = np.empty((height, width) if mode == "L" else (height, width, 3), dtype=np.uint8)
    rows = max(1, BAND // max(width, 1))
    for top in range(0, height, rows):
        values[top : top + rows] = _band_values(
            frame.crop((0, top, width, min(top + rows, height))), mode
        )
    return values


def _band_values(band: Image, mode: str) -> NDArray[np.uint8]:
    """Return values of some rows."""
    from PIL import Image as pil

    if "A" in band.getbands() or "transparency" in band.info:
        seen = band.convert("RGBA")
        band = pil.alpha_composite(pil.new("RGBA", seen.size, "white"), seen)
    return np.asarray(band.convert(mode), dtype=np.uint8)
