"""What constraints say of the synapses of a layer, as arrays and numbers that learning obeys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from seqattractor.constraints import Constraint
from seqattractor.engine.problem import Floats

_HAIR = 2.0**-20  # of a level, by which a bound may be rounded off


@dataclass(frozen=True)
class Synapses:
    """Bounds, levels and decay of the synapses of a layer, in the units of their weights."""

    low: Floats
    """The lowest value that each may have, shape (neurons, inputs); -inf for none."""
    high: Floats
    """The highest."""
    spacing: float
    """Between two levels; 0 for all values of the grid."""
    left: float
    """What they keep of themselves at every transition; 1 for all."""

    @classmethod
    def obeying(
        cls,
        constraints: Sequence[Constraint],
        shape: tuple[int, int],
        unit: float,
        cells: int,
        rng: np.random.Generator,
        grid: float,
    ) -> Self:
        """Ask constraints what they are for a layer; sizes are rounded to the grid.

        Examples
        --------
        >>> from seqattractor.constraints import Bounded, Levels
        >>> rng = np.random.default_rng(0)
        >>> found = Synapses.obeying([Bounded(2), Levels(3)], (1, 4), 10.0, 4, rng, 1.0)
        >>> found.spacing, found.high
        (10.0, array([[20., 20., 20., 20.]]))
        """
        low, high, spacing, left = np.full(shape, -np.inf), np.full(shape, np.inf), 0.0, 1.0
        for each in constraints:
            lowest, highest = each.bounds(shape, unit, cells, rng)
            if apart := each.spacing(unit):
                spacing = max(grid, float(np.rint(apart / grid) * grid))
                lowest, highest = (bound * (spacing / apart) for bound in (lowest, highest))
            low, high = np.maximum(low, lowest), np.minimum(high, highest)
            left *= 1.0 - each.decay()
            if low.shape != shape or not ((low <= 0) & (high >= 0)).all():
                raise ValueError(
                    f"{type(each).__name__}.bounds must return two arrays that numpy broadcasts to "
                    f"the shape {shape} of the weights, with 0 between them."
                )
        level = spacing or grid  # bounds are whole levels; 0.0 in place of -0.0
        return cls(
            low=np.ceil(low / level - _HAIR) * level + 0.0,
            high=np.floor(high / level + _HAIR) * level + 0.0,
            spacing=spacing,
            left=left,
        )

    @property
    def fades(self) -> bool:
        """Whether synapses change where nothing is learned, too."""
        return self.left < 1

    def possible(self, weights: NDArray[Any], rows: Any, rng: np.random.Generator) -> Floats:
        """Return the weights of some neurons as they may be; between two levels chance decides."""
        if self.spacing:
            levels = weights / self.spacing
            below = np.floor(levels)
            chance = rng.random(levels.shape, np.float32)
            weights = (below + (chance < levels - below)) * self.spacing
        return np.asarray(np.clip(weights, self.low[rows], self.high[rows]))


def draw(seed: NDArray[np.int64], epoch: int) -> list[np.random.Generator]:
    """Return the chance of the hidden and of the visible neurons in an epoch; one for each, since U
    does not depend on V.
    """
    return [np.random.default_rng([*seed, 2 + which, epoch]) for which in (0, 1)]
