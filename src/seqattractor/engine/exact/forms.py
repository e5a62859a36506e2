"""Which form of the exact engine learns sooner: fields (`blocks`) or weights (`weights`). Both give the same result.

The choice counts operations and knows no clock, so that a network learns in the same way on every machine. `docs/engine.rst` has
the model, and `benchmarks/long_sequences.py` measures it.
"""

from __future__ import annotations

from math import ceil
from typing import Literal

from seqattractor.engine.exact.weights import CHUNK
from seqattractor.engine.kernels import SIDE

Form = Literal["fields", "weights"]

MOST_FIELDS_BYTES = 2**31
"""Memory for products of every two transitions above which fields are not considered."""

# Nanoseconds on one core of the machine on which they were measured; only their ratios count.
_FIELD = 0.027  # to add one entry of a Gram matrix to a field
_VISIT = 1.5  # to test one transition of one neuron, and what goes with it
_WEIGHT = 0.24  # to go through one input of a block of SIDE neurons
_STEP = 35.0  # to test one transition of such a block
_CALL = 50_000.0  # to call the kernel for a chunk of transitions


def choose_form(n: int, layers: list[tuple[int, int]], max_epochs: int) -> Form:
    """Choose the form for n transitions and layers of (neurons, inputs of each).

    Examples
    --------
    >>> choose_form(70, [(500, 100), (100, 500)], 500), choose_form(20_000, [(2000, 200), (200, 2000)], 500)
    ('fields', 'weights')
    """
    if max_epochs == 1 or len(layers) * 3 * n**2 > MOST_FIELDS_BYTES:
        return "weights"
    return "fields" if fields_cost(n, layers) < weights_cost(n, layers) else "weights"


def error_rate(n: int, n_inputs: int) -> float:
    """How many of n random transitions a neuron with this many inputs gets wrong in a usual epoch, from 0 to 1."""
    return n / (n + 2 * n_inputs)


def fields_cost(n: int, layers: list[tuple[int, int]]) -> float:
    """Nanoseconds of an epoch on fields: an update goes through those of all n transitions."""
    rate = error_rate(n, layers[0][1])
    return sum(neurons * n * (_VISIT + rate * n * _FIELD) for neurons, _ in layers)


def weights_cost(n: int, layers: list[tuple[int, int]]) -> float:
    """Nanoseconds of an epoch on weights: every transition goes through those of all inputs, whether it is learned or not."""
    calls = ceil(n / CHUNK) * _CALL
    return sum(calls + ceil(neurons / SIDE) * n * (_STEP + inputs * _WEIGHT) for neurons, inputs in layers)
