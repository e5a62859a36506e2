"""Adding sequences to a network one after another: what it knows is rehearsed with what is new."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_choice
from seqattractor._faces import Result
from seqattractor._unchanged import unchanged_by_failure
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks.lead_in import with_lead_ins, with_lead_outs
from seqattractor.networks.spontaneous import goes_on, self_replay
from seqattractor.networks.traits import NotApplicable
from seqattractor.sequences import Patterns, Transitions, check_sequences, split, transitions
from seqattractor.sequences._patterns import check_lengths
from seqattractor.sequences._transitions import check_no_conflicts

if TYPE_CHECKING:
    from seqattractor.networks.online import OnlineMemory

Rehearse = Literal["self", "cues", "patterns"]


@dataclass(frozen=True, repr=False, eq=False)
class Added(Result):
    """What `add` has rehearsed, and what the network has stored now.

    Attributes
    ----------
    rehearse : {"self", "cues", "patterns"} or None
        Where earlier sequences came from.
    rehearsed : list of ndarray of int8, shape (T, N)
        The earlier sequences that were learned again.
    lost : list of int
        Which of them are not stored exactly any more.
    not_recalled : int
        With cues, how many earlier sequences were not recalled exactly, so that they were not
        rehearsed.
    new : list of ndarray of int8, shape (T, N)
        The sequences that were added.
    not_stored : list of int
        Which of these are not stored exactly.
    n_transitions : int
        How many transitions were learned: earlier ones, new ones, and with "self" those that
        lead into open sequences or mark their ends.
    n_parameters : int
        As `net.n_parameters()` is now.
    n_bits_saved : int
        How much is saved beside the weights, for the next `add`.
    share_of_neurons : float or None
        With "self", the fraction of single neurons whose weights led into a sequence before the
        new ones were learned; it falls as the memory fills.
    """

    rehearse: str | None
    rehearsed: list[Patterns] = field(repr=False)
    lost: list[int]
    not_recalled: int
    new: list[Patterns] = field(repr=False)
    not_stored: list[int]
    n_transitions: int
    n_parameters: int
    n_bits_saved: int
    share_of_neurons: float | None

    def describe(self) -> str:
        """Describe what was rehearsed, what is stored, and how full the memory is."""
        new, old = len(self.new), len(self.rehearsed)
        stored, still = new - len(self.not_stored), old - len(self.lost)
        text = f"{stored} of {_count(new, 'new sequence')} {_are(stored, new)} stored exactly"
        if self.rehearse is None:
            return text + "; nothing was rehearsed, so that earlier sequences may be overwritten."
        if not (old or self.not_recalled):
            return text + (
                "; there were no earlier ones."
                if self.share_of_neurons is None
                else "; the network replayed nothing, so that earlier sequences may be lost."
            )
        where = {
            "self": "replayed by the network itself",
            "cues": "recalled from their cues",
            "patterns": "rehearsed from saved patterns",
        }[self.rehearse]
        text += f"; {still} of {_count(old, 'earlier sequence')} {where} still {_are(still, old)}."
        if self.not_recalled:
            text += (
                f" {_count(self.not_recalled, 'earlier sequence')} could not be recalled exactly "
                "and may be lost."
            )
        text += f" The network has learned {self.n_transitions} transitions with "
        text += f"{self.n_parameters} weights"
        if self.n_bits_saved:
            text += f", and {self.n_bits_saved} bits are saved beside them"
        if self.share_of_neurons is not None:
            text += (
                f". The weights of {self.share_of_neurons:.0%} of single neurons led into a "
                "sequence"
            )
        return text + "."

    def rows(self) -> Iterable[dict[str, Any]]:
        """Return a row for each sequence, earlier ones first."""
        for which, sequences, missing in (
            ("rehearsed", self.rehearsed, self.lost),
            ("new", self.new, self.not_stored),
        ):
            for k, x in enumerate(sequences):
                yield {"sequence": which, "patterns": len(x), "stored": k not in missing}


def _are(n: int, of: int) -> str:
    """Return the verb for some of several things."""
    return "is" if 1 in (n, of) else "are"


def _count(n: int, thing: str) -> str:
    """Return a number of things, in words."""
    return f"{n} {thing}{'' if n == 1 else 's'}"


def add(
    net: OnlineMemory,
    X: ArrayLike | Sequence[ArrayLike],
    lengths: ArrayLike | None,
    rehearse: Rehearse | None,
    callback: ProgressCallback | None,
) -> Added:
    """Learn sequences on top of what a network has learned; see `OnlineMemory.add`."""
    if rehearse is not None:
        check_choice(rehearse, "rehearse, if not None,", ("self", "cues", "patterns"))
    if rehearse is not None and not net._rehearses:
        raise NotApplicable(
            f"{type(net).__name__} cannot rehearse, since it would store what it knows a second "
            "time: use rehearse=None, which is partial_fit."
        )
    with unchanged_by_failure(net, in_place=True):
        return _add(net, X, lengths, rehearse, callback)


def _add(
    net: OnlineMemory,
    X: ArrayLike | Sequence[ArrayLike],
    lengths: ArrayLike | None,
    rehearse: Rehearse | None,
    callback: ProgressCallback | None,
) -> Added:
    """Recall what is known, learn it together with what is new, and test both."""
    earlier, not_recalled, share = list[Patterns](), 0, None
    first = not net._has_learned
    net.check_parameters()
    if first:
        net._forget()
    net.transitions(X, lengths, continuing=not first)
    new = list(split(*check_sequences(X, lengths, order=net.order_)))
    led = list[bool]()  # which earlier sequences get a lead-in
    if rehearse == "self" and not first:
        replayed = self_replay(net)
        earlier, share = replayed.sequences, replayed.share_of_neurons
        # A path without one may be none that was learned, unless there is nothing else: then the
        # network has not learned by `add`.
        unlike = any(replayed.led) or any(replayed.loops)
        led = replayed.led if unlike else [True] * len(earlier)
    elif rehearse is not None and not first:
        earlier, not_recalled = _recall_saved(net, rehearse)
    if net.on_conflict == "raise" and not first:
        _check_no_conflicts(net, earlier, new)
    learned = [*earlier, *new]
    if rehearse == "self" and net._leads_in:
        learned = with_lead_ins(learned, led + [True] * len(new), net.order_)
    if rehearse is None and not first:
        _present_until_stored(net, new)
    else:
        with net._announced(callback) as report:
            net.fit_transitions(_transitions(learned, net.order_), report)
            if rehearse == "self" and net._leads_in:
                learned = _end(net, learned, report)
        net._learned_from = None
    forget_saved(net)
    if rehearse in ("cues", "patterns"):
        _save(net, rehearse, [*earlier, *new])
    lost, not_stored = (
        [k for k, x in enumerate(each) if net.score(x) < 1] for each in (earlier, new)
    )
    return Added(
        rehearse=rehearse,
        rehearsed=earlier,
        lost=lost,
        not_recalled=not_recalled,
        new=new,
        not_stored=not_stored,
        n_transitions=sum(len(x) - net.order_ for x in learned),
        n_parameters=net.n_parameters(),
        n_bits_saved=_bits_saved(net),
        share_of_neurons=share,
    )


def _end(
    net: OnlineMemory, learned: list[Patterns], report: ProgressCallback | None
) -> list[Patterns]:
    """Learn again until the network has a lead-out wherever it would go on after the end of an open
    sequence, and return what it has learned.
    """
    wanted, n_patterns = [False] * len(learned), sum(map(len, learned))
    while True:
        wanted = [w or goes_on(net, x) for w, x in zip(wanted, learned, strict=True)]
        ended = with_lead_outs(learned, wanted, net.order_)
        before, n_patterns = n_patterns, sum(map(len, ended))
        if n_patterns == before:
            return ended
        net.fit_transitions(_transitions(ended, net.order_), report)


def _transitions(sequences: list[Patterns], order: int) -> Transitions:
    """Return the transitions of some sequences."""
    return transitions(np.concatenate(sequences), np.array([len(x) for x in sequences]), order)


def _present_until_stored(net: OnlineMemory, new: list[Patterns]) -> None:
    """Present new sequences alone until they are stored, or as often as `fit` would."""
    shown = _transitions(new, net.order_)
    for _ in range(net._epoch_limit if net._rehearses else 1):
        net._present(shown)
        if not net._wrong_units(shown).any():
            break
    net._learned_from = None


def _check_no_conflicts(net: OnlineMemory, earlier: list[Patterns], new: list[Patterns]) -> None:
    """Raise an error that names the first pattern which would get two successors.

    A network without biases stores mirror images, too, and may have replayed these.
    """
    mirrored = [-each for each in earlier]
    if mirrored and net._wrong_units(_transitions(mirrored, net.order_)).any():
        mirrored = []
    names = [
        *(f"stored sequence {k}" for k in range(len(earlier))),
        *(f"the mirror image of stored sequence {k}" for k in range(len(mirrored))),
        *(f"new sequence {k}" for k in range(len(new))),
    ]
    together = [*earlier, *mirrored, *new]
    lengths = np.array([len(x) for x in together])
    check_no_conflicts(np.concatenate(together), lengths, net.order_, net._leak, names)


# What is saved with the network from one `add` to the next, for "cues" and for "patterns".

_SAVED = (
    "rehearsal_cues_",
    "rehearsal_steps_",
    "rehearsal_digests_",
    "rehearsal_patterns_",
    "rehearsal_lengths_",
)
_DIGEST = 8  # bytes: a wrong recall passes for the right one once in 2**64


def forget_saved(net: OnlineMemory) -> None:
    """Delete what was saved for the next `add`."""
    for name in _SAVED:
        if name in vars(net):
            delattr(net, name)


def _save(net: OnlineMemory, rehearse: str, sequences: list[Patterns]) -> None:
    """Save what the next `add` needs to rehearse these sequences."""
    order = net.order_
    if rehearse == "patterns":
        net.rehearsal_patterns_ = np.concatenate(sequences)
        net.rehearsal_lengths_ = np.array([len(x) for x in sequences])
    else:
        net.rehearsal_cues_ = np.stack([x[:order].ravel() for x in sequences])
        net.rehearsal_steps_ = np.array([len(x) - order for x in sequences])
        net.rehearsal_digests_ = np.stack([_digest(x) for x in sequences])


def _recall_saved(net: OnlineMemory, rehearse: str) -> tuple[list[Patterns], int]:
    """Return the saved sequences, or those that are recalled exactly from their cues, and how many
    are not.
    """
    needed = "rehearsal_patterns_" if rehearse == "patterns" else "rehearsal_cues_"
    if needed not in vars(net):
        raise ValueError(
            f"no {rehearse} were saved when this network learned; learn every sequence by "
            f"add(X, rehearse={rehearse!r}), beginning with the first one."
        )
    if rehearse == "patterns":
        lengths = check_lengths(net.rehearsal_lengths_, len(net.rehearsal_patterns_))
        return list(split(net.rehearsal_patterns_, lengths)), 0
    recalled = []
    saved = zip(net.rehearsal_cues_, net.rehearsal_steps_, net.rehearsal_digests_, strict=True)
    for cue, steps, digest in saved:
        x = net.recall(cue.reshape(net.order_, -1), int(steps))
        if np.array_equal(_digest(x), digest):
            recalled.append(x)
    return recalled, len(net.rehearsal_cues_) - len(recalled)


def _bits_saved(net: OnlineMemory) -> int:
    """Return the number of bits that are saved beside the weights: one for a unit of a pattern."""
    each = [vars(net)[name] for name in _SAVED if name in vars(net)]
    return sum(a.size * (1 if a.dtype == np.int8 else 8 * a.itemsize) for a in each)


def _digest(x: Patterns) -> NDArray[np.uint8]:
    """Return a digest of a sequence, shape (8,)."""
    return np.frombuffer(hashlib.blake2b(x.tobytes(), digest_size=_DIGEST).digest(), np.uint8)
