"""The rival memories written index by index, in exact fractions where that is possible. It imports
nothing of the package.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction


def sign(h):
    return 1 if h >= 0 else -1


# -- networks without hidden neurons
# ----------------------------------------------------------------------------


def hebbian(pairs):
    """W_ij = sum over transitions of x_i(t+1) x_j(t)."""
    n_in, n = len(pairs[0][0]), len(pairs[0][1])
    return [[sum(y[i] * x[j] for x, y in pairs) for j in range(n_in)] for i in range(n)]


def next_visible(W, x):
    return [sign(sum(W[i][j] * x[j] for j in range(len(x)))) for i in range(len(W))]


def projection(pairs):
    """W = X_next X^+ in fractions, with X^+ = (X^T X)^+ X^T for the patterns as columns of X."""
    X = [[Fraction(x[j]) for x, _ in pairs] for j in range(len(pairs[0][0]))]
    Y = [[Fraction(y[i]) for _, y in pairs] for i in range(len(pairs[0][1]))]
    return _product(_product(Y, _pseudo_inverse(_product(_transposed(X), X))), _transposed(X))


def fields_of(W, x):
    """W x in fractions, as (sign, how far from zero relative to its largest term)."""
    fields = []
    for row in W:
        terms = [Fraction(w) * Fraction(v) for w, v in zip(row, x, strict=True)]
        largest = max(map(abs, terms))
        fields.append((sign(sum(terms)), float(abs(sum(terms)) / largest) if largest else 0.0))
    return fields


def all_patterns(pairs):
    """Every pattern with a successor once for each transition, then those without one, once
    each.
    """
    patterns = [list(x) for x, _ in pairs]
    for _, y in pairs:
        if list(y) not in patterns:
            patterns.append(list(y))
    return patterns


def slow_synapses(pairs, cue, steps, lam, tau):
    """S' = sign(W_S S + lambda W_A mean of the last tau states); before the cue there was the
    cue.
    """
    W_A = hebbian(pairs)
    W_S = hebbian([(x, x) for x in all_patterns(pairs)])
    lam, N = Fraction(lam), len(cue)
    path = [list(cue)] * tau
    for _ in range(steps):
        mean = [Fraction(sum(s[j] for s in path[-tau:]), tau) for j in range(N)]
        path.append(
            [
                sign(
                    sum(W_S[i][j] * path[-1][j] for j in range(N))
                    + lam * sum(W_A[i][j] * mean[j] for j in range(N))
                )
                for i in range(N)
            ]
        )
    return path[tau - 1 :]


# -- dense memories
# ---------------------------------------------------------------------------------------------


def overlap(pattern, state, i, self_overlap):
    """sum_j xi_j S_j without j = i in the newest pattern, the last entries of the stack; also how
    many terms there are.
    """
    n_in = len(pattern)
    own = None if self_overlap else i
    terms = [pattern[j] * state[j] for j in range(n_in) if j != own]
    return Fraction(sum(terms)), len(terms)


def dense(pairs, now, past, *, kind, degree=2, beta=1, self_overlap=False, inverse=None, lam=None):
    """The field of every neuron as (sign, how far from zero relative to its largest term).

    `past` is the mean of the last states; with lam=None there is no slow part.
    """
    n = len(pairs[0][1])
    shift = len(now) - n  # where the newest pattern begins in the stack
    keys = [list(x) for x, _ in pairs] if lam is None else all_patterns(pairs)
    called = [list(y) for _, y in pairs] + [[0] * n] * (len(keys) - len(pairs))
    fields = []
    for i in range(n):
        parts = [
            (1, now, [k[shift + i] for k in keys]),
            (Fraction(lam or 0), past, [y[i] for y in called]),
        ]
        if lam is None:
            parts = [(1, now, [y[i] for y in called])]
        terms = []
        for weight, state, values in parts:
            u = [overlap(key, state, shift + i, self_overlap) for key in keys]
            count = u[0][1]
            m = [Fraction(a, count) for a, _ in u]
            if inverse is not None:
                m = [sum(inverse[p][q] * m[q] for q in range(len(m))) for p in range(len(m))]
            terms.append((weight, values, m, count))
        fields.append(_sum_of_terms(terms, kind, degree, beta))
    return fields


def _sum_of_terms(terms, kind, degree, beta):
    """Sign and relative size of the sum of weight * value * f(m)."""
    if kind == "polynomial":
        summands = [
            w * v * m**degree for w, values, ms, _ in terms for v, m in zip(values, ms, strict=True)
        ]
        total = sum(summands)
        return sign(total), float(abs(total) / max(map(abs, summands))) if any(summands) else 0.0
    with localcontext() as context:
        context.prec = 50
        context.Emin = -(10**8)
        total, largest = Decimal(0), Decimal(0)
        for w, values, ms, count in terms:
            # equal overlaps are added as whole numbers, so that what cancels cancels exactly
            coefficients = {}
            for v, m in zip(values, ms, strict=True):
                coefficients[m] = coefficients.get(m, 0) + v
            norm = Decimal(1)
            if kind == "softmax":
                norm = sum(_exp(beta, count, m) for m in ms)
            for m, c in coefficients.items():
                term = _decimal(w) * c * _exp(beta, count, m) / norm
                total += term
                largest = max(largest, abs(_decimal(w)) * _exp(beta, count, m) / norm)
        return sign(total), float(abs(total) / largest)


def mixed_net(pairs, now, past, *, hold, call, lam, self_overlap=False, inverse=None):
    """MixedNet with different functions: sum_mu xi_i^mu f_S(m_i^mu) + lam xi_i^{mu+1}
    f_A(mbar_i^mu), as in `dense`.

    `hold` and `call` are f_S and f_A as (kind, degree or beta).
    """
    n = len(pairs[0][1])
    keys = all_patterns(pairs)
    called = [list(y) for _, y in pairs] + [[0] * n] * (len(keys) - len(pairs))
    fields = []
    with localcontext() as context:
        context.prec = 60
        context.Emin = -(10**8)
        for i in range(n):
            total, largest = Decimal(0), Decimal(0)
            for weight, state, values, (kind, number) in (
                (1, now, keys, hold),
                (lam, past, called, call),
            ):
                u = [overlap(key, state, i, self_overlap) for key in keys]
                count = u[0][1]
                m = [Fraction(a, count) for a, _ in u]
                if inverse is not None:
                    m = [sum(inverse[p][q] * m[q] for q in range(len(m))) for p in range(len(m))]
                f = [
                    _decimal(a**number) if kind == "polynomial" else _exp(number, count, a)
                    for a in m
                ]
                if kind == "softmax":
                    norm = sum(f)
                    f = [a / norm for a in f]
                summands = [
                    _decimal(weight) * value[i] * a for value, a in zip(values, f, strict=True)
                ]
                total += sum(summands)
                largest = max([largest, *map(abs, summands)])
            fields.append((sign(total), float(abs(total) / largest) if largest else 0.0))
    return fields


def _exp(beta, count, m):
    """exp(beta (count) (m - 1))."""
    return (_decimal(Fraction(beta)) * count * (_decimal(m) - 1)).exp()


def _decimal(x):
    x = Fraction(x)
    return Decimal(x.numerator) / Decimal(x.denominator)


def overlap_inverse(keys):
    """The pseudo-inverse of O = X X^T / N in fractions."""
    n = len(keys[0])
    return _pseudo_inverse(
        [[Fraction(sum(a[j] * b[j] for j in range(n)), n) for b in keys] for a in keys]
    )


def _pseudo_inverse(A):
    """By a full-rank factorisation A = B C."""
    C, pivots = _rows_of_full_rank(A)
    B = [[row[p] for p in pivots] for row in A]
    return _product(
        _product(_transposed(C), _inverse(_product(C, _transposed(C)))),
        _product(_inverse(_product(_transposed(B), B)), _transposed(B)),
    )


def _rows_of_full_rank(A):
    """The reduced row echelon form without zero rows, and its pivot columns."""
    A, pivots, r = [list(row) for row in A], [], 0
    for c in range(len(A[0])):
        best = next((k for k in range(r, len(A)) if A[k][c] != 0), None)
        if best is None:
            continue
        A[r], A[best] = A[best], A[r]
        A[r] = [a / A[r][c] for a in A[r]]
        for k in range(len(A)):
            if k != r and A[k][c] != 0:
                A[k] = [a - A[k][c] * b for a, b in zip(A[k], A[r], strict=True)]
        pivots.append(c)
        r += 1
    return A[:r], pivots


def _inverse(A):
    n = len(A)
    reduced, _ = _rows_of_full_rank(
        [list(A[i]) + [Fraction(i == j) for j in range(n)] for i in range(n)]
    )
    return [row[n:] for row in reduced]


def _product(A, B):
    return [
        [sum(A[i][k] * B[k][j] for k in range(len(B))) for j in range(len(B[0]))]
        for i in range(len(A))
    ]


def _transposed(A):
    return [list(row) for row in zip(*A, strict=True)]


# -- predictive coding
# ------------------------------------------------------------------------------------------


def delta_rule(pairs, rate, epochs):
    """W += rate (x(t+1) - W f(x(t))) f(x(t))^T / |f(x(t))|^2, transition after transition, from
    zero.
    """
    n_in, n = len(pairs[0][0]), len(pairs[0][1])
    W = [[0.0] * n_in for _ in range(n)]
    errors = []  # of each epoch: wrong signs, and predictions too near zero to decide
    for _ in range(epochs):
        wrong = unclear = 0
        for x, y in pairs:
            f = [math.tanh(v) for v in x]
            norm = sum(v * v for v in f)
            for i in range(n):
                predicted = sum(W[i][j] * f[j] for j in range(n_in))
                if abs(predicted) < 1e-9:
                    unclear += 1
                else:
                    wrong += sign(predicted) != y[i]
                for j in range(n_in):
                    W[i][j] += rate * (y[i] - predicted) * f[j] / norm
        errors.append((wrong, unclear))
    return W, errors


def latent_state(W_r, W_o, x, before, steps, step):
    """Gradient descent on (|z - W_r f(before)|^2 + |x - W_o f(z)|^2) / 2 from z = W_r f(before)."""
    H, N = len(W_r), len(W_o)
    prior = [sum(W_r[h][k] * math.tanh(before[k]) for k in range(H)) for h in range(H)]
    z = list(prior)
    for _ in range(steps):
        f = [math.tanh(v) for v in z]
        e = [x[i] - sum(W_o[i][h] * f[h] for h in range(H)) for i in range(N)]
        z = [
            z[h]
            + step * (prior[h] - z[h] + (1 - f[h] ** 2) * sum(W_o[i][h] * e[i] for i in range(N)))
            for h in range(H)
        ]
    return z, prior


def two_layers(sequences, W_r, W_o, rate, epochs, steps, step):
    """Learn both weight matrices, pattern after pattern."""
    W_r, W_o = [list(r) for r in W_r], [list(r) for r in W_o]
    H, N = len(W_r), len(W_o)
    for _ in range(epochs):
        for X in sequences:
            z = [0.0] * H
            for t, x in enumerate(X):
                before = z
                z, prior = latent_state(W_r, W_o, x, before, steps, step)
                f = [math.tanh(v) for v in z]
                e = [x[i] - sum(W_o[i][h] * f[h] for h in range(H)) for i in range(N)]
                for i in range(N):
                    for h in range(H):
                        W_o[i][h] += rate / H * e[i] * f[h]
                if t:
                    for h in range(H):
                        for k in range(H):
                            W_r[h][k] += rate / H * (z[h] - prior[h]) * math.tanh(before[k])
    return W_r, W_o


def offline_recall(W_r, W_o, cue, n, steps, step):
    """The authors' offline query: the latent state of the cue is inferred, then runs on; fields of
    the next n patterns.
    """
    H, N = len(W_r), len(W_o)
    z, _ = latent_state(W_r, W_o, cue, [0.0] * H, steps, step)
    fields = []
    for _ in range(n):
        z = [sum(W_r[h][k] * math.tanh(z[k]) for k in range(H)) for h in range(H)]
        fields.append([sum(W_o[i][h] * math.tanh(z[h]) for h in range(H)) for i in range(N)])
    return fields


# -- look-up
# --------------------------------------------------------------------------------------------------


def look_up(pairs, state):
    """The successor of the nearest pattern; then the most frequent transition, then the
    earliest.
    """
    best, answer = None, None
    for x, y in pairs:
        count = sum((list(a), list(b)) == (list(x), list(y)) for a, b in pairs)
        rank = (sum(x[j] * state[j] for j in range(len(x))), count)
        if best is None or rank > best:
            best, answer = rank, y
    return list(answer)
