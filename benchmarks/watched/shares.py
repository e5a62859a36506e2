"""Time of each quick way as a share of the time of the plain way, measured in the same run; smaller
is faster.

A share depends on the machine far less than seconds do. It is not the ratio "times as fast", since
asv takes what grows for what gets worse. The sizes are arguments, so that a test can call
everything with small ones; asv calls with those given here.
"""

import warnings
from functools import wraps

import long_sequences
import noise_kernels
import numpy as np
import recall_many
import speed
from threadpoolctl import threadpool_limits

import seqattractor as sa

PATIENCE = 3600  # seconds that asv waits; the machine may be busy


def watched(unit, **attributes):
    """Decorator of what asv calls: one thread, no warnings of learning that is cut short, and the
    attributes asv reads.
    """

    def decorate(measure):
        @wraps(measure)
        def quietly(*args, **sizes):
            with threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return float(f"{measure(*args, **sizes):.3g}")

        for name, value in {"unit": unit, "timeout": PATIENCE, **attributes}.items():
            setattr(quietly, name, value)
        return quietly

    return decorate


@watched("of the plain loop", params=[["random-70", "random-150", "digits"]], param_names=["case"])
def track_learning(case, seconds=3.0):
    """Learning by the exact engine, of the plain loop's time for as many epochs."""
    return 1 / speed.compare(case, n_jobs=1, seconds=seconds)["ratio"]


@watched("of plain steps")
def track_recall(cues=2000, steps=30):
    """Recall of many noisy cues of a stored sequence, of eqs. (2)-(3) for each of them at each
    step.
    """
    return _recall(cues, steps, noise=0)


@watched("of plain steps")
def track_recall_with_noise(cues=2000, steps=10):
    """The same with three units flipped at every step, so that no state comes again."""
    return _recall(cues, steps, noise=3)


def _recall(cues, steps, noise):
    X = np.asarray(sa.datasets.random_periodic(70, 100, rng=0))
    net = sa.SequenceAttractor(500, random_state=0).fit(X)
    took = recall_many.compare(
        net, sa.noise.flip(X[np.arange(cues) % (len(X) - 1)], 10, rng=1), steps, noise
    )
    return took["recall"] / took["plain"]


@watched("of the plain loop")
def track_sparse_noise(T=500, M=500, epochs=10, repeats=3):
    """A fit of the sparse network, most of it with noise, of one by the plain loop."""
    took = noise_kernels.compare(sa.datasets.random_periodic(T, 100, rng=0), M, epochs, repeats)
    return took["exact"] / took["reference"]


@watched("of the form on fields")
def track_long_sequences(N=100, M=500, n=500, epochs=10, repeats=3):
    """An epoch on weights of a sequence that is long for its units, of one on fields."""
    turns = [
        long_sequences.both_forms(N, M, n, epochs, np.random.default_rng(0))[0]
        for _ in range(repeats)
    ]
    return _best(turns, "weights") / _best(turns, "fields")


@watched("of an epoch of fit", params=[["warm start", "partial_fit"]], param_names=["way"])
def track_going_on(way, N=100, M=500, T=400, epochs=50, repeats=3):
    """An epoch of going on with learning, of one of `fit`."""
    turns = [long_sequences.epochs_of_each_way(N, M, T, epochs) for _ in range(repeats)]
    return _best(turns, way) / _best(turns, "fit")


def _best(turns, way):
    """The shortest time of one way."""
    return min(turn[way] for turn in turns)
