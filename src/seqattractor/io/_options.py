"""How a file is read: the table of formats (a new one is a file with its reader, and a line here), and the user's choices.

The choices travel with the model, so that a cue is read in the same way.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from numbers import Real
from typing import Any, NamedTuple

from seqattractor._checks import is_count, say


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
    "table": Format((".csv", ".tsv", ".tab", ".dat"), "_text:read_table"),
    "spikes": Format((), "_spikes:read_spikes"),
    "midi": Format((".mid", ".midi"), "_midi:read_midi"),
    "nwb": Format((".nwb",), "_nwb:read_nwb"),
}


@dataclass(frozen=True)
class Options:
    """What `load` takes beside the path; see there. Checked when made."""

    format: str | None = None
    size: int | tuple[int, int] | str | None = "auto"
    threshold: float | str | None = None
    invert: bool = False
    frames: tuple[int, int | None] | None = None
    stride: int = 1
    crop: tuple[int, int, int, int] | None = None
    loop: bool = False
    drop_repeats: bool = False
    drop_near: int = 0
    key: str | None = None
    time_axis: int | None = None
    bin: float | None = None
    step: float | None = None
    epochs: str | None = None

    def __post_init__(self) -> None:
        """Refuse choices that make no sense, each with a sentence; lists from a model file become tuples."""
        for name in ("size", "frames", "crop"):
            if isinstance(value := getattr(self, name), list):
                object.__setattr__(self, name, tuple(value))
        if self.format is not None and self.format not in FORMATS:
            raise ValueError(f"the format must be one of {', '.join(FORMATS)}, but it is {self.format!r}.")
        size = self.size
        pair = isinstance(size, tuple) and len(size) == 2 and all(is_count(s) for s in size)
        if not (size is None or size == "auto" or is_count(size) or pair):
            raise ValueError(f'the size must be a number of pixels, (height, width), "auto" or None, but it is {size!r}.')
        if isinstance(self.threshold, str) and self.threshold not in ("otsu", "median"):
            raise ValueError(f'the threshold must be a number, "otsu" or "median", but it is {self.threshold!r}.')
        if not is_count(self.stride):
            raise ValueError(f"the stride must be a whole number, 1 or more, but it is {self.stride!r}.")
        if not is_count(self.drop_near, 0):
            raise ValueError(f"drop_near must be a whole number of units, 0 or more, but it is {self.drop_near!r}.")
        self._check_ranges()
        if self.time_axis is not None and self.time_axis not in (0, 1):
            raise ValueError(f"the time axis must be 0 or 1, but it is {self.time_axis!r}.")
        if self.epochs is not None and not isinstance(self.epochs, str):
            raise ValueError(f"epochs is the name of a table of intervals, such as 'trials', but it is {say(self.epochs)}.")
        for name, unit in (("bin", "seconds"), ("step", "quarter notes")):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Real) and 0 < float(value) < float("inf")):
                raise ValueError(f"the {name} is a width in {unit} above 0, but it is {value!r}.")

    def _check_ranges(self) -> None:
        """Refuse an empty range of frames or an empty crop."""
        if self.frames is not None:
            first, last = self.frames if len(self.frames) == 2 else (-1, None)
            if not (is_count(first, 0) and (last is None or is_count(last, first + 1))):
                raise ValueError(f"frames must be a range (first, end) of frame numbers from 0, but it is {self.frames!r}.")
        crop = (0, 0, 1, 1) if self.crop is None else self.crop
        if len(crop) != 4 or not all(is_count(c, 0) for c in crop) or crop[0] >= crop[2] or crop[1] >= crop[3]:
            raise ValueError(f"the crop must be (left, top, right, bottom) in pixels, but it is {crop!r}.")

    def as_dict(self) -> dict[str, Any]:
        """Give the choices that differ from the defaults, as plain values for a model file."""
        defaults = {f.name: f.default for f in fields(self)}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items() if v != defaults[k]}
