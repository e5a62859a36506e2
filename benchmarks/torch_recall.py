"""Recall of many cues by the network and by its torch module, side by side: python
benchmarks/torch_recall.py [DEVICE].
"""

import sys
import time

import numpy as np
import torch

import seqattractor as sa

CUES, STEPS = 4096, 20


def timed(call, clock=time.process_time):
    """The seconds that a call takes after a first one, by the processor's time unless another
    device works, and what it gives.
    """
    call()
    start = clock()
    given = call()
    return clock() - start, given


def main(device="cpu"):
    torch.set_num_threads(1)
    X = sa.datasets.random_periodic(71, 100, rng=0)
    nets = {
        "SequenceAttractor": sa.SequenceAttractor(500, random_state=0).fit(X),
        "SparseSequenceAttractor": sa.SparseSequenceAttractor(
            500, max_epochs=100, random_state=0
        ).fit(X),
    }
    cues = sa.noise.flip(X.patterns[np.random.default_rng(0).integers(0, len(X), CUES)], 20, rng=1)
    for name, net in nets.items():
        seconds, ours = timed(lambda net=net: net.recall(cues, STEPS))
        print(f"{name}, {CUES} cues, {STEPS} steps: numpy {seconds:.2f} s")
        module = sa.networks.to_torch(net).to(device)
        there = torch.as_tensor(cues, dtype=torch.float32, device=device)
        clock = time.process_time if device == "cpu" else time.perf_counter
        seconds, theirs = timed(
            lambda module=module, there=there: module.recall(there, STEPS).cpu(), clock
        )
        equal = np.array_equal(theirs.numpy(), ours)
        print(f"  torch on {device}: {seconds:.2f} s, {'equal' if equal else 'NOT EQUAL'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
