"""
From raw spikes to replay, lap by lap
=====================================

A recording as a laboratory has it: an NWB file with the spike times of 80 place cells, the position
of the animal, and a table of laps. It is generated here, so that we know what is in it. We read it
lap by lap, store all laps in one network, and let each come back from a corrupted beginning. Needs
``pip install "seqattractor[nwb]"``.
"""

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from pynwb import NWBHDF5IO, NWBFile
from pynwb.behavior import Position, SpatialSeries
from pynwb.epoch import TimeIntervals

import seqattractor as sa
from seqattractor import plots

rng = np.random.default_rng(7)
N_CELLS, N_LAPS, LENGTH = 80, 6, 2.0  # metres of track
TICK = 0.001  # seconds

# %% The animal runs along the track six times, each time at a speed of its own and with a pause
# before it. A cell fires near its place, 30 spikes per second at best, and once in ten seconds
# anywhere, also in the pauses. Each lap excites or inhibits every cell a little, so that no two
# laps are the same.

fields = rng.permutation(np.linspace(0, LENGTH, N_CELLS))
laps, place, gain, now = [], [], [], 0.0
for _ in range(N_LAPS):
    pause, lasting = rng.uniform(1, 2), rng.uniform(3.5, 5)
    laps.append((now + pause, now + pause + lasting))
    n_pause, n_run = round(pause / TICK), round(lasting / TICK)
    place += [np.full(n_pause, np.nan), np.linspace(0, LENGTH, n_run)]
    gain += [np.ones((n_pause, N_CELLS)), np.tile(rng.lognormal(0, 0.5, N_CELLS), (n_run, 1))]
    now += (n_pause + n_run) * TICK
position, gain = np.concatenate(place), np.concatenate(gain)
clock = np.arange(len(position)) * TICK
near = np.exp(-((position[:, None] - fields) ** 2) / (2 * 0.08**2))
rate = 30 * gain * np.nan_to_num(near) + 0.1
fired_at, cell = np.nonzero(rng.random(rate.shape) < rate * TICK)

session = NWBFile("Place cells on a track (generated)", "track", datetime(2026, 1, 1, tzinfo=UTC))
for unit in range(N_CELLS):
    session.add_unit(spike_times=clock[fired_at[cell == unit]])
table = TimeIntervals(name="laps", description="from one end of the track to the other")
for start, stop in laps:
    table.add_interval(start_time=start, stop_time=stop)
session.add_time_intervals(table)
behavior = session.create_processing_module("behavior", "where the animal is")
series = SpatialSeries(
    name="position",
    data=position[::20],
    rate=1 / (20 * TICK),
    reference_frame="the start of the track",
)
behavior.add(Position(spatial_series=series))
path = Path(tempfile.mkdtemp()) / "session.nwb"
with NWBHDF5IO(path, "w") as file:
    file.write(session)

# %% One line reads the laps as sequences: bins of 100 ms from the start of each lap, in which a
# cell is on if it fired at least once. (In a notebook with pynapple the same is
# ``sa.io.from_pynapple(units, 0.1, laps)``; on the command line ``seqattractor learn session.nwb
# --bin 0.1 --epochs laps -o laps.npz``.)

X = sa.io.load(path, bin=0.1, epochs="laps")
print(X.describe())
print(sa.find_conflicts(X).describe())

# %% Where two laps pass through the same pattern and then go different ways, the present alone does
# not determine what is next, and ``order="auto"`` lets the network see as many past bins as resolve
# all conflicts. That is enough to store the laps. But all laps begin alike, and a cue with errors
# may fit another lap better; half a second of the past distinguishes them more safely. (The cue is
# then half a second long, too.)

nets = {}
for order in ("auto", 5):
    net = sa.SequenceAttractor(n_hidden=800, order=order, max_epochs=20_000, random_state=0).fit(X)
    nets[f"context of {net.order_} bins"] = net
for name, net in nets.items():
    print(f"{name}: {net.score(X):.1%} of the transitions stored")

# %% Replay quality. We start each lap from its first bins, flip 8 of the 80 cells in each of them,
# let the network run freely to the end of the lap, and compare what it does after the cue with the
# recording, bin by bin. Most cells are silent most of the time, so agreement in silence means
# little; we count what is on. With H right spikes, M missing and F false ones, the quality is 2 H /
# (2 H + M + F): 1 for a perfect replay, in order and in time. (It is not the score with which
# replay is looked for in sharp-wave ripples, where the truth is not known and runs faster than the
# animal did.) Laps resemble each other, so a quality is to be seen beside that of *another* lap,
# taken for the right one.

FLIPS, TRIALS = 8, 20
recorded = X.split()


def replay(net, lap, seed):
    """Replay a lap from a corrupted cue: (T, N)."""
    k = net.order_
    return net.recall(
        sa.noise.flip(recorded[lap][:k], FLIPS, rng=seed), steps=len(recorded[lap]) - k
    )


def quality(net, recalled, truth):
    """Right, missing and false spikes after the cue, as one number; of laps of different lengths,
    as far as both go.
    """
    part = slice(net.order_, min(len(recalled), len(truth)))
    a, b = recalled[part] > 0, truth[part] > 0
    return 2 * (a & b).sum() / (a.sum() + b.sum())


# From the cue of each lap, how well does what comes back fit each recorded lap? Shape (laps,
# trials, laps).
fits = {
    name: np.array(
        [
            [
                [quality(net, recalled, truth) for truth in recorded]
                for recalled in (replay(net, lap, t) for t in range(TRIALS))
            ]
            for lap in range(N_LAPS)
        ]
    )
    for name, net in nets.items()
}
own = {name: fit[np.arange(N_LAPS), :, np.arange(N_LAPS)] for name, fit in fits.items()}
for name, values in own.items():
    good = ", ".join(str(n) for n in (values > 0.95).sum(axis=1))
    print(f"{name}: quality above 0.95 in {good} of {TRIALS} trials (laps 0 to {N_LAPS - 1})")
long = list(nets)[-1]
other = np.mean([quality(nets[long], a, b) for a in recorded for b in recorded if a is not b])
print(f"another lap, taken for the right one, has a quality of {other:.2f}")

# %% A lap as it was recorded, and as it comes back. `to_pynapple` gives a recall its times, those
# of the bins of the lap, so that it can be laid over the recording.

LAP, net = 2, nets[long]
frame = sa.io.to_pynapple(replay(net, LAP, 0), rate=X.rate, units=X.units, start=laps[LAP][0])
truth = recorded[LAP] > 0
rank = np.argsort(np.argsort(fields))  # cells in the order of their places

fig, axes = plt.subplots(3, 1, figsize=(9, 8), sharex=True, sharey=True, layout="constrained")
inside = (clock[fired_at] >= laps[LAP][0]) & (clock[fired_at] <= laps[LAP][1])
axes[0].plot(clock[fired_at][inside], rank[cell[inside]], "|", color="black", markersize=4)
axes[0].plot(
    clock,
    position / LENGTH * N_CELLS,
    color=plots.BLUE,
    linewidth=1,
    label="position of the animal",
)
axes[0].set_title(f"lap {LAP}: spikes")
for ax, states, title in (
    (axes[1], truth, "in bins of 100 ms"),
    (
        axes[2],
        frame.values > 0,
        f"replayed from the first {net.order_} bins (left of the line), {FLIPS} of {N_CELLS} cells "
        "flipped in each",
    ),
):
    for marked, colour, label in (
        (states & truth, "black", "fired"),
        (states & ~truth, plots.ORANGE, "false"),
        (~states & truth, plots.BLUE, "missing"),
    ):
        t, unit = np.nonzero(marked)
        ax.scatter(frame.t[t], rank[unit], s=7, marker="s", color=colour, label=label)
    ax.axvline(laps[LAP][0] + net.order_ / X.rate, color=plots.GREY, linewidth=1, linestyle=":")
    ax.set_title(title)
axes[2].set(xlabel="time (s)", xlim=laps[LAP])
for ax in axes:
    ax.set_ylabel("cell, by its place")
for ax in (axes[0], axes[2]):
    ax.legend(loc="lower right")
plt.show()

# %% Quality per lap. On the right, what comes back beside every recorded lap, with the longer
# context: it is *this* lap, and not the average of all.

fig, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4), width_ratios=(1.6, 1), layout="constrained"
)
for shift, (name, values), colour in zip(
    (-0.15, 0.15), own.items(), (plots.ORANGE, plots.BLUE), strict=True
):
    where = np.arange(N_LAPS)[:, None] + shift + np.linspace(-0.09, 0.09, TRIALS)
    left.plot(where.ravel(), values.ravel(), ".", color=colour, markersize=4, label=name)
left.axhline(other, color=plots.GREY, linestyle="--", label="another lap (mean)")
left.set(
    xlabel="lap",
    ylabel="replay quality",
    ylim=(0, 1.05),
    xticks=range(N_LAPS),
    title=f"{TRIALS} corrupted cues per lap",
)
left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3, fontsize="small")
image = right.imshow(fits[long].mean(axis=1), vmin=0, vmax=1, cmap="Greys")
right.set(
    xlabel="recorded lap",
    ylabel="replayed from the cue of lap",
    xticks=range(N_LAPS),
    title=f"mean quality, {long}",
)
fig.colorbar(image, ax=right)
plt.show()
