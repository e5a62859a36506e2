"""Experiments with other people's systems, each with consistency checks; ``seqattractor reproduce``
runs and draws them.

To add one, write its trial and its `Experiment` in a file here, and give it a line in
`EXPERIMENTS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seqattractor.zoo.experiments.experiment import Experiment

# Name: file and instance, in the order of the report; a file is imported only when it is used.
EXPERIMENTS = {
    "dwelling": "without_hidden:DWELLING",
    "leaky-perceptron": "without_hidden:LEAKY_PERCEPTRON",
    "fiete": "local_memories:FIETE",
    "brea": "local_memories:BREA",
    "bcpnn": "trained_rates:BCPNN",
    "innate": "trained_rates:INNATE",
    "pinning": "trained_rates:PINNING",
    "gillett": "rate_memories:GILLETT",
    "rajakumar": "dale:DALE",
    "gsemm": "rate_memories:GSEMM",
    "eden": "rate_memories:EDEN",
    "orbits": "without_hidden:ORBITS",
    "scaffold": "yardsticks:SCAFFOLD",
    "sdm": "yardsticks:SDM",
    "clone-hmm": "yardsticks:CLONE_HMM",
}


def get_experiment(name: str) -> Experiment:
    """Return the experiment of this name."""
    file, _, instance = EXPERIMENTS[name].partition(":")
    experiment: Experiment = getattr(
        import_module(f"seqattractor.zoo.experiments.{file}"), instance
    )
    return experiment
