"""The demo: a walking figure is learned, and comes back from a cue of which a good part is wrong."""

from __future__ import annotations

import time
from dataclasses import dataclass

from seqattractor._faces import Result
from seqattractor.datasets._walker import walker
from seqattractor.io._compose import Recalled
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.sequences import Sequences
from seqattractor.tasks.recall import Corruption, Recall, recall
from seqattractor.tasks.stored import Stored

FLIPS = 3000  # of 11,264 pixels
N_HIDDEN = 200


@dataclass(frozen=True, repr=False)
class Demo(Result):
    """What was learned, and what was recalled."""

    data: Sequences
    net: SequenceAttractor
    recall: Recall
    seconds: float
    """That learning took."""

    def describe(self) -> str:
        """Say what was learned and how well it was recalled."""
        return f"{self.learned} {self.recall.verdict}"

    @property
    def learned(self) -> str:
        """What was learned, in a sentence."""
        (height, width), frames = self.data.frame_shape, len(self.data) - self.data.closed
        stored = "every transition is stored" if self.net.converged_ else "not every transition is stored"
        return (
            f"Learned a walk of {frames} frames of {width} x {height} pixels, with {self.net.n_hidden_} hidden neurons "
            f"in {self.seconds:.1f} s ({self.net.n_iter_} epochs): {stored}."
        )

    @property
    def recalled(self) -> Recalled:
        """The recall, to be drawn or written."""
        return Recalled(self.recall.states, self.recall.truth, 1, self.data.frame_shape, self.data.rate, kind=self.data.kind)


def demo(*, flips: int = FLIPS, rng: int = 0) -> Demo:
    """Let the paper's network learn a walk, flip pixels of its first frame, and let it recall one round from there.

    Parameters
    ----------
    flips : int
        Pixels of the cue to flip, of 11,264.
    rng : int
        A seed for the start weights and the flips.

    Returns
    -------
    Demo

    Examples
    --------
    >>> demo().recall
    Recall: locked on at step 2 of 103: every frame from there to the end is right and in phase
    """
    data = walker()
    if not 0 <= flips <= data.shape[1]:
        raise ValueError(f"the frames have {data.shape[1]} pixels, of which {flips} cannot be flipped.")
    started = time.perf_counter()
    net = SequenceAttractor(n_hidden=N_HIDDEN, random_state=rng, n_jobs=-1).fit(data)
    seconds = time.perf_counter() - started
    cue = Corruption(flips)(data.patterns[:1], data.frame_shape, rng)
    return Demo(data, net, recall(net, cue, len(data) - data.closed, stored=Stored.of(data)), seconds)
