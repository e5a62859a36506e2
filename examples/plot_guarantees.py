"""
Margin, proof and measurement
=============================

How robust is a stored sequence, and what does the margin kappa have to do with it? The same network
is trained with different kappa, and each time its robustness is proven (certificate), attacked
(chosen flips) and measured (random flips).
"""

import matplotlib.pyplot as plt
import numpy as np

import seqattractor as sa
from seqattractor import plots

X = sa.datasets.random_periodic(20, 60, rng=0)
kappas = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0]
nets = [
    sa.SequenceAttractor(n_hidden=150, kappa=kappa, max_epochs=3000, random_state=0).fit(X)
    for kappa in kappas
]
certificates = [sa.certify(net, X) for net in nets]
curves = [sa.robustness_curve(net, X, flips=np.arange(25), trials=500, rng=0) for net in nets]
print(certificates[-1].describe())

# %% Left: every transition of every network. A larger kappa gives larger margins, and these make
# more flips provably harmless. Right: the least number over all transitions that is proven, the
# fewest chosen flips that break one, and the number of random flips that half of the trials
# survive. Random flips are far more harmless than chosen ones; both grow with kappa and level off
# once the margin is large beside what one step of learning adds.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for kappa, certificate in zip(kappas, certificates, strict=True):
    spread = np.linspace(
        -0.25, 0.25, len(certificate.radius)
    )  # points of equal height side by side
    left.scatter(
        certificate.margin, certificate.radius + spread, s=12, alpha=0.7, label=f"kappa = {kappa:g}"
    )
left.set(xlabel="smallest visible margin, of the sum of the weights", ylabel="flips, proven")
left.grid(visible=True)
left.legend(loc="upper left")
right.semilogx(
    kappas,
    [c.theorem_4.min() for c in certificates],
    "--",
    color=plots.GREY,
    label="Theorem 4 alone",
)
right.semilogx(
    kappas,
    [c.radius.min() for c in certificates],
    "o-",
    color=plots.BLUE,
    label="proven, any flips",
)
right.semilogx(
    kappas,
    [c.breaking.min() for c in certificates],
    "v-",
    color=plots.RED,
    label="chosen flips break it",
)
right.semilogx(
    kappas, [c.half for c in curves], "s-", color=plots.GREEN, label="random flips: half survive"
)
right.set(xlabel="kappa", ylabel="flipped units of 60")
right.grid(visible=True)
right.legend(loc="upper left")

# %% One of the networks in detail: what is proven, attacked and measured at every transition, and
# for random flips.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
plots.certificate_profile(certificates[-2], ax=left)
plots.robustness_with_certificate(curves[-2], certificates[-2], ax=right)

# %% Where do random starts go? Besides the stored loop there is its mirror image: a network without
# biases does the same with all signs inverted. In the plane of the first two principal components
# the cues fall onto the loop.

attractors = sa.find_attractors(nets[-2], X, starts=200, rng=0)
print(attractors.describe())
paths = [nets[-2].recall(sa.noise.flip(X[t], 12, rng=t), steps=20) for t in (0, 7, 14)]
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
plots.attractor_bars(attractors, ax=left)
plots.state_space([X], paths, ax=right)
plt.show()
