"""
Lesions
=======

How much of a memory is left when neurons or synapses are gone? Both networks here have stored the
same sequence in the same architecture. They fail in opposite ways, and what is certain is known
beforehand.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter

import seqattractor as sa
from seqattractor import plots

X = sa.datasets.random_periodic(70, 100, rng=0)
networks = {
    "the paper's network": sa.SequenceAttractor(500, random_state=0).fit(X),
    "sparse": sa.SparseSequenceAttractor(500, random_state=0).fit(X),
}

# %%
# Random lesions, twenty draws of each size. A removed neuron sends nothing. A transition is right
# if every neuron that is left has the right state; a sequence is recalled if all of its transitions
# are.

for name, net in networks.items():
    fig, axes = plt.subplots(1, 3, figsize=(13, 3.6), sharey=True, layout="constrained")
    fig.suptitle(name)
    for ax, part in zip(axes, ("hidden", "visible", "synapses"), strict=True):
        curve = sa.lesion_curve(net, X, remove=part, rng=0)
        curve.plot(ax=ax)
        print(f"{name}: {curve.describe()}")
    plt.show()

# %%
# In the paper's network all hidden neurons take part in all transitions, and no few of them are
# needed. In the sparse one a few neurons carry each transition: a lesion loses the transitions
# whose neurons are gone, and leaves the others alone. One that is lost breaks the sequence. With
# visible neurons it is the other way round: the sparse network has practised with wrong inputs.
#
# The green area needs no draws: `lesion_curve` proves that no lesion of that size makes the
# transition wrong, whichever neurons or synapses it takes. The worst lesion is far worse than a
# random one, most of all with synapses: it takes those of one neuron. For random lesions of hidden
# neurons, the dashed line is a proven lower bound of the probability that all transitions stay
# right.
#
# A walk that goes on
# -------------------
# The figure walks while its network loses hidden neurons, six at each step. What is left is drawn
# below.

walk = sa.datasets.walker()
net = sa.SequenceAttractor(n_hidden=200, random_state=0).fit(walk)
order = np.random.default_rng(0).permutation(200)
STEPS, LOST = 30, 6

state, states = walk[0], [walk[0]]
for step in range(1, STEPS):
    left = sa.analysis.lesioned(net, "hidden", order[: LOST * step])
    state = left.step(state)
    states.append(state)
right = [(a == b).mean() for a, b in zip(states, walk, strict=False)]
print("pixels right after each step:", *(f"{share:.3f}" for share in right[::5]))

fig, (above, below) = plt.subplots(
    2, 1, figsize=(4.2, 5), height_ratios=[3, 1], layout="constrained"
)


def draw(step):
    """Draw the state of a step, and the pixels that were right up to it."""
    for ax in (above, below):
        ax.clear()
    above.imshow(states[step].reshape(walk.frame_shape), cmap="gray", vmin=-1, vmax=1)
    above.set_axis_off()
    above.set_title(f"{LOST * step} of 200 hidden neurons removed")
    below.plot(LOST * np.arange(step + 1), 100 * np.array(right[: step + 1]), color=plots.BLUE)
    below.set(xlim=(0, LOST * STEPS), ylim=(45, 102), ylabel="pixels right, %")
    below.set_xlabel("hidden neurons removed")


FuncAnimation(fig, draw, frames=STEPS).save("lesions.gif", PillowWriter(fps=6), dpi=66)

# sphinx_gallery_thumbnail_number = 1
