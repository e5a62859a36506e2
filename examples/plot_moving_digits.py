"""
Moving digits
=============

Three sequences of 20 frames, in each of which two digits wander about, stored in one network. Each
comes back from its own first frame, with 300 of 4096 pixels flipped.
"""

import matplotlib.pyplot as plt

import seqattractor as sa
from seqattractor import plots

X = sa.datasets.moving_digits(n_sequences=3, length=20, rng=1)
net = sa.SequenceAttractor(n_hidden=200, random_state=0).fit(X)
print("stored transitions:", net.score(X))

fig, axes = plt.subplots(3, 1, figsize=(9, 6.6), layout="constrained")
for ax, sequence in zip(axes, X.split(), strict=True):
    cue = sa.noise.flip(sequence[0], 300, rng=2)
    trajectory = net.recall(cue, steps=19)
    print("retrieved:", bool((trajectory[1:] == sequence[1:]).all()))
    plots.recall_strip(trajectory, X.frame_shape, truth=sequence, n_frames=10, ax=ax)
plt.show()
