"""
A tune in which notes repeat
============================

In "Frère Jacques" the same note is followed by different notes, so no network that sees only the
present can store it. With a delay line (``order="auto"``) the network sees just enough of the past.
The tune is written as MIDI and read back, as a file of yours would be.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import seqattractor as sa
from seqattractor import plots

# Notes with their lengths in eighths; each line is sung twice.
LINES = ("C5:2 D5:2 E5:2 C5:2", "E5:2 F5:2 G5:4", "G5:1 A5:1 G5:1 F5:1 E5:2 C5:2", "C5:2 G4:2 C5:4")
SCALE = {"C5": 72, "D5": 74, "E5": 76, "F5": 77, "G5": 79, "A5": 81, "G4": 67}

steps = [
    SCALE[note]
    for line in LINES
    for _ in range(2)
    for word in line.split()
    for note, n in [word.split(":")]
    for _ in range(int(n))
]
pitches = list(range(67, 82))
roll = np.array([[pitch == p for p in pitches] for pitch in steps])

path = Path(tempfile.mkdtemp()) / "jacques.mid"
sa.io.write_midi(path, roll, pitches, step=0.5, rate=4.0)
tune = sa.io.load(path, step=0.5)
print(tune, "from", tune.units[0], "to", tune.units[-1])
print(sa.find_conflicts(tune).describe())

# %%
# The smallest context that resolves all conflicts is found automatically.

net = sa.SequenceAttractor(n_hidden=300, order="auto", max_epochs=3000, random_state=0).fit(tune)
k = net.order_
trajectory = net.recall(tune[:k], steps=len(tune) - k)
print(f"context of {k} patterns; recalled without a mistake:", bool((trajectory == tune).all()))

fig, (above, below) = plt.subplots(2, 1, figsize=(9, 4.6), layout="constrained")
plots.recall_strip(trajectory, tune.frame_shape, truth=tune, order=k, ax=above)
above.set_title("the tune as a piano roll, below what came back")
plots.hidden_raster(net, trajectory, ax=below)
plt.show()
