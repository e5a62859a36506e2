"""The networks that the page offers, their settings, and the Python code that makes them."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

from seqattractor.lab.materials import Material
from seqattractor.lab.requests import Fields, Limits, Rejection
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.registry import REGISTRY, make_network, parameters_of
from seqattractor.sequences import Sequences, close_loops
from seqattractor.sequences._transitions import find_conflicts, transitions
from seqattractor.zoo.dense import MOST_DEGREE, least_degree


def as_sentence(error: Exception) -> str:
    """Return the message of an error as a sentence."""
    text = str(error)
    return text[:1].upper() + text[1:]


def counted_from_1(text: str) -> str:
    """Return a message with its places in a sequence counted from 1, as on the page."""
    return re.sub(
        r"\b(frame|value|sequence) (\d+)\b",
        lambda place: f"{place[1]} {int(place[2]) + 1}",
        text,
        flags=re.IGNORECASE,
    )


def to_see(order: int, most: int) -> str:
    """Describe how to let a network see so many past patterns, where the page offers `most` at
    most.
    """
    if order <= most:
        return f'set "Past patterns it sees" to {order}, under "More settings"'
    return f"the lab offers up to {most}, so choose another sequence"


def why_not_learned(error: Exception, most: int) -> str:
    """Describe why learning failed, and the remedy on the page, where networks see `most` past
    patterns at most.
    """
    text = re.sub(r"\bpattern (?=\d)", "frame ", as_sentence(error), flags=re.IGNORECASE)
    text = re.sub(r"use order=(\d+)", lambda use: to_see(int(use[1]), most), counted_from_1(text))
    return text[:1].upper() + text[1:]


# Names of settings in the library, and defaults that the code can leave out.
_PARAMETERS = {"hidden": "n_hidden", "epochs": "max_epochs", "seed": "random_state"}
_DEFAULTS = {"kappa": 1.0, "eta": 1e-3, "bias": False, "max_epochs": 500, "order": 1}
_LEARNING = ("hidden", "kappa", "eta", "bias", "epochs", "order", "seed")


@dataclass(frozen=True)
class Offer:
    """A network on the page, with the settings that it shows."""

    label: str
    hint: str
    settings: tuple[str, ...]


# By their names in the registry, in the order of the page.
NETWORKS: dict[str, Offer] = {
    "attractor": Offer(
        "With hidden neurons (the paper's)",
        "Hidden neurons recode each pattern; both layers learn by a local rule.",
        _LEARNING,
    ),
    "sparse": Offer(
        "Sparse hidden neurons (ours)",
        "Only a few hidden neurons are active at a time: the same size stores far more.",
        ("hidden", "kappa", "epochs", "order", "seed"),
    ),
    "perceptron": Offer(
        "No hidden neurons",
        "Each unit drives the next pattern directly. Many sequences are impossible for it.",
        ("kappa", "eta", "bias", "epochs", "order", "seed"),
    ),
    "attractor-V": Offer(
        "Hidden neurons, only V learns", "The way into the hidden layer stays random.", _LEARNING
    ),
    "attractor-hebbian": Offer(
        "Hidden neurons, Hebbian V",
        "No error correction: V adds up what it sees, once.",
        ("hidden", "bias", "order", "seed"),
    ),
    "one-hot": Offer(
        "One hidden neuron per step (Theorem 1)",
        "Stores any sequence in which each pattern has one successor, with a neuron for each step: "
        "nothing is learned.",
        ("order",),
    ),
    "dense": Offer(
        "Dense memory (modern Hopfield)",
        "Stores every pattern as a weight vector and compares the state with all of them.",
        ("degree", "order"),
    ),
}


@dataclass(frozen=True)
class Chosen:
    """A network with its settings, not yet made."""

    name: str
    parameters: dict[str, Any]  # as the class takes them, without those that the name stands for
    learns: ClassVar[bool] = True

    def settled_order(self, data: Sequences) -> int:
        """Return how many past patterns it will look at: "auto" takes as many as resolve all
        conflicts.
        """
        order = self.parameters.get("order", 1)
        return find_conflicts(data).context or 1 if order == "auto" else int(order)

    def check_size(self, data: Sequences, limits: Limits) -> None:
        """Reject a network that would be too large for the lab, or that sees more patterns than
        there are.
        """
        order = self.settled_order(data)
        if order > limits.order:
            raise Rejection(
                413,
                f"A network must see the past {order} patterns to predict what follows in this "
                f"sequence, but {to_see(order, limits.order)}.",
            )
        lengths = close_loops(data, order=order).lengths
        s, frames = int(lengths.argmin()), int(lengths.min())
        if frames <= order:
            which = f"Sequence {s + 1}" if len(lengths) > 1 else "The sequence"
            raise Rejection(
                400,
                f"{which} has only {frames} frames, too few for a network that sees the past "
                f"{order} and predicts the next; {to_see(frames - 1, limits.order)}, or take a "
                "longer one.",
            )
        units, hidden = data.shape[1], self.parameters.get("n_hidden")
        if hidden is not None or self.name == "perceptron":
            kind = "without hidden neurons" if hidden is None else f"and {hidden} hidden neurons"
            smaller = (
                "smaller patterns" if hidden is None else "fewer hidden neurons or smaller patterns"
            )
            limits.check_network(self.weights(data), f"A network of {units} units {kind}", smaller)

    def weights(self, data: Sequences) -> int:
        """Return how many weights the network will have."""
        units, order = data.shape[1], self.settled_order(data)
        if self.name == "perceptron":
            return units * units * order
        hidden = self.parameters.get("n_hidden", len(data))  # else about one for each pattern
        return int(hidden) * units * (order + 2)  # U, V and P

    def settled(self, data: Sequences) -> dict[str, Any]:
        """Return its parameters for these sequences: a degree that was left open is the one that
        they need.
        """
        if self.parameters.get("degree") != 0:
            return self.parameters
        return {**self.parameters, "degree": degree_for(data, self.settled_order(data))}

    def make(self, data: Sequences, **more: Any) -> SequenceMemory:
        """Make the network; `more` are parameters that do not change the result, such as the
        engine.
        """
        known = parameters_of(self.name)
        return make_network(
            self.name, **self.settled(data), **{k: v for k, v in more.items() if k in known}
        )

    def code(self, data: Sequences) -> str:
        """Return Python that makes it, without defaults."""
        given = {k: v for k, v in self.settled(data).items() if _DEFAULTS.get(k) != v}
        words = ", ".join(
            f"{k}={v!r}" for k, v in {**REGISTRY[self.name].parameters, **given}.items()
        )
        zoo = "zoo." if REGISTRY[self.name].module.startswith("zoo.") else ""
        return f"sa.{zoo}{REGISTRY[self.name].cls}({words})"


def degree_for(data: Sequences, order: int = 1) -> int:
    """Return the degree that ``DenseSequenceMemory(degree="auto")`` would take for sequences, loops
    closed as the lab does.
    """
    closed = close_loops(data, order=order)
    return least_degree(transitions(closed.patterns, closed.lengths, order).inputs)


def read_network(spec: Fields, limits: Limits) -> Chosen:
    """Read the choice of a network."""
    name = spec.choice("name", "attractor", tuple(NETWORKS))
    values: dict[str, Any] = {
        "hidden": spec.whole("hidden", 200, 1, limits.hidden),
        "kappa": spec.number("kappa", 1.0, 1e-6, 1e6),
        "eta": spec.number("eta", 1e-3, 1e-6, 1e3),
        "bias": bool(spec.whole("bias", 0, 0, 1)),
        "epochs": spec.whole("epochs", 500, 1, limits.epochs),
        "order": spec.whole("order", 1, 0, limits.order) or "auto",
        "degree": spec.whole("degree", 0, 0, MOST_DEGREE),  # 0: as the data need
        "seed": spec.whole("seed", 0, 0, 9999),
    }
    spec.only("name", *values)
    return Chosen(name, {_PARAMETERS.get(key, key): values[key] for key in NETWORKS[name].settings})


# -- a network from a model file
# -----------------------------------------------------------------------------------

OWN = "own"  # the name of the network and of its sequences, in requests


def is_learned(net: SequenceMemory) -> bool:
    """Return whether a network can recall."""
    return hasattr(net, "n_features_in_") and any(
        hasattr(net, name) for name in ("V_", "W_", "patterns_")
    )


@dataclass(frozen=True)
class OwnChoice(Chosen):
    """The choice of the network that is there already; nothing is learned."""

    own: Own
    learns: ClassVar[bool] = False

    def settled_order(self, data: Sequences) -> int:
        """Return how many past patterns it looks at."""
        return int(self.own.net.order_)

    def check_size(self, data: Sequences, limits: Limits) -> None:
        """Reject sequences of another number of units."""
        units, known = data.shape[1], self.own.net.n_features_in_
        if units != known:
            raise Rejection(
                400,
                f"The network of {self.own.file} has {known} units, but this sequence has {units}; "
                "take another.",
            )
        if int(data.lengths.min()) <= self.settled_order(data):
            raise Rejection(
                400,
                "The sequence is too short for a network that sees so many past patterns; take a "
                "longer one.",
            )

    def weights(self, data: Sequences) -> int:
        """Return how many weights the network has."""
        return self.own.net.n_parameters()

    def make(self, data: Sequences, **more: Any) -> SequenceMemory:
        """Return a copy of the network for one visitor."""
        return deepcopy(self.own.net)

    def code(self, data: Sequences) -> str:
        """Return Python that reads it."""
        return f"sa.load({self.own.file!r})"


@dataclass(frozen=True)
class Own:
    """A network that has learned, and the sequences to try it with, if some are known."""

    net: SequenceMemory
    file: str
    material: Material | None

    @classmethod
    def of(cls, net: SequenceMemory, file: str, data: Sequences | None, limits: Limits) -> Own:
        """Check a network that was read from a file, and its sequences; raise if the lab cannot
        show them.
        """
        if not is_learned(net):
            raise ValueError(
                f"the lab cannot show a {type(net).__name__}; use seqattractor recall and inspect."
            )
        if data is None:
            return cls(net, file, None)
        material = Material(
            data, 'X = sa.io.load("sequence.npz", key="X")  # "Sequence" under "Take it with you"'
        )
        try:
            limits.check_sequences(data.lengths.tolist(), data.shape[1])
            OwnChoice(OWN, {}, cls(net, file, None)).check_size(data, limits)
        except Rejection as rejection:
            raise ValueError(rejection.sentence) from None
        return cls(net, file, material)

    def offer(self) -> dict[str, Any]:
        """Return the network for the page."""
        label = f"Yours: {type(self.net).__name__} of {self.file}"
        hint = "It is as it was saved: nothing is learned here."
        return {
            "name": OWN,
            "label": label,
            "hint": hint,
            "settings": [],
            "order": int(self.net.order_),
        }

    def entry(self) -> dict[str, Any]:
        """Return its sequences for the page."""
        return {
            "name": OWN,
            "label": "Yours",
            "hint": f"what goes with {self.file}",
            "options": [],
            "suggest": {"flips": 10},
        }

    def choice(self) -> Chosen:
        """Return the choice of this network."""
        return OwnChoice(OWN, {}, self)
