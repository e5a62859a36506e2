"""
The letters of a word
=====================

"ATTRACTOR" has each of A, T and R more than once, with different letters after them. Written as
pictures of letters, the word can only be stored with some context; the network finds out how much.
"""

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image, ImageDraw, ImageFont

import seqattractor as sa
from seqattractor import plots

WORD, SHAPE = "ATTRACTOR", (24, 20)


def letter(character):
    """A picture of a letter in the middle of a frame."""
    image = Image.new("L", SHAPE[::-1])
    ImageDraw.Draw(image).text(
        (SHAPE[1] / 2, SHAPE[0] / 2),
        character,
        fill=255,
        anchor="mm",
        font=ImageFont.load_default(24),
    )
    return np.asarray(image)


X = sa.binarize(np.stack([letter(character) for character in WORD]), threshold=127)
print(sa.find_conflicts(X).describe())

# %% Two letters of context are enough. The cue is the first two letters with a tenth of their
# pixels flipped.

net = sa.SequenceAttractor(n_hidden=100, order="auto", random_state=0).fit(X)
cue = sa.noise.flip(X[: net.order_], 48, rng=0)
trajectory = net.recall(cue, steps=len(WORD) - net.order_)
print(
    "context:",
    net.order_,
    "spelled right:",
    bool((trajectory[net.order_ :] == X[net.order_ :]).all()),
)

fig, ax = plt.subplots(figsize=(9, 2.6), layout="constrained")
plots.recall_strip(trajectory, SHAPE, truth=X, order=net.order_, n_frames=len(WORD), ax=ax)
plt.show()
