"""
What theory allows
==================

How near do learned networks come to what any weights could do? Lines are theory, from
`seqattractor.theory`; points are measured.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

import seqattractor as sa
from seqattractor import theory

warnings.simplefilter("ignore", ConvergenceWarning)  # some of these networks are meant to fail

# %%
# The margin of a neuron
# ----------------------
# A neuron with weights w stores a pattern with margin kappa if its field, in the right direction,
# is at least kappa ``|w|``. Gardner's theory gives the largest margin that is left at a load, the
# number of patterns for each input; half of that load if the sign of every synapse is prescribed;
# and a load for each *synapse* if only some exist. Here are neurons of networks without hidden
# neurons, N = 100, that have learned a random sequence. The support vector machine has the largest
# margin there is. Points are means over the neurons that make their transitions.

N = 100
loads = np.array([0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2])


def margin(weights, X):
    """The mean over neurons, of those with all their transitions right; nan if these are few."""
    fields = (X[1:] * (X[:-1] @ weights.T)).min(axis=0) / np.linalg.norm(weights, axis=1)
    return fields[fields > 0].mean() if (fields > 0).mean() >= 0.5 else np.nan


def best(X):
    """Weights of the largest margin, of the first ten neurons."""
    machine = SVC(kernel="linear", C=1e6)
    # A pattern and its opposite: then the machine needs no threshold, as the networks have none.
    both = np.vstack([X[:-1], -X[:-1]])
    weights = [machine.fit(both, np.r_[y, -y]).coef_[0] for y in X[1:, :10].T]
    return np.array(weights)


half = [sa.constraints.Dilution(0.5)]
kinds = {
    "the paper's rule": {},
    "with Dale's law": {"constraints": [sa.constraints.Dale(0.5)], "max_epochs": 3000},
    "with half of the synapses": {"constraints": half, "max_epochs": 3000},
}
measured = {name: [] for name in (*kinds, "support vector machine")}
for load in loads:
    X = sa.datasets.random_periodic(1 + round(load * N), N, rng=1).patterns.astype(float)
    for name, options in kinds.items():
        if options and load > 0.8:  # beyond half of the load
            measured[name].append(np.nan)
            continue
        net = sa.VisibleNetwork(random_state=0, **options).fit(X.astype(np.int8))
        measured[name].append(margin(net.W_, X))
    W = best(X)
    fields = (X[1:, :10] * (X[:-1] @ W.T)).min(axis=0) / np.linalg.norm(W, axis=1)
    measured["support vector machine"].append(fields.mean())

fig, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
x = np.linspace(0.05, 2, 100)
for share, name, color in (
    (1, "Gardner 1988: any weights", "C0"),
    (0.5, "half of it: signs prescribed, or half of the synapses", "C1"),
):
    ax.plot(x, [theory.largest_margin(load / share) for load in x], color=color, label=name)
for (name, values), marker in zip(measured.items(), "oDs^", strict=True):
    halved = name.startswith("with ")
    ax.plot(loads, values, marker, color="C1" if halved else "C0", label=name)
ax.set(xlabel="load, patterns for each input", ylabel="margin", ylim=(0, 3))
ax.legend(loc="upper right")
plt.show()

# %%
# Hebbian sequences
# -----------------
# W = sum x(t+1) x(t)^T stays on a long sequence up to 0.269 patterns for each neuron, with some
# units wrong; beyond that it is lost. The dots are networks of 1000 neurons after three rounds of
# the loop, the line is theory for infinitely many.

sizes = np.array([0.05, 0.1, 0.15, 0.2, 0.24, 0.26, 0.28, 0.3, 0.34])
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
x = np.append(np.linspace(0.01, theory.hebbian_sequences(), 80), [0.27, 0.36])
ax.plot(x, [theory.hebbian_overlap(load) for load in x], color="C0", label="theory")
for seed in range(3):
    ends = []
    for load in sizes:
        X = sa.datasets.random_periodic(1 + round(load * 1000), 1000, rng=seed).patterns
        net = sa.zoo.HebbianMemory().fit(X)
        path = net.recall(X[0], steps=3 * (len(X) - 1))
        ends.append(np.mean(path[-1] * X[0]))
    ax.plot(sizes, ends, "o", color="C1", label=None if seed else "N = 1000")
ax.axvline(theory.hebbian_sequences(), color="grey", linestyle=":")
ax.set(xlabel="load, patterns for each neuron", ylabel="overlap with what is due")
ax.legend(loc="upper right")
plt.show()

# %%
# On plots of capacities
# ----------------------
# `measure_capacity` draws what theory says of the networks that it measures; `sa.theory.limits`
# returns it with its assumptions. No line says how long a sequence the paper's rule learns: nobody
# knows a theory of that.

found = sa.measure_capacity(
    ["attractor", "perceptron", "hebbian"], n=[25, 50, 100], m=100, flips="4%", max_trials=60
)
fig, ax = plt.subplots(figsize=(8.4, 4), layout="constrained")
found.plot(ax=ax)
for limit in found.groups[0][0].limits:
    print(limit.describe())
plt.show()

# sphinx_gallery_thumbnail_number = 1
