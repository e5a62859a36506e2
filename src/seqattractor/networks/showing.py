"""What a notebook shows of a network: what it is, what it has learned and what is guaranteed, above scikit-learn's diagram."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from seqattractor._faces import html_card
from seqattractor.networks.known_states import goes_by_state
from seqattractor.networks.recalling import Recalling
from seqattractor.networks.saving import Saving

_QUICK = 100_000_000  # parameters times transitions: up to here what is stored is counted whenever a network is shown
_NAMES = 3  # sequences that are named


class Showing(Recalling, Saving):
    """A network that shows itself in a notebook; of what is stored or guaranteed it says only what was counted or proven."""

    def _repr_html_inner(self) -> str:
        """What is known, and the diagram."""
        return self._card() + str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """The same for notebooks that ask for all forms at once; scikit-learn's `set_config(display="text")` leaves the text."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return bundle | {"text/html": self._card() + bundle["text/html"]} if "text/html" in bundle else bundle

    def _card(self) -> str:
        """What is known of the network, in HTML."""
        if not hasattr(self, "n_features_in_"):
            return html_card(type(self).__name__, "has learned nothing yet: net.fit(X).", {})
        facts = {"Sequences": self._sequences_known(), "Learning": self._learning_known(), "Guaranteed": self._guarantee_known()}
        return html_card(type(self).__name__, self._size(), {title: fact for title, fact in facts.items() if fact})

    def _size(self) -> str:
        """How large it is."""
        hidden = getattr(self, "V_", None)
        more = f" and {hidden.shape[1]:,} hidden" if isinstance(hidden, np.ndarray) and hidden.ndim == 2 else ""
        context = f" that see the last {self.order_} patterns" if self.order_ > 1 else ""
        return f"with {self.n_features_in_:,} visible{more} neurons{context}, {self.n_parameters():,} parameters."

    def _sequences_known(self) -> str:
        """What it learned from, and how much of it is stored, as far as that was counted."""
        if getattr(self, "attached_patterns_", None) is not None:
            return self._attached_known()
        seen = self._learned_from
        if seen is None:
            return "not known here, since a network does not keep them; net.score(X) counts the transitions that it makes."
        told = f"fit saw {_number(seen.sequences, 'sequence')} with {_number(seen.transitions, 'transition')}"
        if seen.missing == 0:
            return f"{told}, all of which were right when it ended, though not with their full margins."
        if seen.missing:
            return f"{told}, of which {seen.missing:,} {'is' if seen.missing == 1 else 'are'} not stored."
        return f"{told}; net.score(X) counts those that it makes."

    def _attached_known(self) -> str:
        """The sequences that the model carries with it, and how many transitions it makes of them, if that is quickly counted."""
        try:  # by name and only now: files stand on a floor above
            data = importlib.import_module("seqattractor.io._attached").attached(self).sequences
            shown = self.shown(data)
        except ValueError as error:
            return f"{error}"
        names = ", ".join(data.names[:_NAMES]) + (", ..." if len(data.names) > _NAMES else "")
        n = len(shown.targets)
        told = f"the model holds {_number(len(data.lengths), 'sequence')} ({names}) with {_number(n, 'transition')}"
        if n * self.n_parameters() > _QUICK or not goes_by_state(self, shown.inputs[:1]):
            return f"{told}; net.score counts those that it makes."
        made = int(np.sum(~self._wrong_units(shown).any(axis=1)))
        return f"{told}, and makes {f'all {n:,}' if made == n else f'{made:,}'} of them."

    def _learning_known(self) -> str:
        """Whether learning converged; nothing for a network that does not count its errors."""
        converged = getattr(self, "converged_", None)
        if converged is None:
            return ""
        epochs = int(getattr(self, "n_iter_", 0))
        last = "the only epoch" if epochs == 1 else f"the last of {epochs:,} epochs"
        if converged:
            return f"converged: {last} had no error." if epochs else "converged."
        kinds = ((name, getattr(self, f"{name}_errors_", None)) for name in ("hidden", "visible"))
        left = [f"{int(errors[-1]):,} {name}" for name, errors in kinds if errors is not None and len(errors)]
        return f"not converged: {last} had {' and '.join(left)} errors." if left else "not converged."

    def _guarantee_known(self) -> str:
        """What is proven: nothing before somebody asks, and how to ask."""
        if self.layers() is None:
            return "nothing: such a network has no certificate. sa.basin_fraction(net, X, flips=10) measures recall from noise."
        return "nothing is proven yet; sa.certify(net, X) proves how many wrong units each stored transition withstands."


def _number(count: int, what: str) -> str:
    """A number of things."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
