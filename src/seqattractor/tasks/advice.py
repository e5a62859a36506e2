"""What a person should know after learning: what is not stored, why, and what has not been tried yet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seqattractor.networks._base import SequenceMemory
from seqattractor.sequences import Sequences
from seqattractor.tasks.choose import Attempt

NEAR = 0.002  # of the units: frames that differ in fewer are nearly the same


def near_repeats(data: Sequences) -> NDArray[np.int64]:
    """Give the frames that are nearly the one before.

    Parameters
    ----------
    data : Sequences

    Returns
    -------
    ndarray of int, shape (k, 3)
        Sequence, frame, and the number of units that differ from the frame before, 1 to N / 500; the nearest first.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_sequences(1, 4, 1000, rng=0).patterns.copy()
    >>> X[2] = X[1]
    >>> X[2, 7] *= -1
    >>> near_repeats(sa.Sequences(X)).tolist()
    [[0, 2, 1]]
    """
    rows = [
        (s, frame + 1, int(units))
        for s, x in enumerate(data.split())
        for frame, units in enumerate((x[1:] != x[:-1]).sum(axis=1))
        if 0 < units <= NEAR * x.shape[1]
    ]
    return np.array(sorted(rows, key=lambda row: row[2]), dtype=np.int64).reshape(-1, 3)


def warnings_about(
    net: SequenceMemory, data: Sequences, score: float, radius: int | None, attempts: Sequence[Attempt]
) -> list[str]:
    """Give the warnings that matter; advice names only what was not tried.

    Parameters
    ----------
    net : SequenceMemory
        One that has learned.
    data : Sequences
    score : float
        The fraction of transitions without a wrong unit.
    radius : int or None
        How many wrong units every transition is proven to withstand, where that was looked at.
    attempts : sequence of Attempt
        What was tried, where the number of hidden neurons was to be chosen.

    Returns
    -------
    list of str
    """
    if (data.patterns == data.patterns[0]).all():
        return ["all patterns are equal, so there is nothing to recall; look at the input, or choose another threshold."]
    sentences = []
    hidden, visible = (int(getattr(net, name, [0])[-1]) for name in ("hidden_errors_", "visible_errors_"))
    if score < 1.0:
        ideas = _ideas(net, data, hidden, visible, attempts)
        sentences.append(f"only {score:.1%} of the transitions are stored without a wrong unit; try {' or '.join(ideas)}.")
    elif not getattr(net, "converged_", True):
        sentences.append(
            f"every transition is right, but not yet with its full margin (the last of {getattr(net, 'n_iter_', '?')} epochs made"
            f" {hidden} hidden and {visible} visible updates); recall from noise may be fragile."
        )
    elif radius is not None and radius <= 0:
        sentences.append(
            "not even one wrong unit is proven to be harmless (certified radius 0 by a quick look; `seqattractor inspect` looks "
            "closer); recall from noise may fail, so try it."
        )
    if sentences and len(near := near_repeats(data)):
        s, frame, units = near[0].tolist()
        sentences.append(
            f"{len(near)} of {len(data)} frames are nearly the same as the one before (frames {frame - 1} and {frame} of "
            f"{data.names[s]} differ in {units} of {data.shape[1]:,} units) and hard to tell apart; leave such frames out."
        )
    return sentences


def _ideas(net: SequenceMemory, data: Sequences, hidden: int, visible: int, attempts: Sequence[Attempt]) -> list[str]:
    """What to try next, of what was not tried; `hidden` and `visible` count the errors left."""
    parameters = net.get_params(deep=False)
    ideas = []
    if hidden and len({attempt.epochs for attempt in attempts}) < 2:
        ideas.append("more epochs (hidden neurons have errors left)")
    if "n_hidden" in parameters and not attempts and visible:
        ideas.append("more hidden neurons")
    n_transitions = len(data) - len(data.lengths) * net.order_
    if type(net).__name__ == "SequenceAttractor" and n_transitions > net.order_ * data.shape[1]:
        ideas.append("the network sparse (there are more transitions than a hidden neuron has inputs)")
    if "order" in parameters and len({attempt.order for attempt in attempts}) < 2:
        ideas.append(f"an order of {net.order_ + 1}")
    return ideas or ["another network, or less to store"]
