"""Experiment: sequences of excitatory and inhibitory neurons, trained by backpropagation through
time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.zoo.experiments.experiment import Check, Experiment, Panel
from seqattractor.zoo.experiments.trained_rates import explained_variance

Floats = NDArray[np.float64]
_ALPHA = 0.5  # dt / tau
_SLOPE = 0.1  # of silent neurons when errors go backwards, so that they can learn to be active


def run_dale(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Teach one sequence that a pulse sets off, and measure the variance explained."""
    rng = np.random.default_rng(seed)
    N, T = settings["neurons"], settings["steps"]
    net = DaleNetwork(N, rng)
    n_excitatory = int(np.sum(net.signs > 0))
    t = np.arange(T)[:, None]
    wanted = np.exp(-((t - np.linspace(0.1, 0.95, n_excitatory) * T) ** 2) / (2 * (0.05 * T) ** 2))
    losses = net.learn(_pulse(T, 1.0), wanted, settings["iterations"])
    explained = {
        f"pulse {size:g}": explained_variance(wanted, net.run(_pulse(T, size))[:, :n_excitatory])
        for size in (1.0, 0.7, 1.5)
    }
    later = net.run(_pulse(3 * T, 1.0))[:, :n_excitatory]
    W = net.couplings()
    obeyed = np.all(W[:, net.signs > 0] >= 0) and np.all(W[:, net.signs < 0] <= 0)
    shown = np.linspace(0, n_excitatory - 1, 5).astype(int)
    series: dict[str, Any] = {"loss": {"x": list(range(1, len(losses) + 1)), "y": losses}}
    for k, unit in enumerate(shown):
        series[f"unit {k}"] = {"x": list(range(3 * T)), "y": later[:, unit].tolist()}
        series[f"wanted {k}"] = {"x": list(range(T)), "y": wanted[:, unit].tolist()}
    weaker_and_stronger = min(explained["pulse 0.7"], explained["pulse 1.5"])
    return {
        "series": series,
        "numbers": {
            "explained": explained["pulse 1"],
            "other_pulses": weaker_and_stronger,
            "dale": float(obeyed),
        },
    }


class DaleNetwork:
    """tau dx/dt = -x + W r + w_in u + b with r = max(x, 0) and W = |W~| D: four of five neurons
    excite, the others inhibit.
    """

    def __init__(self, N: int, rng: np.random.Generator) -> None:
        self.signs = np.where(np.arange(N) < 0.8 * N, 1.0, -1.0)
        W = rng.gamma(2.0, 1.0, (N, N)) * np.where(
            self.signs > 0, 1.0, 4.0
        )  # inhibition balances excitation
        np.fill_diagonal(W, 0.0)
        W *= 0.9 / np.abs(np.linalg.eigvals(W * self.signs)).max()
        self.parameters = {"W": W, "w_in": rng.standard_normal(N), "b": np.full(N, 0.3)}

    def couplings(self) -> Floats:
        """W."""
        return np.asarray(np.abs(self.parameters["W"]) * self.signs)

    def run(self, u: Floats) -> Floats:
        """The rates r at every step of an input (T,), (T, N)."""
        return np.maximum(self._states(u), 0.0)

    def learn(self, u: Floats, wanted: Floats, iterations: int, rate: float = 0.01) -> list[float]:
        """Lower the squared error of the first neurons' rates by gradient descent (Adam); gives the
        loss of each iteration.
        """
        mean = {name: np.zeros_like(value) for name, value in self.parameters.items()}
        square = {name: np.zeros_like(value) for name, value in self.parameters.items()}
        losses = []
        for step in range(1, iterations + 1):
            loss, gradients = self.gradients(u, wanted, _SLOPE)
            losses.append(loss)
            for name, g in gradients.items():
                mean[name] += 0.1 * (g - mean[name])
                square[name] += 0.001 * (g * g - square[name])
                size = mean[name] / (1 - 0.9**step)
                self.parameters[name] -= (
                    rate * size / (np.sqrt(square[name] / (1 - 0.999**step)) + 1e-8)
                )
            np.fill_diagonal(self.parameters["W"], 0.0)
        return losses

    def gradients(
        self, u: Floats, wanted: Floats, slope: float = 0.0
    ) -> tuple[float, dict[str, Floats]]:
        """Return the squared error of the first neurons and its derivatives."""
        x, W = self._states(u), self.couplings()
        r, n = np.maximum(x, 0.0), wanted.shape[1]
        error = np.zeros_like(r)
        error[:, :n] = r[:, :n] - wanted
        loss = float(np.mean(error[:, :n] ** 2))
        error *= 2 / wanted.size
        of_field = np.zeros_like(x)  # derivative by what reaches each neuron at each step
        by_x, open_ = np.zeros(x.shape[1]), np.where(x > 0, 1.0, slope)
        for t in reversed(range(len(x))):
            by_x = by_x + error[t] * open_[t]
            of_field[t] = _ALPHA * by_x
            by_x = (1 - _ALPHA) * by_x + (of_field[t] @ W) * (open_[t - 1] if t else 0.0)
        before = np.vstack([np.zeros_like(r[:1]), r[:-1]])
        by_W = of_field.T @ before
        return loss, {
            "W": by_W * self.signs * np.sign(self.parameters["W"]),
            "w_in": of_field.T @ u,
            "b": of_field.sum(axis=0),
        }

    def _states(self, u: Floats) -> Floats:
        """The states x at every step, from x = 0."""
        x, W, p = np.zeros((len(u), len(self.signs))), self.couplings(), self.parameters
        now = np.zeros(len(self.signs))
        for t in range(len(u)):
            now = (1 - _ALPHA) * now + _ALPHA * (
                W @ np.maximum(now, 0.0) + p["w_in"] * u[t] + p["b"]
            )
            x[t] = now
        return x


def _pulse(steps: int, size: float) -> Floats:
    """An input that is there for the first ten steps."""
    return np.where(np.arange(steps) < 10, 5.0 * size, 0.0)


DALE = Experiment(
    name="rajakumar",
    title="Excitation and inhibition, trained by backpropagation",
    source="A. Rajakumar, J. Rinzel, Z. Chen 2021",
    trial=run_dale,
    about="Rate neurons that obey Dale's law, four of five of them excitatory, learn to be active "
    "one after the other when an input pulse sets them off. The error goes backwards through time, "
    "which no synapse could do.",
    not_verified="all formulas and sizes: only the abstract was at hand. By it the sequence "
    "tolerates other inputs, and repeats when the network runs on; the figure shows this for three "
    "times the trained time.",
    panels=(
        Panel(
            "Five neurons after the pulse",
            "steps (trained up to where wanted ends)",
            "rate",
            {
                **{f"wanted {k}": "wanted" for k in range(5)},
                **{f"unit {k}": "network" for k in range(5)},
            },
            theory=tuple(f"wanted {k}" for k in range(5)),
        ),
        Panel("Learning", "iteration", "mean squared error", {"loss": "loss"}, log="y"),
    ),
    checks=(
        Check(
            "explained",
            "variance explained after training",
            (0.8, 1.0),
            "that the sequence is learned",
        ),
        Check(
            "other_pulses",
            "the same with a weaker (0.7) or stronger (1.5) pulse",
            (0.5, 1.0),
            "tolerance of other inputs",
        ),
        Check("dale", "every neuron only excites or only inhibits", 1.0, "Dale's law"),
    ),
    size={"neurons": 40, "steps": 60, "iterations": 1500, "networks": 2},
    quick={"iterations": 700, "networks": 1},
    full={"neurons": 100, "steps": 120, "iterations": 3000},
)
