"""A network from a model file, which the page offers beside those that learn here: trained elsewhere, or on another day."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from seqattractor.lab.choices import Chosen
from seqattractor.lab.jobs import is_learned
from seqattractor.lab.materials import Material
from seqattractor.lab.requests import Fields, Limits, Refusal
from seqattractor.networks.base import SequenceMemory
from seqattractor.sequences import Sequences

NAME = "own"
"""Of the network and of its sequences, in requests."""


@dataclass(frozen=True)
class OwnChoice(Chosen):
    """The choice of the network that is there already; nothing is learned."""

    own: Own

    @property
    def class_name(self) -> str:
        """Its class."""
        return type(self.own.net).__name__

    @property
    def learns(self) -> bool:
        """Whether it has something to learn: no, it is as it was saved."""
        return False

    def settled_order(self, data: Sequences) -> int:
        """How many past patterns it looks at."""
        return int(self.own.net.order_)

    def check_size(self, data: Sequences, limits: Limits) -> None:
        """Refuse sequences of another number of units."""
        units, known = data.shape[1], self.own.net.n_features_in_
        if units != known:
            raise Refusal(400, f"The network of {self.own.file} has {known} units, but this sequence has {units}; take another.")
        if int(data.lengths.min()) <= self.settled_order(data):
            raise Refusal(400, "The sequence is too short for a network that sees so many past patterns; take a longer one.")

    def weights(self, data: Sequences) -> int:
        """How many numbers the network has."""
        return self.own.net.n_parameters()

    def make(self, data: Sequences, **more: Any) -> SequenceMemory:
        """A copy of the network for one visitor."""
        return deepcopy(self.own.net)

    def code(self, data: Sequences) -> str:
        """Python that reads it."""
        return f"sa.load({self.own.file!r})"


@dataclass(frozen=True)
class Own:
    """A network that has learned, and the sequences to try it with, if some are known.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.xor()
    >>> own = Own.of(sa.OneHotNetwork().fit(X), "model.npz", X, Limits())
    >>> own.offer()["label"], own.entry()["label"]
    ('Yours: OneHotNetwork of model.npz', 'Yours')
    """

    net: SequenceMemory
    file: str
    material: Material | None

    @classmethod
    def of(cls, net: SequenceMemory, file: str, data: Sequences | None, limits: Limits) -> Own:
        """Take a network as it was read from a file; what the lab cannot show is refused."""
        if not is_learned(net):
            raise ValueError(f"the lab cannot show a {type(net).__name__}; use seqattractor recall and inspect.")
        if data is None:
            return cls(net, file, None)
        material = Material(data, 'X = sa.io.load("sequence.npz", key="X")  # "Sequence" under "Take it with you"')
        try:
            limits.check_sequences(data.lengths.tolist(), data.shape[1])
            OwnChoice(NAME, {}, cls(net, file, None)).check_size(data, limits)
        except Refusal as refusal:
            raise ValueError(refusal.sentence) from None
        return cls(net, file, material)

    def offer(self) -> dict[str, Any]:
        """How the page speaks of the network."""
        label = f"Yours: {type(self.net).__name__} of {self.file}"
        hint = "It is as it was saved: nothing is learned here."
        return {"name": NAME, "label": label, "hint": hint, "settings": [], "order": int(self.net.order_)}

    def entry(self) -> dict[str, Any]:
        """How the page speaks of its sequences."""
        return {"name": NAME, "label": "Yours", "hint": f"what goes with {self.file}", "options": [], "suggest": {"flips": 10}}

    def choice(self, spec: Fields) -> Chosen:
        """The choice of a request that asks for it."""
        return OwnChoice(NAME, {}, self)


def with_shape(data: Sequences, frame_shape: tuple[int, ...]) -> Sequences:
    """Show sequences in the shape that the model knows of its frames, if they have none of their own."""
    return replace(data, frame_shape=frame_shape) if len(frame_shape) > len(data.frame_shape) else data
