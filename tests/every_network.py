"""Every class of network that shows its layers, used in every way that its parameters offer, with
weights rich in ties.

Classes and parameters are found through the registry and the signatures: a new network, or a new
parameter of an old one, is tried by the tests that draw from here without their knowing of it.
"""

from __future__ import annotations

import inspect
import itertools
import types
import typing

import numpy as np

import seqattractor as sa
from quiet import fit_quietly
from seqattractor.networks import network_class, network_names

SMALL = {"n_hidden": 5, "n_latent": 5, "max_epochs": 3}
IDLE = {
    "order",
    "on_conflict",
    "random_state",
    "engine",
    "n_jobs",
    "verbose",
    *SMALL,
}  # these change no dynamics
KINDS = (
    "whole",
    "mostly zero",
    "binary",
    "tenths",
    "equal",
    "nearly whole",
    "nearly binary",
    "normal",
)
"""Weights of small whole numbers, in units that leave sums exact, exact but for rounding, or only
just not exact; or normal.

Of "mostly zero" ones many neurons receive nothing at all, and "equal" ones are all plus or minus a
tenth.
"""


def certified_classes():
    """The classes of the registry that show their layers, by name."""
    classes = {cls.__name__: cls for cls in map(network_class, network_names())}
    return {
        name: cls for name, cls in classes.items() if cls.layers is not sa.SequenceMemory.layers
    }


def ways_to_certify():
    """What there is to certify, by name: classes with given parameters, always with biases where
    there is that choice.
    """
    ways = {name: (cls, {}) for name, cls in certified_classes().items()}
    flags = {
        name: cls
        for name, (cls, _) in ways.items()
        if typing.get_type_hints(cls).get("bias") is bool
    }
    return ways | {f"{name} with biases": (cls, {"bias": True}) for name, cls in flags.items()}


def draw_network(cls, N, rng, *, order=1, kind="whole", given=None, tries=200):
    """A network of the class that can be certified, its other parameters drawn by chance, with
    weights of a kind (`KINDS`).
    """
    known = inspect.signature(cls).parameters
    hints = typing.get_type_hints(cls)
    fixed = (
        {key: value for key, value in SMALL.items() if key in known}
        | {"on_conflict": "learn"}
        | (given or {})
    )
    if order > 1:
        fixed["order"] = order
    for _ in range(tries):
        chosen = {
            key: rng.choice(values).item()
            for key in known
            if (values := _values(hints[key])) and rng.random() < 0.4
        }
        X = rng.choice(np.array([-1, 1], dtype=np.int8), size=(order + int(rng.integers(1, 6)), N))
        try:
            net = fit_quietly(
                cls(
                    **fixed
                    | {
                        key: value
                        for key, value in chosen.items()
                        if key not in fixed.keys() | IDLE
                    }
                ),
                X,
            )
        except ValueError:  # parameters that do not go together
            continue
        if sa.analysis.supports_certificate(net):
            return _tie_rich(net, kind, rng)
    raise AssertionError(f"{cls.__name__} has layers(), but no parameters with which it shows them")


def _values(hint):
    """Some values that a parameter of this type can have."""
    union = isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
    members = typing.get_args(hint) if union else (hint,)
    choices = [
        part
        for member in members
        if typing.get_origin(member) is typing.Literal
        for part in typing.get_args(member)
    ]
    if choices := [choice for choice in choices if choice != "auto"]:
        return choices
    for kind, values in ((bool, [False, True]), (int, [1, 2]), (float, [0.5, 1.0, 2.0])):
        if kind in members:
            return values
    return []


def _tie_rich(net, kind, rng):
    """Put new weights into the network. Weights that are patterns stay: their sums are whole
    numbers anyway.
    """
    # Products of the nearly whole numbers with tanh(1) are rounded to multiples of a power of two.
    units = {
        "binary": 2.0**-10,
        "tenths": 0.1,
        "equal": 0.1,
        "nearly whole": 1 / np.tanh(1),
        "nearly binary": 0.25 / np.tanh(1),
    }
    for name in net.traits().weights:
        shape = getattr(net, name).shape
        if getattr(net, name).dtype.kind == "f":
            whole = (
                rng.choice([-1.0, 1.0], size=shape)
                if kind == "equal"
                else rng.integers(-3, 4, size=shape).astype(float)
            )
            whole *= rng.random(shape) < 0.25 if kind == "mostly zero" else 1.0
            setattr(
                net,
                name,
                rng.standard_normal(shape) if kind == "normal" else whole * units.get(kind, 1.0),
            )
    return net


def all_states(units):
    """All states of some units, shape (2**units, units)."""
    return np.array(list(itertools.product((-1, 1), repeat=units)), dtype=np.int8)
