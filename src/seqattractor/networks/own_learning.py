"""The parameters ``rule`` and ``constraints`` of networks that learn by an engine: objects, or
their text as in command lines, grids and model files.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from seqattractor import constraints as _constraints
from seqattractor import rules as _rules
from seqattractor._checks import check_kind, say
from seqattractor._suggest import no_such
from seqattractor.constraints import Constraint
from seqattractor.engine.kernels import has_kernels
from seqattractor.engine.problem import OwnLearning
from seqattractor.noise import as_generator
from seqattractor.rules import Rule, ThreeFactor

Rules = Rule | tuple[Rule, Rule] | str | None
Constraints = Sequence[Constraint] | str | None

_KINDS = {
    name: {cls: getattr(module, cls) for cls in module.__all__ if is_dataclass(vars(module)[cls])}
    for name, module in (("rule", _rules), ("constraint", _constraints))
}
_PART = re.compile(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*")
_MOST_CHARACTERS = 1000
_EXAMPLES = {"rule": "SoftMargin(width=0.2)", "constraint": "Dilution(0.2) and Dale(0.8)"}


def own_learning(net: Any) -> OwnLearning | None:
    """Return what differs from the paper's rule alone, or None if nothing does; a network that has
    no seed for it gets one.
    """
    if not _differs(net):
        return None
    if "learning_seed_" not in vars(net):
        net.learning_seed_ = as_generator(net.random_state).integers(2**62, size=4)
    return OwnLearning(
        rules=rules_of(net),
        constraints=constraints_of(net),
        seed=net.learning_seed_,
        epoch=net.n_iter_,
        cells=net.n_features_in_,
    )


def fades(net: Any) -> bool:
    """Return whether constraints let synapses decay."""
    return any(each.decay() > 0 for each in constraints_of(net))


def rules_of(net: Any) -> tuple[Rule, Rule]:
    """Return the rules of hidden and of visible neurons."""
    given = _read(getattr(net, "rule", None), "rule") or (ThreeFactor(),)
    return given[0], given[-1]


def kappa_of(rule: Rule, kappa: float) -> float | None:
    """Return the margin that neurons exceed when learning by a rule has ended without an error, if
    it is known.
    """
    return kappa if type(rule).is_error is Rule.is_error else None


def engine_of(net: Any) -> str:
    """Return the name of the engine that learns: "exact" or "reference"."""
    return "reference" if not _has_papers_rule(net) or not has_kernels() else str(net.engine)


def is_local(net: Any) -> bool | None:
    """Return True if the rules are those of this package, all of which are local; of others it is
    not known.
    """
    return True if all(type(rule) in _KINDS["rule"].values() for rule in rules_of(net)) else None


def check_own_learning(net: Any, *, pairs: bool = True, allowed: bool = True) -> None:
    """Raise an error if `rule` or `constraints` makes no sense."""
    rule = getattr(net, "rule", None)
    rules = _read(rule, "rule")
    pair = ", a pair of them for U and V," if pairs else ""
    if not all(isinstance(rule, Rule) for rule in rules):
        raise TypeError(
            f"rule must be an object of a class derived from sa.rules.Rule{pair} or None, but it "
            f"is {say(rule)}."
        )
    if rule is not None and len(rules) not in ((1, 2) if pairs else (1,)):
        raise ValueError(f"rule must be one rule{pair} or None, but there are {len(rules)}.")
    wanted = "a list of constraints, such as [sa.constraints.Dilution(0.2)]"
    check_kind(net.constraints, (list, tuple, str, type(None)), "constraints", wanted)
    constraints = constraints_of(net)
    kinds = [type(constraint).__name__ for constraint in constraints]
    for constraint, kind in zip(constraints, kinds, strict=True):
        check_kind(constraint, Constraint, "constraints", wanted)
        if kinds.count(kind) > 1:
            raise ValueError(f"constraints must not have two of a kind, but {kind} is there twice.")
    if not allowed and (rules or constraints):
        raise ValueError(
            f"{type(net).__name__} learns by a rule of its own: leave out rule and constraints, or "
            "use SequenceAttractor."
        )


def as_text(value: Any, name: str) -> Any:
    """Return the text of rules or constraints, which `from_text` reads; other values as they are.

    Examples
    --------
    >>> as_text([_constraints.Dilution(0.2), _constraints.Levels(4)], "constraints")
    'Dilution(connected=0.2) and Levels(bits=4, limit=3.0)'
    """
    parts = value if isinstance(value, (list, tuple)) else (value,)
    if not parts and name == "constraints":
        return None
    if not parts or not all(isinstance(part, (Rule, Constraint)) for part in parts):
        return value
    texts = []
    for part in parts:
        kind = type(part).__name__
        if type(part) not in [*_KINDS["rule"].values(), *_KINDS["constraint"].values()]:
            raise TypeError(
                f"no file can hold {name} of the class {kind}, which is none of this package's; "
                f"recall does not need it: to save a network, set {name} to None."
            )
        texts.append(repr(part))
    return " and ".join(texts)


def from_text(text: str, name: str) -> tuple[Any, ...]:
    """Return the rules or constraints of a text.

    Only classes of this package are found, and their arguments are numbers.

    Examples
    --------
    >>> from_text("Dilution(0.2) and Levels(bits=4)", "constraints")
    (Dilution(connected=0.2), Levels(bits=4, limit=3.0))
    """
    kind, parts = name.removesuffix("s"), []
    for each in text[:_MOST_CHARACTERS].split(" and "):
        found = _PART.fullmatch(each) if len(text) <= _MOST_CHARACTERS else None
        if found is None:
            raise ValueError(
                f"{name} must be written as in {_EXAMPLES[kind]!r}, but it is {say(text)}."
            )
        cls, arguments = found[1], found[2] or ""
        if cls not in _KINDS[kind]:
            raise ValueError(no_such(kind, cls, _KINDS[kind]))
        parts.append(_make(_KINDS[kind][cls], arguments))
    return tuple(parts)


def _make(cls: type, arguments: str) -> Any:
    """Return a rule or a constraint, made of numbers and named numbers."""
    known = [field.name for field in fields(cls)]
    pairs = [each.rpartition("=") for each in arguments.split(",") if each.strip()]
    try:
        given = [_read_number(value) for key, _, value in pairs if not key]
        named = {key.strip(): _read_number(value) for key, _, value in pairs if key}
        inspect.signature(cls).bind(*given, **named)
    except (TypeError, ValueError):
        wanted = f"numbers for {' and '.join(known)}" if known else "nothing in brackets"
        raise ValueError(f"{cls.__name__} takes {wanted}, but not {say(arguments)}.") from None
    return cls(*given, **named)


def _read(value: Any, name: str) -> tuple[Any, ...]:
    """Return what a parameter holds: nothing, one thing, or several."""
    if isinstance(value, str):
        return from_text(value, name)
    return () if value is None else tuple(value) if isinstance(value, (tuple, list)) else (value,)


def constraints_of(net: Any) -> tuple[Constraint, ...]:
    """Return the constraints of a network, also of one that was loaded from text."""
    return _read(net.constraints, "constraints")


def _differs(net: Any) -> bool:
    return not _has_papers_rule(net) or bool(constraints_of(net))


def _has_papers_rule(net: Any) -> bool:
    return all(type(rule) is ThreeFactor for rule in rules_of(net))


def _read_number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)
