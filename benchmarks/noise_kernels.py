"""How much faster the sparse network learns with noise than with fields from the weights: both in one run, the same weights.

    python benchmarks/noise_kernels.py [--repeats 5] [--digits]

A whole `fit` at N = 100, M = 500, T = 500, one thread, by turns: every field computed from the weights, which costs M x N a
presentation, and the best form: fields carried along while targets are chosen, then looked up in tables. With --digits a fit of
20 epochs for 160 sequences of moving digits, N = 4096 and M = 1000, of which 7 are with noise; fields from the weights take
minutes for it. The fastest of each counts.
"""

import argparse
import time
import warnings
from unittest import mock

import numpy as np

import seqattractor as sa
from seqattractor.networks import sparse as _sparse


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--digits", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # that a few epochs leave errors
    if options.digits:
        X, M, settings = sa.datasets.moving_digits(160, rng=0), 1000, {"max_epochs": 20}
    else:
        X, M, settings = sa.datasets.random_periodic(500, 100, rng=0), 500, {}
    took = compare(X, M, options.repeats, **settings)
    print(
        f"best form {took['best']:.2f} s, from the weights {took['weights']:.2f} s: "
        f"{took['weights'] / took['best']:.2f} times as fast, the same weights"
    )


def compare(X, M, repeats, **settings):
    """Seconds of a fit by each form, which must learn the same weights."""
    seconds, nets = {"best": [], "weights": []}, {}
    for form in seconds:  # this imports and loads
        fit_by(form, sa.datasets.random_periodic(60, 100, rng=0), 50, max_epochs=3)
    for _ in range(repeats):
        for form in seconds:
            start = time.process_time()
            nets[form] = fit_by(form, X, M, **settings)
            seconds[form].append(time.process_time() - start)
    assert all(np.array_equal(getattr(nets["best"], name), getattr(nets["weights"], name)) for name in ("U_", "V_", "P_"))
    return {form: min(each) for form, each in seconds.items()}


def fit_by(form, X, M, **settings):
    """A network that learned by one form."""
    learn = _sparse.learn_sparse
    with mock.patch.object(_sparse, "learn_sparse", lambda *args, **options: learn(*args, **options | {"form": form})):
        return sa.SparseSequenceAttractor(M, random_state=0, **settings).fit(X)


if __name__ == "__main__":
    main()
