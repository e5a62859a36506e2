"""
Is it replay?
=============

A recording with laps on a track and 80 short candidate events, of which half replay the laps,
forward or in reverse and 10 to 20 times as fast, with 45 % of their spikes missing. A network
learns what the laps have in common, and every event is compared with shuffles of itself. Positions
are not used. The figures are as wide as a column of a journal.
"""

import matplotlib.pyplot as plt
import numpy as np

import seqattractor as sa
from seqattractor import plots

kinds = {"forward": 20, "reverse": 20, "rates": 20, "population bursts": 20}
session = sa.datasets.recording(n_cells=60, n_laps=6, n_events=kinds, rng=1)
print(session.describe())
COLUMN = 85 / 25.4  # inches

# %%
# First: is there a sequence in the laps at all? Each is predicted by a network that has learned
# the others.

net = sa.SequenceAttractor(n_hidden=400, max_epochs=5000, random_state=0)
laps = [lap > 0 for lap in session.lap_counts(0.1)]  # rates differ from lap to lap
found = sa.replay.cross_validate(laps, net, rng=0)
print(found.describe())

with plots.style(paper=True):
    fig, ax = plt.subplots(figsize=(COLUMN, 2.3), layout="constrained")
    found.plot(ax=ax)

# %%
# Then the events. A p value compares the score of an event with those of the same bins in other
# orders.

learned = sa.replay.consensus(laps)
tested = sa.replay.test(net.fit(learned), session.event_counts(0.02), sequences=learned, rng=0)
print(tested.describe())
for kind in kinds:
    chosen = np.array(session.kinds) == kind
    print(f"{kind}: {np.sum(tested.significant()[chosen])} of {chosen.sum()} called replay")

with plots.style(paper=True):
    fig, ax = plt.subplots(figsize=(COLUMN, 2.4), layout="constrained")
    plots.replay_scores(tested, ax=ax)
    fig, ax = plt.subplots(figsize=(COLUMN, 2.1), layout="constrained")
    plots.replay_p_values(tested, ax=ax)

# %%
# Two events: active cells over time, on what the network recalls from other bins (shaded).

with plots.style(paper=True):
    fig, axes = plt.subplots(1, 2, figsize=(COLUMN, 2.5), sharey=True, layout="constrained")
    known = np.array(session.kinds)
    best = [np.argmax(tested.scores * (known == kind)) for kind in ("forward", "reverse")]
    for ax, event in zip(axes, best, strict=True):
        plots.replay_event(tested, int(event), ax=ax)
        ax.set_title(f"event {event}, speed {tested.speeds[event]:+d}")
    axes[1].set_ylabel("")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
plt.show()
