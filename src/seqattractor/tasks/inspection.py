"""Everything that can be said about a trained network, in bounded time: what `seqattractor inspect` shows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from seqattractor.analysis._attractors import Attractors, find_attractors
from seqattractor.analysis._basin import basin
from seqattractor.analysis._certificate import Certificate, certify
from seqattractor.analysis._hidden_activity import HiddenActivity, hidden_activity
from seqattractor.analysis._robustness import RobustnessCurve, robustness_curve
from seqattractor.analysis._separability import Separability, separable
from seqattractor.analysis._threshold_view import NotApplicable
from seqattractor.networks._base import SequenceMemory
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Lengths, Patterns, split

__all__ = ["Inspection", "inspect_network"]

Source = Literal["model", "data", "cycles"]
_T = TypeVar("_T")
# Multiplications in a second, low for any machine of today: for estimates of what fits into the time.
_SPEED = 4e9


@dataclass
class Inspection:
    """What was found about a network; a part that was left out is None and has a reason in `left_out`."""

    net: SequenceMemory
    sequences: list[Patterns] = field(default_factory=list)
    source: Source = "cycles"
    """Where the sequences come from: kept in the model, given as data, or found as limit cycles from random starts."""
    score: float | None = None
    certificate: Certificate | None = None
    sampled: bool = False
    """Whether only some of the transitions were certified."""
    flips: int = 0
    """The noise in `basin` and `from_stored`."""
    robustness: RobustnessCurve | None = None
    basin: float | None = None
    from_random: Attractors | None = None
    from_stored: Attractors | None = None
    hidden: HiddenActivity | None = None
    separability: Separability | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def n_hidden(self) -> int | None:
        """M, where there are hidden neurons."""
        V = getattr(self.net, "V_", None)
        return None if V is None else int(V.shape[1])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        net = self.net
        return {
            "network": type(net).__name__,
            "n_visible": int(net.n_features_in_),
            "n_hidden": self.n_hidden,
            "order": int(net.order_),
            "epochs": getattr(net, "n_iter_", None),
            "converged": None if not hasattr(net, "converged_") else bool(net.converged_),
            "sequences": {"source": self.source, "lengths": [len(x) for x in self.sequences], "score": self.score},
            "certificate": None if self.certificate is None else _certificate_values(self.certificate, self.sampled),
            "robustness": None if self.robustness is None else _curve_values(self.robustness),
            "basin": None if self.basin is None else {"flips": self.flips, "fraction": self.basin},
            "attractors": {
                "from_random": None if self.from_random is None else _attractor_values(self.from_random),
                "from_stored": None if self.from_stored is None else _attractor_values(self.from_stored),
            },
            "hidden": None if self.hidden is None else _hidden_values(self.hidden),
            "separability": None if self.separability is None else _separability_values(self.separability),
            "left_out": self.left_out,
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
        }


def inspect_network(
    net: SequenceMemory,
    X: Patterns | None = None,
    lengths: Lengths | None = None,
    *,
    source: Source = "data",
    flips: int | None = None,
    starts: int = 100,
    budget: float = 30.0,
    exact: bool = False,
    rng: Seed = 0,
) -> Inspection:
    """Say everything about a trained network that fits into the time.

    Parameters
    ----------
    net : SequenceMemory
        A network that has learned.
    X : ndarray of +-1, shape (T, N), optional
        The stored sequences, checked. Without them the limit cycles that random starts lead to stand for them: a stored loop is
        itself such a cycle.
    lengths : ndarray, shape (S,), optional
    source : {"model", "data"}
        Where `X` comes from, for the record.
    flips : int, optional
        The noise in starts from stored patterns; by default a tenth of the units.
    starts : int
        How many runs, at most, in the search for attractors.
    budget : float
        About how many seconds to spend; parts that would take longer are cut down or left out.
    exact : bool
        Use mixed-integer programming where the certificate leaves a gap.
    rng : int, Generator or None

    Returns
    -------
    Inspection

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(8, 40, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=80, random_state=0).fit(X)
    >>> found = inspect_network(net, starts=40)      # without X: the stored loop is found as a cycle
    >>> found.source, max(len(x) for x in found.sequences)
    ('cycles', 8)
    """
    check_is_fitted(net, "n_features_in_")
    found = Inspection(net)
    work = _Work(found, budget)
    generator = as_generator(rng)
    found.flips = max(1, net.n_features_in_ // 10) if flips is None else flips
    count = work.starts(starts)
    stored = None if X is None or lengths is None else list(split(X, lengths))
    found.from_random = work.do("attractors", lambda: find_attractors(net, stored, starts=count, rng=generator))
    if stored is not None:
        found.sequences, found.source = stored, source
    else:
        found.sequences = _loops(found.from_random, net.order_)
    if not found.sequences:
        for part in ("certificate", "robustness", "basin", "hidden", "separability"):
            found.left_out[part] = "no stored sequence is known, and no cycle was found from random starts; give the data."
        return found
    _look_at_sequences(found, work, count, exact, generator)
    return found


def _look_at_sequences(found: Inspection, work: _Work, starts: int, exact: bool, rng: np.random.Generator) -> None:
    """Fill in what needs sequences."""
    net, sequences, flips = found.net, found.sequences, found.flips
    found.score = net.score(sequences)
    places = work.transitions(sequences)
    chosen = [sequences[s][t - net.order_ + 1 : t + 2] for s, t in places]
    found.sampled = len(chosen) < sum(len(x) - net.order_ for x in sequences)
    method: Literal["auto", "exact"] = "exact" if exact else "auto"
    whole = chosen if found.sampled else sequences
    found.certificate = work.do("certificate", lambda: certify(net, whole, method=method))
    if found.sampled and found.certificate is not None:
        found.certificate = replace(found.certificate, sequence=places[:, 0], time=places[:, 1])
    trials = work.trials(500)
    found.robustness = work.do("robustness", lambda: robustness_curve(net, whole, trials=trials, rng=rng))
    if work.fits("basin", 25 * sum(len(x) for x in sequences)):
        found.basin = work.do("basin", lambda: basin(net, sequences, flips=flips, rng=rng))
    if work.fits("attractors from stored patterns", 50 * starts):
        found.from_stored = work.do(
            "attractors from stored patterns", lambda: find_attractors(net, sequences, starts=starts, flips=flips, rng=rng)
        )
    found.hidden = work.do("hidden", lambda: hidden_activity(net, whole))
    # A linear program for each visible neuron, unless the patterns are few and wide: then one linear system.
    n, d = sum(len(x) - net.order_ for x in sequences), net.order_ * net.n_features_in_
    if n < d / 2 or net.n_features_in_ * n * d <= 1e6 * work.left():
        found.separability = work.do("separability", lambda: separable(sequences, order=net.order_, largest_margin=False))
    else:
        found.left_out["separability"] = "it would take too long; use sa.separable."


class _Work:
    """The time: what was spent, and how much of the rest a part may take."""

    def __init__(self, found: Inspection, budget: float) -> None:
        self.found, self.budget, self.begin = found, budget, time.monotonic()
        net = found.net
        arrays = [v for k, v in vars(net).items() if isinstance(v, np.ndarray) and v.ndim == 2 and k.endswith("_") and k != "P_"]
        self.cost = 2.0 * max(1, sum(v.size for v in arrays))

    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self.budget - (time.monotonic() - self.begin))

    def do(self, name: str, call: Callable[[], _T]) -> _T | None:
        """Run a part, note its time, and note why where it does not apply to the network."""
        start = time.monotonic()
        try:
            return call()
        except NotApplicable as reason:
            self.found.left_out[name] = str(reason)
            return None
        finally:
            self.found.seconds[name] = time.monotonic() - start

    def fits(self, name: str, steps: float) -> bool:
        """Whether that many steps of the network fit into what is left."""
        if steps * self.cost / _SPEED <= max(1.0, self.left()):
            return True
        self.found.left_out[name] = "it would take too long; allow more time."
        return False

    def starts(self, wanted: int) -> int:
        """How many starts fit, if each takes some hundred steps."""
        return int(np.clip(0.2 * self.left() * _SPEED / self.cost / 100, 5, wanted))

    def trials(self, wanted: int) -> int:
        """How many trials fit at each of some 25 numbers of flips."""
        return int(np.clip(0.1 * self.left() * _SPEED / self.cost / 25, 20, wanted))

    def transitions(self, sequences: list[Patterns]) -> NDArray[np.int64]:
        """The transitions to certify, as rows (sequence, time of the newest pattern): all, or as many, evenly spread, as fit."""
        order = self.found.net.order_
        places = np.array([(s, t) for s, x in enumerate(sequences) for t in range(order - 1, len(x) - 1)])
        # Measured: some 0.03 s for a transition of a small network, of a large one in proportion to its weights.
        most = int(np.clip(0.4 * self.left() / (0.03 + self.cost / 1e8), 8, len(places)))
        return np.asarray(places[np.unique(np.linspace(0, len(places) - 1, most).astype(int))])


def _loops(found: Attractors | None, order: int) -> list[Patterns]:
    """The cycles that were found, each closed, as sequences to look at."""
    cycles = [a.patterns for a in found.attractors if a.period > 1] if found is not None else []
    return [np.concatenate([p] + [p] * -(-order // len(p)))[: len(p) + order] for p in cycles[:20]]


def _certificate_values(c: Certificate, sampled: bool) -> dict[str, Any]:
    """A certificate for JSON."""
    return {
        "transitions": len(c.radius),
        "sampled": sampled,
        "made": int(np.sum(c.radius >= 0)),
        "radius": c.radius.tolist(),
        "breaking": [int(b) if b <= c.n_inputs else None for b in c.breaking],
        "exact": c.exact.tolist(),
        "theorem_4": c.theorem_4.tolist(),
        "margin": [float(m) for m in c.margin],
        "units": c.n_inputs,
        "summary": c.describe(),
    }


def _curve_values(curve: RobustnessCurve) -> dict[str, Any]:
    """A curve for JSON."""
    return {"flips": curve.flips.tolist(), "successes": curve.successes.tolist(), "trials": curve.trials}


def _attractor_values(found: Attractors) -> dict[str, Any]:
    """Attractors for JSON."""
    return {
        "starts": len(found.which),
        "unfinished": found.unfinished,
        "attractors": [
            {"period": a.period, "starts": a.starts, "stored": a.stored, "mirror_of": a.mirror_of} for a in found.attractors[:50]
        ],
        "n_attractors": len(found),
        "reached": [{"successes": r.successes, "trials": r.trials} for r in found.reached],
        "summary": found.describe(),
    }


def _hidden_values(activity: HiddenActivity) -> dict[str, Any]:
    """Hidden activity for JSON."""
    return {
        "mean_active": float(activity.sparseness.mean()),
        "codes": activity.n_codes,
        "idle_neurons": int(activity.idle.size),
        "follows_P": activity.follows_P,
        "decoded_by_P": activity.decoded_by_P,
        "summary": activity.describe(),
    }


def _separability_values(verdict: Separability) -> dict[str, Any]:
    """A verdict for JSON."""
    return {
        "possible": bool(verdict),
        "impossible": verdict.impossible.tolist(),
        "cover_probability": verdict.cover_probability,
        "summary": verdict.describe(),
    }
