"""
Why few active neurons store more
=================================

The sparse network (`SparseSequenceAttractor`) has the paper's architecture. Three changes make it
store many times more: few active hidden neurons, a bias for them, and activity of 0 or 1 instead of
-1 or +1. None of them helps alone. Here is why.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

import seqattractor as sa
from seqattractor.engine.problem import Problem
from seqattractor.engine.reference import learn

warnings.simplefilter("ignore", ConvergenceWarning)  # some of these networks are meant to fail

# %%
# Sparse targets need a bias
# -------------------------- A hidden neuron without a bias must find weights u with s u.x > 0 for
# all patterns x and its targets s = +-1. For random patterns s x is again a random pattern,
# whatever s is. So it cannot matter that most targets are -1: about 2N patterns can be learned
# (Cover's count), not more. With a bias it does matter, and a neuron that is rarely active can
# learn many more.

N, M = 40, 80
lengths = [40, 60, 80, 120, 160, 240]


def unlearned(bias, T):
    """Margins that hidden neurons still violate in the last epoch, for each transition, without
    noise.
    """
    X = sa.datasets.random_periodic(T, N, rng=T)
    net = sa.SparseSequenceAttractor(
        M, n_winners=2, bias=bias, noise=0, max_epochs=150, random_state=0
    ).fit(X)
    return net.hidden_errors_[-1] / (T - 1)


fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for bias, label in ((0, "no bias"), ("auto", "bias")):
    ax.plot(lengths, [unlearned(bias, T) for T in lengths], "o-", label=label)
ax.axvline(2 * N, color="grey", linestyle=":")
ax.set(
    xlabel="patterns (dotted: 2N)",
    ylabel="hidden errors per transition",
    title=f"2 of {M} hidden neurons active, N = {N}",
)
ax.legend(loc="upper left")
plt.show()

# %%
# Visible neurons need to see 0, not -1
# ------------------------------------- The codes of two patterns share almost no active neuron.
# Written with 0 and 1 they are nearly orthogonal. Written with -1 and +1 they are nearly equal,
# since all silent neurons agree, and the visible neurons have to learn from the small rest.

T, M, k = 100, 200, 3
rng = np.random.default_rng(0)
X = sa.datasets.random_periodic(T, 50, rng=rng)
codes = np.zeros((T - 1, M), dtype=np.int8)
for t in range(T - 1):
    codes[t, rng.choice(M, k, replace=False)] = 1

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for y, label in ((codes, "0 and 1"), (2 * codes - 1, "-1 and +1")):
    overlap = y.astype(float) @ y.T
    cosine = overlap / np.sqrt(np.outer(overlap.diagonal(), overlap.diagonal()))
    left.hist(cosine[np.triu_indices(T - 1, 1)], bins=np.linspace(-0.05, 1.05, 45), label=label)
    # The best of some learning rates for each, from large to small steps.
    rates = [1 / (y[0] ** 2).sum() / scale for scale in (1, 3, 10, 30)]
    tried = [
        learn(Problem(y, X[1:], V=np.zeros((50, M)), kappa=1.0 / eta, max_epochs=100))
        for eta in rates
    ]
    best = min(tried, key=lambda learned: (learned.visible_errors[-1], learned.n_iter))
    right.plot(np.arange(1, best.n_iter + 1), 100 * best.visible_errors / (T - 1) / 50, label=label)
left.set(xlabel="cosine of two codes", ylabel="pairs", title=f"{k} of {M} neurons active")
right.set(xlabel="epoch", ylabel="visible errors, %", title="learning V from fixed codes")
left.legend(loc="upper center")
right.legend(loc="upper right")
plt.show()

# %%
# All together
# ------------ A small network with everything in place, beside the paper's rule: success from a cue
# with 5 of 60 flipped units.

N, M, trials = 60, 120, 5
lengths = [20, 40, 80, 120, 150]
networks = {"sparse": sa.SparseSequenceAttractor, "the paper's rule": sa.SequenceAttractor}


def successes(make, T):
    """How many of some networks retrieve a sequence of T patterns."""
    count = 0
    for seed in range(trials):
        X = sa.datasets.random_periodic(T, N, rng=seed)
        net = make(M, random_state=seed, max_epochs=300).fit(X)
        count += sa.retrieved(net.recall(sa.noise.flip(X[0], 5, rng=seed), steps=3 * T), X)
    return count


fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for label, make in networks.items():
    ax.plot(lengths, [successes(make, T) for T in lengths], "o-", label=label)
ax.axvline(M + 1, color="grey", linestyle=":")
ax.set(xlabel="T (dotted: M + 1)", ylabel=f"successes of {trials}", title=f"N = {N}, M = {M}")
ax.legend(loc="center left")
plt.show()
