"""How much faster the sparse network learns by its compiled kernels than by the plain loop: both in
one run, the same weights.

    python benchmarks/noise_kernels.py [--repeats 3] [--digits]

A fit of 10 epochs at N = 100, M = 500, T = 500, most of it with noise, one thread, by turns. With
--digits 8 epochs for 20 sequences of moving digits, N = 4096 and M = 200. The fastest of each
counts.
"""

import argparse
import time
import warnings

import numpy as np

import seqattractor as sa


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--digits", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # that a few epochs leave errors
    if options.digits:
        took = compare(sa.datasets.moving_digits(20, rng=0), 200, 8, options.repeats)
    else:
        took = compare(sa.datasets.random_periodic(500, 100, rng=0), 500, 10, options.repeats)
    exact, plain = took["exact"], took["reference"]
    print(
        f"kernels {exact:.3f} s, plain loop {plain:.2f} s: {plain / exact:.0f} times as fast, the "
        "same weights"
    )


def compare(X, M, epochs, repeats):
    """Seconds of a fit by each engine, which must learn the same weights."""
    seconds, nets = {"exact": [], "reference": []}, {}
    sa.SparseSequenceAttractor(50, max_epochs=3).fit(
        sa.datasets.random_periodic(60, 100, rng=0)
    )  # this imports and loads
    for _ in range(repeats):
        for engine in seconds:
            start = time.process_time()
            nets[engine] = sa.SparseSequenceAttractor(
                M, max_epochs=epochs, random_state=0, engine=engine
            ).fit(X)
            seconds[engine].append(time.process_time() - start)
    assert all(
        np.array_equal(getattr(nets["exact"], name), getattr(nets["reference"], name))
        for name in ("U_", "V_", "P_")
    )
    return {engine: min(each) for engine, each in seconds.items()}


if __name__ == "__main__":
    main()
