"""The one list of networks: short names for command line, grids, comparisons, lab and docs. Adding
a network is one line here.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, get_args

from seqattractor._checks import is_count
from seqattractor._suggest import did_you_mean, no_such

if TYPE_CHECKING:
    from seqattractor.networks.base import SequenceMemory

Family = Literal["paper", "ours", "rival", "yardstick"]
"""Where a network comes from: the paper, this package, the rest of the field; a yardstick is only
for comparison.
"""
FAMILIES: tuple[Family, ...] = get_args(Family)


@dataclass(frozen=True)
class Entry:
    """A network under a short name."""

    module: str
    """Of this package, in which the class is defined."""
    cls: str
    family: Family
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Those that differ from the defaults of the class."""


REGISTRY: dict[str, Entry] = {
    "attractor": Entry(
        "networks.attractor", "SequenceAttractor", "paper", "the paper's network, U and V learned"
    ),
    "attractor-V": Entry(
        "networks.variants", "FixedHiddenNetwork", "paper", "the paper's network, only V learned"
    ),
    "attractor-hebbian": Entry(
        "networks.variants",
        "HebbianReadoutNetwork",
        "paper",
        "the paper's network, U fixed and V Hebbian",
    ),
    "attractor-bias": Entry(
        "networks.attractor",
        "SequenceAttractor",
        "paper",
        "the paper's network with learned biases",
        {"bias": True},
    ),
    "attractor-learned-targets": Entry(
        "networks.variants",
        "LearnedTargetsAttractor",
        "paper",
        "the paper's network with learned hidden targets",
    ),
    "sparse": Entry(
        "networks.sparse",
        "SparseSequenceAttractor",
        "ours",
        "the same architecture with sparse hidden codes",
    ),
    "hebbian": Entry(
        "zoo.linear", "HebbianMemory", "rival", "asymmetric Hebbian network (Amari 1972)"
    ),
    "slow-synapses": Entry(
        "zoo.slow_synapses",
        "SlowSynapseMemory",
        "rival",
        "Hebbian with slow synapses (Kleinfeld 1986)",
    ),
    "pseudo-inverse": Entry("zoo.linear", "PseudoInverseMemory", "rival", "projection rule"),
    "perceptron": Entry(
        "networks.visible", "VisibleNetwork", "paper", "margin perceptron without hidden neurons"
    ),
    "perceptron-bias": Entry(
        "networks.visible",
        "VisibleNetwork",
        "paper",
        "margin perceptron with learned biases",
        {"bias": True},
    ),
    "leaky-perceptron": Entry(
        "networks.visible",
        "VisibleNetwork",
        "rival",
        "margin perceptron on leaky sums of inputs (Bressloff & Taylor 1992)",
        {"leak": 0.5},
    ),
    "predictive": Entry(
        "zoo.predictive",
        "PredictiveCodingMemory",
        "rival",
        "temporal predictive coding (Tang 2023)",
    ),
    "predictive-2": Entry(
        "zoo.predictive",
        "LatentPredictiveMemory",
        "rival",
        "temporal predictive coding with latent neurons (Tang 2023)",
    ),
    "brea": Entry(
        "zoo.stochastic",
        "StochasticMemory",
        "rival",
        "stochastic neurons with hidden ones, a local rule (Brea 2013)",
    ),
    "fiete": Entry(
        "zoo.spike_timing",
        "SpikeTimingMemory",
        "rival",
        "spike timing and competing synapses, for chains (Fiete 2010)",
    ),
    "dense": Entry(
        "zoo.dense",
        "DenseSequenceMemory",
        "rival",
        "dense memory of degree 2 (Chaudhry 2023)",
        {"degree": 2},
    ),
    "dense-3": Entry(
        "zoo.dense", "DenseSequenceMemory", "rival", "dense memory of degree 3", {"degree": 3}
    ),
    "dense-auto": Entry(
        "zoo.dense",
        "DenseSequenceMemory",
        "rival",
        "dense memory of the degree that its patterns need",
        {"degree": "auto"},
    ),
    "dense-exponential": Entry(
        "zoo.dense",
        "DenseSequenceMemory",
        "rival",
        "exponential dense memory",
        {"interaction": "exponential"},
    ),
    "dense-pseudo-inverse": Entry(
        "zoo.dense",
        "DenseSequenceMemory",
        "rival",
        "dense memory with the generalised pseudo-inverse",
        {"pseudo_inverse": True},
    ),
    "modern-hopfield": Entry(
        "zoo.dense",
        "DenseSequenceMemory",
        "rival",
        "asymmetric modern Hopfield network (Tang 2023)",
        {"interaction": "softmax", "self_overlap": True},
    ),
    "mixed": Entry(
        "zoo.mixed", "MixedSequenceMemory", "rival", "dense memory that dwells (Chaudhry 2023)"
    ),
    "gillett": Entry(
        "zoo.gillett",
        "HebbianRateMemory",
        "rival",
        "rate neurons, bilinear Hebbian rule (Gillett 2020)",
    ),
    "gillett-sparse": Entry(
        "zoo.gillett",
        "SparseRateMemory",
        "rival",
        "rate neurons, nonlinear Hebbian rule (Gillett 2020)",
    ),
    "gsemm-dense": Entry(
        "zoo.episodic", "DenseEpisodicMemory", "rival", "dense episodic memory (Karuvally 2023)"
    ),
    "gsemm-linear": Entry(
        "zoo.episodic", "LinearEpisodicMemory", "rival", "linear episodic memory (Karuvally 2023)"
    ),
    "eden": Entry(
        "zoo.eden",
        "DynamicEnergyMemory",
        "rival",
        "exponential dynamic energy network (Karuvally 2025)",
    ),
    "scaffold": Entry(
        "zoo.scaffold",
        "ScaffoldMemory",
        "rival",
        "scaffold memory, free-running (Sharma 2022, Chandra 2025)",
    ),
    "bcpnn": Entry(
        "zoo.columns",
        "BayesianColumnMemory",
        "rival",
        "BCPNN as a network of rates (after Tully 2016)",
    ),
    "innate": Entry(
        "zoo.innate",
        "InnateTrajectoryMemory",
        "rival",
        "innate trajectories of a chaotic rate network (Laje & Buonomano 2013)",
    ),
    "pinning": Entry(
        "zoo.pinned",
        "PinnedRateMemory",
        "rival",
        "partial in-network training of rates (Rajan 2016)",
    ),
    "one-hot": Entry(
        "networks.one_hot",
        "OneHotNetwork",
        "paper",
        "one hidden neuron per transition, after Theorem 1",
    ),
    "sdm": Entry(
        "zoo.sparse_distributed",
        "SparseDistributedMemory",
        "yardstick",
        "sparse distributed memory (Kanerva 1988)",
    ),
    "clone-hmm": Entry(
        "zoo.clones",
        "CloneStructuredMemory",
        "yardstick",
        "clone-structured hidden Markov model (George 2021)",
    ),
    "rnn": Entry(
        "zoo.recurrent",
        "RecurrentNetwork",
        "yardstick",
        "recurrent network trained by backpropagation",
    ),
    "lookup": Entry(
        "zoo.lookup",
        "LookupMemory",
        "yardstick",
        "a table of all patterns, searched for the nearest",
    ),
}
"""Short name: the network it stands for, in the order of comparisons."""

ON_REQUEST = frozenset(
    [
        "attractor-hebbian",
        "attractor-bias",
        "attractor-learned-targets",
        "perceptron-bias",
        "leaky-perceptron",
        "predictive-2",
        "brea",
        "fiete",
        "gillett",
        "gillett-sparse",
        "gsemm-dense",
        "gsemm-linear",
        "eden",
        "bcpnn",
        "innate",
        "pinning",
        "rnn",
    ]
)
"""Networks that a comparison takes only where they are named, such as those whose trials take
minutes.
"""


GIVEN = {"ThresholdNetwork": "networks.given"}
"""Classes whose networks are given, not learned, with their modules: model files hold them, grids
and comparisons do not.
"""


def network_names(family: Family | None = None) -> list[str]:
    """Return the short names, all or those of one family.

    Examples
    --------
    >>> network_names("ours")
    ['sparse']
    """
    return [name for name, entry in REGISTRY.items() if family in (None, entry.family)]


def network_class(name: str) -> type[SequenceMemory]:
    """Return the class that a short name stands for; its module loads now.

    Examples
    --------
    >>> network_class("one-hot").__name__
    'OneHotNetwork'
    """
    entry = _entry(name)
    return _import(entry.module, entry.cls)


def _entry(name: str) -> Entry:
    """Return the entry of a short name."""
    if not isinstance(name, str) or name not in REGISTRY:
        raise ValueError(no_such("network", name, REGISTRY))
    return REGISTRY[name]


def _import(module: str, cls: str) -> type[SequenceMemory]:
    """Return a class of this package, by its module and name."""
    found: type[SequenceMemory] = getattr(import_module(f"seqattractor.{module}"), cls)
    return found


def package_class(name: str) -> type[SequenceMemory] | None:
    """Return a network class of this package by its own name, or None."""
    modules = GIVEN | {entry.cls: entry.module for entry in REGISTRY.values()}
    return _import(modules[name], name) if name in modules else None


def parameters_of(name: str) -> dict[str, Any]:
    """Return the parameters of a network with their default values."""
    entry = _entry(name)
    signature = inspect.signature(network_class(name))
    return {each.name: each.default for each in signature.parameters.values()} | dict(
        entry.parameters
    )


def takes_hidden(name: str) -> bool:
    """Return whether a network has as many hidden neurons as it is given; else it has none, or
    grows by itself.

    Examples
    --------
    >>> takes_hidden("attractor"), takes_hidden("one-hot")
    (True, False)
    """
    return is_count(parameters_of(name).get("n_hidden"))


def make_network(name: str, **parameters: Any) -> SequenceMemory:
    """Make a network from its short name.

    Parameters
    ----------
    name : str
        A key of `REGISTRY`.
    **parameters
        Of the network; an unknown one raises an error that lists those there are.

    Returns
    -------
    SequenceMemory
        Not fitted.

    Examples
    --------
    >>> make_network("attractor", n_hidden=20).n_hidden
    20
    """
    known = parameters_of(name)
    for parameter in parameters:
        if parameter not in known:
            meant = did_you_mean(parameter, known) or f"it has {', '.join(known) or 'none'}."
            raise ValueError(f"the network {name!r} has no parameter {parameter!r}; {meant}")
    return network_class(name)(**{**REGISTRY[name].parameters, **parameters})
