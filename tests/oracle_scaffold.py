"""Scaffolds and yardsticks written index by index, in exact fractions where possible. It imports
nothing of the package.
"""

import math
from fractions import Fraction
from itertools import product

from oracle_rivals import _inverse, _product, _pseudo_inverse, _transposed, sign

# -- sparse distributed memory
# ----------------------------------------------------------------------------------


def fires(A, x, k=None, radius=None):
    """Which addresses fire: the k nearest, lower numbers first among equals, or all within a
    Hamming distance.
    """
    distances = [sum(a[j] != x[j] for j in range(len(x))) for a in A]
    if radius is not None:
        return [int(d <= radius) for d in distances]
    nearest = sorted(range(len(A)), key=lambda m: (distances[m], m))[:k]
    return [int(m in nearest) for m in range(len(A))]


def sparse_distributed(pairs, A, k=None, radius=None):
    """V = sum over transitions of x_i(t+1) zeta_m(t)."""
    active = [fires(A, x, k, radius) for x, _ in pairs]
    return [
        [sum(y[i] * z[m] for z, (_, y) in zip(active, pairs, strict=True)) for m in range(len(A))]
        for i in range(len(pairs[0][1]))
    ]


def next_sparse_distributed(V, A, x, k=None, radius=None):
    zeta = fires(A, x, k, radius)
    return [sign(sum(row[m] * zeta[m] for m in range(len(zeta)))) for row in V]


# -- scaffold memory
# --------------------------------------------------------------------------------------------


def pseudo_inverse(A):
    """In fractions; that of a matrix of zeros is one, too."""
    return _pseudo_inverse(A) if any(map(any, A)) else [[Fraction(0)] * len(A) for _ in A[0]]


class Scaffold:
    """A scaffold memory of some sequences, given only its random weights W_pg and its settings."""

    def __init__(self, sequences, W_pg, periods, *, code, threshold, cue, ridge):
        self.W_pg, self.periods, self.code, self.threshold = (
            W_pg,
            list(periods),
            code,
            Fraction(threshold),
        )
        self.labels = 1
        for period in self.periods:
            self.labels *= period
        self.codes = [self.hidden(k) for k in range(self.labels)]
        self._place(sequences)
        S = [
            [Fraction(v) for v in sequences[s][t]] for s, t in self.places
        ]  # one row for each label in use
        P = self.codes[: len(self.places)]
        self.W_sp = _product(_transposed(S), _transposed(pseudo_inverse(P)))
        first = [
            k for k in range(len(S)) if S[k] not in S[:k]
        ]  # a cue is found where its pattern stands first
        S, P = [S[k] for k in first], [P[k] for k in first]
        if cue == "pinv":
            inverse = _transposed(pseudo_inverse(S))
        elif cue == "hebb":
            inverse = [[v / len(S) for v in row] for row in S]
        else:
            gram = _product(_transposed(S), S)
            for i in range(len(gram)):
                gram[i][i] += Fraction(ridge)
            inverse = _product(S, _inverse(gram))
        self.W_ps = _product(_transposed(P), inverse)

    def _place(self, sequences):
        """Give every pattern that has a successor, at every place, a label; last patterns only if
        they have none elsewhere.
        """
        self.places, self.following = [], {}
        known = [x for sequence in sequences for x in sequence[:-1]]
        for s, sequence in enumerate(sequences):
            self.places += [
                (s, t)
                for t in range(len(sequence))
                if t < len(sequence) - 1 or sequence[t] not in known
            ]
        for k, (s, t) in enumerate(self.places):
            last = len(sequences[s]) - 1
            if t == last:
                self.following[k] = k
            elif (s, t + 1) in self.places:
                self.following[k] = self.places.index((s, t + 1))
            else:
                same = [
                    q
                    for q, (r, u) in enumerate(self.places)
                    if sequences[r][u] == sequences[s][last]
                ]
                here = [q for q in same if self.places[q][0] == s]
                self.following[k] = (here or same)[0]

    def hidden(self, k):
        """p^k."""
        first, active = 0, []
        for period in self.periods:
            active.append(first + k % period)
            first += period
        drive = [sum(Fraction(row[g]) for g in active) for row in self.W_pg]
        return [
            Fraction(sign(u)) if self.code == "sign" else max(u - self.threshold, Fraction(0))
            for u in drive
        ]

    def find(self, x):
        """The label of a pattern, and whether arithmetic on floats finds it, too."""
        drive = [sum(w * v for w, v in zip(row, x, strict=True)) for row in self.W_ps]
        clear = self.code == "relu" or all(abs(u) > 1e-9 for u in drive)
        p = [Fraction(sign(u)) if self.code == "sign" else max(u, Fraction(0)) for u in drive]
        phases = []
        for period in self.periods:
            # The mean of g^k p^k over all labels: a row of W_gp for each phase.
            scores = [Fraction(0)] * period
            for k in range(self.labels):
                scores[k % period] += (
                    sum(a * b for a, b in zip(self.codes[k], p, strict=True)) / self.labels
                )
            phases.append(scores.index(max(scores)))
            ordered = sorted(scores)
            clear = clear and (period == 1 or float(ordered[-1] - ordered[-2]) > 1e-9)
        [label] = [
            k
            for k in range(self.labels)
            if all(k % period == phase for period, phase in zip(self.periods, phases, strict=True))
        ]
        return label, clear

    def recall(self, cue, steps, query):
        """Fields of every unit at every step, until arithmetic on floats may find another label."""
        path, x = [], cue
        for t in range(steps):
            if t == 0 or query == "recalled":
                label, clear = self.find(x)
                if not clear:
                    break
            label = self.following.get(label, label + 1) % self.labels
            path.append(
                [
                    sum(w * v for w, v in zip(row, self.codes[label], strict=True))
                    for row in self.W_sp
                ]
            )
            if any(abs(h) < 1e-9 for h in path[-1]):
                break  # the next state is not known
            x = [sign(h) for h in path[-1]]
        return path


# -- clone-structured hidden Markov model
# -----------------------------------------------------------------------


def all_paths(pi, blocks, closed):
    """Every path through the clones with its probability: pi and the block T of each step; a cycle
    ends where it starts.
    """
    for path in product(range(len(pi)), repeat=len(blocks) + 1):
        if closed and path[0] != path[-1]:
            continue
        probability = pi[path[0]]
        for T, a, b in zip(blocks, path, path[1:], strict=False):
            probability *= T[a][b]
        yield path, probability


def expected(pi, blocks, closed):
    """The probability of what was seen, and that of each pair of clones at each step given it."""
    C, total = len(pi), 0.0
    shares = [[[0.0] * C for _ in range(C)] for _ in blocks]
    for path, probability in all_paths(pi, blocks, closed):
        total += probability
        for t in range(len(blocks)):
            shares[t][path[t]][path[t + 1]] += probability
    return total, [[[v / total for v in row] for row in share] for share in shares]


def next_of_clones(patterns, before, after, T, start, x):
    """The pattern after a cue, and how far its probability is above that of the next best."""
    overlaps = [sum(a * b for a, b in zip(pattern, x, strict=True)) for pattern in patterns]
    seen = overlaps.index(max(overlaps))
    chances = {}
    for g in range(len(before)):
        if before[g] == seen:
            chances[after[g]] = sum(
                start[seen][c] * T[g][c][d] for c in range(len(T[g])) for d in range(len(T[g]))
            )
    if not any(chances.values()):
        return patterns[seen], 1.0
    ordered = sorted(chances.values())
    return patterns[max(chances, key=chances.get)], ordered[-1] - ordered[-2] if len(
        ordered
    ) > 1 else 1.0


# -- recurrent network
# ------------------------------------------------------------------------------------------


def recurrent_fields(W_in, W_rec, W_out, b, c, x, h):
    """The hidden state and the fields of visible neurons one step on."""
    H, N = len(b), len(c)
    h = [
        math.tanh(
            b[k]
            + sum(W_in[k][j] * x[j] for j in range(N))
            + sum(W_rec[k][m] * h[m] for m in range(H))
        )
        for k in range(H)
    ]
    return h, [c[i] + sum(W_out[i][k] * h[k] for k in range(H)) for i in range(N)]


def recurrent_loss(weights, x, target, start, keeps):
    """The mean of log(1 + exp(-2 x y)) over steps, copies and units; x is (n, B, N), keeps (n,
    B).
    """
    terms = []
    for copy in range(len(x[0])):
        h = start[copy]
        for t in range(len(x)):
            h, y = recurrent_fields(*weights, x[t][copy], [keeps[t][copy] * v for v in h])
            terms += [math.log(1 + math.exp(-2 * target[t][i] * y[i])) for i in range(len(y))]
    return sum(terms) / len(terms)
