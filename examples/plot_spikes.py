"""
A sequence in spikes
====================

A learned network runs as leaky integrate-and-fire neurons in continuous time, one pattern every 25
ms. A unit that is +1 fires once in its window, a unit that is -1 does not. Hidden neurons fire half
way between two patterns.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter

import seqattractor as sa
from seqattractor import plots

X = sa.datasets.random_periodic(31, 100, rng=0)
net = sa.SparseSequenceAttractor(n_hidden=300, random_state=0).fit(X)
cue = sa.noise.flip(X[0], 10, rng=1)

# %%
# Without noise and jitter spikes show the patterns of `recall`, from a cue with 10 wrong units.

run = sa.spiking_recall(net, cue, steps=60)
print("the patterns of recall:", bool((run.patterns == net.recall(cue, steps=60)).all()))

# %%
# With noise on the membranes, jitter and dead neurons it still is the sequence. Few hidden neurons
# fire for each pattern, one group after the other.

run = sa.spiking_recall(net, cue, steps=60, noise=0.1, jitter=1e-3, dead_hidden=10, rng=2)
print("patterns on the sequence:", run.steps_on(X), "of", len(run.patterns))
fig, ax = plt.subplots(figsize=(8, 5), layout="constrained")
run.plot(ax, stop=0.9)
plt.show()

# %%
# What one neuron does
# --------------------
# Its potential between two events decays by a formula. Spikes of the layer before arrive together
# and move it. A quarter of a window later the pulse of a common rhythm lifts it by little more or
# less than the threshold: it decides whether what is left of the spikes is enough. Then the neuron
# is reset. The threshold may be anything that spikes alone do not reach, and is 1 here.

tau, tau_m = 0.025, 0.02
lag = tau / 4
hidden = sa.SequenceAttractor(n_hidden=300, random_state=0).fit(X).layers()[0]
gain = np.exp(lag / tau_m)


def potential(neuron, times):
    """The potential of a hidden neuron while the stored sequence is shown."""
    W = hidden.weights[neuron]
    lift = hidden.offset[neuron] - W.sum()  # what the pulse adds to the threshold
    theta = 1.2 * max(abs(gain * 2 * W @ (x > 0)) for x in X)
    v = []
    for t in times:
        window, phase = divmod(t + 1e-9, tau)
        jump = gain * 2 * W @ (X[int(window)] > 0) / theta
        arrived, left = lag <= phase < 2 * lag, np.exp(-(phase - lag) / tau_m)
        v.append(jump * left if arrived else 0.0)
        if abs(phase - 2 * lag) < 1e-6:  # the pulse, after which all are reset
            v[-1] = jump / gain + 1 + lift / theta
    return np.array(v)


times = np.arange(0, 6 * tau, tau / 200)
fig, axes = plt.subplots(2, 1, figsize=(8, 4), layout="constrained", sharex=True)
for neuron, ax in zip((1, 4), axes, strict=True):
    v = potential(neuron, times)
    ax.plot(1e3 * times, v, color=plots.BLUE)
    ax.axhline(1, color=plots.GREY, linestyle=":")
    fires = v >= 1
    ax.plot(1e3 * times[fires], v[fires], "v", color=plots.RED)
    ax.set(ylabel=f"neuron {neuron}", ylim=(-1, 1.6))
axes[0].set_title("dotted: the threshold; triangles: spikes", loc="left")
axes[1].set_xlabel("time, ms")
plt.show()

# %%
# A film in spikes
# ----------------
# The walking figure, smaller: one neuron for each pixel. On the right what its spikes show, window
# after window, with noise, jitter and a tenth of the hidden neurons dead.

frames = sa.datasets.walker().reshape(-1, 128, 88)[:100:4, ::4, ::4]
film = np.concatenate([frames, frames[:1]]).reshape(len(frames) + 1, -1)
walker = sa.SequenceAttractor(n_hidden=300, random_state=0).fit(film)
wrong = sa.noise.flip(film[0], 100, rng=0)
walk = sa.spiking_recall(walker, wrong, 25, noise=0.2, jitter=1e-3, dead_hidden=30, rng=1)
print("wrong pixels after one round:", int((walk.patterns[-1] != film[0]).sum()))

SHOWN = 0.2  # seconds
fig, (left, right) = plt.subplots(
    1, 2, figsize=(6.5, 3.4), layout="constrained", width_ratios=[3, 1.3]
)


def draw(row):
    """Draw the last spikes, and the frame that they show."""
    left.clear()
    right.clear()
    now = (row + 0.5) * walk.tau
    walk.plot(left, start=now - SHOWN, stop=now, n_neurons=70)
    left.locator_params(axis="x", nbins=4)
    right.imshow(walk.patterns[row].reshape(frames.shape[1:]), cmap="gray", vmin=-1, vmax=1)
    right.set(xticks=[], yticks=[], title=f"{1e3 * row * walk.tau:.0f} ms")


FuncAnimation(fig, draw, frames=len(walk.patterns)).save("spikes.gif", PillowWriter(fps=6), dpi=64)

# sphinx_gallery_thumbnail_number = 1
