"""The paper's rule written index by index, the plainest way there is. It imports nothing of the
package.

Weights are lists of lists of numbers; with zero start, eta a power of two and kappa whole, every
sum is exact.
"""

import itertools
from fractions import Fraction

import numpy as np


def sign(h):
    return 1 if h >= 0 else -1


def heaviside(h):
    return 1 if h >= 0 else 0


def dot(a, b):
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


def in_steps(values, eta):
    """Values in steps of eta, rounded to whole multiples of 2**-24."""
    return np.rint(np.asarray(values) / eta * 2**24) / 2**24


def on_grid(values, eta=1.0):
    """Start weights as they are drawn: in steps of eta they are whole multiples of 2**-24."""
    return in_steps(values, eta) * eta


def transitions(sequences, order=1):
    """Pairs (stack of the last `order` patterns, next pattern), sequence after sequence."""
    pairs = []
    for X in sequences:
        for t in range(order - 1, len(X) - 1):
            stacked = [v for k in range(order) for v in X[t - order + 1 + k]]
            pairs.append((stacked, list(X[t + 1])))
    return pairs


def learn(
    pairs,
    U,
    V,
    P,
    kappa,
    eta,
    epochs,
    target_threshold=0.0,
    input_threshold=0.0,
    learn_U=True,
    biases=None,
    lam=None,
):
    """Equations (4)-(9) for the given number of epochs; stops after an epoch without an error.

    `biases` are those of hidden and visible neurons, which learn as if a unit that is always 1 fed
    them, and those of the hidden targets, which stay. The learned ones are returned at the end.

    `lam` is the lambda of learned targets: P becomes P + lambda Q, with synapses Q of their own
    that start at 0 and learn as V does. P counts in units of eta. Q is returned at the very end.
    """
    U, V = [list(row) for row in U], [list(row) for row in V]
    M, N = len(U), len(V)
    b, c, p = map(list, biases or ([0.0] * M, [0.0] * N, [0.0] * M))
    Q = [[0.0] * N for _ in range(M)]
    hidden_errors, visible_errors = [], []
    for _ in range(epochs):
        mu_sum = nu_sum = 0
        for x, x_next in pairs:
            if learn_U:
                for i in range(M):
                    learned = lam * dot(Q[i], x_next) / eta if lam is not None else 0.0
                    z = sign(dot(P[i], x_next) + p[i] - target_threshold + learned)
                    mu = heaviside(kappa - z * (dot(U[i], x) + b[i] - input_threshold))
                    for k in range(len(x)):
                        U[i][k] = U[i][k] + eta * mu * z * x[k]
                    if biases:
                        b[i] = b[i] + eta * mu * z * 1
                    mu_sum += mu
            y = [sign(dot(U[i], x) + b[i] - input_threshold) for i in range(M)]
            for j in range(N):
                nu = heaviside(kappa - x_next[j] * (dot(V[j], y) + c[j]))
                for i in range(M):
                    V[j][i] = V[j][i] + eta * nu * x_next[j] * y[i]
                    Q[i][j] = Q[i][j] + eta * nu * x_next[j] * y[i]
                if biases:
                    c[j] = c[j] + eta * nu * x_next[j] * 1
                nu_sum += nu
        hidden_errors.append(mu_sum)
        visible_errors.append(nu_sum)
        if mu_sum == 0 and nu_sum == 0:
            break
    return (
        U,
        V,
        hidden_errors,
        visible_errors,
        *([b, c] if biases else []),
        *([Q] if lam is not None else []),
    )


def learn_visible(pairs, W, kappa, eta, epochs, biases=None):
    """The margin perceptron on W, and on biases if there are some."""
    W = [list(row) for row in W]
    c = list(biases or [0.0] * len(W))
    errors = []
    for _ in range(epochs):
        count = 0
        for x, x_next in pairs:
            for j in range(len(W)):
                nu = heaviside(kappa - x_next[j] * (dot(W[j], x) + c[j]))
                for k in range(len(x)):
                    W[j][k] = W[j][k] + eta * nu * x_next[j] * x[k]
                if biases:
                    c[j] = c[j] + eta * nu * x_next[j] * 1
                count += nu
        errors.append(count)
        if count == 0:
            break
    return W, errors, *([c] if biases else [])


def hebbian(pairs):
    """sum_t x(t+1) x(t)^T."""
    n_out, n_in = len(pairs[0][1]), len(pairs[0][0])
    return [
        [sum(x_next[j] * x[k] for x, x_next in pairs) for k in range(n_in)] for j in range(n_out)
    ]


def step(U, V, x, input_threshold=0.0, biases=None):
    """Equations (2)-(3), with the biases of hidden and visible neurons if there are some."""
    b, c = biases or ([0.0] * len(U), [0.0] * len(V))
    zeta = [sign(dot(row, x) + b[i] - input_threshold) for i, row in enumerate(U)]
    return [sign(dot(row, zeta) + c[j]) for j, row in enumerate(V)]


def recall(U, V, cue, steps, input_threshold=0.0, biases=None):
    """The trajectory from one cue, order 1."""
    path = [list(cue)]
    for _ in range(steps):
        path.append(step(U, V, path[-1], input_threshold, biases))
    return path


def retrieved(trajectory, X):
    """Section 6.2: xi(tau + t) = x(t) for some tau and all t."""
    taus = range(len(trajectory) - len(X) + 1)
    return any(all(list(trajectory[tau + t]) == list(X[t]) for t in range(len(X))) for tau in taus)


def conflicts(sequences, order):
    """The distinct stacks that have two different successors."""
    successors = {}
    for x, x_next in transitions(sequences, order):
        successors.setdefault(tuple(x), set()).add(tuple(x_next))
    return {x for x, nexts in successors.items() if len(nexts) > 1}


def least_context(sequences):
    """The least order that leaves no conflict and a transition in every sequence, or None."""
    for order in range(1, min(len(X) for X in sequences)):
        if not conflicts(sequences, order):
            return order
    return None


def one_hot(pairs):
    """The weights and biases in the proof of Theorem 1."""
    U = [x for x, _ in pairs]
    V = [[x_next[j] for _, x_next in pairs] for j in range(len(pairs[0][1]))]
    bias = [sum(row) for row in V]
    return U, V, bias


def differing(x, y):
    """The number of units in which two patterns differ."""
    return sum(a != b for a, b in zip(x, y, strict=True))


def all_patterns(N):
    return [list(p) for p in itertools.product((-1, 1), repeat=N)]


def exact_field(w, x, offset):
    """What a neuron receives, as a fraction, and how far float64 may be from it, whatever the order
    of its sum.
    """
    terms = [Fraction(a) * int(b) for a, b in zip(w, x, strict=True)] + [Fraction(offset)]
    return sum(terms), Fraction(len(terms) + 1, 2**52) * sum(map(abs, terms))
