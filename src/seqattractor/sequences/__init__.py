"""What a sequence is: patterns of +-1, one row per time step; transitions, loops, conflicts and binarisation."""

from seqattractor.sequences._binarize import binarize, unbinarize
from seqattractor.sequences._check import check_sequences
from seqattractor.sequences._loops import close_loops
from seqattractor.sequences._patterns import Lengths, Patterns, check_patterns, split
from seqattractor.sequences._sequences import Sequences
from seqattractor.sequences._successors import Conflict, Conflicts, conflicts
from seqattractor.sequences._transitions import Transitions, stack_context, transitions

__all__ = [
    "Conflict",
    "Conflicts",
    "Lengths",
    "Patterns",
    "Sequences",
    "Transitions",
    "binarize",
    "check_patterns",
    "check_sequences",
    "close_loops",
    "conflicts",
    "split",
    "stack_context",
    "transitions",
    "unbinarize",
]
