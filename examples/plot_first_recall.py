"""
A sequence comes back from a corrupted cue
==========================================

A network of 100 visible and 500 hidden neurons stores a random sequence of 50 patterns. With 10
units of the first pattern flipped, it finds its way back to the sequence within a few steps.
"""

import matplotlib.pyplot as plt

import seqattractor as sa

X = sa.datasets.random_periodic(50, 100, rng=0)
net = sa.SequenceAttractor(n_hidden=500, random_state=0).fit(X)

cue = sa.noise.flip(X[0], 10, rng=1)
trajectory = net.recall(cue, steps=60)
print("retrieved:", sa.retrieved(net.recall(cue, steps=150), X))

# %% The overlap of each state with each stored pattern: the bright line is the sequence, which
# starts again after a period.

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
picture = left.imshow(sa.overlap(trajectory, X), cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
left.set(xlabel="stored pattern", ylabel="step of recall", title="overlap with the stored patterns")
fig.colorbar(picture, ax=left)
right.semilogy(net.hidden_errors_ + 0.5, label="hidden neurons")
right.semilogy(net.visible_errors_ + 0.5, label="visible neurons")
right.set(xlabel="epoch", ylabel="errors (+ 1/2)", title="learning until no error is left")
right.legend(loc="upper right")
plt.show()
