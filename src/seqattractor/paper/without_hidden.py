"""Neighbours without hidden neurons: longest orbits, slow synapses, and neurons that sum their inputs with a leak."""

from seqattractor.paper.neighbours import Check, Neighbour, Panel

ORBITS = Neighbour(
    name="orbits",
    title="The longest orbits without hidden neurons",
    network="perceptron",
    source="S. Muscinelli, W. Gerstner, J. Brea 2017",
    trial="trials.without_hidden:run_orbits",
    about="For every N, a network of N neurons without hidden ones can go through all 2^N states in one loop. Such a loop is "
    "found by search, with exact arithmetic at every step; the perceptron then learns it, and every state leads into it.",
    not_verified="the authors' construction for every N, which was not at hand; the search ends at N = 4.",
    panels=(
        Panel("Period of the loop", "neurons N", "steps", {"period": "found", "law": "2^N"}, theory=("law",), points=True),
        Panel("Beginnings that were tried", "neurons N", "nodes of the search", {"nodes": "search"}, points=True),
    ),
    checks=(
        Check("ratio", "period of the longest attractor, in units of 2^N", 1.0, "the published theorem", kind="published"),
        Check("share", "states from which it is reached", 1.0, "derived: all of them are on it"),
    ),
    size={"units": [2, 3, 4]},
)

DWELLING = Neighbour(
    name="dwelling",
    title="Slow synapses: how long a pattern is held",
    network="slow-synapses",
    source="D. Kleinfeld 1986; H. Sompolinsky, I. Kanter 1986",
    trial="trials.without_hidden:run_dwelling",
    about="Fast synapses hold a pattern, slow ones call the next. Where slow synapses average over the last tau steps, as here, "
    "a pattern is held for floor(tau (1 + 1 / lambda) / 2) + 1 steps, if patterns are orthogonal.",
    not_verified="the published times: they are for averages that fade exponentially, with the law "
    "-tau ln(1 - 1 / sqrt(lambda)), which does not hold for the average over a box that the network takes.",
    panels=(
        Panel(
            "Steps at each pattern",
            "strength of slow synapses, lambda",
            "steps",
            {
                "box": "law of the box average",
                "orthogonal": "orthogonal patterns",
                "exponential": "law of a fading average (not this network)",
                "random": "random patterns",
            },
            theory=("box", "exponential"),
            points=True,
        ),
    ),
    checks=(
        Check("deviation", "largest deviation with orthogonal patterns, in steps", 0.0, "derived from the fields"),
        Check("random", "mean relative deviation with random patterns", (0.0, 0.15), "crosstalk of order 1 / sqrt(N)"),
    ),
    # At lambda for which tau (1 + 1 / lambda) / 2 is whole, fields are zero.
    size={"N": 1000, "slow_steps": 21, "strengths": [1.2, 1.45, 1.6, 1.9, 2.3, 2.7, 3.3, 3.9, 4.7, 5.7]},
    quick={"N": 400, "strengths": [1.2, 1.6, 2.3, 3.9]},
    full={"N": 4000, "networks": 10},
    averaged=True,
)

LEAKY_PERCEPTRON = Neighbour(
    name="leaky-perceptron",
    title="Neurons that sum their inputs",
    network="leaky-perceptron",
    source="P. Bressloff, J. Taylor 1992",
    trial="trials.without_hidden:run_leaky",
    about="In random sequences some patterns come twice, with different successors, which no network can make that only sees the "
    "last pattern. Neurons that sum past inputs with a leak can, without the delay lines of a second past pattern.",
    not_verified="the published text, which was not at hand; sizes are ours. With one repeated pattern weights exist for any "
    "leak above 0; that they are not found with the smallest ones is a matter of the limit to epochs.",
    panels=(
        Panel(
            "Sequences with repeated patterns",
            "leak gamma",
            "sequences that are stored",
            {
                "order 1": "two past patterns",
                "order 5": "two past patterns",
                "leak 1": "one repeated pattern",
                "leak 5": "five repeated patterns",
            },
            theory=("order 1", "order 5"),
        ),
    ),
    checks=(
        Check("without", "stored without a leak", 0.0, "derived: a state calls one successor"),
        Check("one", "stored with one repeated pattern and a leak of .2 to .6", 1.0, "derived: weights always exist"),
        Check("order", "stored with two past patterns instead of a leak", 1.0, "derived: linearly independent pairs"),
    ),
    size={"N": 40, "T": 24, "repeats": [1, 5], "leaks": [0.0, 0.1, 0.3, 0.5, 0.7, 0.9], "epochs": 1000, "networks": 8},
    quick={"leaks": [0.0, 0.5, 0.9], "networks": 3},
    full={"leaks": [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95], "epochs": 20_000, "networks": 50},
    averaged=True,
)
