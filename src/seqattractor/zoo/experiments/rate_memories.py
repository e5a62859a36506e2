"""Experiments with rate memories: Hebbian sequences, episodic memories with a delayed signal, and
EDEN.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.special import ndtr

from seqattractor.datasets import random_periodic
from seqattractor.zoo.eden import DynamicEnergyMemory
from seqattractor.zoo.episodic import DenseEpisodicMemory
from seqattractor.zoo.experiments.experiment import Check, Experiment, Panel
from seqattractor.zoo.gillett import HebbianRateMemory

Floats = NDArray[np.float64]
_PATTERNS = 8
_DT = 0.01  # of tau


def rate_capacity(theta: float, sigma: float) -> float:
    """Return the largest load, P / K, at which rate neurons with A = 1 pass through normal
    patterns; 0 if there is none.

    Overlaps survive for `gain` = 1; its larger solution u gives u / E[phi(z sqrt(u))^2].
    """
    # G falls with u + sigma^2 above theta^2, and is below 1 at 1 / (2 pi) if theta is not 0.
    least, most = max(theta**2, 1e-12), 1 / (2 * math.pi)
    if least >= most or gain(least, theta) <= 1:
        return 0.0
    total = (
        most if theta == 0 else float(brentq(lambda w: gain(w, theta) - 1, least, most, xtol=1e-15))
    )
    u = total - sigma**2
    if u <= 0:
        return 0.0

    def squared_rate(z: float) -> float:
        return float(
            ndtr((z * math.sqrt(u) - theta) / sigma) ** 2
            * math.exp(-z * z / 2)
            / math.sqrt(2 * math.pi)
        )

    bend = max(-11.0, min(11.0, theta / math.sqrt(u)))
    return u / float(quad(squared_rate, -12, 12, points=[bend], epsabs=1e-12)[0])


def rate_overlaps(
    n_patterns: int, times: Floats, first: float, theta: float, sigma: float
) -> Floats:
    """Return the mean field's overlaps q with each pattern of a sequence, (n, P), at times (n,) in
    units of tau.

    With q_l = mean of xi^l r over neurons, which is `first` for the first pattern at time 0 and 0
    for the others, tau dq_l/dt = -q_l + G q_{l-1}; the variance of the currents is the sum of q_l^2
    over all patterns but the last.
    """
    q = np.zeros(n_patterns)
    q[0] = first
    path, now = [], 0.0
    for time in times:
        steps = max(1, math.ceil((time - now) / _DT))
        for _ in range(steps):
            factor = gain(float(np.sum(q[:-1] ** 2)) + sigma**2, theta)
            q = q + (time - now) / steps * (factor * np.concatenate([[0.0], q[:-1]]) - q)
        path.append(q)
        now = time
    return np.array(path)


def gain(variance: float, theta: float) -> float:
    """Return G, by what an overlap is multiplied from one pattern to the next, for currents with
    this variance.
    """
    return math.exp(-(theta**2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)


def escape_time(r: float, T_d: float) -> float:
    """Return the time for which EDEN stays at each pattern, r = a_s / a_c, without the passage."""
    # A pattern is left when r + (1 - e) e = 1 - e, with e = exp(-t / T_d), where (1 - e)^2 = r.
    return float(-T_d * np.log1p(-np.sqrt(r)))


def run_gillett(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Measure overlaps in time beside the mean field, then the end of a sequence at some loads."""
    rng = np.random.default_rng(seed)
    N, P = settings["N"], settings["patterns"]
    xi = rng.standard_normal((P, N))
    # The network takes patterns of +-1; its rule and its dynamics take any numbers.
    net = HebbianRateMemory(dt=0.5, read_out_interval=1.0).fit(random_periodic(3, N, rng=rng))
    net.J_ = net._weights(xi[:-1], xi[1:])
    steps = 10 * P
    q = net.activity(xi[0], steps) @ xi.T / N
    times = net.read_out_interval * np.arange(steps + 1)
    theory = rate_overlaps(P, times / net.tau, float(q[0, 0]), net.theta, net.sigma)
    series = {f"overlap {k}": {"x": times.tolist(), "y": q[:, k].tolist()} for k in range(P)}
    series |= {f"theory {k}": {"x": times.tolist(), "y": theory[:, k].tolist()} for k in range(P)}
    peaks = times[q[:, :-1].argmax(axis=0)]
    alpha, K = rate_capacity(net.theta, net.sigma), settings["inputs"]
    ends = [
        end_of_sequence(net, settings["large_N"], K, round(load * alpha * K), rng)
        for load in settings["loads"]
    ]
    series["end"] = {"x": list(settings["loads"]), "y": ends}
    series["capacity"] = {"x": [1.0, 1.0], "y": [0.0, max(ends)]}
    numbers = {
        "alpha": alpha,
        "in_order": float(np.mean(np.diff(peaks) > 0)),
        "pace": float(np.mean(np.diff(peaks)) / net.tau),
        "deviation": float(np.abs(q - theory).max() * np.sqrt(N)),
        "below": ends[0],
        "above": ends[-1],
    }
    return {"series": series, "numbers": numbers}


def end_of_sequence(
    net: HebbianRateMemory, N: int, K: int, P: int, rng: np.random.Generator
) -> float:
    """Return the correlation of a diluted network's rates with the last pattern but one."""
    xi = rng.standard_normal((P, N))
    J = diluted(xi, K, rng)
    r, best, key = net._phi(xi[0]), 0.0, xi[-2] - xi[-2].mean()
    for _ in range(int(1.5 * net.tau * P)):
        r = r + (net._phi(J @ r) - r) / net.tau
        best = max(
            best, float(key @ (r - r.mean()) / (np.linalg.norm(key) * np.linalg.norm(r - r.mean())))
        )
    return best


def diluted(xi: Floats, K: int, rng: np.random.Generator) -> csr_array:
    """The bilinear rule, J_ij = (1 / K) sum_mu xi_i^{mu+1} xi_j^mu, for K random inputs j of each
    neuron i.
    """
    N = xi.shape[1]
    sources = np.stack([_others(N, i, K, rng) for i in range(N)])
    weights = np.stack([xi[1:, i] @ xi[:-1, sources[i]] for i in range(N)]) / K
    return csr_array((weights.ravel(), sources.ravel(), np.arange(0, N * K + 1, K)), shape=(N, N))


def _others(N: int, i: int, K: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """K different neurons, none of them i."""
    chosen = rng.choice(N - 1, K, replace=False)
    return np.asarray(chosen + (chosen >= i), dtype=np.int64)


GILLETT = Experiment(
    name="gillett",
    title="Hebbian sequences of rate neurons",
    network="gillett",
    source="M. Gillett, U. Pereira, N. Brunel 2020",
    trial=run_gillett,
    about="Rate neurons with temporally asymmetric Hebbian weights pass through a sequence of "
    "normal patterns, about one per time constant. The mean field gives the overlaps, and the load "
    "P / K up to which the sequence is passed through. How much is left at the end is the "
    "correlation of the rates with the last pattern but one.",
    not_verified="that recall ends at the capacity itself: with a few thousand neurons it already "
    "fades at 0.6 to 0.8 of it, so that only loads well below and above are compared. The "
    "published network has 40,000 neurons.",
    panels=(
        Panel(
            "One pattern after the other",
            "time in ms",
            "overlap with each pattern",
            {
                **{f"theory {k}": "mean field" for k in range(_PATTERNS)},
                **{f"overlap {k}": "network" for k in range(_PATTERNS)},
            },
            theory=tuple(f"theory {k}" for k in range(_PATTERNS)),
        ),
        Panel(
            "How much reaches the end",
            "load / capacity of the theory",
            "correlation at the end",
            {"end": "network", "capacity": "capacity"},
            theory=("capacity",),
            points=True,
        ),
    ),
    checks=(
        Check(
            "alpha",
            "capacity at theta = .22, sigma = .1",
            0.473,
            "the authors' theory, solved without this code",
            0.001,
        ),
        Check(
            "in_order",
            "peaks that come after the one before",
            1.0,
            "that patterns are passed in order",
        ),
        Check(
            "pace",
            "time from peak to peak, in tau",
            (0.5, 1.5),
            "about one pattern per time constant",
        ),
        Check(
            "deviation",
            "largest deviation from the mean field, times sqrt(N)",
            (0.0, 4.0),
            "fluctuations of order 1",
        ),
        Check(
            "below",
            "correlation at the end, at the smallest load",
            (0.1, 1.0),
            "recall below capacity",
        ),
        Check(
            "above",
            "correlation at the end, at the largest load",
            (None, 0.1),
            "none above capacity",
        ),
    ),
    size={
        "N": 2000,
        "patterns": _PATTERNS,
        "large_N": 4000,
        "inputs": 100,
        "loads": [0.3, 0.5, 0.7, 1.0, 1.5],
        "networks": 2,
    },
    quick={"N": 1500, "large_N": 2500, "loads": [0.3, 1.5], "networks": 1},
    full={
        "N": 4000,
        "large_N": 20_000,
        "inputs": 200,
        "loads": [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5],
    },
    averaged=True,
)


def run_gsemm(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Two cycles, of 3 and of 4 memories, each from a cue whose last quarter is erased; ``N``,
    ``duration`` in T_f.
    """
    rng = np.random.default_rng(seed)
    N, lengths = settings["N"], (3, 4)
    cycles = [random_periodic(length + 1, N, rng=rng) for length in lengths]
    net = DenseEpisodicMemory(dt=0.05, read_out_interval=0.5).fit(cycles)
    steps = int(settings["duration"] / net.read_out_interval)
    times = net.read_out_interval * np.arange(steps + 1)
    series, right, rounds = {}, [], []
    for first, length in zip((0, 3), lengths, strict=True):
        cue = net.patterns_[first].astype(np.float64)
        cue[3 * N // 4 :] = 0.0
        overlaps = (
            net.activity(cue, steps, state=np.concatenate([cue, np.zeros(N)])) @ net.patterns_.T / N
        )
        visited = overlaps.argmax(axis=1)
        visited = visited[np.append(True, np.diff(visited) != 0)]
        right.append(np.array_equal(visited, first + np.arange(len(visited)) % length))
        rounds.append(len(visited) / length)
        for k in range(7):
            name = (
                f"cue {length}, memory {k - first}"
                if 0 <= k - first < length
                else f"cue {length}, other {k}"
            )
            series[name] = {"x": times.tolist(), "y": overlaps[:, k].tolist()}
    return {
        "series": series,
        "numbers": {
            "in_order": float(np.mean(right)),
            "rounds": min(rounds),
            "rise": _largest_rise(net, rng),
        },
    }


def _largest_rise(net: DenseEpisodicMemory, rng: np.random.Generator, starts: int = 5) -> float:
    """The largest rise of the energy within a time step while the delayed signal stands still, as a
    share of its fall.
    """
    still = DenseEpisodicMemory(T_d=1e12, dt=0.01, read_out_interval=0.05)
    still.fit([net.patterns_[[0, 1, 2, 0]], net.patterns_[[3, 4, 5, 6, 3]]])
    rises = []
    for _ in range(starts):
        features, delayed = rng.standard_normal((2, still.n_features_in_))
        path = still.activity(features, 100, state=np.concatenate([features, delayed]))
        energy = still.energy(path, np.broadcast_to(delayed, path.shape))
        rises.append(float(np.diff(energy).max() / (energy[0] - energy[-1])))
    return max(rises)


GSEMM = Experiment(
    name="gsemm",
    title="Episodic memories with a delayed signal",
    network="gsemm-dense",
    source="A. Karuvally, T. Sejnowski, H. Siegelmann 2023",
    trial=run_gsemm,
    about="Two cycles, of three and of four memories, are stored in one network. From a cue whose "
    "last quarter is erased, the network stays at each memory of the cue's own cycle until a slow "
    "signal calls the next one.",
    not_verified="the article's own figures; the experiment and its parameters are those of the "
    "authors' notebook. The article names a polynomial where the notebook, and we, have a softmax.",
    panels=tuple(
        Panel(
            f"Cue from the cycle of {length}",
            "time in T_f",
            "overlap with each memory",
            {
                **{f"cue {length}, other {k}": "other cycle" for k in others},
                **{f"cue {length}, memory {k}": f"memory {k + 1}" for k in range(length)},
            },
            theory=tuple(f"cue {length}, other {k}" for k in others),
        )
        for length, others in ((3, range(3, 7)), (4, range(3)))
    ),
    checks=(
        Check(
            "in_order",
            "cues from which only their own cycle is visited, in order",
            1.0,
            "the authors' notebook",
        ),
        Check(
            "rounds",
            "rounds in that time, of the slower cycle",
            (2.0, None),
            "that the cycle continues",
        ),
        Check(
            "rise",
            "largest rise of the energy while the signal stands still, as a share of its fall",
            (None, 1e-9),
            "derived",
        ),
    ),
    size={"N": 100, "duration": 60.0, "networks": 5},
    quick={"networks": 2},
    full={"duration": 150.0, "networks": 20},
)


def run_eden(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """How long EDEN stays at each of 8 patterns, for several r = a_s / a_c, beside the law; ``N``,
    ``r``.
    """
    rng = np.random.default_rng(seed)
    T_d, interval = 20.0, 0.1
    loop = random_periodic(9, settings["N"], rng=rng)
    stays, law = [], []
    for r in settings["r"]:
        net = DynamicEnergyMemory(
            a_s=r, beta=settings["N"], T_d=T_d, read_out_interval=interval
        ).fit(loop)
        law.append(escape_time(r, T_d))
        steps = int(9 * (law[-1] + 3) / interval)
        nearest = np.argmax(net.activity(loop[0], steps) @ loop[:-1].T.astype(np.float64), axis=1)
        changes = np.flatnonzero(np.diff(nearest))
        stays.append(
            interval * float(np.mean(np.diff(changes)[1:]))
        )  # the first signal was there in full, and holds longer
    excess = np.array(stays) - np.array(law)
    return {
        "series": {
            "stay": {"x": list(settings["r"]), "y": stays},
            "law": {"x": list(settings["r"]), "y": law},
        },
        "numbers": {"least": float(excess.min()), "most": float(excess.max())},
    }


EDEN = Experiment(
    name="eden",
    title="EDEN: how long a pattern is held",
    network="eden",
    source="A. Karuvally, P. Lertsaroj, T. Sejnowski, H. Siegelmann 2025",
    trial=run_eden,
    about="A slow signal moves the energy landscape until the pattern is left for the next one. "
    "For how long it is held depends on r, how strongly a pattern holds itself compared with how "
    "strongly it calls the next.",
    not_verified="the published figures. The law T_d ln(1 / (1 - sqrt(r))) was derived from the "
    "authors' ansatz; the passage to the next pattern, one or two T_f, comes on top. Their "
    "capacity, exponential in N, was not measured.",
    panels=(
        Panel(
            "Time at each pattern",
            "r = a_s / a_c",
            "time in T_f",
            {"stay": "network", "law": "law"},
            theory=("law",),
            points=True,
        ),
    ),
    checks=(
        Check(
            "least",
            "what the stay exceeds the law by, at least, in T_f",
            (0.0, None),
            "derived from the authors' ansatz",
        ),
        Check(
            "most",
            "what the stay exceeds the law by, at most, in T_f",
            (None, 2.5),
            "derived, and the passage",
        ),
    ),
    size={"N": 1000, "r": [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], "networks": 2},
    quick={"N": 400, "r": [0.3, 0.5, 0.7], "networks": 1},
    full={"N": 4000, "r": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], "networks": 5},
    averaged=True,
)
