"""HebbianRateMemory: rate neurons with the bilinear, temporally asymmetric Hebbian rule (Gillett, Pereira & Brunel 2020)."""

from __future__ import annotations

from typing import Literal, final

from seqattractor.noise import Seed
from seqattractor.zoo.continuous import States
from seqattractor.zoo.rate_hebbian import RateMemory


@final
class HebbianRateMemory(RateMemory):
    """Rate neurons that pass through a sequence, about one pattern per time constant (Gillett, Pereira & Brunel 2020).

    ::

        tau dr_i/dt = -r_i + phi(sum_j J_ij r_j)        phi(x) = (1 + erf((x - theta) / (sqrt(2) sigma))) / 2
        J_ij = (A / K) c_ij sum_mu xi_i^{mu+1} xi_j^mu

    with c_ij = 1 for a share c of all pairs, 0 for the others and for i = j, and K = c N. The model is made for normal patterns;
    +-1 are used as they are, with the same mean, 0, and variance, 1. A run starts with the rates r = phi(cue).

    Nothing keeps the rates at one pattern: overlaps with neighbouring patterns grow and fade together, and a quarter of the units
    and more would be wrong if patterns were read out by the sign of r - mean(r). As the authors tell recall by the correlation of
    r with each pattern, the read-out here is the stored pattern with the largest correlation. `activity` gives the rates
    themselves.

    Parameters
    ----------
    A : float
        The strength of the weights.
    theta, sigma : float
        Threshold and width of the transfer function phi.
    connectivity : float
        c, the share of pairs of neurons that are connected.
    tau : float
        The time constant, 10 ms in the paper.
    dt : float
        The step of Euler's method, at most.
    read_out_interval : float
        The time between two steps of `recall`: tau, the pace of the sequence. It varies, so that repeats count once.
    on_conflict : {"raise", "learn"}
        As in `SequenceAttractor`.
    random_state : int, Generator or None
        Draws the connections, if c is below 1.

    Attributes
    ----------
    J_ : ndarray, shape (N, N)
        The weights.
    mask_ : ndarray of int8, shape (N, N)
        c_ij.
    patterns_ : ndarray of int8, shape (P, N)
        Every pattern once; only the read-out needs them.
    n_features_in_, order_ : int

    See Also
    --------
    SparseRateMemory : with a rule that is nonlinear in the patterns.
    rate_capacity : how many patterns for each connection such a network of many neurons can pass through.

    Notes
    -----
    Equations and parameters are those of the authors' published code: theta = .22, sigma = .1 and A = 1, there with N = 40,000
    and a connectivity of .005. The tests set normal patterns against the mean-field theory, `rate_overlaps`, at N = 1600; that
    recall ends at `rate_capacity` is not tested. At N = 100 overlaps fluctuate by 1 / sqrt(N), far from the limit of many
    neurons: open sequences of up to four patterns are read out in order more often than not. Short loops are not: their first
    pattern comes round while the others are still there, and the rates end in a mixture of all.

    References
    ----------
    M. Gillett, U. Pereira and N. Brunel, Characteristics of sequential activity in networks with temporally asymmetric Hebbian
    learning, 2020.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_sequences(1, 5, 400, rng=0)
    >>> net = sa.zoo.HebbianRateMemory().fit(X)
    >>> [int((state == X.patterns).all(axis=1).argmax()) for state in net.recall(X[0], steps=4)]
    [0, 1, 2, 3, 4]
    """

    def __init__(
        self,
        *,
        A: float = 1.0,
        theta: float = 0.22,
        sigma: float = 0.1,
        connectivity: float = 1.0,
        tau: float = 10.0,
        dt: float = 1.0,
        read_out_interval: float = 10.0,
        on_conflict: Literal["raise", "learn"] = "raise",
        random_state: Seed = None,
    ) -> None:
        self.A = A
        self.theta = theta
        self.sigma = sigma
        self.connectivity = connectivity
        self.tau = tau
        self.dt = dt
        self.read_out_interval = read_out_interval
        self.on_conflict = on_conflict
        self.random_state = random_state

    def _f(self, patterns: States) -> States:
        return patterns

    def _g(self, patterns: States) -> States:
        return patterns

    def _check_rule(self) -> None:
        """The bilinear rule has no parameters."""
