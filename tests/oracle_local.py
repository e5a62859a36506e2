"""Local, stochastic and time-summating memories written out index by index, in plain Python. Nothing of the package is used."""

from __future__ import annotations

from fractions import Fraction


def sign(h):
    """+1 at zero."""
    return 1 if h >= 0 else -1


# -- sums with a leak -------------------------------------------------------------------------------------------


def leaky_sums(X, leak):
    """s(t) = sum_k leak^k x(t - k), each written out."""
    return [[sum(leak**k * X[t - k][j] for k in range(t + 1)) for j in range(len(X[0]))] for t in range(len(X))]


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
    """Whether some w has y w.x > 0 for all points, by Fourier-Motzkin elimination in fractions; for a few points."""
    rows = [[Fraction(y) * Fraction(v) for v in x] for x, y in zip(points, labels, strict=True)]
    # Eliminate one coordinate of w after the other from rows . w > 0; what is left at the end must not be 0 > 0.
    while rows and rows[0]:
        up = [r for r in rows if r[0] > 0]
        down = [r for r in rows if r[0] < 0]
        level = [r[1:] for r in rows if r[0] == 0]
        pairs = [[a * -d[0] + b * u[0] for a, b in zip(u[1:], d[1:], strict=True)] for u in up for d in down]
        rows = [list(r) for r in {tuple(r) for r in level + pairs}]
    return not rows
