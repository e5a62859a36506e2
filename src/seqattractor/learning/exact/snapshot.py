"""Snapshots of the state of learning, so that it can stop inside a window of epochs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray


class Restorable:
    """An object whose changing arrays are named in `changing`."""

    changing: ClassVar[tuple[str, ...]] = ()

    @property
    def nbytes(self) -> int:
        """Size of the changing arrays."""
        return sum(getattr(self, name).nbytes for name in self.changing)

    def snapshot(self) -> dict[str, NDArray[np.generic]]:
        """Copies of the changing arrays."""
        return {name: getattr(self, name).copy() for name in self.changing}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Return to what `snapshot` gave."""
        for name, array in snapshot.items():
            setattr(self, name, array)
