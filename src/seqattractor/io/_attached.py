"""Sequences that are saved in a model file beside the network, so that a recall can be compared
with them and drawn like them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seqattractor.sequences import LevelCode, Sequences
from seqattractor.sequences._level_code import picture_shape
from seqattractor.sequences._patterns import as_signs

_ABOUT_FRAMES = ("frame_shape", "units", "rate", "step", "kind", "options", "code")
_ABOUT_SEQUENCES = ("lengths", "names", "closed")


@dataclass(frozen=True)
class Attached:
    """What a model file holds about the sequences that the network learned; the fields are those of
    `Sequences`.
    """

    sequences: Sequences | None  # the sequences, if they were saved
    frame_shape: tuple[int, ...]
    units: list[str] | None
    rate: float | None
    step: float | None
    kind: str
    options: dict[str, Any]
    code: LevelCode | None

    @property
    def picture_shape(self) -> tuple[int, int] | None:
        """Height and width, where frames are pictures."""
        return picture_shape(self.frame_shape, self.code)


def attach(net: Any, data: Sequences, *, patterns: bool = True) -> None:
    """Attach sequences to a fitted network: ``metadata_`` and, with `patterns`,
    ``attached_patterns_`` (T, ceil(N / 8)) uint8.
    """
    net.metadata_ = {
        **{name: getattr(data, name) for name in (*_ABOUT_FRAMES, *_ABOUT_SEQUENCES)},
        "frame_shape": list(data.frame_shape),
        "lengths": data.lengths.tolist(),
        "code": None if data.code is None else data.code.to_dict(),
    }
    if patterns:
        net.attached_patterns_ = np.packbits(data > 0, axis=1)


def attached(net: Any) -> Attached:
    """Return what `attach` attached, checked like any input; a model without it has frames of N
    units.
    """
    known = {
        name: value
        for name, value in (getattr(net, "metadata_", None) or {}).items()
        if value is not None
    }
    N, packed = int(net.n_features_in_), getattr(net, "attached_patterns_", None)
    wanted = _ABOUT_FRAMES if packed is None else (*_ABOUT_FRAMES, *_ABOUT_SEQUENCES)
    about = {name: known[name] for name in wanted if name in known}
    try:
        if not isinstance(about.get("kind", ""), str) or not isinstance(
            about.get("options", {}), dict
        ):
            raise ValueError("kind is a word, and options are a table")
        # Without patterns one row of +1 takes their place, so that the rest can be checked.
        X = (
            np.ones((1, N), dtype=np.int8)
            if packed is None
            else as_signs(np.unpackbits(packed, axis=1, count=N) > 0)
        )
        data = Sequences(X, **about)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"the metadata of the sequences do not fit the model ({error}); learn it again."
        ) from None
    return Attached(
        None if packed is None else data, **{name: getattr(data, name) for name in _ABOUT_FRAMES}
    )
