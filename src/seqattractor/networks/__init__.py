"""The networks. All are `SequenceMemory`s: fit, step, recall, score, save."""

from seqattractor.networks._attractor import SequenceAttractor
from seqattractor.networks._base import SequenceMemory, load
from seqattractor.networks._dense import DenseSequenceMemory
from seqattractor.networks._lookup import LookupMemory
from seqattractor.networks._one_hot import OneHotNetwork
from seqattractor.networks._predictive import PredictiveCodingMemory
from seqattractor.networks._sparse import SparseSequenceAttractor
from seqattractor.networks._visible import VisibleNetwork

__all__ = [
    "DenseSequenceMemory",
    "LookupMemory",
    "OneHotNetwork",
    "PredictiveCodingMemory",
    "SequenceAttractor",
    "SequenceMemory",
    "SparseSequenceAttractor",
    "VisibleNetwork",
    "load",
]
