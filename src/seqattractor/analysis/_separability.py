"""Can a network without hidden neurons store this? A proof either way, for each visible neuron, in
exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count, check_flag
from seqattractor._faces import Result
from seqattractor._named_axes import NamedAxes
from seqattractor.analysis._exact import combine_or_separate, kernel_vector
from seqattractor.analysis._work import Callback
from seqattractor.rule import with_constant
from seqattractor.sequences import Patterns, check_sequences, transitions
from seqattractor.theory import cover

# Weights with a margin are rounded to this many bits: far finer than any margin that counts, and
# exact in float64 sums.
_BITS = 24
# Below this a margin found in floating point proves nothing, and the exact way decides.
_TINY = 1e-6


@dataclass(frozen=True, repr=False, eq=False)
class Proof(Result):
    """Why one visible neuron can, or cannot, be a perceptron that makes the sequence; whole numbers
    that anybody can check.
    """

    weights: NDArray[Any] | None
    """Whole-number weights w, shape (order * N,), with w.x(t) + b >= 0 where x_i(t+1) = +1 and
    w.x(t) + b < 0 where it is -1, or None.
    """
    combination: NDArray[Any] | None
    """Whole numbers lambda_t >= 0, shape (n,), with sum_t lambda_t x_i(t+1) x(t) = 0 and some
    lambda_t > 0 where x_i(t+1) = -1; or None. No w can exist then: it would make a sum of
    non-negative terms, one of them positive, equal to zero. If a bias is allowed, sum_t lambda_t
    x_i(t+1) = 0 too, which rules out every b beside w.
    """
    margin: float
    """min_t x_i(t+1) (w.x(t) + b) / max_k |w_k|; 0 if the neuron depends on sign(0) = +1, NaN if it
    is impossible, infinite if the bias alone will do.
    """
    allows_bias: bool = False
    """Whether the neuron may have a bias b beside its weights."""
    bias: int = 0
    """b, a whole number, in units of the weights."""

    def describe(self) -> str:
        """Return a sentence about what the proof shows."""
        with_bias = "with a bias" if self.allows_bias else "without a bias"
        if self.combination is not None:
            used = np.count_nonzero(self.combination)
            constant = ", each with a constant unit," if self.allows_bias else ""
            return (
                f"No weights {with_bias} can serve this neuron: {used} of its signed "
                f"patterns{constant} add up to zero."
            )
        if self.margin == np.inf:
            return "The bias alone serves this neuron, which is the same in all patterns."
        return (
            f"Whole-number weights {with_bias} serve this neuron with a margin of "
            f"{self.margin:.3g}."
        )


@dataclass(frozen=True, repr=False, eq=False)
class Separability(Result):
    """Which visible neurons could make the sequences as perceptrons, each with its proof; true if
    all can.

    Margins are the largest possible ones if `largest_margin` is true.
    """

    inputs: Patterns
    targets: Patterns
    largest_margin: bool
    bias: bool
    _features: NDArray[np.int64]
    """What the neurons see, or, if margins are not the largest, its Gram matrix: then w = sum_t a_t
    x(t), and proofs hold a.
    """
    _proofs: list[Proof]
    _which: NDArray[np.int64]

    def __bool__(self) -> bool:
        return self.impossible.size == 0

    @property
    def n_transitions(self) -> int:
        """How many transitions each neuron has to make."""
        return len(self.inputs)

    @property
    def n_inputs(self) -> int:
        """How many weights each neuron has, beside a bias."""
        return int(self.inputs.shape[1])

    @property
    def impossible(self) -> NDArray[np.int64]:
        """The neurons that no weights can serve."""
        return np.flatnonzero(np.isnan(self.margin))

    @property
    def margin(self) -> NDArray[np.float64]:
        """The margin of each neuron, NaN where it is impossible; shape (N,)."""
        return np.array([p.margin for p in self._proofs])[self._which]

    @property
    def cover_probability(self) -> float:
        """The probability that one neuron with random targets is separable, were the inputs in
        general position (Cover 1965).
        """
        return cover(self.n_transitions, self.n_inputs + self.bias)

    def proof(self, neuron: int) -> Proof:
        """Return the weights of a neuron, and its bias if it has one, or the combination that
        proves that there are none.
        """
        check_count(neuron, "neuron", 0, len(self._which) - 1)
        proof = self._proofs[int(self._which[neuron])]
        w = proof.weights
        if w is not None and not self.largest_margin:
            w = _exact_product(_seen(self.inputs, self.bias).T, w).astype(object)
        b = int(w[-1]) if self.bias and w is not None else 0
        return Proof(
            w if w is None else w[: self.n_inputs], proof.combination, proof.margin, self.bias, b
        )

    def verify(self) -> bool:
        """Check every proof by substitution into the sequences, in whole-number arithmetic; False
        would be a bug.
        """
        columns = self.targets[:, np.unique(self._which, return_index=True)[1]]
        return all(
            holds(self._features, y, p) for y, p in zip(columns.T, self._proofs, strict=True)
        )

    def rows(self) -> Iterable[dict[str, Any]]:
        """One row per visible neuron: whether it is separable, and its margin (None where it is
        not).
        """
        for i, margin in enumerate(self.margin.tolist()):
            possible = margin == margin
            yield {"neuron": i, "separable": possible, "margin": margin if possible else None}

    def _named_axes(self) -> NamedAxes:
        """Along the visible neurons."""
        margin = self.margin
        return NamedAxes(
            {
                "separable": ("neuron", ~np.isnan(margin), "whether some weights serve the neuron"),
                "margin": (
                    "neuron",
                    margin,
                    "margin over the largest weight; NaN where no weights serve it",
                ),
            },
            attributes={
                "bias": self.bias,
                "largest_margin": self.largest_margin,
                "n_transitions": self.n_transitions,
            }
            | {"n_inputs": self.n_inputs},
        )

    def describe(self) -> str:
        """Return a few sentences about which neurons are separable."""
        n, d, N = self.n_transitions, self.n_inputs, self.targets.shape[1]
        weights, capacity = (
            (f"{d} weights and a bias", "2(N + 1)") if self.bias else (f"{d} weights", "2N")
        )
        most = 2 * (d + self.bias)
        context = (
            f"{n} transitions and {weights} per neuron: {n / most:.2f} of Cover's capacity "
            f"{capacity} = {most}, where a neuron with random targets is separable with "
            f"probability {self.cover_probability:.3g}."
        )
        if self:
            with_biases = "with biases" if self.bias else "even without biases"
            return (
                f"A network without hidden neurons can store this, {with_biases}: all {N} neurons "
                f"are separable. {context}"
            )
        listed = ", ".join(map(str, self.impossible[:10])) + (
            ", ..." if self.impossible.size > 10 else ""
        )
        verb = "is" if self.impossible.size == 1 else "are"
        both = (
            "can store this, not even with biases"
            if self.bias
            else "and without biases can store this"
        )
        return (
            f"No network without hidden neurons {both}: {self.impossible.size} of {N} neurons "
            f"{verb} not linearly separable (number {listed}), proven for each. {context}"
        )


def separable(
    X: ArrayLike | Sequence[ArrayLike],
    lengths: ArrayLike | None = None,
    *,
    order: int = 1,
    bias: bool = False,
    largest_margin: bool | None = None,
    callback: Callback | None = None,
) -> Separability:
    """Decide for each visible neuron whether a perceptron can make its part of the sequences, with
    a proof either way.

    A network without hidden neurons makes a sequence if, for each neuron i, some weights w give
    w.x(t) >= 0 where x_i(t+1) = +1 and w.x(t) < 0 where x_i(t+1) = -1 (section 3 of the paper;
    sign(0) = +1). Linear programming finds the weights, or numbers lambda_t >= 0 that combine the
    signed patterns to zero, which rules all weights out. Both are turned into whole numbers and
    checked by substitution; where rounding leaves a doubt, an exact simplex method decides. The
    verdict never rests on floating point.

    Parameters
    ----------
    X : array of +-1, shape (T, N), a list of arrays of shape (T_s, N), or array of shape (S, T, N)
    lengths : array of shape (S,), optional
    order : int
        How many past patterns each neuron sees.
    bias : bool
        Whether neurons may have biases, w.x(t) + b instead of w.x(t): some sequences are impossible
        only without them. What is impossible with biases is impossible without.
    largest_margin : bool, optional
        Whether to find the weights whose margin min_t x_i(t+1) w.x(t) is largest for weights up to
        1 (and any bias), up to rounding. That is the margin that counts against flips: fewer than
        half of it can never change the answer. By default yes, unless the problem is large. False
        only saves work where the patterns are linearly independent and each has more units than
        there are transitions: then one linear system gives the weights of all neurons.
    callback : callable, optional
        Called as ``callback(done, total)`` after each linear program, of which there is one for
        each different visible neuron.

    Returns
    -------
    Separability
        False in an ``if`` where some neuron is impossible; `impossible` lists them and ``proof(i)``
        gives the proof.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.xor()
    >>> verdict = sa.separable(X)
    >>> bool(verdict), verdict.impossible                   # XOR is impossible
    (False, array([0]))
    >>> (verdict.proof(0).combination * X[1:, 0]) @ X[:-1]  # signed patterns that add up to zero
    array([0, 0], dtype=object)
    >>> verdict.proof(1).weights                            # the second neuron negates itself
    array([0, -1], dtype=object)
    >>> bool(sa.separable(X, bias=True))                    # biases do not help
    False

    Here they do: a pattern and its opposite must both call -1.

    >>> X = np.array([[1, 1], [-1, -1], [-1, 1]])
    >>> bool(sa.separable(X)), bool(sa.separable(X, bias=True))
    (False, True)
    """
    order = check_count(order, "order")
    check_flag(bias, "bias")
    if largest_margin is not None:
        check_flag(largest_margin, "largest_margin")
    patterns, checked = check_sequences(X, lengths, order=order)
    inputs, targets, _ = transitions(patterns, checked, order)
    columns, which = np.unique(targets, axis=1, return_inverse=True)
    which = which.reshape(-1).astype(np.int64)
    n, d = inputs.shape
    if largest_margin is None:
        largest_margin = columns.shape[1] * n * d <= 50_000_000
    seen = _seen(inputs, bias)
    if not largest_margin and d > n:
        # Weights are sought among the combinations of the inputs, w = sum_t a_t x(t): there w.x(s)
        # = sum_t a_t K(t, s).
        gram = (seen.astype(np.float64) @ seen.T.astype(np.float64)).astype(np.int64)
        solved = _by_inverse(gram, seen, columns, bias)
        if solved is not None:
            return Separability(inputs, targets, False, bool(bias), gram, solved, which)
    features, proofs = seen.astype(np.int64), list[Proof]()
    for y in columns.T:
        proofs.append(prove(features, y, bias=bias))
        if callback is not None:
            callback(len(proofs), columns.shape[1])
    return Separability(inputs, targets, True, bool(bias), features, proofs, which)


def _seen(inputs: Patterns, bias: bool) -> Patterns:
    """What each neuron sees: the inputs, and with a bias a unit that is always +1."""
    return with_constant(inputs) if bias else inputs


def prove(features: NDArray[np.int64], y: Patterns, *, bias: bool = False) -> Proof:
    """Decide for one neuron: floating point proposes, whole numbers dispose. With a bias the last
    feature is constant.
    """
    signed = y[:, None] * features
    if bias and (y == y[0]).all():
        alone = np.zeros(features.shape[1], dtype=object)
        alone[-1] = int(y[0])
        return Proof(alone, None, np.inf)
    for propose in (_largest_margin, _weak_margin):
        proof = propose(signed, y, bias)
        if proof is not None and holds(features, y, proof):
            return proof
    combination, weights = combine_or_separate(signed, y < 0)
    return Proof(
        weights, combination, float("nan") if weights is None else _margin(signed, weights, bias)
    )


def _largest_margin(signed: NDArray[np.int64], y: Patterns, bias: bool) -> Proof | None:
    """Weights of the largest margin, or the combination that the dual solution proposes."""
    weights, combination, margin = _linear_program(signed, np.ones(len(y)), bias)
    if margin > _TINY:
        rounded = _shorten(np.rint(weights * 2.0**_BITS))
        return Proof(rounded, None, _margin(signed, rounded, bias))
    return _combination(signed, combination)


def _weak_margin(signed: NDArray[np.int64], y: Patterns, bias: bool) -> Proof | None:
    """Weights that reach exactly zero at some targets +1, where sign(0) = +1 is right, or a
    combination that rules them out.
    """
    if not (y < 0).any():
        return Proof(np.zeros(signed.shape[1], dtype=object), None, 0.0)
    weights, combination, margin = _linear_program(signed, (y < 0).astype(np.float64), bias)
    if margin <= _TINY:
        return _combination(signed, combination)
    tight = (y > 0) & (signed @ weights < _TINY * margin * np.abs(signed).max())
    exact = kernel_vector(signed[tight], weights)
    return None if exact is None else Proof(exact, None, 0.0)


def _linear_program(
    signed: NDArray[np.int64], demand: NDArray[np.float64], bias: bool
) -> tuple[NDArray[Any], NDArray[Any], float]:
    """Maximise m over |w_k| <= 1, and any bias, with signed_t . w >= m demand_t; returns w, the
    dual combination lambda and m.
    """
    from scipy.optimize import linprog

    n, d = signed.shape
    scale = float(np.abs(signed).max())
    rows, bounds = np.column_stack([-signed / scale, demand]), [(-1, 1)] * d + [(0, d)]
    if bias:
        bounds[-2] = (
            -d,
            d,
        )  # of neurons that are on and off in turn no larger one can be right: |w.x| <= d - 1
    result = linprog(
        np.append(np.zeros(d), -1.0), A_ub=rows, b_ub=np.zeros(n), bounds=bounds, method="highs"
    )
    if result.x is None:  # the solver gave up: let the exact method decide
        return np.zeros(d), np.zeros(n), 0.0
    return result.x[:d], -result.ineqlin.marginals, float(result.x[d])


def _combination(signed: NDArray[np.int64], near: NDArray[np.float64]) -> Proof | None:
    """An exact combination of signed rows to zero near a floating-point one."""
    support = np.flatnonzero(near > 1e-9 * max(1.0, float(near.max(initial=0.0))))
    if not support.size:
        return None
    exact = kernel_vector(signed[support].T, near[support] / near.max())
    if exact is None:
        return None
    combination = np.zeros(len(signed), dtype=object)
    combination[support] = exact if exact.max() > 0 else -exact
    return Proof(None, combination, float("nan"))


def _by_inverse(
    gram: NDArray[np.int64], seen: Patterns, columns: Patterns, bias: bool
) -> list[Proof] | None:
    """Weights for all neurons at once if the inputs are linearly independent: solve K a = y. None
    if that fails.
    """
    try:
        a = np.linalg.solve(gram.astype(np.float64), columns.astype(np.float64))
    except np.linalg.LinAlgError:
        return None
    if not np.all(np.isfinite(a)):
        return None
    # All whole numbers here stay below 2**53, so that float64 products are exact.
    scaled = np.rint(a / np.abs(a).max(axis=0) * 2.0**_BITS)
    margins = (columns * (gram @ scaled)).min(axis=0)
    if not np.all(margins > 0):
        return None
    dense = (seen[:, :-1] if bias else seen).T.astype(np.float64)
    blocks = np.array_split(scaled, -(-scaled.shape[1] // 256), axis=1)
    largest = np.concatenate([np.abs(dense @ block).max(axis=0) for block in blocks])
    ratios = np.divide(
        margins, largest, out=np.full(len(largest), np.inf), where=largest > 0
    )  # the bias alone may do
    return [
        Proof(_shorten(a), None, float(ratio)) for a, ratio in zip(scaled.T, ratios, strict=True)
    ]


def _shorten(weights: NDArray[np.float64]) -> NDArray[Any]:
    """Whole numbers without a common factor, as Python integers."""
    whole = weights.astype(np.int64)
    return np.asarray((whole // max(1, int(np.gcd.reduce(whole)))).astype(object))


def _margin(signed: NDArray[np.int64], weights: NDArray[Any], bias: bool) -> float:
    """min_t signed_t . w / max_k |w_k|, rounded only at the end; flips change no bias, so it does
    not count among the w_k.
    """
    least = min(signed.astype(object) @ weights)
    largest = max(abs(int(k)) for k in (weights[:-1] if bias else weights))
    return float(least / largest) if largest else float("inf") if least > 0 else 0.0


def holds(features: NDArray[Any], y: Patterns, proof: Proof) -> bool:
    """Check a proof by substitution, in whole numbers."""
    if proof.weights is not None:
        fields = _exact_product(features, proof.weights)
        return bool(np.all((fields >= 0) == (y > 0)))
    if (
        proof.combination is None
        or not np.all(proof.combination >= 0)
        or not np.any(proof.combination[y < 0] > 0)
    ):
        return False
    return bool(np.all(_exact_product(features.T, proof.combination * y.astype(object)) == 0))


def _exact_product(A: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """A v in whole numbers: with int64 where that cannot overflow, with Python integers
    otherwise.
    """
    bound = max(1, int(np.abs(A).max())) * sum(abs(int(k)) for k in v)
    if bound < 2**62:
        return np.asarray(A.astype(np.int64) @ v.astype(np.int64))
    return np.asarray(A.astype(object) @ v)
