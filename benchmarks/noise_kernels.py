"""How much faster the sparse network learns with noise when fields are carried along: both forms in one run, the same weights.

    python benchmarks/noise_kernels.py [--repeats 5]

A whole `fit` at N = 100, M = 500, T = 500, one thread, by turns with each form; the fastest of each counts.
"""

import argparse
import time

import numpy as np

import seqattractor as sa
from seqattractor.networks import _sparse


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    X = sa.datasets.random_periodic(500, 100, rng=0)
    learn = _sparse.learn_sparse
    seconds, nets = {"fields": [], "weights": []}, {}
    for repeat in range(options.repeats + 1):  # the first compiles
        for form in seconds:
            _sparse.learn_sparse = lambda *args, form=form, **options: learn(*args, **{**options, "form": form})
            start = time.process_time()
            nets[form] = sa.SparseSequenceAttractor(500, random_state=0).fit(X)
            if repeat:
                seconds[form].append(time.process_time() - start)
    assert all(np.array_equal(getattr(nets["fields"], name), getattr(nets["weights"], name)) for name in ("U_", "V_", "P_"))
    fields, weights = (min(seconds[form]) for form in ("fields", "weights"))
    print(
        f"carried fields {fields:.2f} s, from the weights {weights:.2f} s: {weights / fields:.2f} times as fast, the same weights"
    )


if __name__ == "__main__":
    main()
