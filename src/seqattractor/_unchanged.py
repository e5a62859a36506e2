"""Roll back an estimator whose fit fails or is interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def unchanged_by_failure(estimator: object, *, in_place: bool = False) -> Iterator[None]:
    """Put all attributes back if learning fails, is interrupted, or its callback raises; random
    generators too.

    Learning on top of what is there may change arrays in place: then their contents are put back as
    well.
    """
    before = dict(vars(estimator))
    arrays = [
        (value, value.copy())
        for value in before.values()
        if in_place and isinstance(value, np.ndarray)
    ]
    generators = [
        value._bit_generator if isinstance(value, np.random.RandomState) else value.bit_generator
        for value in before.values()
        if isinstance(value, (np.random.Generator, np.random.RandomState))
    ]
    states = [generator.state for generator in generators]
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        for array, content in arrays:
            array[...] = content
        for generator, state in zip(generators, states, strict=True):
            generator.state = state
        raise
