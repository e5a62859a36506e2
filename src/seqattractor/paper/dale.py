"""Neighbour: sequences of excitatory and inhibitory neurons, trained by backpropagation."""

from seqattractor.paper.neighbours import Check, Neighbour, Panel

DALE = Neighbour(
    name="rajakumar",
    title="Excitation and inhibition, trained by backpropagation",
    source="A. Rajakumar, J. Rinzel, Z. Chen 2021",
    trial="trials.dale:run_dale",
    about="Rate neurons that obey Dale's law, four of five of them excitatory, learn to be active one after the other when an "
    "input pulse sets them off. The error goes backwards through time, which no synapse could do.",
    not_verified="all formulas and sizes: only the abstract was at hand. It says that the sequence tolerates other inputs, and "
    "that it repeats when the network runs on; the figure shows the latter for three times the trained time.",
    panels=(
        Panel(
            "Five neurons after the pulse",
            "steps (trained up to where wanted ends)",
            "rate",
            {**{f"wanted {k}": "wanted" for k in range(5)}, **{f"unit {k}": "network" for k in range(5)}},
            theory=tuple(f"wanted {k}" for k in range(5)),
        ),
        Panel("Learning", "iteration", "mean squared error", {"loss": "loss"}, log="y"),
    ),
    checks=(
        Check("explained", "variance explained after training", (0.8, 1.0), "that the sequence is learned"),
        Check("other_pulses", "the same with a weaker (0.7) or stronger (1.5) pulse", (0.5, 1.0), "tolerance of other inputs"),
        Check("dale", "every neuron only excites or only inhibits", 1.0, "Dale's law"),
    ),
    size={"neurons": 40, "steps": 60, "iterations": 1500, "networks": 2},
    quick={"iterations": 700, "networks": 1},
    full={"neurons": 100, "steps": 120, "iterations": 3000},
)
