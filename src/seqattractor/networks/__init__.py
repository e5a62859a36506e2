"""The networks. All are `SequenceMemory`s: fit, step, recall, score, save."""

from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.base import SequenceMemory, load
from seqattractor.networks.dense import DenseSequenceMemory
from seqattractor.networks.lookup import LookupMemory
from seqattractor.networks.one_hot import OneHotNetwork
from seqattractor.networks.predictive import PredictiveCodingMemory
from seqattractor.networks.sparse import SparseSequenceAttractor
from seqattractor.networks.visible import VisibleNetwork

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
