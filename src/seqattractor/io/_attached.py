"""Sequences that are saved in a model file beside the network, so that a recall can be compared with them and drawn like them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seqattractor.sequences import LevelCode, Sequences
from seqattractor.sequences._level_code import picture_shape

_ABOUT_FRAMES = ("frame_shape", "units", "rate", "step", "kind", "options", "code")
_ABOUT_SEQUENCES = ("lengths", "names", "closed")


@dataclass(frozen=True)
class Attached:
    """What a model knows about the sequences that it learned; the fields are those of `Sequences`."""

    sequences: Sequences | None
    """The sequences, where the model keeps them."""
    frame_shape: tuple[int, ...]
    units: list[str] | None = None
    rate: float | None = None
    step: float | None = None
    kind: str = "array"
    options: dict[str, Any] = field(default_factory=dict)
    code: LevelCode | None = None

    @property
    def picture_shape(self) -> tuple[int, int] | None:
        """Height and width, where frames are pictures."""
        return picture_shape(self.frame_shape, self.code)


def attach(net: Any, data: Sequences, *, patterns: bool = True) -> None:
    """Attach sequences to a fitted network, to be saved with it."""
    net.metadata_ = {
        **{name: getattr(data, name) for name in (*_ABOUT_FRAMES, *_ABOUT_SEQUENCES)},
        "frame_shape": list(data.frame_shape),
        "lengths": data.lengths.tolist(),
        "code": None if data.code is None else data.code.to_dict(),
    }
    if patterns:
        net.attached_patterns_ = np.packbits(data > 0, axis=1)


def attached(net: Any) -> Attached:
    """Return what `attach` attached; a model without such information has frames of N units.

    A model file may come from anywhere: what it says about its sequences is checked as if a person had said it.
    """
    known = {name: value for name, value in (getattr(net, "metadata_", None) or {}).items() if value is not None}
    N, packed = int(net.n_features_in_), getattr(net, "attached_patterns_", None)
    about = {name: known[name] for name in _ABOUT_FRAMES if name in known}
    try:
        if not isinstance(about.get("kind", ""), str) or not isinstance(about.get("options", {}), dict):
            raise ValueError("kind is a word, and options are a table")
        if packed is None:
            X = np.ones((1, N), dtype=np.int8)  # stands in for the patterns, so that the rest can be checked
        else:
            about |= {name: known[name] for name in _ABOUT_SEQUENCES if name in known}
            X = np.where(np.unpackbits(packed, axis=1, count=N), 1, -1).astype(np.int8)
        data = Sequences(X, **about)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"what the model says about its sequences does not fit it ({error}); learn it again.") from None
    kept = {name: getattr(data, name) for name in _ABOUT_FRAMES}
    return Attached(None if packed is None else data, **kept)
