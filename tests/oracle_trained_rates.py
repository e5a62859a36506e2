"""Rate networks trained by recursive least squares, and traces of columns, by plain loops; imports nothing of the package."""

import math

import numpy as np


def recursive_least_squares(P, r, error):
    """P after one step, and the change of the weights."""
    k = [sum(P[a][b] * r[b] for b in range(len(r))) for a in range(len(r))]
    c = 1 / (1 + sum(r[a] * k[a] for a in range(len(r))))
    after = [[P[a][b] - c * k[a] * k[b] for b in range(len(r))] for a in range(len(r))]
    return after, [-c * error * k[a] for a in range(len(r))]


def pinning(J, plastic, drive, wanted, P, x, tau):
    """A run in which the columns `plastic` of J learn; gives J, P and the states."""
    J, P, x = [list(row) for row in J], [list(row) for row in P], list(x)
    N, states = len(x), []
    for h, f in zip(drive, wanted, strict=True):
        r = [1 / (1 + math.exp(-value)) for value in x]
        x = [x[i] + (sum(J[i][j] * r[j] for j in range(N)) + h[i] - x[i]) / tau for i in range(N)]
        states.append(list(x))
        r = [1 / (1 + math.exp(-value)) for value in x]
        chosen = [r[j] for j in plastic]
        before = P
        for i in range(N):
            error = sum(J[i][j] * r[j] for j in range(N)) - f[i]
            P, change = recursive_least_squares(before, chosen, error)
            for a, j in enumerate(plastic):
                J[i][j] += change[a]
    return np.array(J), np.array(P), np.array(states)


def innate(W, n_plastic, drive, wanted, P, x, every, tau):
    """A run in which the incoming weights of the first neurons learn; entries of W that are None do not exist."""
    W, P, x = [list(row) for row in W], [[list(row) for row in each] for each in P], list(x)
    n, rates = len(x), []
    sources = [[j for j in range(n) if W[i][j] is not None] for i in range(n)]
    for t in range(len(drive)):
        r = [math.tanh(value) for value in x]
        x = [x[i] + (drive[t][i] + sum(W[i][j] * r[j] for j in sources[i]) - x[i]) / tau for i in range(n)]
        r = [math.tanh(value) for value in x]
        rates.append(r)
        if t < len(wanted) and t % every == 0:
            for i in range(n_plastic):
                P[i], change = recursive_least_squares(P[i], [r[j] for j in sources[i]], r[i] - wanted[t][i])
                for a, j in enumerate(sources[i]):
                    W[i][j] += change[a]
    return W, np.array(rates)


def trace_averages(n, pulse, tau_pre, tau_post, closed, dt):
    """Traces by Euler's method: averages of post m times pre k, of pre and of post, over the last lap."""
    steps = round(pulse / dt)
    pre, post = np.zeros(n), np.zeros(n)
    for _ in range(1 + 20 // n if closed else 1):
        together, sum_pre, sum_post = np.zeros((n, n)), np.zeros(n), np.zeros(n)
        for slot in range(n):
            shown = np.array([float(m == slot) for m in range(n)])
            for _ in range(steps):
                pre, post = pre + dt / tau_pre * (shown - pre), post + dt / tau_post * (shown - post)
                together += np.outer(post, pre)
                sum_pre, sum_post = sum_pre + pre, sum_post + post
    return together / (n * steps), sum_pre / (n * steps), sum_post / (n * steps)
