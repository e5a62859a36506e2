"""What theory says about how much can be stored: limits that hold for any learning rule, and what
Hebbian learning comes to.

They are lines to draw beside measurements, not predictions of what a rule learns in so many epochs:
no theory here says where the paper's rule, or the sparse one, ends. A load is patterns for each
input of a neuron; patterns are random, each unit +1 or -1 by a fair coin, and independent of the
targets. In a sequence the targets are the next inputs. For random sequences this makes no
difference that can be measured (tests/analysis/test_theory.py does).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from seqattractor._checks import (
    check_count,
    check_flag,
    check_kind,
    check_not_negative,
    check_number,
    check_positive,
    say,
)
from seqattractor._faces import Result
from seqattractor.analysis._threshold_view import threshold_view
from seqattractor.constraints import Dale, Dilution
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.own_learning import constraints_of
from seqattractor.networks.sparse import SparseSequenceAttractor
from seqattractor.networks.variants import FixedHiddenNetwork, LearnedTargetsAttractor
from seqattractor.networks.visible import VisibleNetwork
from seqattractor.zoo.linear import HebbianMemory, PseudoInverseMemory

__all__ = [
    "LayerMargin",
    "Limit",
    "cover",
    "cover_capacity",
    "diluted",
    "gardner",
    "hebbian_exact",
    "hebbian_overlap",
    "hebbian_sequences",
    "kernel_features",
    "largest_margin",
    "layer_margins",
    "limits",
    "sign_constrained",
    "two_layers",
]

_FEWEST = 1e-100  # below it the integrals lose their digits
_MOST_POINTS = 10**8  # up to which the beta integral of every scipy that we allow has 12 digits
_MOST_WEIGHTS = 10**6


def gardner(kappa: float = 0.0, *, active: float = 0.5) -> float:
    """Return the largest load of a perceptron with a margin (Gardner 1988).

    A pattern x is stored with margin kappa if its target times the field, w . x less the threshold,
    is at least kappa ``|w|``. A fraction f of the patterns should be answered with +1, the others
    with -1, and the threshold theta is free. Fields of random patterns are normal, and::

        alpha_c = max over theta of 1 / (f A(kappa + theta) + (1 - f) A(kappa - theta)),
        A(a) = E[max(0, a + t)^2] = (1 + a^2) Phi(a) + a phi(a)

    with a standard normal t, its distribution Phi and density phi. Half of the patterns active, and
    no margin, gives 2, as Cover counted; for few active ones alpha_c grows like 1 / (2 f ln(1/f)).

    Assumes many inputs, random +-1 patterns and random targets. It is the limit of what any weights
    do, not of what a rule finds.

    Parameters
    ----------
    kappa : float
        The margin in units of the length of the weights: 0 or more. The networks' own kappa is in
        units of fields; divide it by ``|w|``.
    active : float
        f, the fraction of patterns that should be answered with +1: above 0 and below 1.

    Returns
    -------
    float
        Patterns for each input.

    References
    ----------
    E. Gardner, "The space of interactions in neural network models", J. Phys. A 21, 257-270 (1988).

    Examples
    --------
    >>> round(gardner(), 6), round(gardner(1.0), 4)
    (2.0, 0.5196)
    >>> round(gardner(active=0.01), 1)
    19.2
    """
    from scipy.optimize import minimize_scalar

    kappa, f = check_not_negative(kappa, "kappa"), _fraction(active)

    def shortfall(theta: float) -> float:
        return f * _shortfall(kappa + theta) + (1 - f) * _shortfall(kappa - theta)

    # Both terms are convex in theta; a threshold beyond this would cost the rarer answers more than
    # the other ones could save.
    reach = kappa + 2 * math.sqrt(2 * math.log(1 / min(f, 1 - f))) + 1
    best = minimize_scalar(
        shortfall, bounds=(-reach, reach), method="bounded", options={"xatol": 1e-10}
    )
    return 1 / float(best.fun)


def _fraction(active: float) -> float:
    """Check the fraction of patterns that should be answered with +1."""
    f = check_number(active, "active")
    if not _FEWEST <= f < 1:
        raise ValueError(
            f"active is the fraction of patterns answered with +1, at least {_FEWEST:g} and below "
            f"1, but it is {say(active)}."
        )
    return f


def _shortfall(a: float) -> float:
    """A(a) = E[max(0, a + t)^2] for a standard normal t: how far fields fall short of a,
    squared.
    """
    below = 0.5 * math.erfc(-a / math.sqrt(2))
    return (1 + a * a) * below + a * math.exp(-a * a / 2) / math.sqrt(2 * math.pi)


def largest_margin(load: float, *, active: float = 0.5) -> float:
    """Return the largest margin that any weights of a perceptron can have at a load: the inverse of
    `gardner`.

    This is a ceiling for each neuron of each layer, whatever the rule. Weights of the largest
    margin are those of a linear support vector machine, which kernel memory networks give to every
    neuron (Iatropoulos, Brea and Gerstner 2022). For few patterns it goes like 1 / sqrt(load).

    Parameters
    ----------
    load : float
        Patterns for each input, above 0.
    active : float
        As in `gardner`.

    Returns
    -------
    float
        In units of the length of the weights; 0 where the load is at or beyond ``gardner(0)``.

    References
    ----------
    E. Gardner, "The space of interactions in neural network models", J. Phys. A 21, 257-270 (1988).

    G. Iatropoulos, J. Brea and W. Gerstner, "Kernel memory networks: a unifying framework for
    memory modeling", NeurIPS (2022).

    Examples
    --------
    >>> round(largest_margin(gardner(1.0)), 6), largest_margin(2.5)
    (1.0, 0.0)
    """
    from scipy.optimize import brentq

    load, f = check_positive(load, "load"), _fraction(active)
    if load >= gardner(active=f):
        return 0.0
    # A(a) is more than a^2 for a > 0, so that the sum in `gardner` exceeds 4 f (1 - f) kappa^2.
    most = 1 / math.sqrt(4 * f * (1 - f) * load)
    return float(brentq(lambda kappa: gardner(kappa, active=f) - load, 0, most))


def sign_constrained(kappa: float = 0.0, *, active: float = 0.5) -> float:
    """Return the largest load where the sign of every synapse is prescribed, as by Dale's law: half
    of `gardner`.

    Assumes what `gardner` does, inputs of +-1 with both values equally often, and a threshold of
    any sign. Which signs are prescribed makes no difference then.

    Parameters
    ----------
    kappa, active : float
        As in `gardner`.

    Returns
    -------
    float
        Patterns for each input.

    References
    ----------
    D. J. Amit, C. Campbell and K. Y. M. Wong, "The interaction space of neural networks with
    sign-constrained synapses", J. Phys. A 22, 4687 (1989).

    Examples
    --------
    >>> round(sign_constrained(), 6)
    1.0
    """
    return gardner(kappa, active=active) / 2


def diluted(connected: float, kappa: float = 0.0, *, active: float = 0.5) -> float:
    """Return the largest load where only a fraction of the synapses exists: `gardner` for each
    *synapse*, so that fraction of it for each input.

    Assumes what `gardner` does, and synapses that are absent by chance and for good, whatever the
    patterns are, as with `seqattractor.constraints.Dilution`. Synapses that are chosen after the
    patterns can do more (Bouten et al. 1990).

    Parameters
    ----------
    connected : float
        The fraction of synapses that exist, above 0 and at most 1.
    kappa, active : float
        As in `gardner`; kappa in units of the length of the weights that exist.

    Returns
    -------
    float
        Patterns for each input, connected or not.

    References
    ----------
    E. Gardner, "The space of interactions in neural network models", J. Phys. A 21, 257-270 (1988).

    M. Bouten, A. Engel, A. Komoda and R. Serneels, "Quenched versus annealed dilution in neural
    networks", J. Phys. A 23, 4643 (1990).

    Examples
    --------
    >>> round(diluted(0.2), 6)
    0.4
    """
    connected = check_positive(connected, "connected")
    if connected > 1:
        raise ValueError(f"connected must be at most 1, but it is {connected}.")
    return connected * gardner(kappa, active=active)


def cover(n_points: int, n_weights: int, *, signed: int = 0) -> float:
    """Return the fraction of all 2**n assignments of n points that a perceptron without threshold
    can make (Cover 1965).

    It falls from 1 to 0 around two points for each weight. Assumes points in general position: any
    N of them are linearly independent. Other points, such as some of +-1, have fewer assignments,
    never more. A threshold counts as one weight more.

    Parameters
    ----------
    n_points : int
    n_weights : int
    signed : int
        How many weights have a prescribed sign; the fraction is then that of all prescribed signs
        and assignments together, of points in general position with the axes. A sign is one more
        condition like those of the points, so that this is Cover's number for as many more points.
        With all signs prescribed it falls around one point for each weight.

    Returns
    -------
    float

    References
    ----------
    T. M. Cover, "Geometrical and statistical properties of systems of linear inequalities with
    applications in pattern recognition", IEEE Trans. Electronic Computers EC-14, 326-334 (1965).

    Examples
    --------
    >>> cover(2, 2), cover(4, 2), cover(200, 100), cover(100, 100, signed=100)
    (1.0, 0.5, 0.5, 0.5)
    """
    from scipy.special import betainc

    n_points, n_weights = (
        check_count(n_points, "n_points", 0, _MOST_POINTS),
        check_count(n_weights, "n_weights", 0),
    )
    n_points += check_count(signed, "signed", 0, n_weights)
    if n_points <= n_weights or not n_weights:
        return float(n_points <= n_weights)
    # The sum of binomial coefficients as a beta integral; scipy's bdtr gives .39 instead of .5 for
    # 10**8 points.
    return float(np.round(betainc(float(n_points - n_weights), float(n_weights), 0.5), 12))


def cover_capacity(
    n_weights: int, *, neurons: int = 1, success: float = 0.5, signed: int = 0
) -> int:
    """Return the largest number of patterns that all neurons of a layer can make with some
    probability, by Cover's count.

    Assumes what `cover` does, and targets that are independent of the inputs and of each other.

    Parameters
    ----------
    n_weights : int
        Inputs of each neuron, and one for a threshold.
    neurons : int
        How many there are.
    success : float
        The probability that random targets of all of them can be made, between 0 and 1.
    signed : int
        As in `cover`.

    Returns
    -------
    int

    References
    ----------
    T. M. Cover, "Geometrical and statistical properties of systems of linear inequalities with
    applications in pattern recognition", IEEE Trans. Electronic Computers EC-14, 326-334 (1965).

    Examples
    --------
    >>> cover_capacity(100), cover_capacity(100, neurons=100, success=0.95)
    (200, 158)
    """
    n_weights = check_count(n_weights, "n_weights", 1, _MOST_WEIGHTS)
    wanted = _success(success) ** (1 / check_count(neurons, "neurons"))
    return _last(lambda p: cover(p, n_weights, signed=signed) >= wanted)


def _success(success: float) -> float:
    """Check a probability."""
    if not 0 < check_number(success, "success") < 1:
        raise ValueError(f"success must lie between 0 and 1, but it is {say(success)}.")
    return float(success)


def _last(holds: Callable[[int], bool]) -> int:
    """Return the largest whole number, from 0 on, up to which something holds."""
    high = 1
    while holds(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def two_layers(n: int, m: int, *, bias: bool = False) -> int:
    """Return the number of random pairs of patterns beyond which no weights U and V store them all,
    by counting.

    M hidden neurons with N inputs make at most C(p, N)^M codes of p patterns, where C is Cover's
    number of assignments, and N visible neurons with M inputs at most C(p, M)^N answers to each.
    All 2^(N p) answers need as many. Around this number the fraction of answers that any weights
    make falls from 1 at most to 0; the true limit is somewhere below. Nothing says that a rule
    could find the weights.

    Assumes that inputs and targets of the pairs are independent. The transitions of a sequence are
    not; every second of them are, so that twice this number holds for sequences for sure.

    Parameters
    ----------
    n, m : int
        N visible and M hidden neurons.
    bias : bool
        Whether neurons have thresholds.

    Returns
    -------
    int

    References
    ----------
    T. M. Cover, "Geometrical and statistical properties of systems of linear inequalities with
    applications in pattern recognition", IEEE Trans. Electronic Computers EC-14, 326-334 (1965).

    G. J. Mitchison and R. M. Durbin, "Bounds on the learning capacity of some multi-layer
    networks", Biological Cybernetics 60, 345-365 (1989).

    Examples
    --------
    >>> two_layers(100, 500)
    6126
    """
    n, m = check_count(n, "n", 1, 10**5), check_count(m, "m", 1, 10**5)
    extra = int(check_flag(bias, "bias"))
    return _last(
        lambda p: m * _log2_assignments(p, n + extra) + n * _log2_assignments(p, m + extra) >= n * p
    )


def _log2_assignments(p: int, n: int) -> float:
    """Log2 of Cover's number, 2 sum_{k < n} binomial(p - 1, k), also where it is too large for a
    float.
    """
    from scipy.special import gammaln, logsumexp

    if p <= n:
        return float(p)
    k = np.arange(n)
    terms = gammaln(p) - gammaln(k + 1) - gammaln(p - k)
    return 1 + float(logsumexp(terms)) / math.log(2)


def kernel_features(n: int, degree: int) -> int:
    """Return how many features a polynomial kernel gives a neuron: the products of up to `degree`
    different units, and a constant.

    A neuron with a kernel is a perceptron on these features, so that Cover's count holds with as
    many weights: it makes up to two random patterns for each, whatever learns it. Kernel memory
    networks reach the largest margin there. The features of +-1 patterns are taken to be in general
    position.

    Parameters
    ----------
    n : int
        N, inputs.
    degree : int
        Of the polynomial; 1 is a perceptron with a threshold.

    Returns
    -------
    int

    References
    ----------
    T. M. Cover, "Geometrical and statistical properties of systems of linear inequalities with
    applications in pattern recognition", IEEE Trans. Electronic Computers EC-14, 326-334 (1965).

    G. Iatropoulos, J. Brea and W. Gerstner, "Kernel memory networks: a unifying framework for
    memory modeling", NeurIPS (2022).

    Examples
    --------
    >>> [kernel_features(100, degree) for degree in (1, 2, 3)]
    [101, 5051, 166751]
    """
    n, degree = check_count(n, "n", 1, 10**6), check_count(degree, "degree", 1, 1000)
    return sum(math.comb(n, k) for k in range(min(n, degree) + 1))


def hebbian_sequences() -> float:
    """Return alpha_c = 0.269, the load up to which a Hebbian network stays on one long sequence,
    with some units wrong.

    For W = sum_t x(t+1) x(t)^T, synchronous and without noise, an overlap m with the pattern that
    is due, and crosstalk of variance s^2 in units of N, follow

        m' = erf(m / (sqrt(2) s)),
        s'^2 = alpha + G^2 s^2,   G = sqrt(2 / pi) / s exp(-m^2 / (2 s^2)),

    and a state that stays on the sequence is a fixed point of these. With y = m / (sqrt(2) s) it
    lies at alpha(y) = (erf(y) / (sqrt(2) y))^2 - (2 / pi) exp(-2 y^2), whose maximum is alpha_c.

    Assumes many neurons and one sequence of random patterns, alpha N of them.

    Returns
    -------
    float
        Patterns for each neuron.

    References
    ----------
    A. During, A. C. C. Coolen and D. Sherrington, "Phase diagram and storage capacity of sequence
    processing neural networks", J. Phys. A 31, 8607-8621 (1998).

    M. Kawamura and M. Okada, "Transient dynamics for sequence processing neural networks", J. Phys.
    A 35, 253 (2002), for the equations above.

    Examples
    --------
    >>> round(hebbian_sequences(), 4)
    0.2691
    """
    return _hebbian_load(_hebbian_peak())


def _hebbian_load(y: float) -> float:
    """alpha(y) of a fixed point."""
    return (math.erf(y) / (math.sqrt(2) * y)) ** 2 - 2 / math.pi * math.exp(-2 * y * y)


def _hebbian_peak() -> float:
    """The y of the largest load."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda y: -_hebbian_load(y), bounds=(0.5, 2), method="bounded", options={"xatol": 1e-10}
    )
    return float(found.x)


def hebbian_overlap(load: float) -> float:
    """Return the overlap with which a Hebbian network follows a long sequence, by the equations of
    `hebbian_sequences`.

    Parameters
    ----------
    load : float
        Patterns for each neuron, above 0.

    Returns
    -------
    float
        1 for a perfect recall; 0 where the load is above alpha_c, since the sequence is lost then.

    References
    ----------
    A. During, A. C. C. Coolen and D. Sherrington, "Phase diagram and storage capacity of sequence
    processing neural networks", J. Phys. A 31, 8607-8621 (1998).

    Examples
    --------
    >>> [round(hebbian_overlap(load), 3) for load in (0.1, 0.26, 0.28)]
    [0.998, 0.892, 0.0]
    """
    from scipy.optimize import brentq

    load = check_positive(load, "load")
    peak = _hebbian_peak()
    if load > _hebbian_load(peak):
        return 0.0
    few = 1 / math.sqrt(2 * load) + 1  # beyond it alpha(y) < 1 / (2 y^2) is below the load
    return math.erf(brentq(lambda y: _hebbian_load(y) - load, peak, few))


def hebbian_exact(n: int, *, success: float = 0.95) -> float:
    """Return the number of transitions up to which a Hebbian network makes all units of all of them
    right, with some probability.

    From a clean pattern, the crosstalk of the p - 1 other transitions on a field of size 1 is
    normal with variance (p - 1) / N, so that each of N p units is right with probability
    Phi(sqrt(N / (p - 1))). For large N this is about N / (4 ln N), far less than 0.269 N, where
    some units may be wrong.

    Assumes random patterns, crosstalk that is normal far out, and errors that are independent.

    Parameters
    ----------
    n : int
        N, neurons.
    success : float
        The probability, between 0 and 1.

    Returns
    -------
    float
        Transitions; not a whole number.

    References
    ----------
    R. J. McEliece, E. C. Posner, E. R. Rodemich and S. S. Venkatesh, "The capacity of the Hopfield
    associative memory", IEEE Trans. Information Theory 33, 461-482 (1987).

    Examples
    --------
    >>> round(hebbian_exact(100), 1)
    7.8
    """
    from scipy.optimize import brentq

    n, wanted = check_count(n, "n", 1), math.log(_success(success))

    def log_right(log_others: float) -> float:
        others = math.exp(log_others)
        wrong = 0.5 * math.erfc(math.sqrt(n / (2 * others)))
        return n * (1 + others) * math.log1p(-wrong) - wanted

    return 1 + math.exp(brentq(log_right, math.log(1e-3), math.log(100 * n)))


@dataclass(frozen=True, repr=False)
class Limit(Result):
    """How long a sequence can be by one theory, for a network of one size.

    Attributes
    ----------
    name : str
        Which theory, of which layer; the same for all sizes.
    t : float
        T, the number of patterns of a loop: one more than there are transitions.
    ceiling : bool
        Whether no weights could do better, but for luck and under the assumptions. Else it is a
        yardstick, which a network may pass or never reach.
    assumptions : str
    source : str

    Examples
    --------
    >>> import seqattractor as sa
    >>> sa.theory.limits(sa.zoo.PseudoInverseMemory(), 50)[0].t
    51.0
    """

    name: str
    t: float
    ceiling: bool
    assumptions: str
    source: str

    def describe(self) -> str:
        """Return the limit, its assumptions and its source."""
        kind = "at most" if self.ceiling else "about"
        return f"{self.name}: {kind} T = {self.t:.4g}. Assumes {self.assumptions}. {self.source}."

    def _answer(self) -> str:
        """Return the limit alone, where U, V and W keep their capitals."""
        return self.describe().partition(". ")[0]


def limits(
    net: SequenceMemory, n: int, *, sequences: int = 1, success: float = 0.95
) -> list[Limit]:
    """Return what theory says about the longest random loops that a network could store.

    For networks without hidden neurons, and for V behind fixed hidden ones, these are ceilings of
    each neuron. Where a rule chooses targets for the hidden neurons, only the count of both layers
    is one: the others are where it would end if the targets were random and had all to be met.

    Parameters
    ----------
    net : SequenceMemory
        Its parameters count, with `Dilution` and `Dale` among the constraints; it need not have
        learned. Nothing is known here of most memories of `seqattractor.zoo`.
    n : int
        N, visible neurons.
    sequences : int
        How many loops of the same length there are.
    success : float
        The rate of success asked for, as in `measure_capacity`.

    Returns
    -------
    list of Limit
        Perhaps empty.

    Examples
    --------
    >>> import seqattractor as sa
    >>> for limit in sa.theory.limits(sa.SequenceAttractor(n_hidden=500), 100):
    ...     print(limit)
    Limit: U, if its targets were random (Cover): about T = 155
    Limit: V, if the codes were random (Cover): about T = 902
    Limit: U and V, any weights (counted): at most T = 6127
    """
    check_kind(net, SequenceMemory, "net", "a network of this package")
    n, success = check_count(n, "n", 1, 10**5), _success(success)
    sequences = check_count(sequences, "sequences")
    return [
        Limit(name, 1 + patterns / sequences, ceiling, assumptions, source)
        for name, patterns, ceiling, assumptions, source in _limits(net, n, success)
        if sequences == 1 or name != _STAYS
    ]


_STAYS = "0.269 N, some units wrong (Hebbian)"
_RANDOM = "random patterns"
# Name, patterns in all, whether it is a ceiling, assumptions, source.
_Row = tuple[str, float, bool, str, str]


def _limits(net: SequenceMemory, n: int, success: float) -> Iterator[_Row]:
    """The limits that are known for the class of a network."""
    order, hidden = getattr(net, "order", 1), getattr(net, "n_hidden", 0)
    n_inputs = n * order if isinstance(order, int) else n
    if isinstance(net, VisibleNetwork):
        yield _layer("W, any weights", net, n_inputs, n, success, "random targets")
    elif isinstance(net, PseudoInverseMemory):
        task = "linearly independent inputs, so that there is a solution for any targets"
        source = "Personnaz, Guyon and Dreyfus, Phys. Rev. A 34, 4217 (1986)"
        yield "as many patterns as inputs", n_inputs, False, task, source
    elif isinstance(net, HebbianMemory) and n_inputs == n:
        every, task = hebbian_exact(n, success=success), "crosstalk that is normal and independent"
        source = "McEliece, Posner, Rodemich and Venkatesh 1987"
        yield "every unit right (Hebbian)", every, False, f"{_RANDOM}, {task}", source
        source = "During, Coolen and Sherrington 1998"
        yield _STAYS, n * hebbian_sequences(), False, f"{_RANDOM}, many neurons", source
    if not isinstance(hidden, int) or hidden < 1:
        return
    if isinstance(net, FixedHiddenNetwork):
        yield _layer("V, any weights", net, hidden, n, success, "random targets")
    elif isinstance(net, SequenceAttractor):
        if not isinstance(net, LearnedTargetsAttractor) and not net.target_threshold:
            name, task = "U, if its targets were random", "random targets, all of them to be met"
            yield _layer(name, net, n_inputs, hidden, success, task, ceiling=False)
        name, task = "V, if the codes were random", "codes that say nothing of the next pattern"
        yield _layer(name, net, hidden, n, success, task, ceiling=False)
    if isinstance(net, (SequenceAttractor, SparseSequenceAttractor)) and n_inputs == n:
        patterns = two_layers(n, hidden, bias=bool(getattr(net, "bias", True)))
        task = f"{_RANDOM}, and transitions that are like independent pairs"
        source = "after Cover 1965, and Mitchison and Durbin 1989"
        yield "U and V, any weights (counted)", patterns, True, task, source


def _layer(
    name: str,
    net: VisibleNetwork | SequenceAttractor,
    n_inputs: int,
    neurons: int,
    success: float,
    task: str,
    *,
    ceiling: bool = True,
) -> _Row:
    """Cover's count for all neurons of a layer together, with the synapses that constraints leave
    them.
    """
    constraints = constraints_of(net)
    left = math.prod(each.connected for each in constraints if isinstance(each, Dilution))
    synapses = max(1, round(left * n_inputs))
    signed = synapses if any(isinstance(each, Dale) for each in constraints) else 0
    weights = synapses + int(net.bias)
    patterns = cover_capacity(weights, neurons=neurons, success=success, signed=signed)
    each = f"{neurons} neurons with {weights} weights{' of prescribed sign' if signed else ''}"
    return f"{name} (Cover)", patterns, ceiling, f"{_RANDOM}, {task}, {each}", "Cover 1965"


@dataclass(frozen=True, repr=False)
class LayerMargin(Result):
    """The margin of the neurons of a layer beside the largest that any weights could have.

    Attributes
    ----------
    layer : str
        "U" or "V"; "W" without hidden neurons.
    load : float
        Transitions for each input of a neuron.
    neurons : int
        How many neurons count: those that are active after some inputs and silent after others.
    active : float
        The fraction of inputs after which they are active, their mean.
    margin : float
        The smallest field of a neuron in the direction of its state, in units of the length of its
        weights and of the spread of its inputs; the mean over these neurons.
    largest : float
        `largest_margin` at this load, for each neuron with its own fraction; the mean.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(40, 50, rng=0)
    >>> W = sa.theory.layer_margins(sa.VisibleNetwork(random_state=0).fit(X), X)[0]
    >>> W.layer, W.load, round(W.margin, 1), round(W.largest, 1)
    ('W', 0.78, 0.7, 0.7)
    """

    layer: str
    load: float
    neurons: int
    active: float
    margin: float
    largest: float

    def describe(self) -> str:
        """Describe the margin beside the largest one."""
        return (
            f"{self.layer} at a load of {self.load:.2f}, {self.active:.1%} active: a margin of "
            f"{self.margin:.2f}, where any weights have at most {self.largest:.2f} (Gardner 1988; "
            f"{self.neurons} neurons). Assumes random patterns that are independent of the targets."
        )

    def _answer(self) -> str:
        """Return the margin, where U, V and W keep their capitals."""
        return self.describe().partition(". ")[0]


def layer_margins(
    net: SequenceMemory, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None
) -> list[LayerMargin]:
    """Return how near each layer of a network that has learned comes to the largest margin that
    any weights could have.

    Parameters
    ----------
    net : SequenceMemory
        A network of threshold neurons that has learned; see `supports_certificate`.
    X : array of +-1, shape (T, N), a list of arrays of shape (T_s, N), or array of shape (S, T, N)
        The stored sequences.
    lengths : array of shape (S,), optional

    Returns
    -------
    list of LayerMargin
        One for each layer. The margins are those of the states that the neurons take from stored
        inputs, right or wrong. The ceiling is one for random patterns in the limit of many inputs:
        a neuron whose inputs carry its target, as those of V do, may pass it, and so may one with
        few inputs.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(70, 100, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=500, random_state=0).fit(X)
    >>> for layer in sa.theory.layer_margins(net, X):
    ...     print(layer.layer, round(layer.margin, 2), round(layer.largest, 2))
    U 0.72 0.77
    V 1.63 2.52
    """
    view = threshold_view(net)
    inputs, _, _ = net._shown(X, lengths)
    layers = [view.visible] if view.hidden is None else [view.hidden, view.visible]
    names = "W" if view.hidden is None else "UV"
    found, states = [], inputs
    for name, layer in zip(names, layers, strict=True):
        fields = layer.fields(states)
        fraction = np.mean(fields >= 0, axis=0)
        both = (fraction > 0) & (fraction < 1)
        load = len(states) / layer.weights.shape[1]
        spread = np.sqrt(layer.weights**2 @ states.var(axis=0))
        largest = {f: largest_margin(load, active=f) for f in set(fraction[both].tolist())}
        found.append(
            LayerMargin(
                name,
                load,
                int(both.sum()),
                float(fraction[both].mean()),
                float((np.abs(fields).min(axis=0)[both] / spread[both]).mean()),
                float(np.mean([largest[f] for f in fraction[both].tolist()])),
            )
        )
        states = layer.states(fields)
    return found
