"""The settings of the paper's experiments, all in one place."""

from typing import Any

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

LEARNED_FEEDBACK = 0.02  # lambda of learned targets; how it was chosen: docs/learned_targets.rst

RECONSTRUCTION: dict[str, Any] = {  # figure 3; the paper does not state M
    "N": 100,
    "M": [25, 50, 100, 200, 300, 400, 600, 800, 1000, 1500, 2000],
    "P": ["gaussian", "uniform"],
}

GAIT: dict[str, Any] = {"T": 103, "shape": [128, 88], "M": 200, "flips": 2000}  # section 6.3
DIGITS: dict[str, Any] = {
    "sequences": 20,
    "T": 20,
    "shape": [64, 64],
    "M": 1000,
    "flips": 300,
}  # section 6.3

SPARSITY: dict[str, Any] = {  # appendix F; the paper does not state theta
    "N": 100,
    "M": 500,
    "flips": 10,
    "T": list(range(10, 151, 20)),
    "theta": [0.0, 0.5, 1.0, 1.5],  # in standard deviations of the projection, which is sqrt(N)
}
