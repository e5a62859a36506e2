"""Local, stochastic and time-summating memories written out index by index, in plain Python.
Nothing of the package is used.
"""

from __future__ import annotations

import math
from fractions import Fraction


def sign(h):
    """+1 at zero."""
    return 1 if h >= 0 else -1


# -- sums with a leak
# -------------------------------------------------------------------------------------------


def leaky_sums(X, leak):
    """s(t) = sum_k leak^k x(t - k), each written out."""
    return [
        [sum(leak**k * X[t - k][j] for k in range(t + 1)) for j in range(len(X[0]))]
        for t in range(len(X))
    ]


def leaky_perceptron(sequences, leak, kappa, eta, epochs, *, bias=False):
    """Margin perceptron on the sums, from zero: W_ij += eta y_i s_j where y_i (W s)_i <= kappa."""
    N = len(sequences[0][0])
    W = [[0.0] * (N + bias) for _ in range(N)]
    errors = []
    for _ in range(epochs):
        wrong = 0
        for X in sequences:
            for s, y in zip(leaky_sums(X[:-1], leak), X[1:], strict=True):
                seen = [*s, 1.0] if bias else s
                for i in range(N):
                    if y[i] * sum(W[i][j] * seen[j] for j in range(len(seen))) <= kappa:
                        wrong += 1
                        for j in range(len(seen)):
                            W[i][j] += eta * y[i] * seen[j]
        errors.append(wrong)
        if not wrong:
            break
    return W, errors


def leaky_recall(W, leak, cue, steps, *, bias=False):
    """From a cue before which nothing was."""
    path = [list(cue)]
    for _ in range(steps):
        s = leaky_sums(path, leak)[-1] + ([1.0] if bias else [])
        path.append([sign(sum(w * v for w, v in zip(row, s, strict=True))) for row in W])
    return path


def is_separable(points, labels):
    """Whether some w has y w.x > 0 for all points, by Fourier-Motzkin elimination in fractions; for
    a few points.
    """
    rows = [[Fraction(y) * Fraction(v) for v in x] for x, y in zip(points, labels, strict=True)]
    # Eliminate one coordinate of w after the other from rows . w > 0; what is left at the end must
    # not be 0 > 0.
    while rows and rows[0]:
        up = [r for r in rows if r[0] > 0]
        down = [r for r in rows if r[0] < 0]
        level = [r[1:] for r in rows if r[0] == 0]
        pairs = [
            [a * -d[0] + b * u[0] for a, b in zip(u[1:], d[1:], strict=True)]
            for u in up
            for d in down
        ]
        rows = [list(r) for r in {tuple(r) for r in level + pairs}]
    return not rows


# -- neurons that fire by chance
# --------------------------------------------------------------------------------


def logistic(z):
    """1 / (1 + e^-z)."""
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))


def stochastic_learning(W, X, draws, N, *, beta, eta, trace, baseline, baseline_rate):
    """One presentation of a sequence of 0 and 1; `W[i]` are the weights of neuron i, its bias last.
    Changes W.

    Gives the log likelihood of what was shown and the new baseline. Every sum over the past is
    written out.
    """
    A = len(W)
    active, before, total = (
        [[*X[0], *[0] * (A - N)]],
        [],
        0.0,
    )  # what all neurons did, and the eligibilities of hidden weights
    for t in range(len(X) - 1):
        s = [*active[t], 1.0]
        u = [sum(W[i][j] * s[j] for j in range(A + 1)) for i in range(A)]
        rho = [logistic(beta * u[i]) for i in range(A)]
        hidden = [1 if draws[t][i - N] < rho[i] else 0 for i in range(N, A)]
        logs = [math.log(rho[i] if X[t + 1][i] else 1 - rho[i]) for i in range(N)]
        r = sum(logs) / N
        total += sum(logs)
        for i in range(N):
            for j in range(A + 1):
                W[i][j] += eta * beta * (X[t + 1][i] - rho[i]) * s[j]
        for i in range(N, A):
            for j in range(A + 1):
                W[i][j] += (
                    eta
                    * (r - baseline)
                    * sum(trace**k * e[i - N][j] for k, e in enumerate(reversed(before)))
                )
        if A > N:
            baseline += baseline_rate * (r - baseline)
        before.append(
            [[beta * (hidden[i - N] - rho[i]) * s[j] for j in range(A + 1)] for i in range(N, A)]
        )
        active.append([*X[t + 1], *hidden])
    return total, baseline


def stochastic_recall(W, cue, N, steps):
    """The most probable state of every neuron, step after step; patterns of +-1 and the smallest
    |u| on the way.
    """
    A = len(W)
    active, path, nearest = (
        [[*[(1 if v > 0 else 0) for v in cue], *[0] * (A - N)]],
        [list(cue)],
        math.inf,
    )
    for t in range(steps):
        s = [*active[t], 1.0]
        u = [sum(W[i][j] * s[j] for j in range(A + 1)) for i in range(A)]
        nearest = min(nearest, *map(abs, u))
        active.append([1 if h >= 0 else 0 for h in u])
        path.append([sign(h) for h in u[:N]])
    return path, nearest


# -- spike timing and competing synapses
# ------------------------------------------------------------------------


def spike_timing_update(W, before, after, eta, competition, synapses):
    """W after two states of 0 and 1 that followed each other."""
    n = range(len(W))
    V = [[W[i][j] + eta * (after[i] * before[j] - before[i] * after[j]) for j in n] for i in n]
    row = [max(sum(V[i][j] for j in n) - synapses, 0.0) for i in n]
    col = [max(sum(V[i][j] for i in n) - synapses, 0.0) for j in n]
    return [
        [
            0.0 if i == j else min(max(V[i][j] - eta * competition * (row[i] + col[j]), 0.0), 1.0)
            for j in n
        ]
        for i in n
    ]


def spike_timing_fields(W, path, inhibition, adaptation, tau):
    """What neurons receive after a path of states of 0 and 1; y is the sum over all that they
    did.
    """
    n, x = range(len(W)), path[-1]
    y = [sum((1 - 1 / tau) ** k / tau * path[-1 - k][i] for k in range(len(path))) for i in n]
    return [sum(W[i][j] * x[j] for j in n) - inhibition * sum(x) - adaptation * y[i] for i in n]


def self_organise(W, chance, drive, inhibition, adaptation, tau, **rates):
    """A row of `chance` for each step; gives the weights, and how near a field came to zero."""
    path, nearest = [[0] * len(W)], math.inf
    for row in chance:
        h = spike_timing_fields(W, path, inhibition, adaptation, tau)
        nearest = min([nearest, *(abs(v) for v in h if v)])
        path.append([1 if h[i] > 0 or row[i] < drive else 0 for i in range(len(W))])
        W = spike_timing_update(W, path[-2], path[-1], **rates)
    return W, nearest
