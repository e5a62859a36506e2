"""Experiments with trained rates: BCPNN, innate training and PINning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.sequences import Patterns
from seqattractor.zoo.columns import BayesianColumnMemory
from seqattractor.zoo.experiments.experiment import Check, Experiment, Panel
from seqattractor.zoo.innate import draw_wiring, run_innate
from seqattractor.zoo.pinned import run_pinning

Floats = NDArray[np.float64]


def run_bcpnn(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Measure how long patterns without common minicolumns are held, beside the theory."""
    n = settings["patterns"]
    X = np.where(np.eye(n, dtype=bool), 1, -1).astype(np.int8)
    X = np.vstack([X, X[:1]])
    held, expected, in_order = [], [], []
    for g_a in settings["g_a"]:
        net = BayesianColumnMemory(n, g_a=g_a, dt=settings["dt"], read_out_interval=1.0).fit(X)
        expected.append(float(persistence_times(net, X)[0]))
        path = net.recall(X[0], steps=int(6 * expected[-1]))
        at = np.argmax(path, axis=1)
        changes = np.flatnonzero(np.diff(at))
        held.append(float(np.diff(changes)[1:].mean()))  # the first two begin before all is in step
        in_order.append(bool(np.all(np.diff(at[changes + 1]) % n == 1)))
    strengths = list(settings["g_a"])
    return {
        "series": {"held": {"x": strengths, "y": held}, "theory": {"x": strengths, "y": expected}},
        "numbers": {
            "deviation": float(np.max(np.abs(np.array(held) / np.array(expected) - 1))),
            "in_order": float(np.mean(in_order)),
        },
    }


def persistence_times(net: BayesianColumnMemory, X: Patterns) -> Floats:
    """Return the time in ms for which each pattern of a sequence (T, N) is held, (T - 1,); infinite
    where it is for good.

    The next pattern takes over when adaptation has used up the advantage of the one that is active,
    B in units of g_a: T = tau_a ln(1 / (1 - B)) + tau_a ln(1 / (1 - tau_s / tau_a)), B = (field of
    x(t) - field of x(t+1)) / g_a. This is exact where all hypercolumns agree on B, as for patterns
    that share no minicolumn; else B is their mean.
    """
    o, H = net._chosen(X.astype(np.float64)), net._n_hypercolumns
    field = (o @ net.W_.T / H + net.g_beta * net.beta_) / H
    B = (np.sum(field[:-1] * o[:-1], axis=1) - np.sum(field[:-1] * o[1:], axis=1)) / net.g_a
    with np.errstate(divide="ignore"):
        used_up = -net.tau_a * np.log(np.maximum(1 - B, 0))
    return np.where(B < 1, used_up - net.tau_a * np.log(1 - net.tau_s / net.tau_a), np.inf)


BCPNN = Experiment(
    name="bcpnn",
    title="BCPNN as a network of rates",
    network="bcpnn",
    source="P. Tully, H. Linden, M. Hennig, A. Lansner 2016; "
    "rate version after R. Martinez Mayorquin",
    trial=run_bcpnn,
    about="Columns with adaptation hold each pattern for a while and then move to the next. For "
    "how long follows from the weights, the strength of adaptation and two time constants.",
    not_verified="the full spiking network, which is not built here.",
    panels=(
        Panel(
            "How long a pattern is held",
            "strength of adaptation g_a",
            "time in ms",
            {"held": "network", "theory": "theory"},
            theory=("theory",),
            points=True,
        ),
    ),
    checks=(
        Check(
            "deviation",
            "largest deviation of persistence times from theory",
            (0.0, 0.02),
            "the published formula",
            kind="published",
        ),
        Check("in_order", "fraction of runs in order", 1.0, "what the model is for"),
    ),
    size={"patterns": 10, "g_a": [0.7, 0.8, 1.0, 1.3, 1.6, 2.0], "dt": 0.1},
    quick={"g_a": [0.8, 1.5], "dt": 0.25},
    full={"g_a": [0.65, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5], "dt": 0.05},
)


def run_pinning_on_bumps(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Train ``fractions`` of N neurons on bumps; gives pVar, the variance explained."""
    rng = np.random.default_rng(seed)
    N, steps, tau, g = settings["N"], int(settings["duration"]), 10.0, 1.35
    t = np.arange(steps)[:, None]
    centres = np.linspace(0, steps, N)
    wanted_rates = 0.02 + 0.93 * np.exp(-((t - centres) ** 2) / (2 * settings["width"] ** 2))
    wanted = np.log(wanted_rates / (1 - wanted_rates))
    drive = _frozen_noise(steps, N, rng)
    start = wanted[0].copy()
    explained, rates = [], wanted_rates
    J_first = rng.standard_normal((N, N)) * (g / np.sqrt(N))
    order = rng.permutation(N)
    for p in settings["fractions"]:
        J, plastic = J_first.copy(), np.sort(order[: max(1, round(p * N))])
        P = np.eye(len(plastic))
        for _ in range(settings["passes"]):
            run_pinning(J, plastic, drive, wanted, P, start.copy(), tau)
        x = run_pinning(J, plastic, drive, wanted[:0], P, start.copy(), tau)
        rates = 1 / (1 + np.exp(-x))
        explained.append(explained_variance(wanted_rates, rates))
    shown = np.linspace(0, N - 1, 5).astype(int)
    every = max(1, steps // 200)
    series: dict[str, Any] = {"explained": {"x": list(settings["fractions"]), "y": explained}}
    for k, unit in enumerate(shown):
        series[f"unit {k}"] = {
            "x": list(range(0, steps, every)),
            "y": rates[::every, unit].tolist(),
        }
        series[f"wanted {k}"] = {
            "x": list(range(0, steps, every)),
            "y": wanted_rates[::every, unit].tolist(),
        }
    return {"series": series, "numbers": {"all": explained[-1], "few": explained[0]}}


PINNING = Experiment(
    name="pinning",
    title="PINning: training a part of the network",
    network="pinning",
    source="K. Rajan, C. Harvey, D. Tank 2016",
    trial=run_pinning_on_bumps,
    about="Units should be active one after the other. Only the outgoing weights of a fraction p "
    "of the neurons learn, while the network runs by itself with frozen noise as its input.",
    not_verified="the published numbers (p of about 8 % suffices at N = 500, bVar of about .92) "
    "are from general knowledge; what is shown here is pVar, at a smaller N unless --full is "
    "given.",
    panels=(
        Panel(
            "Variance that is explained",
            "fraction of trained neurons p",
            "pVar",
            {"explained": "network"},
            log="x",
            points=True,
        ),
        Panel(
            "Five units at the largest p",
            "time in ms",
            "rate",
            {
                **{f"wanted {k}": "wanted" for k in range(5)},
                **{f"unit {k}": "network" for k in range(5)},
            },
            theory=tuple(f"wanted {k}" for k in range(5)),
        ),
    ),
    checks=(
        Check(
            "all",
            "pVar at the largest p",
            (0.85, 1.0),
            "about .85 for recorded data at p = 12 % (not verified)",
        ),
        Check(
            "few",
            "pVar at the smallest p",
            (None, 0.85),
            "too few neurons cannot make the sequence",
        ),
    ),
    size={
        "N": 100,
        "duration": 2000,
        "width": 100.0,
        "fractions": [0.01, 0.03, 0.08, 0.2, 0.5],
        "passes": 30,
        "networks": 2,
    },
    quick={
        "N": 50,
        "duration": 800,
        "width": 60.0,
        "fractions": [0.02, 0.3],
        "passes": 15,
        "networks": 1,
    },
    full={
        "N": 500,
        "duration": 10500,
        "width": 300.0,
        "fractions": [0.01, 0.04, 0.08, 0.12, 0.3],
        "passes": 100,
        "networks": 1,
    },
)


def run_innate_timing(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Give R^2 of a timed pulse in runs with a jolt, before and after innate training."""
    rng = np.random.default_rng(seed)
    M, window, tau, rest, pulse = settings["neurons"], int(settings["window"]), 10.0, 200, 50
    wiring = draw_wiring(M, 0.1, settings["g"], rng)
    into = 5.0 * rng.standard_normal(M)
    jolt = 0.5 * rng.standard_normal(M)
    n_plastic, K = round(0.6 * M), wiring.weights.shape[1]
    nothing, none = np.zeros((0, M)), np.zeros((0, 1, 1))

    def run(noise: float, jolted: bool, wanted: Floats, P: Floats) -> Floats:
        begin = rest + pulse
        drive = noise * rng.standard_normal((begin + window, M))
        drive[rest:begin] += into
        if jolted:
            drive[begin + window // 4 :][:10] += jolt
        x = rng.uniform(-1, 1, M)
        run_innate(wiring, drive[:begin], nothing, P, x, tau)
        return run_innate(wiring, drive[begin:], wanted, P, x, tau)

    at = 0.8 * window
    output = 0.2 + 0.8 * np.exp(-(((np.arange(window) - at) / 30.0) ** 2))
    innate = run(0.0, False, nothing, none)
    explained, shown = {}, {}
    for stage in ("before", "after"):
        if stage == "after":
            P = np.tile(np.eye(K), (n_plastic, 1, 1))
            for _ in range(settings["trials"]):
                run(0.001, False, innate, P)
        r = np.concatenate([run(0.001, False, nothing, none) for _ in range(5)])
        W_out = np.linalg.solve(r.T @ r + np.eye(M), r.T @ np.tile(output, 5))
        made = [run(0.001, True, nothing, none) @ W_out for _ in range(5)]
        explained[stage] = float(np.mean([np.corrcoef(each, output)[0, 1] ** 2 for each in made]))
        shown[stage] = made[0]
    every = max(1, window // 300)
    series = {
        name: {"x": list(range(0, window, every)), "y": each[::every].tolist()}
        for name, each in shown.items()
    }
    series["wanted"] = {"x": list(range(0, window, every)), "y": output[::every].tolist()}
    return {
        "series": series,
        "numbers": {**explained, "gain": explained["after"] - explained["before"]},
    }


def _frozen_noise(steps: int, N: int, rng: np.random.Generator, tau: float = 1000.0) -> Floats:
    """White noise that is filtered with a time constant of one second, and has a standard deviation
    of about 1.
    """
    h, noise = np.zeros((steps, N)), rng.standard_normal((steps, N)) * np.sqrt(2 / tau)
    h[0] = rng.standard_normal(N)
    for t in range(1, steps):
        h[t] = h[t - 1] * (1 - 1 / tau) + noise[t]
    return h


def explained_variance(wanted: Floats, rates: Floats) -> float:
    """The variance of the wanted rates that is explained."""
    return float(1 - np.sum((wanted - rates) ** 2) / np.sum((wanted - wanted.mean()) ** 2))


INNATE = Experiment(
    name="innate",
    title="Innate training",
    network="innate",
    source="R. Laje, D. Buonomano 2013, as replicated by J. Vitay 2016",
    trial=run_innate_timing,
    about="A chaotic network learns to come back to the path that it once took by itself. A "
    "read-out that should give a pulse at a certain time then does so even if the network is "
    "jolted on the way.",
    not_verified="R^2 at our smaller size; "
    "the published network has 800 neurons, which --full takes.",
    panels=(
        Panel(
            "Output after a jolt",
            "time after the cue in ms",
            "output",
            {"wanted": "wanted", "before": "before training", "after": "after training"},
            theory=("wanted",),
        ),
    ),
    checks=(
        Check(
            "after",
            "R^2 of the output after training",
            (0.5, 1.0),
            "near 1 up to 4 s with 800 neurons, in the replication",
        ),
        Check("gain", "what training adds to R^2", (0.1, None), "that training tames chaos"),
    ),
    size={"neurons": 400, "window": 800, "g": 1.8, "trials": 30, "networks": 3},
    quick={"neurons": 300, "window": 400, "networks": 2},
    full={"neurons": 800, "window": 2000},
)
