"""Work that is counted, so that a search can end after a known amount of it, the same on every machine."""

from __future__ import annotations

import math
from collections.abc import Callable

Told = Callable[[int, int], object]
"""Called as ``callback(done, total)`` now and then."""


class Work:
    """How much may still be done, in multiplications; what takes other operations spends as many as take the same time.

    Parameters
    ----------
    limit : float
        By default there is none.
    of : Work, optional
        A larger work of which this is a part.

    Examples
    --------
    >>> work = Work(100)
    >>> work.spend(60), work.over, work.spend(60), work.over
    (None, False, None, True)
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
        """What one of so many parts may do that are left; what it does not need is left for the others."""
        return Work(self.left / max(1, parts), of=self)
