"""Work that is counted, so that a search can end after a known amount of it, the same on every
machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable

Callback = Callable[[int, int], object]
"""Called as ``callback(done, total)`` now and then."""


class Work:
    """A budget of multiplications, perhaps a part `of` a larger one; other operations spend as many
    as take the same time.
    """

    def __init__(self, limit: float = math.inf, *, of: Work | None = None) -> None:
        self.left, self._whole = limit, of

    def spend(self, operations: float) -> None:
        """Note what was done."""
        self.left -= operations
        if self._whole is not None:
            self._whole.spend(operations)

    @property
    def over(self) -> bool:
        """Whether more was done than was allowed."""
        return self.left < 0

    def share(self, parts: int) -> Work:
        """What one of so many parts may do that are left; what it does not need is left for the
        others.
        """
        return Work(self.left / max(1, parts), of=self)
