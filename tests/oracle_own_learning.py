"""Learning by other rules and under constraints, written index by index. It imports nothing of the
package.

Weights are in steps of eta, margins and sizes too, and all of them are multiples of 2**-24. What is
left to chance comes from numpy's generators, in a fixed order: first what is drawn for each layer,
constraint by constraint, then what is drawn in each epoch, neuron by neuron and with a generator
for each layer.
"""

import math

import numpy as np

from oracle import dot, sign


def grid(value):
    return float(np.rint(value * 2**24) / 2**24)


def step_of(rule, margin, rng):
    """How far a neuron moves."""
    kind, *numbers = rule
    if kind == "three-factor":
        return 1.0 if margin <= 1 else 0.0
    if kind == "soft margin":
        return min(max(0.5 + (1 - margin) / (2 * numbers[0]), 0.0), 1.0)
    if kind == "adatron":
        return max(numbers[0] - margin, 0.0)
    if kind == "hebbian":
        return 1.0
    assert kind == "stochastic"
    return 1.0 if rng.random() < 0.5 + 0.5 * math.tanh((1 - margin) / (2 * numbers[0])) else 0.0


def is_error(rule, margin):
    return margin <= 0 if rule[0] == "hebbian" else margin <= 1


class Layer:
    """Weights with what they may be; biases are not constrained."""

    def __init__(self, W, kappa, rule, constraints, rng, *, cells, bias):
        self.W, self.kappa, self.rule, self.bias = (
            [list(map(float, row)) for row in W],
            kappa,
            rule,
            bias,
        )
        self.n = len(self.W[0]) - bias
        self.low = [[-math.inf] * self.n for _ in W]
        self.high = [[math.inf] * self.n for _ in W]
        self.spacing, self.left = 0.0, 1.0
        self.constrained = bool(constraints)
        unit = kappa / math.sqrt(self.n)
        for kind, *numbers in constraints:
            if kind == "dilution":
                for i in range(len(W)):
                    for j in range(self.n):
                        if not rng.random() < numbers[0]:
                            self.bound(i, j, 0.0, 0.0)
            elif kind == "dale":
                place = rng.permutation(cells)
                for j in range(self.n):
                    excites = place[j % cells] < round(numbers[0] * cells)
                    for i in range(len(W)):
                        self.bound(i, j, *((0.0, math.inf) if excites else (-math.inf, 0.0)))
            elif kind == "decay":
                self.left *= 1 - numbers[0]
            else:
                limit = numbers[-1] * unit
                if kind == "levels":
                    levels = 2 ** (numbers[0] - 1) - 1
                    self.spacing = grid(limit / levels)
                    limit = levels * self.spacing
                for i in range(len(W)):
                    for j in range(self.n):
                        self.bound(i, j, -limit, limit)
        self.constrain(range(len(W)), rng)

    def bound(self, i, j, low, high):
        self.low[i][j], self.high[i][j] = max(self.low[i][j], low), min(self.high[i][j], high)

    def constrain(self, rows, rng):
        level = self.spacing or 2.0**-24
        for i in rows:
            for j in range(self.n):
                w = self.W[i][j]
                if self.spacing:
                    below = math.floor(w / self.spacing)
                    w = (
                        below + (rng.random(dtype=np.float32) < w / self.spacing - below)
                    ) * self.spacing
                if self.low[i][j] > -math.inf:
                    w = max(w, math.ceil(self.low[i][j] / level - 2**-20) * level)
                if self.high[i][j] < math.inf:
                    w = min(w, math.floor(self.high[i][j] / level + 2**-20) * level)
                self.W[i][j] = w

    def learn(self, x, targets, theta, rng):
        """Learn one transition and return the number of errors."""
        margins = [
            z * (dot(row, x) - theta) / self.kappa for row, z in zip(self.W, targets, strict=True)
        ]
        steps = [grid(step_of(self.rule, margin, rng)) for margin in margins]
        for row, step, z in zip(self.W, steps, targets, strict=True):
            for j in range(len(row)):
                if j < self.n and self.left < 1:
                    row[j] = grid(row[j] * self.left)
                row[j] += step * z * x[j]
        if self.constrained:
            moved = [i for i, step in enumerate(steps) if step or self.left < 1]
            self.constrain(moved, rng)
        return sum(is_error(self.rule, margin) for margin in margins)


def learn(pairs, U, V, z_of, *, kappa, rules, constraints, seed, epochs, N, theta=0.0, bias=False):
    """Learn as many epochs, or until one has no error; returns U, V and the errors of both. Without
    hidden neurons U is None, and without hidden targets z_of.
    """
    made = [
        None
        if W is None
        else Layer(
            W,
            kappa,
            rules[which],
            constraints,
            np.random.default_rng([*seed, which]),
            cells=N if which == 0 or U is None else len(W[0]) - bias,
            bias=bias,
        )
        for which, W in enumerate((U, V))
    ]
    one = [1] if bias else []
    found = []
    for epoch in range(1, epochs + 1):
        rngs = [np.random.default_rng([*seed, 2 + which, epoch]) for which in (0, 1)]
        hidden = visible = 0
        for x, x_next in pairs:
            y = list(x)
            if made[0] is not None:
                if z_of is not None:
                    hidden += made[0].learn(list(x) + one, z_of(x_next), theta, rngs[0])
                y = [sign(dot(row, list(x) + one) - theta) for row in made[0].W]
            visible += made[1].learn(y + one, x_next, 0.0, rngs[1])
        found.append((hidden, visible))
        if found[-1] == (0, 0):
            break
    return made[0] and made[0].W, made[1].W, found
