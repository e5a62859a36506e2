"""The card that a notebook shows of a network, above scikit-learn's diagram; it lists only what was
counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seqattractor._faces import html_card

if TYPE_CHECKING:
    from seqattractor.networks.base import SequenceMemory


def html(net: SequenceMemory) -> str:
    """Return the size, the data and the convergence of a network as HTML."""
    if not hasattr(net, "n_features_in_"):
        return html_card(type(net).__name__, "has learned nothing yet: net.fit(X).", {})
    engine = {"exact": "exact.", "reference": "reference, a plain loop."}
    facts = {
        "Sequences": _sequences(net),
        "Learning": _learning(net),
        "Engine": engine.get(getattr(net, "engine_", ""), ""),
    }
    return html_card(
        type(net).__name__, _size(net), {title: fact for title, fact in facts.items() if fact}
    )


def _size(net: SequenceMemory) -> str:
    """Return its numbers of neurons and parameters."""
    hidden = getattr(net, "V_", None)
    more = (
        f" and {hidden.shape[1]:,} hidden"
        if isinstance(hidden, np.ndarray) and hidden.ndim == 2
        else ""
    )
    context = f" that see the last {net.order_} patterns" if net.order_ > 1 else ""
    return (
        f"with {net.n_features_in_:,} visible{more} neurons{context}, {net.n_parameters():,} "
        "parameters."
    )


def _sequences(net: SequenceMemory) -> str:
    """Return what `fit` learned from, and how much of it is stored as far as that was counted."""
    seen = net._learned_from
    if seen is None:
        return (
            "unknown, since a network does not store them; net.score(X) counts the transitions "
            "that it makes."
        )
    seen_by_fit = (
        f"fit saw {_number(seen.sequences, 'sequence')} with "
        f"{_number(seen.transitions, 'transition')}"
    )
    if seen.missing == 0:
        return (
            f"{seen_by_fit}, all of which were right when it ended, though not with their full "
            "margins."
        )
    if seen.missing:
        return (
            f"{seen_by_fit}, of which {seen.missing:,} {'is' if seen.missing == 1 else 'are'} not "
            "stored."
        )
    return f"{seen_by_fit}; net.score(X) counts those that it makes."


def _learning(net: SequenceMemory) -> str:
    """Return whether learning converged, or an empty text for a network that does not count its
    errors.
    """
    converged = getattr(net, "converged_", None)
    if converged is None:
        return ""
    epochs = int(getattr(net, "n_iter_", 0))
    last = "the only epoch" if epochs == 1 else f"the last of {epochs:,} epochs"
    if converged:
        return f"converged: {last} had no error." if epochs else "converged."
    kinds = ((name, getattr(net, f"{name}_errors_", None)) for name in ("hidden", "visible"))
    left = [
        f"{int(errors[-1]):,} {name}"
        for name, errors in kinds
        if errors is not None and len(errors)
    ]
    return f"not converged: {last} had {' and '.join(left)} errors." if left else "not converged."


def _number(count: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
