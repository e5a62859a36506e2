"""How surely sequences of moving digits come back from noisy cues, and how surely they could with
the same hidden codes.

    python benchmarks/digit_margins.py [--seeds 7001 7002 7003] [--cues 20] [--neurons 100]

160 sequences of 20 frames, N = 4096, M = 1000, cues with 300 flipped pixels. For each seed, which
makes the sequences, the network and the cues: sequences of which all 19 frames come back; cues that
are lost in the first step, on average over more sets of cues; what the margins of hidden neurons
say of that; and the same for the largest margins that these codes allow, found by a support vector
machine for some of the neurons.
"""

import argparse
import time

import numpy as np
from scipy.special import ndtr
from sklearn.svm import SVC

import seqattractor as sa

FLIPS = 300


def ratios(U, bias, x, s):
    """Mean of s (U x~ + bias) over its standard deviation when FLIPS units of x are flipped, for x
    (n, N) and s (n, M) of +-1.
    """
    N = x.shape[1]
    h = x @ U.T
    variance = 4 * FLIPS * (N - FLIPS) / (N - 1) * (np.sum(U**2, axis=1) / N - (h / N) ** 2)
    return s * ((1 - 2 * FLIPS / N) * h + bias) / np.sqrt(variance)


def largest_ratio(gram, s, N):
    """The largest ratio that one neuron with targets s, (n,), can have at all patterns, and at how
    many it then has it.
    """
    p = FLIPS / N
    shrunk = (
        gram * (1 - 2 * p) ** 2 / (4 * p * (1 - p))
    )  # flips lower the contrast of x and add noise, here of variance 1
    machine = SVC(C=1e6, kernel="precomputed", cache_size=500).fit(shrunk, s)
    return 1 / np.sqrt(np.abs(machine.dual_coef_).sum()), len(machine.support_)


def measure(seed, n_cues, n_neurons):
    """Fit one network and print what it does."""
    X = sa.datasets.moving_digits(160, rng=seed)
    frames = X.reshape(160, 20, -1)
    began = time.process_time()
    net = sa.SparseSequenceAttractor(1000, random_state=seed).fit(X)
    took = time.process_time() - began
    recalled = net.recall(sa.noise.flip(frames[:, 0], FLIPS, rng=seed), steps=19)
    complete = np.sum(np.all(recalled[:, 1:] == frames[:, 1:], axis=(1, 2)))
    x = frames[:, :-1].reshape(-1, frames.shape[-1])
    codes = net.hidden(x) > 0
    first = codes.reshape(160, 19, -1)[:, 0]
    cues = (sa.noise.flip(frames[:, 0], FLIPS, rng=[seed, k]) for k in range(1, n_cues + 1))
    lost = [int(np.sum(np.any((net.hidden(cue) > 0) != first, axis=1))) for cue in cues]
    x, s = x.astype(np.float32), np.where(codes, 1, -1).astype(np.float32)
    expected = (
        ndtr(-ratios(net.U_.astype(np.float32), net.hidden_bias_.astype(np.float32), x, s)).sum()
        * 160
        / len(x)
    )
    print(
        f"seed {seed}: {complete} of 160 ({took:.0f} s, stored: {net.converged_}); lost on average "
        f"{np.mean(lost):.2f} {lost}"
    )
    gram, some = (
        (x @ x.T).astype(float),
        np.random.default_rng(seed).choice(len(net.U_), n_neurons, replace=False),
    )
    best = np.array([largest_ratio(gram, s[:, i], x.shape[1]) for i in some])
    could = np.sum(best[:, 1] * ndtr(-best[:, 0])) * len(net.U_) / n_neurons * 160 / len(x)
    print(
        f"  by margins {expected:.2f}; by the largest margins {could:.2f}, with a ratio of "
        f"{np.median(best[:, 0]):.2f}"
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[7001, 7002, 7003])
    parser.add_argument("--cues", type=int, default=20)
    parser.add_argument("--neurons", type=int, default=100)
    options = parser.parse_args()
    for seed in options.seeds:
        measure(seed, options.cues, options.neurons)


if __name__ == "__main__":
    main()
