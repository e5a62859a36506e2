"""Rate networks trained by recursive least squares, and traces of columns, by plain loops; imports
nothing of the package.
"""

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
    """A run in which the incoming weights of the first neurons learn; entries of W that are None do
    not exist.
    """
    W, P, x = [list(row) for row in W], [[list(row) for row in each] for each in P], list(x)
    n, rates = len(x), []
    sources = [[j for j in range(n) if W[i][j] is not None] for i in range(n)]
    for t in range(len(drive)):
        r = [math.tanh(value) for value in x]
        x = [
            x[i] + (drive[t][i] + sum(W[i][j] * r[j] for j in sources[i]) - x[i]) / tau
            for i in range(n)
        ]
        r = [math.tanh(value) for value in x]
        rates.append(r)
        if t < len(wanted) and t % every == 0:
            for i in range(n_plastic):
                P[i], change = recursive_least_squares(
                    P[i], [r[j] for j in sources[i]], r[i] - wanted[t][i]
                )
                for a, j in enumerate(sources[i]):
                    W[i][j] += change[a]
    return W, np.array(rates)


def trace_averages(n, pulse, tau_pre, tau_post, closed, dt):
    """Traces by Euler's method: averages of post m times pre k, of pre and of post, over the last
    lap.
    """
    steps = round(pulse / dt)
    pre, post = np.zeros(n), np.zeros(n)
    for _ in range(1 + 20 // n if closed else 1):
        together, sum_pre, sum_post = np.zeros((n, n)), np.zeros(n), np.zeros(n)
        for slot in range(n):
            shown = np.array([float(m == slot) for m in range(n)])
            for _ in range(steps):
                pre, post = (
                    pre + dt / tau_pre * (shown - pre),
                    post + dt / tau_post * (shown - post),
                )
                together += np.outer(post, pre)
                sum_pre, sum_post = sum_pre + pre, sum_post + post
    return together / (n * steps), sum_pre / (n * steps), sum_post / (n * steps)


def run_pinned(J, x, tau, steps):
    """A trained network of sigmoid units runs on."""
    N = len(x)
    for _ in range(steps):
        r = [1 / (1 + math.exp(-value)) for value in x]
        x = [x[i] + (sum(J[i][j] * r[j] for j in range(N)) - x[i]) / tau for i in range(N)]
    return x


def run_innate(W, W_in, W_out, cue, tau, pulse, steps):
    """A trained network of tanh neurons is shown a cue and runs on; gives the fields of the
    read-out.
    """
    M = len(W)
    x, driven = [0.0] * M, [sum(W_in[i][j] * cue[j] for j in range(len(cue))) for i in range(M)]
    for t in range(pulse + steps):
        r = [math.tanh(value) for value in x]
        x = [
            x[i]
            + (sum(W[i][j] * r[j] for j in range(M)) + (driven[i] if t < pulse else 0.0) - x[i])
            / tau
            for i in range(M)
        ]
    return [sum(W_out[j][i] * math.tanh(x[i]) for i in range(M)) for j in range(len(W_out))]


def run_columns(W, beta, minicolumns, width, cue, *, g_a, g_beta, tau_s, tau_a, dt, steps):
    """Columns run on from a cue; gives the values of all units, and how clearly the closest winner
    won at any step.
    """
    K, N = len(W), len(cue)
    of = [next(j for j in range(N) if row[j]) // width for row in minicolumns]
    H = max(of) + 1
    s = [
        sum(v * c for v, c in zip(row, cue, strict=True)) / sum(map(abs, row))
        for row in minicolumns
    ]
    a, clear = [0.0] * K, math.inf

    def winners(s):
        nonlocal clear
        best = []
        for h in range(H):
            members = sorted((k for k in range(K) if of[k] == h), key=lambda k: (-s[k], k))
            best.append(members[0])
            if len(members) > 1:
                clear = min(clear, s[members[0]] - s[members[1]])
        return best

    for _ in range(steps):
        o = winners(s)
        field = [g_beta * beta[k] + sum(W[k][j] for j in o) / H - g_a * a[k] for k in range(K)]
        s, a = (
            [s[k] + dt / tau_s * (field[k] - s[k]) for k in range(K)],
            [a[k] + dt / tau_a * ((k in o) - a[k]) for k in range(K)],
        )
    shown = winners(s)
    return [next(minicolumns[k][j] for k in shown if minicolumns[k][j]) for j in range(N)], clear
