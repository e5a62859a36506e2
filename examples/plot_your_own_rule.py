"""
Your own network and your own rule
==================================

A new memory needs two methods: how it learns, and what comes after a state. It then has ``recall``,
``score`` and ``save``, and takes part in comparisons beside the others. A new learning rule needs
one method.
"""

import numpy as np

import seqattractor as sa

# %%
# A network of your own
# --------------------- Hidden neurons with fixed random weights, and ridge regression from their
# activity to the next pattern.


class RandomFeatures(sa.SequenceMemory):
    """Random hidden neurons, and a linear readout of the next pattern."""

    def __init__(self, n_hidden=500, ridge=1.0, random_state=None):
        self.n_hidden, self.ridge, self.random_state = n_hidden, ridge, random_state

    def fit_transitions(self, transitions, callback=None):
        rng = np.random.default_rng(self.random_state)
        self.U_ = rng.standard_normal((self.n_hidden, transitions.inputs.shape[1]))
        y = np.sign(
            transitions.inputs @ self.U_.T
        )  # inputs and targets, (n, N) each: patterns and their successors
        self.V_ = np.linalg.solve(
            y.T @ y + self.ridge * np.eye(self.n_hidden), y.T @ transitions.targets
        ).T

    def next_patterns(self, states, memory=None):  # (B, N) -> (B, N)
        return np.where(np.sign(states @ self.U_.T) @ self.V_.T >= 0, 1, -1).astype(np.int8)

    def traits(self):  # what is fair to know beside its results
        return sa.networks.Traits(
            weights=("U_", "V_"), stores_patterns=False, online=False, local=False
        )


# %%
# A rule of your own
# ------------------
# It says how far each neuron learns, given its margin: its target times its field, in units of
# kappa. The paper's rule has 1 up to a margin of 1 and 0 beyond it. This one becomes smaller before
# it ends, and the synapses fade a little, too.


class SoftMargin(sa.rules.Rule):
    """Steps that become smaller from half of the margin on."""

    def step(self, margin, rng):
        return np.clip(1.5 - margin, 0, 1)


fading = sa.SequenceAttractor(
    500, rule=SoftMargin(), constraints=[sa.constraints.Decay(1e-5)], max_epochs=100
)

# %%
# Both beside the others
# ----------------------
# On the command line: ``seqattractor compare --use plot_your_own_rule.py``.

if __name__ == "__main__":
    networks = {
        "RandomFeatures": RandomFeatures(),
        "fading": fading,
        "attractor": sa.SequenceAttractor(500),
        "dense": sa.zoo.DenseSequenceMemory(),
    }
    comparison = sa.compare("random", networks, values=[20, 40, 60, 80], trials=5)
    lengths = comparison.settings["values"]
    for name in networks:
        print(
            f"{name:15}",
            *(f"{comparison.row(name, T)['successes']}/5 at T={T}" for T in lengths),
            sep="  ",
        )
    print(comparison.describe())

    import matplotlib.pyplot as plt

    from seqattractor import plots

    with plots.style():
        figure, ax = plt.subplots(figsize=(6, 3.4))
        comparison.plot(ax)
