"""Laws of capacity: how the longest sequence grows with the number of neurons and of sequences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.study.capacity import Capacity

Floats = NDArray[np.float64]

_SYMBOLS = {"n": "N", "m": "M", "sequences": "S"}


@dataclass(frozen=True)
class PowerLaw:
    """T = factor * N^a * M^b * S^c."""

    factor: float
    exponents: dict[str, tuple[float, float]]
    """Exponent and its standard error, by the name of the setting."""
    spread: float
    """The typical ratio between a capacity and the law, less 1."""

    def __call__(self, settings: dict[str, Any]) -> float:
        """The capacity by the law."""
        return float(self.factor * math.prod(settings[name] ** a for name, (a, _) in self.exponents.items()))

    def __str__(self) -> str:
        parts = [f"{_SYMBOLS[name]}^({a:.2f} ± {e:.2f})" for name, (a, e) in self.exponents.items()]
        unresolved = [_SYMBOLS[name] for name, (a, e) in self.exponents.items() if abs(a) < 1.96 * e]
        caveat = f" (these capacities do not resolve the exponent of {' and '.join(unresolved)})" if unresolved else ""
        return f"T = {self.factor:.3g} * {' * '.join(parts)}, to within {_percent(self.spread)}{caveat}"


@dataclass(frozen=True)
class SaturatingLaw:
    """T = a N / (1 + c N / M): growing with M until the visible neurons set the limit a N; 1/T is linear in 1/N and 1/M."""

    a: tuple[float, float]
    c: tuple[float, float]
    """With their standard errors."""
    spread: float

    def __call__(self, settings: dict[str, Any]) -> float:
        """The capacity by the law."""
        n, m = settings["n"], settings["m"]
        return float(self.a[0] * n / (1 + self.c[0] * n / m))

    def __str__(self) -> str:
        (a, da), (c, dc) = self.a, self.c
        return f"T = ({a:.3f} ± {da:.3f}) N / (1 + ({c:.2f} ± {dc:.2f}) N / M), to within {_percent(self.spread)}"


Law = PowerLaw | SaturatingLaw


def _percent(spread: float) -> str:
    """A spread in whole percent, never rounded down to none."""
    return f"{max(spread, 0.01):.0%}"


def fit_law(capacities: Sequence[Capacity]) -> Law | None:
    """Fit laws to capacities and give the one that explains them better, by Akaike's criterion.

    Parameters
    ----------
    capacities : sequence of Capacity
        Those that only say "at least", or that there is none, are left out.

    Returns
    -------
    PowerLaw, SaturatingLaw or None
        A power law in those of N, M and the number of sequences that vary, or, where N and M vary alone, one that saturates,
        if both its parts can be told from zero.
        None if there are too few capacities for a fit: a law needs two more of them than it has numbers.
    """
    good = [c for c in capacities if not c.at_least and c.t > 1]
    names = [name for name in _SYMBOLS if len({c.settings[name] for c in good}) > 1]
    if not names or len(good) < len(names) + 3 or any(c.settings[name] is None for c in good for name in names):
        return None
    T = np.array([c.t for c in good], dtype=np.float64)
    # An interval of +-1.96 standard errors of log T; no capacity counts more than one that is known to 2 %.
    sigma = np.array([max(math.log(c.high / max(c.low, 1)) / 3.92, 0.02) for c in good])
    laws: list[tuple[float, Law]] = [_power(good, names, T, sigma)]
    if names == ["n", "m"]:
        laws.append(_saturating(good, T, sigma))
    return min(laws, key=lambda pair: pair[0])[1]


def _power(good: Sequence[Capacity], names: list[str], T: Floats, sigma: Floats) -> tuple[float, Law]:
    """A power law, and its criterion."""
    A = np.array([[1.0, *(math.log(c.settings[name]) for name in names)] for c in good])
    values, errors = _least_squares(A, np.log(T), sigma)
    spread, criterion = _quality(A @ values, T, sigma, len(values))
    exponents = {name: (float(values[k]), float(errors[k])) for k, name in enumerate(names, start=1)}
    return criterion, PowerLaw(math.exp(values[0]), exponents, spread)


def _saturating(good: Sequence[Capacity], T: Floats, sigma: Floats) -> tuple[float, Law]:
    """A law that saturates, and its criterion: 1/T = (1/a) / N + (c/a) / M."""
    A = np.array([[1.0 / c.settings["n"], 1.0 / c.settings["m"]] for c in good])
    values, errors = _least_squares(A, 1 / T, sigma / T)
    if np.any(values <= 1.96 * errors):  # a part that may as well be zero: then nothing is seen to saturate
        return math.inf, SaturatingLaw((0.0, 0.0), (0.0, 0.0), math.inf)
    spread, criterion = _quality(-np.log(A @ values), T, sigma, len(values))
    relative = errors / values
    a, c = 1 / values[0], values[1] / values[0]
    return criterion, SaturatingLaw((float(a), float(a * relative[0])), (float(c), float(c * np.hypot(*relative))), spread)


def _least_squares(A: Floats, y: Floats, sigma: Floats) -> tuple[Floats, Floats]:
    """Weighted least squares: values and standard errors, larger where the scatter is larger than `sigma` says."""
    weighted = A / sigma[:, None]
    values, *_ = np.linalg.lstsq(weighted, y / sigma, rcond=None)
    scale = max(1.0, float(np.sum(((y - A @ values) / sigma) ** 2)) / (len(y) - len(values)))
    return values.astype(np.float64), np.sqrt(np.diag(np.linalg.inv(weighted.T @ weighted)) * scale)


def _quality(log_law: Floats, T: Floats, sigma: Floats, n_values: int) -> tuple[float, float]:
    """The typical ratio to the law, less 1, and Akaike's criterion."""
    residuals = np.log(T) - log_law
    return math.expm1(float(np.sqrt(np.mean(residuals**2)))), float(np.sum((residuals / sigma) ** 2)) + 2 * n_values
