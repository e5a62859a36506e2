"""Neighbours: scaffolds, sparse distributed memory, and hidden Markov models with clones."""

from seqattractor.paper.neighbours import Check, Neighbour, Panel

_PROTOTYPE = "a first prototype of ours, written apart from this code"

SCAFFOLD = Neighbour(
    name="scaffold",
    title="Scaffolds",
    network="scaffold",
    source="S. Sharma, S. Chandra, I. Fiete 2022 (MESH); S. Chandra et al. 2025 (Vector-HaSH)",
    trial="trials.yardsticks:run_scaffold",
    about="Patterns hang on labels that step on by themselves. Reading them off is exact as long as there are no more patterns "
    "than hidden neurons, M = 500; finding the label of a noisy cue is what limits recall where there are more patterns than "
    "units, N = 100. With few patterns more than M most are still read out; at T = 700 hardly any is. At "
    "T = N a pseudo-inverse is at its worst.",
    not_verified="the published figures, which are for as many units as states and two-dimensional modules; the grey lines of "
    "the second panel are a first prototype of ours.",
    panels=(
        Panel("Reading out", "patterns T", "patterns read out exactly", {"exact": "network", "M": "T = M"}, theory=("M",)),
        Panel(
            "Finding the place of a cue with 10 flips",
            "patterns T",
            "cues whose label is found",
            {
                "prototype pinv": "prototype, pseudo-inverse",
                "found pinv": "pseudo-inverse",
                "prototype ridge": "prototype, ridge",
                "found ridge": "ridge regression",
            },
            theory=("prototype pinv", "prototype ridge"),
            log="x",
        ),
    ),
    checks=(
        Check("up_to_M", "patterns read out exactly up to T = M, at least", 1.0, "derived: a pseudo-inverse of M codes is exact"),
        Check("beyond", "patterns read out exactly at T = 700", (0.0, 0.05), _PROTOTYPE, kind="prototype"),
        Check("deviation", "mean deviation of the labels found", (0.0, 0.05), _PROTOTYPE, kind="prototype"),
    ),
    size={"T": [70, 100, 150, 200, 300, 500, 700], "just_beyond": [520, 550, 600], "networks": 3},
    quick={"T": [70, 100, 300, 500, 700], "just_beyond": [550], "networks": 1},
    full={"networks": 20},
    averaged=True,
)

SDM = Neighbour(
    name="sdm",
    title="Sparse distributed memory",
    network="sdm",
    source="P. Kanerva 1988",
    trial="trials.yardsticks:run_sdm",
    about="The paper's architecture with fixed random addresses and Hebbian weights, N = 100 and M = 500: the lower yardstick "
    "for what learning is worth.",
    not_verified="the formulas, which are from general knowledge of the book, and any published number; the grey lines are a "
    "first prototype of ours.",
    panels=(
        Panel(
            "What is stored",
            "patterns T",
            "fraction",
            {
                "prototype steps": "prototype, transitions",
                "steps": "exact transitions",
                "prototype basin": "prototype, cues",
                "basin": "cues with 10 flips, right 25 steps on",
            },
            theory=("prototype steps", "prototype basin"),
        ),
    ),
    checks=(
        Check("steps", "exact transitions beyond those of the prototype", 0.0, _PROTOTYPE, 0.05, kind="prototype"),
        Check("basin", "right cues beyond those of the prototype", 0.0, _PROTOTYPE, 0.06, kind="prototype"),
    ),
    size={"T": [20, 30, 50, 70], "cues": 100, "networks": 20},
    quick={"cues": 50, "networks": 5},
    full={"cues": 500, "networks": 100},
    averaged=True,
)

CLONE_HMM = Neighbour(
    name="clone-hmm",
    title="Hidden Markov models with clones",
    network="clone-hmm",
    source="D. George et al. 2021",
    trial="trials.yardsticks:run_clones",
    about="A random walk over few patterns, so that each comes several times with different successors. With clones of each "
    "pattern a hidden Markov model learns which time it is; without, it can only tell the most frequent successor.",
    not_verified="the published experiments, which are walks through rooms with actions.",
    panels=(
        Panel(
            "Repeated patterns",
            "clones of each pattern",
            "transitions predicted",
            {"predicted": "model", "bound": "most frequent successor"},
            theory=("bound",),
            log="x",
        ),
    ),
    checks=(
        Check("one", "predicted with one clone beyond the most frequent successor", 0.0, "derived", 1e-9),
        Check("most", "predicted with the most clones", (0.95, 1.0), "as many clones as places are enough"),
    ),
    size={"patterns": 10, "T": 40, "clones": [1, 2, 3, 5, 10], "networks": 10},
    quick={"clones": [1, 3, 10], "networks": 3},
    full={"patterns": 20, "T": 150, "clones": [1, 2, 3, 5, 10, 20], "networks": 20},
    averaged=True,
)
