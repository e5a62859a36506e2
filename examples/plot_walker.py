"""
A walking figure
================

The drawn stand-in for the paper's gait sequence: 103 silhouettes of 88 x 128 pixels in a closed
loop. With 2000 of the 11,264 pixels of the first frame flipped, one step brings the walk back.
"""

import matplotlib.pyplot as plt

import seqattractor as sa
from seqattractor import plots

X = sa.datasets.walker()
net = sa.SequenceAttractor(n_hidden=200, random_state=0).fit(X)

cue = sa.noise.flip(X[0], 2000, rng=1)
trajectory = net.recall(cue, steps=103)
print(
    "wrong pixels in the cue and after each step:",
    *(trajectory != X[: len(trajectory)]).sum(axis=1)[:4],
    "...",
)

# %%
# What was stored, and what came back.

fig, (above, below) = plt.subplots(2, 1, figsize=(9, 5), height_ratios=(3, 1), layout="constrained")
plots.recall_strip(trajectory, X.frame_shape, truth=X, n_frames=10, ax=above)
plots.overlap_curve(trajectory, X, X=X, ax=below)
below.legend(loc="lower right")

# %% The first step of the walk as it moves: stored, cue and recall side by side, as `seqattractor
# recall` writes them, too.

sa.io.write("walk.gif", trajectory[:18], X)

# %%
# What some hidden neurons look at (rows of U), and how the errors of learning died away.

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
plots.weights_image(net.U_, X.frame_shape, n_neurons=10, ax=left)
plots.error_curves(
    net.hidden_errors_ / net.n_hidden, net.visible_errors_ / net.n_features_in_, ax=right
)
plt.show()

# sphinx_gallery_thumbnail_number = 2
