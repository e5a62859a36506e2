"""Neighbours: spike timing with competing synapses, and stochastic neurons of which some are hidden."""

from seqattractor.paper.neighbours import Check, Neighbour, Panel

FIETE = Neighbour(
    name="fiete",
    title="Chains that organise themselves",
    network="fiete",
    source="I. Fiete, W. Senn, C. Wang, R. Hahnloser 2010",
    trial="trials.local_memories:run_fiete",
    about="Neurons that fire by chance, spike timing, and synapses that compete: the weights become closed chains of single "
    "neurons. By the published law a network has 1 / l chains of length l, as a random permutation does.",
    not_verified="the original equations; ours are those of a later program. Chains of two neurons do not come about here, "
    "though the law has one in every second network: two neurons that call each other grow and shrink by turns. As about a "
    "tenth of the neurons is in no chain, the other lengths meet the law only roughly: in 80 networks of 20 neurons, chains of "
    "11 and more were 0.2 per network fewer than it says (of 0.67), and those of 3 to 10 were 0.26 more (of 1.43). That it "
    "does not depend on time constants was not tested.",
    panels=(
        Panel(
            "Closed chains",
            "length l",
            "chains of this length per network",
            {"counted": "network", "law": "1 / l"},
            theory=("law",),
            log="x",
            points=True,
        ),
    ),
    checks=(
        Check("in_cycles", "neurons in closed chains", (0.7, 1.0), "that weights become close to permutations"),
        Check("middle", "chains of 3 to 10 neurons beyond 1 / l, per network", 0.0, "the published law", 0.1, kind="published"),
        Check("long", "chains of 11 and more neurons beyond 1 / l, per network", 0.0, "the published law", 0.1, kind="published"),
        Check("pairs", "chains of 2 neurons beyond 1 / l, per network", 0.0, "the published law", 0.1, kind="published"),
    ),
    size={"neurons": 30, "steps": 10_000, "each": 4, "bins": [2, 3, 4, 6, 9, 14, 21], "networks": 12},
    quick={"neurons": 20, "steps": 6000, "each": 4, "bins": [2, 3, 4, 6, 9, 14], "networks": 5},
    full={"neurons": 60, "steps": 40_000, "bins": [2, 3, 4, 6, 9, 14, 21, 31, 45], "networks": 20},
    averaged=True,
)

BREA = Neighbour(
    name="brea",
    title="Stochastic neurons, visible and hidden",
    network="brea",
    source="J. Brea, W. Senn, J.-P. Pfister 2013",
    trial="trials.local_memories:run_brea",
    about="A sequence in which one pattern has three different successors, A B A C A D. What comes next is not in the visible "
    "neurons: hidden ones must keep it, and learn to by a local rule with one factor for all.",
    not_verified="formulas and figures: only the abstract was at hand. Sizes are ours.",
    panels=(
        Panel(
            "A pattern with three successors",
            "presentations",
            "transitions that are right",
            {
                "learned": "hidden neurons learn",
                "fixed": "hidden neurons stay as drawn",
                "none": "no hidden neurons",
                "bound": "at most without hidden neurons",
            },
            theory=("bound",),
        ),
        Panel(
            "How unlikely the sequence is",
            "presentations",
            "-ln p per neuron and step",
            {
                "loss learned": "hidden neurons learn",
                "loss fixed": "hidden neurons stay as drawn",
                "loss none": "no hidden neurons",
            },
            log="y",
        ),
    ),
    checks=(
        Check("learned", "transitions right with hidden neurons that learn", (0.9, 1.0), "that the sequence is learned"),
        Check("none", "transitions right without hidden neurons", (None, 0.6), "derived: A can call only one of three"),
        Check("gain", "what learning of hidden neurons saves, -ln p per neuron and step", (0.0, None), "the abstract's claim"),
    ),
    size={"N": 12, "hidden": 20, "presentations": 400, "points": 20, "networks": 6},
    quick={"presentations": 400, "points": 10, "networks": 3},
    full={"N": 30, "hidden": 30, "presentations": 5000, "points": 50, "networks": 20},
    averaged=True,
)
