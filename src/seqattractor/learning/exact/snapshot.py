"""State that can be kept and put back, so that learning can stop inside a window of epochs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Kept"]


class Kept:
    """An object whose changing arrays are named in `changing`."""

    changing: ClassVar[tuple[str, ...]] = ()

    @property
    def nbytes(self) -> int:
        """Size of the changing arrays."""
        return sum(getattr(self, name).nbytes for name in self.changing)

    def keep(self) -> dict[str, NDArray[np.generic]]:
        """Copies of the changing arrays."""
        return {name: getattr(self, name).copy() for name in self.changing}

    def put_back(self, kept: dict[str, Any]) -> None:
        """Return to what `keep` gave."""
        for name, array in kept.items():
            setattr(self, name, array)
