"""What a person should know after learning: what is not stored, why, and what has not been tried yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.choose_hidden import ENOUGH, FLIPS, Attempt
from seqattractor.sequences import Sequences
from seqattractor.tasks.repeats import near_repeats


class NoisyCues(NamedTuple):
    """From how many cues recall locked on: with a tenth of the units flipped, and with one."""

    recalled: int
    one_flip: int
    cues: int


def warnings_about(
    net: SequenceMemory,
    data: Sequences,
    score: float,
    radius: int | None,
    recalled: NoisyCues | None,
    attempts: Sequence[Attempt],
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
    recalled : NoisyCues or None
        From how many noisy cues recall locked on, where that was tried.
    attempts : sequence of Attempt
        What was tried, where the number of hidden neurons was to be chosen.

    Returns
    -------
    list of str
    """
    if (data.patterns == data.patterns[0]).all():
        return ["all patterns are equal, so there is nothing to recall; look at the input, or choose another threshold."]
    hidden, visible = (int(getattr(net, name, [0])[-1]) for name in ("hidden_errors_", "visible_errors_"))
    if score < 1.0:
        ideas = _ideas(net, data, hidden, visible, attempts)
        return [f"only {score:.1%} of the transitions are stored without a wrong unit; try {' or '.join(ideas)}."]
    if recalled is not None and recalled.recalled >= ENOUGH * recalled.cues:
        return []
    if not getattr(net, "converged_", True) and not getattr(net, "noise_", 0):
        why = (
            f"every transition is right, but not yet with its full margin (the last of {getattr(net, 'n_iter_', '?')} epochs made"
            f" {hidden} hidden and {visible} visible updates)"
        )
    elif radius is not None and radius <= 0:
        why = (
            "not even one wrong unit is proven to be harmless (certified radius 0 by a quick look; `seqattractor inspect` looks "
            "closer)"
        )
    elif recalled is None:
        return []
    else:
        why = "what is stored is easily lost in noise"
    if recalled is None:
        return [f"{why}; recall from noise may be fragile."]
    often = f"{recalled.recalled} of {recalled.cues} cues with {FLIPS:.0%} of their units flipped"
    return [f"{why}; recall from noise is fragile: {often}, and {recalled.one_flip} with one, brought the sequence back."]


def _ideas(net: SequenceMemory, data: Sequences, hidden: int, visible: int, attempts: Sequence[Attempt]) -> list[str]:
    """What to try next, of what was not tried; `hidden` and `visible` count the errors left."""
    parameters = net.get_params(deep=False)
    name = type(net).__name__
    tried = [attempt for attempt in attempts if attempt.network == name]
    networks = {name, *(attempt.network for attempt in attempts)}
    ideas = []
    if hidden and len({attempt.epochs for attempt in tried}) < 2:
        ideas.append("more epochs (hidden neurons have errors left)")
    if "n_hidden" in parameters and not attempts and visible:
        ideas.append("more hidden neurons")
    if any(attempt.cut_short for attempt in tried):
        ideas.append("more hidden neurons or epochs than were tried (they take long, so say how many)")
    n_transitions = len(data) - len(data.lengths) * net.order_
    if networks == {"SequenceAttractor"} and n_transitions > net.order_ * data.shape[1]:
        ideas.append("the network sparse (there are more transitions than a hidden neuron has inputs)")
    if "order" in parameters and net.order_ >= max((attempt.order for attempt in tried), default=net.order_):
        ideas.append(f"an order of {net.order_ + 1}")
    if len(near_repeats(data)):
        ideas.append("leaving out what is nearly the same as the frame before")
    return ideas or ["another network, or less to store"]
