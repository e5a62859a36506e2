"""The table of formats: a new one is a file with its reader, and a line here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from seqattractor.io._options import Options
    from seqattractor.io._recording import Recording

    Reader = Callable[[Path, Options], Recording]


class Format(NamedTuple):
    """Endings of names, and where in this package the reader stands."""

    suffixes: tuple[str, ...]
    reader: str


FORMATS = {
    "pictures": Format(
        (".gif", ".webp", ".png", ".apng", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".pgm", ".pbm", ".ppm"),
        "_pictures:read_pictures",
    ),
    "video": Format((".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".ogv", ".wmv"), "_video:read_video"),
    "array": Format((".npy", ".npz"), "_arrays:read_array"),
    "text": Format((".txt", ".asc", ".art"), "_text:read_text"),
    "table": Format((".csv", ".tsv", ".tab", ".dat"), "_tables:read_table"),
    "spikes": Format((), "_spikes:read_spikes"),
    "midi": Format((".mid", ".midi"), "_midi:read_midi"),
}
_MAY_HOLD_SPIKES = ("array", "text", "table")  # where a width of bins says so


def choose_reader(path: Path, options: Options) -> Reader:
    """Choose the reader of a file or a folder."""
    if path.is_dir():
        if options.format not in (None, "pictures"):
            raise ValueError(f"{path} is a folder; only pictures are read from folders.")
        return _reader("_pictures:read_folder")
    suffix = path.suffix.lower()
    name = options.format or next((name for name, known in FORMATS.items() if suffix in known.suffixes), None)
    if name is None:
        known = ", ".join(s[1:] for kind in FORMATS.values() for s in kind.suffixes)
        raise ValueError(
            f"{path} is of an unknown kind; known are folders and {known}; or say the format (on the command line --format)."
        )
    if options.format is None and options.bin is not None and name in _MAY_HOLD_SPIKES:
        name = "spikes"
    return _reader(FORMATS[name].reader)


def _reader(place: str) -> Reader:
    """Import a reader when it is needed."""
    module, _, name = place.partition(":")
    reader: Reader = getattr(import_module(f"seqattractor.io.{module}"), name)
    return reader
