"""Looks inside the networks of a visitor: single hidden neurons, networks without some of them, and
networks as they were after an epoch.
"""

from __future__ import annotations

import base64
import time
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from seqattractor.lab.choices import is_learned
from seqattractor.lab.jobs import Job
from seqattractor.lab.requests import Fields, Limits, Rejection, pack
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.one_hot import OneHotNetwork
from seqattractor.networks.traits import Layer
from seqattractor.sequences import close_loops

SHOWN = 48  # hidden neurons on the page at a time
_STRONGEST = 3  # connections of each of them, in either direction


@dataclass(frozen=True)
class Inside:
    """What is changed in one of the networks before it is looked at or recalls."""

    network: int = 0
    epoch: int | None = None  # back to the weights after this epoch
    silenced: tuple[int, ...] = ()  # hidden neurons that drive no visible neuron

    @classmethod
    def read(cls, spec: Fields, limits: Limits) -> Inside:
        """Read it from a request; by default nothing is changed."""
        spec = spec.object("inside")
        spec.only("network", "epoch", "silenced")
        return cls(
            spec.whole("network", 0, 0, 1),
            spec.whole("epoch", 1, 1, limits.epochs) if spec.has("epoch") else None,
            tuple(sorted(set(spec.wholes("silenced", 0, limits.units, limits.units)))),
        )

    def change(self, job: Job, nets: list[SequenceMemory], limits: Limits) -> SequenceMemory:
        """Put the changed network in its place among `nets`, and return it."""
        k = self.network
        if k >= len(nets):
            raise Rejection(409, "The second network has not learned yet.")
        if self.epoch is not None:
            nets[k] = _at_epoch(job, k, self.epoch, limits)
        if self.silenced:
            _check_neuron(self.silenced[-1], _hidden_layer(nets[k])[0])
            nets[k] = _without(nets[k], self.silenced)
        return nets[k]

    def code(self, net: str, *, one_hot: bool) -> tuple[str, list[str]]:
        """Return what is added to the arguments of `fit` in the code of a network, and the lines
        after it.
        """
        until = f", callback=lambda epoch, *errors: epoch >= {self.epoch}" if self.epoch else ""
        if not self.silenced:
            return until, []
        silent = list(self.silenced)
        bias = [f"{net}.bias_ = {net}.bias_ - V[:, {silent}].sum(axis=1).astype(int)"]
        return until, [
            f"V = {net}.V_.copy()",
            *(bias if one_hot else []),
            f"V[:, {silent}] = 0  # silenced hidden neurons",
            f"{net}.V_ = V",
        ]


def _without(net: SequenceMemory, silenced: tuple[int, ...]) -> SequenceMemory:
    """Return a copy of a network in which some hidden neurons drive no visible neuron."""
    twin: Any = copy(net)
    V = np.array(twin.V_)
    silent = list(silenced)
    if isinstance(twin, OneHotNetwork):  # whose bias cancels a neuron at -1
        twin.bias_ = twin.bias_ - V[:, silent].sum(axis=1).astype(np.int64)
    V[:, silent] = 0
    twin.V_ = V
    changed: SequenceMemory = twin
    return changed


def _at_epoch(job: Job, k: int, epoch: int, limits: Limits) -> SequenceMemory:
    """Learn again up to an epoch: the weights of all epochs together would not fit into memory."""
    errors = job.outcome.visible[k]
    if not errors:
        raise Rejection(409, "This network was not learned epoch by epoch.")
    if epoch > len(errors):
        raise Rejection(400, f"The network has learned {len(errors)} epochs; choose one of them.")
    choice, data = job.chosen[k], job.material.data
    net = choice.make(data, on_conflict="raise")
    again: list[int] = []
    deadline = time.monotonic() + limits.again_seconds

    def note_epoch(number: int, hidden: int, visible: int) -> bool:
        again.append(int(visible))
        return number >= epoch or time.monotonic() > deadline

    with suppress(ConvergenceWarning):
        net.fit(close_loops(data, order=choice.settled_order(data)), callback=note_epoch)
    if len(again) < epoch:
        raise Rejection(
            413, f"Learning {epoch} epochs again takes the lab too long; choose an earlier one."
        )
    if again != errors[:epoch] or not is_learned(net):
        raise Rejection(
            409, "Learning was continued, so its epochs cannot be learned again one by one."
        )
    return net


def _hidden_layer(net: SequenceMemory) -> tuple[Layer, Layer]:
    """Return the hidden and the visible layer of a network."""
    if not hasattr(net, "_hidden_states"):
        raise Rejection(409, "This network has no hidden neurons.")
    layers = net.layers()
    if layers is None or len(layers) != 2 or not len(layers[0].weights):
        raise Rejection(409, "The hidden neurons of this network cannot be looked into.")
    return layers[0], layers[1]


def _check_neuron(j: int, hidden: Layer) -> None:
    """Reject a hidden neuron that is not there."""
    if j >= len(hidden.weights):
        raise Rejection(400, f"There are {len(hidden.weights)} hidden neurons, not {j + 1}.")


def wiring(net: SequenceMemory) -> dict[str, Any]:
    """Return up to `SHOWN` hidden neurons, evenly taken, with their strongest connections from the
    newest pattern that the network sees, and to the next one.
    """
    hidden, visible = _hidden_layer(net)
    M, N = len(hidden.weights), len(visible.weights)
    neurons = np.unique(np.linspace(0, M - 1, min(M, SHOWN)).round().astype(int))
    return {
        "hidden": M,
        "low": hidden.low,
        "neurons": neurons.tolist(),
        "inputs": [_strongest(row) for row in hidden.weights[neurons, -N:]],
        "outputs": [_strongest(row) for row in visible.weights[:, neurons].T],
    }


def _strongest(weights: NDArray[Any]) -> list[list[int]]:
    """Return the units of the strongest weights, each with the sign of its weight."""
    units = np.argsort(-np.abs(weights), kind="stable")[:_STRONGEST]
    return [[int(unit), int(np.sign(weights[unit]))] for unit in units if weights[unit] != 0]


def neuron(job: Job, net: SequenceMemory, j: int) -> dict[str, Any]:
    """Return the weights of hidden neuron `j` in both directions, and what it is to do."""
    hidden, visible = _hidden_layer(net)
    _check_neuron(j, hidden)
    learned = np.any(getattr(net, "hidden_errors_", 0)) and hasattr(net, "hidden_targets")
    X = job.material.data.patterns
    return {
        "inputs": _numbers(hidden.weights[j]),
        "outputs": _numbers(visible.weights[:, j]),
        "offset": float(hidden.offset[j]),
        "kappa": hidden.kappa if learned else None,
        # Before the successor of each row but the last; of hidden neurons that learn.
        "targets": pack(net.hidden_targets(X[1:])[:, j]) if learned else None,
    }


def _numbers(values: NDArray[Any]) -> str:
    """Return numbers as float64 in base64, the lowest byte first."""
    return base64.b64encode(np.asarray(values, dtype="<f8").tobytes()).decode("ascii")
