"""Is there a sequence in the laps at all? Laps that a memory has not seen, predicted by one that
learned the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from seqattractor._checks import check_choice, check_count, check_kind
from seqattractor._faces import Result
from seqattractor.networks.base import SequenceMemory
from seqattractor.noise import Seed, as_generator
from seqattractor.replay._consensus import consensus, stretched
from seqattractor.replay._spikes import as_counts

if TYPE_CHECKING:
    from pynapple import IntervalSet

    from seqattractor.replay._spikes import Spikes

_Active = NDArray[np.bool_]


@dataclass(frozen=True, repr=False, eq=False)
class CrossValidation(Result):
    """How well each left-out lap is predicted: F1 of the next bin, 1 if every spike is predicted
    and no other.

    Attributes
    ----------
    memory : ndarray of shape (L,)
        By the memory, which has learned the other laps.
    other_laps : ndarray of shape (L,)
        By the other laps themselves, stretched to the same length, on average: what laps have in
        common.
    rates : ndarray of shape (L,)
        By the cells with the highest rates in the other laps, the same in every bin; as many as
        predict these best.
    shuffled : ndarray of shape (L,)
        By the memory, on average over the bins of the lap in random orders.
    p_values : ndarray of shape (L,)
        The fraction of these orders that the memory predicts as well as the lap itself.
    n_shuffles : int
    order : int
        How many bins the memory looks at.

    Examples
    --------
    >>> import seqattractor as sa
    >>> laps = sa.datasets.recording(n_laps=4, rng=0).lap_counts(0.1)
    >>> memory = sa.zoo.LookupMemory(on_conflict="learn")
    >>> sa.replay.cross_validate(laps, memory, rng=0)
    CrossValidation: the laps have a sequence in common
    """

    _drawn_by = "prediction_of_laps"
    memory: NDArray[np.float64]
    other_laps: NDArray[np.float64]
    rates: NDArray[np.float64]
    shuffled: NDArray[np.float64]
    p_values: NDArray[np.float64]
    n_shuffles: int
    order: int

    def interval(
        self, name: Literal["memory", "other_laps", "rates", "shuffled"]
    ) -> tuple[float, float]:
        """Return the 95 % confidence interval of the mean over laps (Student's t).

        Parameters
        ----------
        name : {"memory", "other_laps", "rates", "shuffled"}

        Returns
        -------
        (float, float)

        Examples
        --------
        >>> import seqattractor as sa
        >>> session = sa.datasets.recording(n_laps=4, rng=0)
        >>> net = sa.SequenceAttractor(400, max_epochs=3000, random_state=0)
        >>> found = sa.replay.cross_validate(session.lap_counts(0.1), net, rng=0)
        >>> low, high = found.interval("memory")
        >>> bool(low < found.memory.mean() < high)
        True
        """
        check_choice(name, "name", ("memory", "other_laps", "rates", "shuffled"))
        return _interval(getattr(self, name))

    def rows(self) -> Iterable[dict[str, Any]]:
        """Return a row for each lap."""
        columns = {
            "memory": self.memory,
            "other_laps": self.other_laps,
            "rates": self.rates,
            "shuffled": self.shuffled,
            "p": self.p_values,
        }
        return [
            {"lap": k, **{name: float(c[k]) for name, c in columns.items()}}
            for k in range(len(self.memory))
        ]

    def describe(self) -> str:
        """Describe whether laps predict each other, and by how much."""
        L, better = len(self.memory), int((self.p_values <= 0.05).sum())
        over_shuffles, over_rates = (
            _interval(self.memory - x) for x in (self.shuffled, self.rates)
        )
        if over_shuffles[0] <= 0:
            answer = "No sequence that the laps have in common was found at this bin width."
        elif over_rates[0] > 0:
            answer = "The laps have a sequence in common."
        else:
            answer = (
                "The order of the bins matters, but constant rates predict the laps no worse, "
                "so that no sequence is shown."
            )
        each = ", ".join(
            f"{words} {values.mean():.2f} ({low:.2f} to {high:.2f})"
            for words, values in (
                ("the memory", self.memory),
                ("another lap", self.other_laps),
                ("constant rates", self.rates),
                ("the memory on shuffled bins", self.shuffled),
            )
            for low, high in (_interval(values),)
        )
        return (
            f"{answer} A memory of order {self.order} that learned the other laps predicts the "
            f"bins of {better} of {L} laps better than the same bins in random orders (p <= 0.05, "
            f"{self.n_shuffles} orders). F1 of the next bin, mean and 95 % interval over laps: "
            f"{each}."
        )


def cross_validate(
    laps: Spikes,
    memory: SequenceMemory,
    *,
    learn: Literal["consensus", "laps"] = "consensus",
    maps: ArrayLike | None = None,
    threshold: float = 0.5,
    n_shuffles: int = 200,
    epochs: IntervalSet | None = None,
    bin_size: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    rng: Seed = None,
) -> CrossValidation:
    """Leave out one lap after the other, learn the rest, and predict each bin of the lap from the
    bin before it.

    A memory stores laps of noise as well as any others, so that what it stores shows nothing.
    Whether there is a sequence in the laps shows in whether it predicts a lap that it has not seen.
    Try several bin widths and orders; before any replay is claimed, the answer should be yes.

    Parameters
    ----------
    laps : Sequences, list of L arrays of shape (T_s, N), or pynapple.TsGroup
        Numbers of spikes, or +-1 patterns; or spikes, with `epochs` and `bin_size`.
    memory : SequenceMemory
        What is to learn; a copy is made for each lap, and the memory itself is not changed.
    learn : {"consensus", "laps"}
        Whether the memory learns the `consensus` of the other laps, or each of them.
    maps : array of shape (L,), optional
        A label for each lap, as in `consensus`. A lap is predicted from all maps.
    threshold : float
        Of the consensus.
    n_shuffles : int
        Random orders of the bins of each lap.
    epochs : pynapple.IntervalSet, optional
        When each lap begins and ends, if `laps` is a TsGroup.
    bin_size : float, optional
        Seconds, if `laps` is a TsGroup.
    progress : callable, optional
        Called as ``progress(done, total)`` after every lap.
    rng : int, Generator or None

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> import seqattractor as sa
    >>> session = sa.datasets.recording(n_laps=4, rng=0)
    >>> net = sa.SequenceAttractor(400, max_epochs=3000, random_state=0)
    >>> found = sa.replay.cross_validate(session.lap_counts(0.1), net, rng=0)
    >>> bool((found.memory > found.shuffled).all())
    True
    """
    check_kind(memory, SequenceMemory, "memory", "a network such as SequenceAttractor()")
    check_choice(learn, "learn", ("consensus", "laps"))
    n_shuffles, generator = (
        check_count(n_shuffles, "n_shuffles"),
        as_generator(rng, "cross-validation"),
    )
    counts = as_counts(laps, "laps", epochs=epochs, bin_size=bin_size)
    L = len(counts)
    if L < 2:
        raise ValueError(
            f"to predict a lap from others, at least two are needed, but there is {L}."
        )
    labels = np.zeros(L, dtype=int) if maps is None else np.asarray(maps)
    if labels.shape != (L,):
        raise ValueError(f"maps must label each of the {L} laps, but its shape is {labels.shape}.")
    if maps is not None and min(np.unique(labels, return_counts=True)[1]) < 2:
        raise ValueError(
            "each map needs at least two laps, or a lap that is left out takes its map with it."
        )
    found, order = np.empty((L, 5)), 1
    for k in range(L):
        others = [j for j in range(L) if j != k]
        train = [counts[j] for j in others]
        net = _learned(memory, train, None if maps is None else labels[others], learn, threshold)
        order = net.order_
        lap = counts[k] > 0
        if len(lap) <= order:
            raise ValueError(
                f"lap {k} has {len(lap)} bins, too few for a memory that looks at {order}."
            )
        alike = [counts[j] for j in others if labels[j] == labels[k]]
        shown = [stretched(other, len(lap)) for other in alike]
        orders = generator.permuted(
            np.broadcast_to(np.arange(len(lap)), (n_shuffles, len(lap))), axis=1
        )
        own, *shuffles = (_quality(net, lap[at]) for at in (np.arange(len(lap)), *orders))
        found[k] = (
            own,
            np.mean([_f1((other > 0.5)[order:], lap[order:]) for other in shown]),
            _by_rates([part > 0 for part in alike], lap[order:]),
            np.mean(shuffles),
            (1 + np.sum(np.array(shuffles) >= own - 1e-12)) / (1 + n_shuffles),
        )
        if progress is not None:
            progress(k + 1, L)
    own_f1, other_f1, rate_f1, shuffled_f1, p = found.T
    return CrossValidation(own_f1, other_f1, rate_f1, shuffled_f1, p, n_shuffles, order)


def _learned(
    memory: SequenceMemory,
    laps: list[NDArray[Any]],
    maps: NDArray[Any] | None,
    learn: str,
    threshold: float,
) -> SequenceMemory:
    """A copy of the memory that has learned some laps."""
    parts: Any = [np.where(lap > 0, 1, -1).astype(np.int8) for lap in laps]
    if learn == "consensus":
        parts = consensus(laps, maps=maps, threshold=threshold)
    net: SequenceMemory = clone(memory)
    if "on_conflict" in net.get_params(deep=False):
        net.set_params(
            on_conflict="learn"
        )  # laps of noise have conflicts; they are predicted badly
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # how well it has learned shows in what it predicts
        return net.fit(parts)


def _quality(net: SequenceMemory, lap: _Active) -> float:
    """F1 of the next bin, predicted from the bins before it."""
    k = net.order_
    states = np.where(lap, 1, -1).astype(np.int8)
    windows = np.lib.stride_tricks.sliding_window_view(states[:-1], k, axis=0).transpose(0, 2, 1)
    return _f1(net.predict(windows[:, 0] if k == 1 else windows) > 0, lap[k:])


def _f1(predicted: _Active, observed: _Active) -> float:
    """F1 of all bins together: 2 H / (2 H + misses + false spikes)."""
    total = predicted.sum() + observed.sum()
    return float(2 * (predicted & observed).sum() / total) if total else 0.0


def _by_rates(others: list[_Active], lap: _Active) -> float:
    """F1 of a constant prediction, the cells with the highest rates; as many as are best in the
    other laps.
    """
    everything = np.concatenate(others)
    ranked = np.argsort(-everything.mean(axis=0), kind="stable")
    hits = np.cumsum(everything.sum(axis=0)[ranked])
    many = np.arange(1, len(ranked) + 1)
    best = int(np.argmax(2 * hits / (many * len(everything) + everything.sum()))) + 1
    constant = np.zeros(lap.shape, dtype=bool)
    constant[:, ranked[:best]] = True
    return _f1(constant, lap)


def _interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """The 95 % confidence interval of a mean."""
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)
