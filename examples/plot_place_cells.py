"""
Place cells on a track
======================

A simulated animal runs along a track and back. Each of 60 cells fires near its place, and only in
one direction, as many cells on linear tracks do. The spikes are binned, and the network learns the
sequence of active cells: a replay from a cue.
"""

import matplotlib.pyplot as plt
import numpy as np

import seqattractor as sa
from seqattractor import plots

rng = np.random.default_rng(4)
N_CELLS, LAP, BIN = 60, 16.0, 0.2  # cells, seconds there and back, seconds

# Position on a ring: the way there is 0 to 1/2, the way back 1/2 to 1. A cell fires near its place,
# 40 spikes per second at best.
places = np.linspace(0, 1, N_CELLS, endpoint=False)
time = np.arange(0, LAP, 0.001)
distance = (time[:, None] / LAP - places + 0.5) % 1 - 0.5
rate = 40 * np.exp(-((distance / 0.03) ** 2) / 2)
fired_at, cell = np.nonzero(rng.random(rate.shape) < rate * 0.001)
raster = sa.io.bin_spikes(time[fired_at], cell, BIN, n_units=N_CELLS)

X = sa.binarize(raster)
print(f"{len(fired_at)} spikes in {len(X)} bins;", sa.find_conflicts(X).describe())

# %%
# Learn one lap, and let it run from a cue in which three cells are wrong.

net = sa.SequenceAttractor(n_hidden=400, order="auto", max_epochs=3000, random_state=0).fit(X)
k = net.order_
trajectory = net.recall(sa.noise.flip(X[:k], 3, rng=0), steps=len(X) - k)
print(f"with {k} bins of context the lap is replayed:", bool((trajectory[-1] == X[-1]).all()))

fig, (above, below) = plt.subplots(2, 1, figsize=(9, 5), layout="constrained")
plots.recall_strip(trajectory, (N_CELLS,), truth=X, order=k, ax=above)
above.set_title("cells (rows) over time bins: recorded, and replayed")
plots.overlap_curve(trajectory, X, X=X, ax=below)
below.legend(loc="lower right")
plt.show()
