"""What theory allows the two layers of a network to store, beside what is stored."""

from __future__ import annotations

from seqattractor.analysis._gardner import gardner_capacity
from seqattractor.paper.target import Result, Row

COVER = 2.0
"""Random patterns for each input of a perceptron, half of them active (Cover 1965)."""


def bits_per_weight(T: int, N: int, M: int) -> float:
    """Bits of a sequence of T random patterns (the last is the first) for each of the 2MN + M weights of a sparse network.

    Examples
    --------
    >>> round(bits_per_weight(1001, N=100, M=500), 3)
    0.995
    """
    return (T - 1) * N / (2 * M * N + M)


def loads(result: Result) -> list[Row]:
    """Give, for each length that was looked into: bits for each weight, and the loads of V and U beside their limits.

    V has M inputs and as many patterns as there are transitions, half of them +1. U has N inputs, and a fraction `active` of the
    transitions should make a neuron active.
    """
    rows = []
    for row in result.rows(part="inside"):
        N, M, T = row["N"], row["M"], row["T"]
        tried = result.rows(part="length", network=row["network"], T=T)
        rows.append(
            {
                "T": T,
                "success": f"{tried[0]['successes']}/{tried[0]['trials']}" if tried else "-",
                "rate": tried[0]["successes"] / tried[0]["trials"] if tried else None,
                "bits": bits_per_weight(T, N, M),
                "visible_load": (T - 1) / M,
                "active": row["active"],
                "hidden_load": (T - 1) / N,
                "gardner": gardner_capacity(min(max(row["active"], 1e-9), 1 - 1e-9)),
            }
        )
    return rows
