"""Weights as whole numbers in limbs: sums without rounding, in whatever order and on whatever machine they are added up.

BLAS on one machine, another one, a GPU and onnxruntime add the terms of W x in different orders, and float64 rounds each of them
differently: a sum near its threshold may come out on either side. So each row of W is written in whole numbers of a unit of its
own, a power of two, and these numbers in a few limbs, as in long multiplication: every limb is so short that all sums of it are
whole numbers that the floating-point type holds exactly. What overflows a limb is carried to the next one. As the carry is
rounded down, what is left below is never negative, and the sum is at or above zero exactly if its highest limb is.

Whole numbers and the dyadic weights of the sparse network fit into one limb of float64, other weights mostly into two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_memory

Floats = NDArray[np.float64]
DIGITS = {"float64": 53, "float32": 24}
"""Bits of the whole numbers that a type holds without gaps."""
_NOWHERE = 2**20  # no number has a bit there


@dataclass(frozen=True, eq=False)
class Limbs:
    """The weights of a layer, row by row: W = 2**exponent * (digits[0] + 2**bits digits[1] + 2**(2 bits) digits[2] + ...).

    Examples
    --------
    >>> limbs = split_weights(np.array([[0.1, 0.5], [3.0, -1.0]]), np.array([0.0, -2.0]))
    >>> len(limbs.digits), split_weights(np.array([[3.0, -1.0]]), np.array([-2.0])).digits.tolist()
    (2, [[[3.0, -1.0]]])
    >>> limbs.active(np.array([[1, -1], [1, 1]]))
    array([[False,  True],
           [ True,  True]])
    """

    digits: Floats
    """Whole numbers, shape (limbs, neurons, inputs), the lowest limb first."""
    offsets: Floats
    """The same of the offset, shape (limbs, neurons)."""
    exponent: NDArray[np.int32]
    """Of the unit of each row, shape (neurons,)."""
    bits: int
    """How many a limb has."""

    def active(self, x: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell whether W x + offset >= 0 for a batch of inputs -1, 0 and 1: (B, inputs) -> (B, neurons)."""
        inputs = x.astype(np.float64)
        sums = inputs @ self.digits[0].T + self.offsets[0]
        for digits, offsets in zip(self.digits[1:], self.offsets[1:], strict=True):
            sums = inputs @ digits.T + offsets + np.floor(sums * 2.0**-self.bits)
        return np.asarray(sums >= 0)

    def weights(self) -> tuple[Floats, Floats]:
        """Give the weights, (neurons, inputs), and the offsets, (neurons,), from which the limbs were made, bit for bit."""
        W, offset = np.zeros(self.digits.shape[1:]), np.zeros(self.offsets.shape[1:])
        for k in reversed(range(len(self.digits))):
            exponent = self.exponent + k * self.bits
            W += np.ldexp(self.digits[k], exponent[:, None])
            offset += np.ldexp(self.offsets[k], exponent)
        return W, offset


def split_weights(W: Floats, offset: Floats, dtype: str = "float64") -> Limbs:
    """Write weights and offsets in limbs whose sums a type holds exactly.

    Parameters
    ----------
    W : ndarray, shape (neurons, inputs)
    offset : ndarray, shape (neurons,)
    dtype : {"float64", "float32"}

    Returns
    -------
    Limbs
    """
    rows = np.column_stack([W, offset])
    exponent, terms = lowest_bit(rows), rows.shape[1]
    # So short that as many terms as there are, and the carry from below, stay under 2**digits; the highest limb takes the rest.
    bits = DIGITS[dtype] - 1 - terms.bit_length()
    beyond = int(np.max(np.frexp(np.abs(rows).sum(axis=1))[1] - exponent)) - DIGITS[dtype]
    count = 1 if beyond <= 0 else 1 + -(-(beyond + 1) // bits)
    check_memory(3 * 8 * rows.size * count, f"weights of {rows.shape[0]} neurons in {count} limbs")
    digits, rest = np.empty((count, *rows.shape)), rows.copy()
    for k in reversed(range(count)):
        unit = (exponent + k * bits)[:, None]
        digits[k] = np.rint(np.ldexp(rest, -unit))
        rest -= np.ldexp(digits[k], unit)  # exact: it takes the leading bits off
    return Limbs(np.ascontiguousarray(digits[:, :, :-1]), digits[:, :, -1].copy(), exponent, bits)


def round_weights(W: Floats, offset: Floats, digits: int) -> tuple[Floats, Floats, Floats]:
    """Round each row to a unit so coarse that all its sums are whole numbers below 2**digits.

    Returns
    -------
    W, offset : ndarray
        Multiples of the unit. They are what was given, if that has few enough bits.
    unit : ndarray, shape (neurons,)
        A power of two for each row.
    """
    rows = np.column_stack([W, offset])
    largest = np.abs(rows).sum(axis=1) * (1 + rows.shape[1] * 2.0 ** (1 - digits))  # each term may grow by half a unit
    exponent = np.maximum(lowest_bit(rows), np.frexp(largest)[1] - digits)
    rounded = np.ldexp(np.rint(np.ldexp(rows, -exponent[:, None])), exponent[:, None])
    return rounded[:, :-1], rounded[:, -1], np.ldexp(1.0, exponent)


def lowest_bit(rows: Floats) -> NDArray[np.int32]:
    """The exponent of the lowest bit that is set in each row, shape (neurons,); 0 for a row of zeros.

    Examples
    --------
    >>> lowest_bit(np.array([[1.0, 12.0], [0.75, 0.0], [0.0, 0.0]]))
    array([ 0, -2,  0], dtype=int32)
    """
    fraction, exponent = np.frexp(rows)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    low = (mantissa & -mantissa).astype(np.float64)  # the lowest bit alone
    place = np.where(mantissa == 0, _NOWHERE, exponent + np.frexp(low)[1] - 54)
    lowest = place.min(axis=1)
    return np.where(lowest == _NOWHERE, 0, lowest).astype(np.int32)
