"""Whether a visible neuron that has errors left could do without: a linear program for each, and
what patience does.

    python benchmarks/patience.py [--networks 3] [--length 1000] [--hidden 500] [--correlation 0]
    [--feedback LAMBDA]

Networks of N = 100 learn for 750 epochs, and again with the default, which lets V go on.
"""

import argparse
import warnings

import numpy as np
from scipy.optimize import linprog

import seqattractor as sa


def solvable(codes, signs):
    """Whether some weights v make signs * (codes v) >= 1: whether one visible neuron can learn its
    transitions.
    """
    limits = np.full(len(codes), -1.0)
    return (
        linprog(
            np.zeros(codes.shape[1]), -signs[:, np.newaxis] * codes, limits, bounds=(None, None)
        ).status
        == 0
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", type=int, default=3)
    parser.add_argument("--length", type=int, default=1000)
    parser.add_argument("--hidden", type=int, default=500)
    parser.add_argument(
        "--correlation", type=float, default=0.0, help="of a pattern with the last one"
    )
    parser.add_argument(
        "--feedback", type=float, help="learned_feedback of the networks, in place of the default"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    feedback = "auto" if options.feedback is None else options.feedback
    for seed in range(options.networks):
        X = sa.datasets.random_periodic(
            options.length, 100, correlation=options.correlation, rng=seed
        )
        settings = {"n_hidden": options.hidden, "learned_feedback": feedback, "random_state": seed}
        net = sa.SparseSequenceAttractor(max_epochs=750, **settings).fit(X)
        codes = net.hidden(X[:-1]).astype(float)
        left = np.flatnonzero(np.any(net.step(X[:-1]) != X[1:], axis=0))
        could = sum(solvable(codes, np.asarray(X[1:, j], dtype=float)) for j in left)
        patient = sa.SparseSequenceAttractor(**settings).fit(X)
        print(
            f"network {seed}: {len(left)} neurons with errors after {net.n_iter_} epochs, of which "
            f"{could} could do without; with patience {patient.score(X):.2%} of the transitions "
            f"are made, after {patient.n_iter_} epochs"
        )


if __name__ == "__main__":
    main()
