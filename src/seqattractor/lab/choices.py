"""The networks that the page offers, the settings each one has, and the Python code that makes it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from seqattractor.lab.fields import Fields
from seqattractor.lab.limits import Limits, Refusal
from seqattractor.networks._base import SequenceMemory
from seqattractor.sequences import Sequences
from seqattractor.sequences._successors import conflicts

__all__ = ["NETWORKS", "Chosen", "offered", "read_network"]

# How the page's settings are called in the library; the defaults are those of the paper and of the classes.
_PARAMETERS = {
    "hidden": "n_hidden",
    "kappa": "kappa",
    "eta": "eta",
    "epochs": "max_epochs",
    "order": "order",
    "degree": "degree",
    "seed": "random_state",
}
_DEFAULTS: dict[str, Any] = {"hidden": 500, "kappa": 1.0, "eta": 1e-3, "epochs": 500, "order": 1, "degree": 2}
_LEARNING = ("hidden", "kappa", "eta", "epochs", "order", "seed")

NETWORKS: tuple[dict[str, Any], ...] = (
    {
        "name": "attractor",
        "label": "With hidden neurons (the paper's)",
        "hint": "Hidden neurons recode each pattern; both layers learn by a local rule.",
        "class": "SequenceAttractor",
        "fixed": {},
        "settings": _LEARNING,
    },
    {
        "name": "sparse",
        "label": "Sparse hidden neurons (ours)",
        "hint": "Only a few hidden neurons are active at a time: the same size stores far more.",
        "class": "SparseSequenceAttractor",
        "fixed": {},
        "settings": ("hidden", "kappa", "epochs", "order", "seed"),
    },
    {
        "name": "visible",
        "label": "No hidden neurons",
        "hint": "Each unit drives the next pattern directly. Many sequences are impossible for it.",
        "class": "VisibleNetwork",
        "fixed": {},
        "settings": ("kappa", "eta", "epochs", "order", "seed"),
    },
    {
        "name": "only-v",
        "label": "Hidden neurons, only V learns",
        "hint": "The way into the hidden layer stays random.",
        "class": "SequenceAttractor",
        "fixed": {"learn": "V"},
        "settings": _LEARNING,
    },
    {
        "name": "hebbian",
        "label": "Hidden neurons, Hebbian V",
        "hint": "No error correction: V adds up what it sees, once.",
        "class": "SequenceAttractor",
        "fixed": {"learn": "V", "rule": "hebbian"},
        "settings": ("hidden", "order", "seed"),
    },
    {
        "name": "one-hot",
        "label": "One hidden neuron a step (Theorem 1)",
        "hint": "Stores any sequence, but a single flipped unit throws it off.",
        "class": "OneHotNetwork",
        "fixed": {},
        "settings": ("order",),
    },
    {
        "name": "dense",
        "label": "Dense memory (modern Hopfield)",
        "hint": "Keeps every pattern as a weight vector and compares the state with all of them.",
        "class": "DenseSequenceMemory",
        "fixed": {},
        "settings": ("degree", "order"),
    },
)
_MODULES = {
    "SequenceAttractor": "attractor",
    "SparseSequenceAttractor": "sparse",
    "VisibleNetwork": "visible",
    "OneHotNetwork": "one_hot",
    "DenseSequenceMemory": "dense",
}


@dataclass(frozen=True)
class Chosen:
    """A network with its settings, not yet made."""

    name: str
    class_name: str
    parameters: dict[str, Any]
    """As the class takes them."""

    @property
    def order(self) -> int | Literal["auto"]:
        """How many past patterns it looks at."""
        order: int | Literal["auto"] = self.parameters.get("order", 1)
        return order

    def settled_order(self, data: Sequences) -> int:
        """How many past patterns it will look at: "auto" takes as many as resolve all conflicts."""
        return conflicts(data).context or 1 if self.order == "auto" else int(self.order)

    def check_size(self, data: Sequences, limits: Limits) -> None:
        """Refuse a network that would be too large for the lab."""
        order = self.settled_order(data)
        if order > limits.order:
            raise Refusal(413, f"This sequence needs order {order}, but the lab goes up to {limits.order}.")
        units, hidden = data.shape[1], self.parameters.get("n_hidden")
        if hidden is not None:
            weights = hidden * units * (order + 2)  # U, V and P
            limits.check_network(weights, f"A network of {units} units and {hidden} hidden neurons")
        elif self.name == "visible":
            limits.check_network(units * units * order, f"A network of {units} units without hidden neurons")

    def make(self, **more: Any) -> SequenceMemory:
        """Make the network; `more` are parameters that do not change the result, such as the engine."""
        cls = _class(self.class_name)
        known = {k: v for k, v in more.items() if k in cls._get_param_names()}
        network: SequenceMemory = cls(**self.parameters, **known)
        return network

    def code(self) -> str:
        """Python that makes it, without what is the default anyway."""
        said = {_PARAMETERS[name]: value for name, value in _DEFAULTS.items()}
        parts = [f"{k}={v!r}" for k, v in self.parameters.items() if k not in said or said[k] != v or k == "n_hidden"]
        return f"sa.{self.class_name}({', '.join(parts)})"


def offered() -> list[dict[str, Any]]:
    """Describe the networks for the page."""
    keep = ("name", "label", "hint", "settings")
    return [{key: entry[key] for key in keep} for entry in NETWORKS]


def read_network(spec: Fields, limits: Limits) -> Chosen:
    """Read the choice of a network.

    Examples
    --------
    >>> read_network(Fields({"name": "attractor", "hidden": 50}, "network"), Limits()).code()
    'sa.SequenceAttractor(n_hidden=50, random_state=0)'
    """
    name = spec.choice("name", "attractor", tuple(entry["name"] for entry in NETWORKS))
    spec.only("name", *_PARAMETERS)
    entry = next(e for e in NETWORKS if e["name"] == name)
    values: dict[str, Any] = {
        "hidden": spec.whole("hidden", 200, 1, limits.hidden),
        "kappa": spec.number("kappa", 1.0, 1e-6, 1e6),
        "eta": spec.number("eta", 1e-3, 1e-6, 1e3),
        "epochs": spec.whole("epochs", 500, 1, limits.epochs),
        "order": spec.whole("order", 1, 0, limits.order) or "auto",
        "degree": spec.whole("degree", 2, 1, 30),
        "seed": spec.whole("seed", 0, 0, 9999),
    }
    parameters = {_PARAMETERS[key]: values[key] for key in entry["settings"]}
    return Chosen(name, entry["class"], {**entry["fixed"], **parameters})


def _class(name: str) -> Any:
    """The class of a network, loaded when it is used."""
    return getattr(import_module(f"seqattractor.networks._{_MODULES[name]}"), name)
