"""Weights in steps of eta on a dyadic grid: float64 adds them up without rounding, in any order.

The rule is homogeneous: weights, kappa and thresholds divided by eta, learned at the rate 1 and
multiplied by eta again, are the same weights. In these steps an update adds whole numbers. Start
weights, kappa and thresholds are multiples of `STEP`, and so is every field. While the sizes of a
neuron's weights sum to less than 2**29 steps, a field has at most 53 bits, and float64 holds it and
every partial sum of it. So the plain loop, the exact engine, one recall and a batch, any BLAS and
any processor come to the same states, and ties stay ties: sign(0) = +1.
"""

from __future__ import annotations

from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

STEP = 2.0**-24
"""The grid, in steps of eta."""
_LARGEST_SUM = (
    2.0**29
)  # of a neuron's weights, in steps of eta: beyond, a field may have more than 53 bits


def on_grid(values: ArrayLike) -> Floats:
    """Round to the grid.

    Examples
    --------
    >>> on_grid(0.1) == 0.1, on_grid(0.1) == on_grid(0.1 + 1e-9)
    (np.False_, np.True_)
    """
    return in_steps(values, 1.0)


def in_steps(weights: ArrayLike, eta: float | None) -> Floats:
    """Give weights in steps of eta, on the grid; what float64 rounded off in multiplying steps by
    eta comes back.

    Where eta is None they are no steps of anything, and stay as they are.

    Examples
    --------
    >>> weights = np.arange(100) * 0.07
    >>> bool((weights / 0.07 == np.arange(100)).all())
    False
    >>> bool((in_steps(weights, 0.07) == np.arange(100)).all())
    True
    """
    if eta is None:
        return np.array(weights, dtype=np.float64)
    steps = np.asarray(np.divide(weights, eta, dtype=np.float64, order="C"))  # as kernels need them
    steps /= STEP  # in place: weights may be the largest arrays there are
    np.rint(steps, out=steps)
    steps *= STEP
    return steps


def exact_rows(weights: ArrayLike, bits: int = 40) -> Floats:
    """Round weights that are no steps of anything, such as a pseudo-inverse, so that sums over
    inputs of +-1 and 0 are exact.

    Each row becomes multiples of a power of two, about 2**-bits of the sum of its sizes. Digits in
    which linear algebra differs between processors are nearly always below that.

    Examples
    --------
    >>> W = exact_rows([[0.1, 0.2, 0.3]])
    >>> float(W[0, 0] + W[0, 1] + W[0, 2]) == float(W[0, 2] + W[0, 1] + W[0, 0])
    True
    >>> float(abs(W - [[0.1, 0.2, 0.3]]).max()) < 1e-12
    True
    """
    W = np.asarray(weights, dtype=np.float64)
    unit = np.ldexp(
        1.0, np.maximum(np.frexp(np.abs(W).sum(axis=-1, keepdims=True))[1] - bits, -1000)
    )
    return np.asarray(np.rint(W / unit) * unit)


class InSteps:
    """A fitted array of weights that is held in steps of eta on the grid, and read and set as
    people expect it, times eta.

    ``net.U_ = weights`` takes weights, ``net.U_`` gives them as an array that cannot be written to,
    since writing to it would not change the network. ``net._step_size(name)`` is eta, or None where
    weights are no steps of anything and stay as they are.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, net: None, owner: type) -> Self: ...
    @overload
    def __get__(self, net: object, owner: type | None = None) -> Floats: ...
    def __get__(self, net: object | None, owner: type | None = None) -> Self | Floats:
        if net is None:
            return self
        steps, eta = held_steps(net, self._name)
        weights = steps.view() if eta is None else steps * eta
        weights.flags.writeable = False
        return weights

    def __set__(self, net: Any, weights: ArrayLike) -> None:
        eta = net._step_size(self._name)
        hold_steps(net, self._name, in_steps(weights, eta), eta)

    def __delete__(self, net: object) -> None:
        del vars(net)[_HELD + self._name], vars(net)[_SIZE + self._name]


_HELD, _SIZE = "_steps_of_", "_step_size_of_"  # what a network holds instead of each array


def held_arrays(net: object) -> list[str]:
    """The names of the arrays that a network holds in steps."""
    return [name.removeprefix(_HELD) for name in vars(net) if name.startswith(_HELD)]


def held_steps(net: object, name: str) -> tuple[Floats, float | None]:
    """The weights of a network in steps of eta, and eta."""
    if _HELD + name not in vars(net):
        raise AttributeError(f"this {type(net).__name__} has no {name} before it has learned.")
    return vars(net)[_HELD + name], vars(net)[_SIZE + name]


def hold_steps(net: object, name: str, steps: Floats, eta: float | None) -> None:
    """Let a network hold weights that are in steps of eta."""
    rows = steps.reshape(len(steps), -1)  # a bias is a row by itself
    largest = max(
        rows.max(initial=0.0), -rows.min(initial=0.0)
    )  # of most networks this tells enough, and copies nothing
    if (
        eta is not None
        and largest * rows.shape[1] >= _LARGEST_SUM <= np.abs(rows).sum(axis=1).max()
    ):
        raise ValueError(
            f"the weights {name} of a neuron sum to more than {_LARGEST_SUM:.3g} learning steps, "
            f"which are eta = {eta:g} each, and float64 could not add them up exactly; use a "
            "larger eta, a smaller kappa or a smaller init_scale."
        )
    vars(net).update({_HELD + name: steps, _SIZE + name: eta})
