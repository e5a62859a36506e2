"""The parameters ``rule`` and ``constraints`` of networks that learn by an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seqattractor._checks import check_kind, say
from seqattractor.constraints import Constraint
from seqattractor.engine.kernels import has_kernels
from seqattractor.engine.problem import OwnLearning
from seqattractor.noise import as_generator
from seqattractor.rules import Rule, ThreeFactor

Rules = Rule | tuple[Rule, Rule] | None
Constraints = Sequence[Constraint] | None


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
        constraints=tuple(net.constraints or ()),
        seed=net.learning_seed_,
        epoch=net.n_iter_,
        cells=net.n_features_in_,
    )


def rules_of(net: Any) -> tuple[Rule, Rule]:
    """Return the rules of hidden and of visible neurons."""
    rule = ThreeFactor() if net.rule is None else net.rule
    return rule if isinstance(rule, tuple) else (rule, rule)


def kappa_of(rule: Rule, kappa: float) -> float | None:
    """Return the margin that neurons exceed when learning by a rule has ended without an error, if
    it is known.
    """
    return kappa if type(rule).is_error is Rule.is_error else None


def engine_of(net: Any) -> str:
    """Return the name of the engine that learns: "exact" or "reference"."""
    return "reference" if _differs(net) or not has_kernels() else str(net.engine)


def is_local(net: Any) -> bool | None:
    """Return True if the rules are those of this package, all of which are local; of others it is
    not known.
    """
    ours = all(type(rule).__module__ == Rule.__module__ for rule in rules_of(net))
    return True if ours else None


def check_own_learning(net: Any, *, pairs: bool = True, allowed: bool = True) -> None:
    """Raise an error if `rule` or `constraints` makes no sense."""
    rules = net.rule if pairs and isinstance(net.rule, tuple) else (net.rule,)
    if not all(isinstance(rule, Rule) for rule in rules) and net.rule is not None:
        pair = ", a pair of them for U and V," if pairs else ""
        raise TypeError(
            f"rule must be an object of a class derived from sa.rules.Rule{pair} or None, but it "
            f"is {say(net.rule)}."
        )
    if len(rules) != 2 and isinstance(net.rule, tuple):
        raise ValueError(f"rule must be one rule or a pair of them, but there are {len(rules)}.")
    constraints = () if net.constraints is None else net.constraints
    wanted = "a list of constraints, such as [sa.constraints.Dilution(0.2)]"
    check_kind(constraints, (list, tuple), "constraints", wanted)
    for constraint in constraints:
        check_kind(constraint, Constraint, "each entry of constraints", wanted[10:])
    kinds = [type(constraint).__name__ for constraint in constraints]
    for kind in kinds:
        if kinds.count(kind) > 1:
            raise ValueError(f"constraints must not have two of a kind, but {kind} is there twice.")
    if not allowed and (net.rule is not None or kinds):
        raise ValueError(
            f"{type(net).__name__} learns by a rule of its own: leave out rule and constraints, or "
            "use SequenceAttractor."
        )


def _differs(net: Any) -> bool:
    return bool(net.constraints) or any(type(rule) is not ThreeFactor for rule in rules_of(net))
