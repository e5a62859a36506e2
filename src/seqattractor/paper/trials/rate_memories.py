"""Small experiments of rate memories: Gillett's Hebbian sequences, episodic memories, and EDEN."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from seqattractor.datasets import random_periodic
from seqattractor.zoo.eden import DynamicEnergyMemory, escape_time
from seqattractor.zoo.episodic import DenseEpisodicMemory
from seqattractor.zoo.gillett import HebbianRateMemory, rate_capacity, rate_overlaps

Floats = NDArray[np.float64]


def run_gillett(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Overlaps with normal patterns in time beside the mean field, then the end of a sequence at several loads.

    ``N`` and ``patterns`` of the first; ``large_N``, ``inputs`` (K) and ``loads``, in units of the capacity, of the second.
    """
    rng = np.random.default_rng(seed)
    N, P = settings["N"], settings["patterns"]
    xi = rng.standard_normal((P, N))
    # The network takes patterns of +-1; its rule and its dynamics take any numbers.
    net = HebbianRateMemory(dt=0.5, read_out_interval=1.0).fit(random_periodic(3, N, rng=rng))
    net.J_ = net._weights(xi[:-1], xi[1:])
    steps = 10 * P
    q = net.activity(xi[0], steps) @ xi.T / N
    theory = rate_overlaps(P, net.times(steps) / net.tau, first=float(q[0, 0]))
    times = net.times(steps).tolist()
    series = {f"overlap {k}": {"x": times, "y": q[:, k].tolist()} for k in range(P)}
    series |= {f"theory {k}": {"x": times, "y": theory[:, k].tolist()} for k in range(P)}
    peaks = net.times(steps)[q[:, :-1].argmax(axis=0)]
    alpha, K = rate_capacity(net.theta, net.sigma), settings["inputs"]
    ends = [end_of_sequence(net, settings["large_N"], K, round(load * alpha * K), rng) for load in settings["loads"]]
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


def end_of_sequence(net: HebbianRateMemory, N: int, K: int, P: int, rng: np.random.Generator) -> float:
    """The largest correlation, in time, of the rates of a diluted network with the last pattern but one of P.

    Each of N neurons has K inputs, few enough that weights are held one by one; `net` gives rule and transfer function.
    """
    xi = rng.standard_normal((P, N))
    J = diluted(xi, K, rng)
    r, best, key = net._phi(xi[0]), 0.0, xi[-2] - xi[-2].mean()
    for _ in range(int(1.5 * net.tau * P)):
        r = r + (net._phi(J @ r) - r) / net.tau
        best = max(best, float(key @ (r - r.mean()) / (np.linalg.norm(key) * np.linalg.norm(r - r.mean()))))
    return best


def diluted(xi: Floats, K: int, rng: np.random.Generator) -> csr_array:
    """The bilinear rule, J_ij = (1 / K) sum_mu xi_i^{mu+1} xi_j^mu, for K random inputs j of each neuron i."""
    N = xi.shape[1]
    sources = np.stack([_others(N, i, K, rng) for i in range(N)])
    weights = np.stack([xi[1:, i] @ xi[:-1, sources[i]] for i in range(N)]) / K
    return csr_array((weights.ravel(), sources.ravel(), np.arange(0, N * K + 1, K)), shape=(N, N))


def _others(N: int, i: int, K: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """K different neurons, none of them i."""
    chosen = rng.choice(N - 1, K, replace=False)
    return np.asarray(chosen + (chosen >= i), dtype=np.int64)


def run_gsemm(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Two cycles, of 3 and of 4 memories, each from a cue whose last quarter is erased; ``N``, ``duration`` in T_f."""
    rng = np.random.default_rng(seed)
    N, lengths = settings["N"], (3, 4)
    cycles = [random_periodic(length + 1, N, rng=rng) for length in lengths]
    net = DenseEpisodicMemory(dt=0.05, read_out_interval=0.5).fit(cycles)
    steps = int(settings["duration"] / net.read_out_interval)
    series, right, rounds = {}, [], []
    for first, length in zip((0, 3), lengths, strict=True):
        cue = net.patterns_[first].astype(np.float64)
        cue[3 * N // 4 :] = 0.0
        overlaps = net.activity(cue, steps, state=np.concatenate([cue, np.zeros(N)])) @ net.patterns_.T / N
        visited = overlaps.argmax(axis=1)
        visited = visited[np.append(True, np.diff(visited) != 0)]
        right.append(np.array_equal(visited, first + np.arange(len(visited)) % length))
        rounds.append(len(visited) / length)
        for k in range(7):
            name = f"cue {length}, memory {k - first}" if 0 <= k - first < length else f"cue {length}, other {k}"
            series[name] = {"x": net.times(steps).tolist(), "y": overlaps[:, k].tolist()}
    return {
        "series": series,
        "numbers": {"in_order": float(np.mean(right)), "rounds": min(rounds), "rise": _largest_rise(net, rng)},
    }


def _largest_rise(net: DenseEpisodicMemory, rng: np.random.Generator, starts: int = 5) -> float:
    """The largest rise of the energy within a time step while the delayed signal stands still, as a share of its fall."""
    still = DenseEpisodicMemory(T_d=1e12, dt=0.01, read_out_interval=0.05)
    still.fit([net.patterns_[[0, 1, 2, 0]], net.patterns_[[3, 4, 5, 6, 3]]])
    rises = []
    for _ in range(starts):
        features, delayed = rng.standard_normal((2, still.n_features_in_))
        path = still.activity(features, 100, state=np.concatenate([features, delayed]))
        energy = still.energy(path, np.broadcast_to(delayed, path.shape))
        rises.append(float(np.diff(energy).max() / (energy[0] - energy[-1])))
    return max(rises)


def run_eden(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """How long EDEN stays at each of 8 patterns, for several r = a_s / a_c, beside the law; ``N``, ``r``."""
    rng = np.random.default_rng(seed)
    T_d, interval = 20.0, 0.1
    loop = random_periodic(9, settings["N"], rng=rng)
    stays, law = [], []
    for r in settings["r"]:
        net = DynamicEnergyMemory(a_s=r, beta=settings["N"], T_d=T_d, read_out_interval=interval).fit(loop)
        law.append(escape_time(r, T_d))
        steps = int(9 * (law[-1] + 3) / interval)
        nearest = np.argmax(net.activity(loop[0], steps) @ loop[:-1].T.astype(np.float64), axis=1)
        changes = np.flatnonzero(np.diff(nearest))
        stays.append(interval * float(np.mean(np.diff(changes)[1:])))  # the first signal was there in full, and holds longer
    excess = np.array(stays) - np.array(law)
    return {
        "series": {"stay": {"x": list(settings["r"]), "y": stays}, "law": {"x": list(settings["r"]), "y": law}},
        "numbers": {"least": float(excess.min()), "most": float(excess.max())},
    }
