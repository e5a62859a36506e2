"""Sequences that a network learns one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.rehearsal import Rehearse
from seqattractor.networks.traits import NotApplicable
from seqattractor.sequences import Patterns

REHEARSALS = ("none", "self", "cues", "patterns")
"""Names of the values of `rehearse` of `add`, None being "none"."""


def rehearsals_of(network: type[SequenceMemory]) -> tuple[str, ...]:
    """Return the rehearsals that a class of networks can do; none if it learns all sequences at
    once.
    """
    if not issubclass(network, OnlineMemory):
        return ()
    return REHEARSALS if network._rehearses else REHEARSALS[:1]


def learn_in_turn(
    net: SequenceMemory, sequences: Iterable[Patterns], rehearse: Rehearse | None
) -> Iterator[int]:
    """Add sequences to a network one by one, and yield, after each, how many bits are saved beside
    the weights.

    A sequence that a network rejects since it is full is passed over: those before are stored.
    """
    if not isinstance(net, OnlineMemory):
        raise NotApplicable(
            f"{type(net).__name__} has no partial_fit: it learns all its sequences at once."
        )
    bits = 0
    for k, X in enumerate(sequences):
        try:
            bits = net.add(X, rehearse=rehearse).n_bits_saved
        except ValueError as error:
            if k == 0 or isinstance(error, NotApplicable):
                raise
        yield bits
