"""Arrays as the kernels want them: rows of whole blocks, patterns in bits, and exact products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.learning import kernels


def converted(array: Any, kind: Any) -> Any:
    """A copy as numbers of a kind."""
    copy = kernels.aligned(array.shape, kind)
    copy[...] = array
    return copy


def in_rows(array: Any, kind: Any, *, padded: bool = True) -> Any:
    """A copy of an array (rows, length) with zeros at the end of its rows, and, if `padded`, after the last one."""
    n_rows, length = array.shape
    wide = kernels.aligned((kernels.padded(n_rows) if padded else n_rows, kernels.row(length)), kind, np.zeros)
    wide[:n_rows, :length] = array
    return wide


def packed(patterns: Any) -> NDArray[np.uint64]:
    """Rows (n, N) as bits, (n, words of N): one is set where a number is above 0."""
    bits = np.zeros((len(patterns), kernels.padded(patterns.shape[1])), dtype=np.uint8)
    bits[:, : patterns.shape[1]] = patterns > 0
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def unpacked(bits: NDArray[np.uint64], length: int) -> NDArray[np.uint8]:
    """The bits of each row, (n, length)."""
    return np.unpackbits(bits.astype("<u8").view(np.uint8), axis=1, count=length, bitorder="little")


def products(W: NDArray[Any], X: NDArray[Any]) -> NDArray[Any]:
    """W X^T by BLAS, which is exact and fast: in float32 where no sum can reach 2**24, else in float64; 2**53 is far away."""
    kind = np.float32 if W.shape[1] * largest(W) * largest(X) < 2**24 else np.float64
    if not W.any():
        return np.zeros((len(W), len(X)), dtype=kind)
    exact: NDArray[Any] = W.astype(kind) @ X.T.astype(kind)
    return exact


def largest(array: NDArray[Any]) -> int:
    """The largest absolute value."""
    return max(abs(int(array.min())), abs(int(array.max())))


def inverse_lengths(P: NDArray[Any]) -> NDArray[np.float64]:
    """The inverse of the length of each row, which is taken to be at least 1."""
    inverse: NDArray[np.float64] = 1.0 / np.sqrt(np.maximum(np.einsum("ij,ij->i", P, P), 1))
    return inverse
