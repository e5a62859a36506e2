"""The settings of the paper's experiments, all in one place, and what the user may ask for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "DIGITS",
    "GAIT",
    "LEARNING",
    "QUICK_TRIALS",
    "RANDOM_SEQUENCES",
    "RECALL_PERIODS",
    "RECONSTRUCTION",
    "SPARSITY",
    "TOY",
    "Request",
]

LEARNING: dict[str, Any] = {
    # Section 6: "variance 1e-6" is a standard deviation of 1e-3.
    "eta": 1e-3,
    "kappa": 1.0,
    "init_scale": 1e-3,
    "max_epochs": 500,
}

TOY: dict[str, Any] = {"N": 10, "M": 50, "flips": 2}  # section 6.1

RANDOM_SEQUENCES: dict[str, Any] = {  # section 6.2
    "N": 100,
    "flips": 10,
    "table1": {"T": list(range(10, 151, 10)), "M": [500]},
    "table2": {"T": [70], "M": list(range(100, 1001, 100))},
}

# Section 6.2 asks for "some tau" without a bound. A network may wander for two periods, then has one to come to
# x(1) and one to show the sequence.
RECALL_PERIODS = 4

RECONSTRUCTION: dict[str, Any] = {  # figure 3; the paper does not say which M
    "N": 100,
    "M": [25, 50, 100, 200, 300, 400, 600, 800, 1000, 1500, 2000],
    "P": ["gaussian", "uniform"],
}

GAIT: dict[str, Any] = {"T": 103, "shape": [128, 88], "M": 200, "flips": 2000}  # section 6.3
DIGITS: dict[str, Any] = {"sequences": 20, "T": 20, "shape": [64, 64], "M": 1000, "flips": 300}  # section 6.3

SPARSITY: dict[str, Any] = {  # appendix F; the paper does not say which theta
    "N": 100,
    "M": 500,
    "flips": 10,
    "T": list(range(10, 151, 20)),
    "theta": [0.0, 0.5, 1.0, 1.5],  # in standard deviations of the projection, which is sqrt(N)
}


QUICK_TRIALS = 5


@dataclass(frozen=True)
class Request:
    """What to reproduce: how many trials, from which seed, on which data."""

    trials: int = 100
    """Trials of each cell; targets that need fewer networks take fewer."""
    seed: int = 0
    quick: bool = False
    """Few trials and coarse grids where time would go: a look, not a test."""
    gait_dir: Path | None = None
    """A folder of OU-ISIR silhouettes; by default the drawn walker."""
    mnist_file: Path | None = None
    """A file with Moving MNIST or MNIST; by default scikit-learn's digits."""

    def at_most(self, trials: int) -> int:
        """The number of trials, but no more than `trials`."""
        return min(self.trials, trials)
