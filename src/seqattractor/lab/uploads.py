"""Files that a visitor drops on the page: bounded, and read by the library's own loaders in a
subprocess.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from seqattractor.io._options import FORMATS, Terms, TooLargeError
from seqattractor.io._subprocess import Bounds, load_in_subprocess
from seqattractor.lab.choices import counted_from_1
from seqattractor.lab.materials import Material
from seqattractor.lab.requests import Fields, Limits, Rejection, parse
from seqattractor.sequences import Sequences
from seqattractor.sequences._columns import natural_key
from seqattractor.sequences._level_code import MOST_LEVELS

_PICTURES = FORMATS["pictures"].suffixes
_FILMS = (*_PICTURES, *FORMATS["video"].suffixes)
_KNOWN = tuple(suffix for known in FORMATS.values() for suffix in known.suffixes)
_CUTS = ("otsu", "median")
_MOST_STRIDE = 1000
_LARGEST = 1e100
MAX_FILES = 400
BOUNDS = Bounds(seconds=20.0, memory=2**30)
ALL_PIXELS = 2**29  # of all frames of an upload


def _split(body: bytes) -> tuple[list[tuple[str, bytes]], dict[str, Any]]:
    """Split an upload, a line of JSON and then the files: names with contents, and how they are to
    be read, as options of `load`.
    """
    line, _, content = body.partition(b"\n")
    head = parse(line, "upload", "The upload does not start with a line of JSON.")
    head.only("files", "levels", "colour", "threshold", "stride", "bin", "key")
    files, at = [], 0
    for entry in head.objects("files", 1, MAX_FILES):
        size = entry.whole("size", 0, 1, len(body))
        files.append((entry.text("name", 300), content[at : at + size]))
        at += size
    if at != len(content):
        raise Rejection(400, f"The upload announces {at} bytes, but has {len(content)}.")
    return files, _how(head)


def _how(head: Fields) -> dict[str, Any]:
    """Return how files are to be read, as options of `load`; levels of 0 are black and white."""
    levels, colour = head.whole("levels", 0, 0, MOST_LEVELS), head.whole("colour", 0, 0, 1)
    if levels == 1 or (colour and not levels):
        raise Rejection(
            400, "levels must be 0 for black and white, or 2 and more for grey or colour."
        )
    options: dict[str, Any] = {"stride": head.whole("stride", 1, 1, _MOST_STRIDE)}
    if levels:
        options |= {"levels": levels, "colour": bool(colour)}
    if head.is_text("threshold"):
        options["threshold"] = head.choice("threshold", "otsu", _CUTS)
    elif head.has("threshold"):
        options["threshold"] = head.number("threshold", 0.0, -_LARGEST, _LARGEST)
    if head.has("bin"):
        options["bin"] = head.number("bin", 1.0, 1e-6, 1e6)
    if key := head.text("key", 200).strip():
        options["key"] = key
    return options


def read_upload(body: bytes, limits: Limits) -> Material:
    """Make a sequence of dropped files: one file that the library reads, or several pictures sorted
    by name.

    Of a name only a known ending counts; nothing is ever written or read under a visitor's name.
    """
    files, how = _split(body)
    files.sort(key=lambda file: natural_key(file[0]))  # frame2 comes before frame10
    suffixes = [_suffix(name) for name, _ in files]
    several = len(files) > 1
    if several and not all(s in _PICTURES for s in suffixes):
        raise Rejection(
            400, "Drop one file at a time, or several pictures that are the frames of one sequence."
        )
    with tempfile.TemporaryDirectory(prefix="seqattractor-lab-") as folder:
        names: dict[Path, str] = {}  # what the visitor calls the things on this machine
        for rank, (suffix, (name, content)) in enumerate(zip(suffixes, files, strict=True)):
            path = Path(folder, f"{rank:04d}{suffix}")
            path.write_bytes(content)
            names[path] = name
        target = Path(folder) if several else path
        # One frame more than allowed is enough to know that there are too many.
        options = how | {"frames": (0, limits.frames * how["stride"] + 1)}
        # Pictures are shrunk until their units are few enough, and never enlarged.
        terms = Terms("lab", limits.pixels, ALL_PIXELS, limits.unpacked, limits.units)
        try:
            data = load_in_subprocess([target], options, terms=terms, bounds=BOUNDS, several=False)
        except (ValueError, TypeError, OSError) as error:
            status = 413 if isinstance(error, TooLargeError) else 400
            raise Rejection(
                status, _without_path(error, {**names, Path(folder): "the pictures"})
            ) from None
    limits.check_sequences(data.lengths.tolist(), data.shape[1])
    return Material(_dark_ground(data) if suffixes[0] in _FILMS and data.code is None else data)


def _suffix(name: str) -> str:
    """Return the ending of a name, which must be a known one."""
    ending = re.search(r"\.[A-Za-z0-9]{2,5}$", name)
    suffix = ending.group().lower() if ending else ""
    if suffix not in _KNOWN:
        raise Rejection(
            400,
            "The lab reads pictures, videos, arrays (npy, npz, mat), tables (csv, tsv), text, MIDI "
            "and NWB; this is none of them.",
        )
    return suffix


def _dark_ground(data: Sequences) -> Sequences:
    """Make the figure +1: whichever of ink and ground is rarer."""
    return (
        replace(data, patterns=-data.patterns) if data.patterns.mean(dtype=np.float64) > 0 else data
    )


def _shown(name: str) -> str:
    """Return a visitor's file name for a sentence: its last part, shortened."""
    plain = re.sub(r"[^\w .()\-]", "", re.split(r"[/\\]", name)[-1])
    return plain if 0 < len(plain) <= 60 else plain[-57:] or "The file"


def _without_path(error: Exception, names: dict[Path, str]) -> str:
    """Return the loader's message with the visitor's names of files in place of the server's."""
    text = counted_from_1(str(error))  # first, since names may hold numbers, too
    named = any(text.startswith(str(path)) for path in names)
    for path, name in names.items():
        text = text.replace(f"array '{path.stem}' in ", "array in ").replace(
            str(path), _shown(name)
        )
    return text if named else text[:1].upper() + text[1:]
