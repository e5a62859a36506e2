"""Layers that come from elsewhere, as a network of ours: neurons that fire above a threshold, not at it, and inputs of spikes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seqattractor.exchange.limbs import Floats, lowest_bit
from seqattractor.networks.given import ThresholdNetwork, from_arrays


@dataclass(frozen=True, eq=False)
class Found:
    """A layer of threshold neurons as another tool has it."""

    weights: Floats
    offset: Floats
    low: int
    """The state of a silent neuron, -1 or 0; that of an active one is 1."""
    at_zero: bool = True
    """Whether a field of exactly zero makes a neuron active."""

    def of_signs(self) -> Found:
        """The same layer for inputs of -1 and +1 instead of 0 and 1: W s = W x / 2 + W 1 / 2."""
        offset = [math.fsum([*(row / 2), c]) for row, c in zip(self.weights, self.offset, strict=True)]  # rounded once at most
        return Found(self.weights / 2, np.array(offset), self.low, self.at_zero)

    def settled(self) -> Found:
        """The same layer with neurons that are active at a field of exactly zero.

        Fields are whole multiples of a power of two: those above zero are at least one unit, and so at or above half of one.
        """
        if self.at_zero:
            return self
        unit = np.ldexp(1.0, lowest_bit(np.column_stack([self.weights, self.offset])))
        for step in (unit / 2, unit):
            lower = self.offset - step
            if np.array_equal(self.offset - lower, step):  # nothing was rounded
                return Found(self.weights, lower, self.low)
        raise ValueError(
            "it has neurons that are silent at a field of exactly 0, and biases so much larger than the smallest weights that "
            "float64 cannot lower them by less; shift them yourself and use sa.networks.from_arrays."
        )


def network_of_layers(layers: list[Found]) -> ThresholdNetwork:
    """Make a network of one or two layers for states of -1 and +1, whatever states the tool had at both ends."""
    if layers[-1].low != -1:
        layers = [*layers[:-1], Found(layers[-1].weights, layers[-1].offset, -1, layers[-1].at_zero)]
    last = layers[-1].settled()
    if len(layers) == 1:
        return from_arrays(last.weights, visible_bias=last.offset)
    first = layers[0].settled()
    silent: Literal[-1, 0] = -1 if first.low == -1 else 0
    return from_arrays(first.weights, last.weights, hidden_bias=first.offset, visible_bias=last.offset, silent=silent)
