"""
A grey film with binary neurons
===============================

The neurons of the network are on or off, but films need not be black and white: eight levels of
grey take seven neurons for each pixel, of which as many are on as the level says (a thermometer),
or three in a Gray code. Which of the two is better depends on what the cue suffers from: flipped
neurons are no different for them, but a change of the *picture*, such as noise or other light,
moves a thermometer by few neurons and a Gray code by many.
"""

import matplotlib.pyplot as plt
import numpy as np

import seqattractor as sa
from seqattractor import plots

T, SIDE, LEVELS = 24, 20, 8


def draw_film(seed):
    """Waves of light that move over a square and come round: (T, SIDE, SIDE) of grey values from 0
    to 255.
    """
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    time = np.arange(T)[:, None, None] / T
    film = np.zeros((T, SIDE, SIDE))
    for _ in range(6):
        across, down = rng.integers(-2, 3, size=2)
        film += np.cos(
            2 * np.pi * (across * x + down * y + rng.choice([-1, 1]) * time + rng.random())
        )
    film -= film.min()
    return film * 255 / film.max()


def learn(film, code, seed):
    """The encoder, the film as a closed loop of patterns, and a network of 100 hidden neurons that
    has learned it.
    """
    encoder = sa.encoders.LevelEncoder(LEVELS, code=code, value_range=(0, 255)).fit(film)
    X = encoder.transform(film[[*range(T), 0]])
    return encoder, X, sa.SequenceAttractor(100, random_state=seed).fit(X)


film = draw_film(0)
encoder, X, net = learn(film, "thermometer", 0)
cue = sa.noise.flip(X[0], X.shape[1] // 10, rng=1)
recalled = encoder.inverse_transform(net.recall(cue, steps=T))
stored = encoder.inverse_transform(X)
print(
    f"{X.shape[1]} neurons, a tenth flipped; recalled exactly: "
    f"{np.array_equal(recalled[1:], stored[1:])}"
)

# %%
# The film as it was drawn, in eight levels, and as it came back from the cue on the left.

rows = {"drawn": film[[*range(T), 0]], "8 levels": stored, "recalled": recalled}
times = [0, 1, 2, 5, 8, 11, 14, 17, 20, 24]
fig, axes = plt.subplots(3, 1, figsize=(9, 3.2), layout="constrained")
for (name, frames), ax in zip(rows.items(), axes, strict=True):
    plots.filmstrip(
        frames[times],
        label=name,
        numbers=times if name == "drawn" else None,
        value_range=(0, 255),
        ax=ax,
    )

# %% Both codes with five films each, and five cues for each film. A cue suffers from flipped
# neurons, from noise on its grey values (with this standard deviation), or from other light. Errors
# are means of absolute differences of grey values, from 0 to 255.


def corrupted(encoder, frame, how, rng):
    """The pattern of a frame that has suffered."""
    clean = encoder.transform(frame[None])[0]
    if how.endswith("% flips"):
        return sa.noise.flip(clean, round(len(clean) * int(how[:-7]) / 100), rng=rng)
    changed = {
        "noise 60": lambda: frame + rng.normal(0, 60, frame.shape),
        "noise 120": lambda: frame + rng.normal(0, 120, frame.shape),
        "brighter by 60": lambda: frame + 60,
        "half the contrast": lambda: frame / 2 + 64,
    }[how]()
    return encoder.transform(changed[None])[0]


HOW = ["10 % flips", "30 % flips", "noise 60", "noise 120", "brighter by 60", "half the contrast"]
print("cue                code         flipped   error of cue   of recall   locked on")
results = {(how, code): [] for how in HOW for code in ("thermometer", "gray")}
for code in ("thermometer", "gray"):
    for seed in range(5):
        film = draw_film(seed)
        encoder, X, net = learn(film, code, seed)
        stored = encoder.inverse_transform(X)
        rng = np.random.default_rng(seed)
        for how in HOW:
            for _ in range(5):
                cue = corrupted(encoder, film[0], how, rng)
                states = net.recall(cue, steps=T)
                wrong = np.abs(encoder.inverse_transform(states) - stored).mean(axis=(1, 2))
                locked = sa.lock_on_step(states, X) is not None
                results[how, code].append(
                    ((cue != X[0]).mean(), wrong[0], wrong[1:].mean(), locked)
                )
errors = {}
for (how, code), each in results.items():
    flipped, before, after, locked = np.mean(each, axis=0)
    errors[how, code] = before, after
    print(
        f"{how:18} {code:11} {flipped:8.1%} {before:14.1f} {after:11.1f} "
        f"{sum(e[3] for e in each):8d} of {len(each)}"
    )

# %%
# Errors of the cue (light) and of the frames recalled from it (dark).

fig, ax = plt.subplots(figsize=(9, 3), layout="constrained")
for k, (code, color) in enumerate((("thermometer", plots.BLUE), ("gray", plots.ORANGE))):
    places = np.arange(len(HOW)) + 0.4 * k
    for part, alpha, label in ((0, 0.35, f"{code}: cue"), (1, 1.0, f"{code}: recall")):
        heights = [errors[how, code][part] for how in HOW]
        ax.bar(
            places - 0.2 + 0.16 * (part - 0.5),
            heights,
            width=0.16,
            color=color,
            alpha=alpha,
            label=label,
        )
ax.set_xticks(range(len(HOW)), HOW)
ax.set(ylabel="mean error of grey values", title="What a code withstands")
ax.legend(loc="upper left", fontsize="small")
plt.show()
