"""
A night of replay
=================

A network that learns one sequence after another loses the first ones. This one does not: at night
it replays what it knows, started by its own neurons, and learns that together with what the day
brought. No pattern is stored outside its weights.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter

import seqattractor as sa
from seqattractor import plots

rng = np.random.default_rng(1)
*earlier, new = (sa.datasets.random_periodic(21, 100, rng=rng).patterns for _ in range(6))


def network():
    """A sparse network that has stored the earlier sequences."""
    return sa.SparseSequenceAttractor(500, noise=0, random_state=1).fit(earlier)


# %%
# By day
# ------
# A new sequence comes once. A store with one neuron for each transition learns it in one shot:

store = sa.OneHotNetwork().partial_fit(new)
print("in the store after one presentation:", store.score(new))

# %%
# Its neurons start its replay: each of them is a transition.

[loop] = sa.find_attractors(store, starts=store.U_)
print("replayed by the store:", {x.tobytes() for x in loop.patterns} == {x.tobytes() for x in new})

# %%
# By night
# --------
# The network runs by itself from the incoming weights of one hidden neuron after another. It is
# sure of a transition if nine of ten neurons in each layer have at least half of their margin:
# every neuron compares its own field with its own margin. Nothing else tells memories from
# spurious states.


def runs(net, steps=20):
    """Yield transitions that the network makes by itself, and whether it is sure of them."""
    while True:
        for neuron in np.random.default_rng(2).permutation(net.n_hidden_):
            state = np.where(net.U_[neuron] >= 0, 1, -1)
            for _ in range(steps):
                shares, at = [], state[None]
                for layer in net.layers():
                    fields = layer.fields(at)
                    shares.append(np.mean(np.abs(fields) >= layer.kappa / 2))
                    at = layer.states(fields)
                yield np.stack([state, at[0]]), min(shares) >= 0.9
                state = at[0]


# %%
# Replay and learning alternate step by step: some replayed transitions, then one of the new
# sequence, and after each of them one local update.


def night(net, replays, most=15):
    """Present the new sequence until it is stored, and return the transitions that were learned,
    and how much of each sequence was right after each new one.
    """
    learned, right, own = [], [], runs(net)
    for _ in range(most):
        for t in range(len(new) - 1):
            n = 0
            while n < replays:
                transition, sure = next(own)
                if sure:
                    net.partial_fit(transition)
                    learned.append(transition[0])
                    n += 1
            net.partial_fit(new[t : t + 2])
            learned.append(new[t])
            right.append([net.score(x) for x in (*earlier, new)])
        if net.score(new) == 1:
            break
    return np.array(learned), np.array(right)


REPLAYS = 10
asleep = network()
states, with_replay = night(asleep, REPLAYS)
_, without = night(network(), 0)
for name, right in (("with", with_replay[-1]), ("without", without[-1])):
    kept = sum(right[:-1] == 1)
    print(f"{name} replay: {kept} of 5 earlier sequences exact, new one {right[-1]:.0%}")

# %%
# What is stored, against what was seen of the new sequence. (Not every night is as good as this
# one: ``seqattractor reproduce sleep`` counts.)


def curves(ax, upto=None):
    """Draw what is right of the earlier sequences and of the new one."""
    for right, line, name in ((with_replay, "-", "replay"), (without, ":", "no replay")):
        ax.plot(100 * right[:upto, :-1].mean(axis=1), line, color=plots.BLUE, label=f"old, {name}")
        ax.plot(100 * right[:upto, -1], line, color=plots.RED, label=f"new, {name}")
    ax.set(xlim=(0, len(with_replay)), ylim=(-3, 103), ylabel="right, %")
    ax.set_xlabel("transitions of the new sequence presented")


fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
curves(ax)
ax.legend(loc="center right")
plt.show()

# %%
# The night as a film. Above, white where a transition that was learned begins at a pattern of a
# sequence, or near it (overlap above 0.9): runs from single neurons go to all of them. The bottom
# row is the new sequence, whose transitions come in between.

overlaps = np.array([np.abs(states @ x.T).max(axis=1) / 100 for x in (*earlier, new)])
WINDOW, FRAMES = 110, 24
fig, (above, below) = plt.subplots(
    2, 1, figsize=(5.6, 4.2), layout="constrained", height_ratios=[3, 2]
)


def draw(frame):
    """Draw the night up to a frame."""
    presented = (frame + 1) * len(with_replay) // FRAMES
    end = max(WINDOW, presented * (REPLAYS + 1))
    for ax in (above, below):
        ax.clear()
    shown = overlaps[:, end - WINDOW : end] > 0.9
    above.imshow(shown, cmap="gray", aspect="auto", interpolation="nearest")
    above.set_yticks(range(6), [*("known " + letter for letter in "ABCDE"), "new"])
    above.set(xticks=[], xlabel=f"the last {WINDOW} transitions learned")
    curves(below, presented)
    below.legend(loc="center right", fontsize=8)


FuncAnimation(fig, draw, frames=FRAMES).save("night.gif", PillowWriter(fps=5), dpi=72)

# %%
# Night after night
# -----------------
# `add` does the same in two stages: the network first replays all it knows, and then learns that
# together with the new sequence. It needs no ratio of replay to learning. Without rehearsal only
# the last sequence is left.

days = [sa.datasets.random_periodic(21, 100, rng=rng) for _ in range(8)]
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
for rehearse, name in (("self", "self-replay"), (None, "no rehearsal")):
    net, stored = sa.SparseSequenceAttractor(500, random_state=1), []
    for k, x in enumerate(days, start=1):
        added = net.add(x, rehearse=rehearse)
        stored.append(sum(net.score(each) == 1 for each in days[:k]))
    print(f"{name}: {stored[-1]} of {len(days)} stored. {added.describe()}")
    ax.plot(range(1, len(days) + 1), stored, "o-", label=name)
ax.set(xlabel="nights, one sequence each", ylabel="sequences exact")
ax.legend(loc="upper left")
plt.show()

# sphinx_gallery_thumbnail_number = 1
