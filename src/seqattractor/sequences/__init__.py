"""What a sequence is: patterns of +-1, one row per time step; transitions, loops, conflicts and binarisation."""

from seqattractor.sequences._patterns import (
    Lengths,
    Patterns,
    Transitions,
    binarize,
    check_patterns,
    check_sequences,
    split,
    stack_context,
    transitions,
    unbinarize,
)
from seqattractor.sequences._successors import Conflict, Conflicts, conflicts

__all__ = [
    "Conflict",
    "Conflicts",
    "Lengths",
    "Patterns",
    "Transitions",
    "binarize",
    "check_patterns",
    "check_sequences",
    "conflicts",
    "split",
    "stack_context",
    "transitions",
    "unbinarize",
]
