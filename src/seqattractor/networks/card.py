"""The card that a notebook shows of a network, above scikit-learn's diagram; it lists only what was counted or proven."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import numpy as np

from seqattractor._faces import html_card
from seqattractor.networks.run import goes_by_state

if TYPE_CHECKING:
    from seqattractor.networks.base import SequenceMemory

_QUICK = 100_000_000  # parameters times transitions: up to here stored transitions are counted whenever a network is shown
_NAMES = 3  # sequences that are named


def html(net: SequenceMemory) -> str:
    """Return the size, the data, the convergence and the guarantees of a network as HTML."""
    if not hasattr(net, "n_features_in_"):
        return html_card(type(net).__name__, "has learned nothing yet: net.fit(X).", {})
    facts = {"Sequences": _sequences(net), "Learning": _learning(net), "Guaranteed": _guarantee(net)}
    return html_card(type(net).__name__, _size(net), {title: fact for title, fact in facts.items() if fact})


def _size(net: SequenceMemory) -> str:
    """How large it is."""
    hidden = getattr(net, "V_", None)
    more = f" and {hidden.shape[1]:,} hidden" if isinstance(hidden, np.ndarray) and hidden.ndim == 2 else ""
    context = f" that see the last {net.order_} patterns" if net.order_ > 1 else ""
    return f"with {net.n_features_in_:,} visible{more} neurons{context}, {net.n_parameters():,} parameters."


def _sequences(net: SequenceMemory) -> str:
    """What it learned from, and how much of it is stored, as far as that was counted."""
    if getattr(net, "attached_patterns_", None) is not None:
        return _attached(net)
    seen = net._learned_from
    if seen is None:
        return "not known here, since a network does not keep them; net.score(X) counts the transitions that it makes."
    told = f"fit saw {_number(seen.sequences, 'sequence')} with {_number(seen.transitions, 'transition')}"
    if seen.missing == 0:
        return f"{told}, all of which were right when it ended, though not with their full margins."
    if seen.missing:
        return f"{told}, of which {seen.missing:,} {'is' if seen.missing == 1 else 'are'} not stored."
    return f"{told}; net.score(X) counts those that it makes."


def _attached(net: SequenceMemory) -> str:
    """The sequences that the model carries with it, and how many transitions it makes of them, if that is quickly counted."""
    try:  # by name and only now: files stand on a floor above
        data = importlib.import_module("seqattractor.io._attached").attached(net).sequences
        shown = net._shown(data)
    except ValueError as error:
        return f"{error}"
    names = ", ".join(data.names[:_NAMES]) + (", ..." if len(data.names) > _NAMES else "")
    n = len(shown.targets)
    told = f"the model holds {_number(len(data.lengths), 'sequence')} ({names}) with {_number(n, 'transition')}"
    if n * net.n_parameters() > _QUICK or not goes_by_state(net, shown.inputs[:1]):
        return f"{told}; net.score counts those that it makes."
    made = int(np.sum(~net._wrong_units(shown).any(axis=1)))
    return f"{told}, and makes {f'all {n:,}' if made == n else f'{made:,}'} of them."


def _learning(net: SequenceMemory) -> str:
    """Whether learning converged; nothing for a network that does not count its errors."""
    converged = getattr(net, "converged_", None)
    if converged is None:
        return ""
    epochs = int(getattr(net, "n_iter_", 0))
    last = "the only epoch" if epochs == 1 else f"the last of {epochs:,} epochs"
    if converged:
        return f"converged: {last} had no error." if epochs else "converged."
    kinds = ((name, getattr(net, f"{name}_errors_", None)) for name in ("hidden", "visible"))
    left = [f"{int(errors[-1]):,} {name}" for name, errors in kinds if errors is not None and len(errors)]
    return f"not converged: {last} had {' and '.join(left)} errors." if left else "not converged."


def _guarantee(net: SequenceMemory) -> str:
    """What is proven: nothing before somebody asks, and how to ask."""
    if net.layers() is None:
        return "nothing: such a network has no certificate. sa.basin_fraction(net, X, flips=10) measures recall from noise."
    return "nothing is proven yet; sa.certify(net, X) proves how many wrong units each stored transition withstands."


def _number(count: int, what: str) -> str:
    """A number of things."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
