"""
A gallop from a GIF
===================

A horse is drawn with a few lines, saved as a GIF, read back as anyone's GIF would be, stored, and
recalled from a frame whose left half is covered. On the command line the same is::

    seqattractor learn gallop.gif --loop -o gallop.npz
    seqattractor recall gallop.npz --occlude 0:56,0:48 -o recall.gif
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image, ImageDraw

import seqattractor as sa
from seqattractor import plots

WIDTH, HEIGHT, FRAMES = 96, 56, 12
# When in the stride each leg swings, and how far along the body it hangs: a gallop has no two legs
# in step.
LEGS = ((0.00, 30), (0.12, 34), (0.50, 62), (0.62, 66))


def line(draw, *points, width):
    """A thick line with round joints."""
    draw.line(points, fill=255, width=width, joint="curve")
    for x, y in points:
        r = width / 2
        draw.ellipse((x - r, y - r, x + r, y + r), fill=255)


def horse(phase):
    """One frame of the gallop; the phase runs from 0 to 1."""
    image = Image.new("L", (WIDTH, HEIGHT))
    draw = ImageDraw.Draw(image)
    turn = 2 * np.pi * phase
    y = 22 + 2.5 * np.sin(turn)
    pitch = 2.0 * np.cos(turn)  # the body rocks
    draw.ellipse((24, y - 8 + pitch, 48, y + 8 + pitch), fill=255)
    draw.ellipse((42, y - 7 - pitch, 70, y + 7 - pitch), fill=255)
    nod = 2.5 * np.sin(turn + 0.8)
    line(draw, (64, y - 4 - pitch), (76, y - 15 + nod), width=8)
    line(draw, (76, y - 15 + nod), (88, y - 9 + nod), width=6)
    line(draw, (78, y - 19 + nod), (79, y - 16 + nod), width=3)
    line(
        draw,
        (26, y - 3 + pitch),
        (14, y - 5 + 3 * np.sin(turn + 2)),
        (7, y + 3 * np.sin(turn + 1)),
        width=4,
    )
    for start, x in LEGS:
        swing = np.sin(2 * np.pi * (phase + start))
        lift = max(0.0, np.cos(2 * np.pi * (phase + start)))
        knee = (x + 8 * swing, y + 15 - 3 * lift)
        hoof = (x + 17 * swing - 7 * lift, y + 29 - 9 * lift)
        line(draw, (x, y + 3), knee, hoof, width=4)
    return image


folder = Path(tempfile.mkdtemp())
pictures = [horse(t / FRAMES) for t in range(FRAMES)]
pictures[0].save(
    folder / "gallop.gif", save_all=True, append_images=pictures[1:], duration=80, loop=0
)

gallop = sa.io.load(folder / "gallop.gif", loop=True)
print(gallop)

# %%
# Store it, cover the left half of the first frame, and let it run.

net = sa.SequenceAttractor(n_hidden=100, random_state=0).fit(gallop)
cue = sa.noise.occlude(gallop[0], gallop.frame_shape, ((0, HEIGHT), (0, WIDTH // 2)))
trajectory = net.recall(cue, steps=FRAMES)
print("wrong pixels at each step:", (trajectory != gallop).sum(axis=1))
print("exact from the second step on:", bool((trajectory[2:] == gallop[2:]).all()))

fig, ax = plt.subplots(figsize=(10, 2.2), layout="constrained")
plots.recall_strip(trajectory, gallop.frame_shape, truth=gallop, n_frames=7, ax=ax)
plt.show()

# %%
# And as a GIF again: what was stored, the cue, and the recall.

sa.io.write("recall.gif", trajectory, gallop)

# sphinx_gallery_thumbnail_number = 2
