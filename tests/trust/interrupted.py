"""Kernels in a loop, in a process that another one stops.

For each number of one of `PATHS` that it reads it writes READY, and then STOPPED for the
KeyboardInterrupt, or LOST if there is none although Python has received the signal, which
`signal.set_wakeup_fd` shows.
"""

import os
import select
import signal
import warnings
from functools import partial

import numpy as np

import seqattractor as sa
from seqattractor.networks.run import states_along

READY, STOPPED, LOST = b"R", b"S", b"L"

X = sa.datasets.random_periodic(25, 60, rng=0)
LONG = sa.datasets.random_periodic(400, 20, rng=0)  # learned on weights instead of fields
FILM = 2 * np.tri(25, 60) - 1  # one unit changes from frame to frame


def fits(network, patterns=X):
    """Learn again and again."""
    return partial(network.fit, patterns)


def learns_online(network):
    """Learn online, one presentation after another."""
    return partial(network.fit(X).partial_fit, X)


def wanders(network):
    """Run for long, as a trial does that waits for a sequence to be retrieved."""
    network.fit(LONG)
    return lambda: list(states_along(network, LONG[:1], 1000))


def recalls(network):
    """Recall from many cues at once."""
    cues = sa.datasets.random_periodic(1000, 20, rng=1)
    return partial(network.fit(LONG).recall, cues, 20)


OBEY = [sa.constraints.Dilution(0.5), sa.constraints.Levels(5), sa.constraints.Decay(1e-5)]


def paper(**settings):
    """Give the paper's network."""
    return sa.SequenceAttractor(80, max_epochs=50, random_state=0, **settings)


def sparse(**settings):
    """Give the sparse network."""
    return sa.SparseSequenceAttractor(80, random_state=0, **settings)


PATHS = {
    "fields": lambda: fits(paper()),
    "fields, film": lambda: fits(paper(), FILM),
    "fields, two threads": lambda: fits(paper(n_jobs=2)),
    "weights": lambda: fits(paper(), LONG),
    "learned targets": lambda: fits(sa.LearnedTargetsAttractor(80, max_epochs=50, random_state=0)),
    "partial_fit": lambda: learns_online(paper()),
    "visible": lambda: fits(sa.VisibleNetwork(random_state=0)),
    "visible, weights": lambda: fits(sa.VisibleNetwork(random_state=0, max_epochs=50), LONG),
    "sparse": lambda: fits(sparse()),
    "sparse, no noise": lambda: fits(sparse(noise=0)),
    "sparse, weights": lambda: fits(sparse(noise=20, max_epochs=10), LONG),
    "sparse, clean first": lambda: fits(sparse(clean_first=True, noise=6)),
    "sparse, partial_fit": lambda: learns_online(sparse()),
    "constraints": lambda: fits(paper(constraints=OBEY)),
    "constraints, sparse": lambda: fits(sparse(constraints=OBEY, max_epochs=50)),
    "walk": lambda: wanders(paper()),
    "recall of many": lambda: recalls(paper()),
    "innate": lambda: fits(sa.zoo.InnateTrajectoryMemory(50, trials=2, random_state=0)),
    "pinning": lambda: fits(sa.zoo.PinnedRateMemory(max_epochs=5, random_state=0)),
}


def work_until_stopped(work, received):
    """Work until a signal comes; returns whether it stopped the work."""
    try:
        os.write(1, READY)
        while not select.select([received], [], [], 0)[0]:
            work()
        for _ in range(
            1000
        ):  # far more than Python takes to call the handler of a signal that has come
            pass
    except KeyboardInterrupt:
        return True
    return False


def main():
    """Be stopped once for each byte that comes in, the number of a path."""
    works = {}
    received, note = os.pipe()
    os.set_blocking(note, False)
    signal.set_wakeup_fd(note)
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell lets what it starts in the background ignore it
    while chosen := os.read(0, 1):
        path = list(PATHS)[chosen[0]]
        if path not in works:
            works[path] = PATHS[path]()
            works[path]()  # all is imported and loaded before the first signal
        stopped = work_until_stopped(works[path], received)
        os.read(received, 1)
        os.write(1, STOPPED if stopped else LOST)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
