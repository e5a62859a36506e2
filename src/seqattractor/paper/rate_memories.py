"""Neighbours: Hebbian sequences of rates, episodic memories with a delayed signal, and EDEN."""

from seqattractor.paper.neighbours import Check, Neighbour, Panel

_PATTERNS = 8

GILLETT = Neighbour(
    name="gillett",
    title="Hebbian sequences of rate neurons",
    network="gillett",
    source="M. Gillett, U. Pereira, N. Brunel 2020",
    trial="trials.rate_memories:run_gillett",
    about="Rate neurons with temporally asymmetric Hebbian weights pass through a sequence of normal patterns, about one per "
    "time constant. The mean field says how large the overlaps are, and up to which load P / K the sequence is passed "
    "through. How much is left at the end is the correlation of the rates with the last pattern but one.",
    not_verified="that recall ends at the capacity itself: with a few thousand neurons it already fades at 0.6 to 0.8 of it, so "
    "that only loads well below and above are compared. The published network has 40,000 neurons.",
    panels=(
        Panel(
            "One pattern after the other",
            "time in ms",
            "overlap with each pattern",
            {**{f"theory {k}": "mean field" for k in range(_PATTERNS)}, **{f"overlap {k}": "network" for k in range(_PATTERNS)}},
            theory=tuple(f"theory {k}" for k in range(_PATTERNS)),
        ),
        Panel(
            "How much reaches the end",
            "load / capacity of the theory",
            "correlation at the end",
            {"end": "network", "capacity": "capacity"},
            theory=("capacity",),
            points=True,
        ),
    ),
    checks=(
        Check("alpha", "capacity at theta = .22, sigma = .1", 0.473, "the authors' theory, solved apart from this code", 0.001),
        Check("in_order", "peaks that come after the one before", 1.0, "that patterns are passed in order"),
        Check("pace", "time from peak to peak, in tau", (0.5, 1.5), "about one pattern per time constant"),
        Check("deviation", "largest deviation from the mean field, times sqrt(N)", (0.0, 4.0), "fluctuations of order 1"),
        Check("below", "correlation at the end, at the smallest load", (0.1, 1.0), "recall below capacity"),
        Check("above", "correlation at the end, at the largest load", (None, 0.1), "none above capacity"),
    ),
    size={"N": 2000, "patterns": _PATTERNS, "large_N": 4000, "inputs": 100, "loads": [0.3, 0.5, 0.7, 1.0, 1.5], "networks": 2},
    quick={"N": 1500, "large_N": 2500, "loads": [0.3, 1.5], "networks": 1},
    full={"N": 4000, "large_N": 20_000, "inputs": 200, "loads": [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5]},
    averaged=True,
)

GSEMM = Neighbour(
    name="gsemm",
    title="Episodic memories with a delayed signal",
    network="gsemm-dense",
    source="A. Karuvally, T. Sejnowski, H. Siegelmann 2023",
    trial="trials.rate_memories:run_gsemm",
    about="Two cycles, of three and of four memories, are stored in one network. From a cue whose last quarter is erased, the "
    "network stays at each memory of the cue's own cycle until a slow signal calls the next one.",
    not_verified="the article's own figures; the experiment and its parameters are those of the authors' notebook. The article "
    "names a polynomial where the notebook, and we, have a softmax.",
    panels=tuple(
        Panel(
            f"Cue from the cycle of {length}",
            "time in T_f",
            "overlap with each memory",
            {
                **{f"cue {length}, other {k}": "other cycle" for k in others},
                **{f"cue {length}, memory {k}": f"memory {k + 1}" for k in range(length)},
            },
            theory=tuple(f"cue {length}, other {k}" for k in others),
        )
        for length, others in ((3, range(3, 7)), (4, range(3)))
    ),
    checks=(
        Check("in_order", "cues from which only their own cycle is visited, in order", 1.0, "the authors' notebook"),
        Check("rounds", "rounds in that time, of the slower cycle", (2.0, None), "that the cycle goes on"),
        Check(
            "rise", "largest rise of the energy while the signal stands still, as a share of its fall", (None, 1e-9), "derived"
        ),
    ),
    size={"N": 100, "duration": 60.0, "networks": 5},
    quick={"networks": 2},
    full={"duration": 150.0, "networks": 20},
)

EDEN = Neighbour(
    name="eden",
    title="EDEN: how long a pattern is held",
    network="eden",
    source="A. Karuvally, P. Lertsaroj, T. Sejnowski, H. Siegelmann 2025",
    trial="trials.rate_memories:run_eden",
    about="A slow signal moves the energy landscape until the pattern is left for the next one. For how long it is held "
    "depends on r, how strongly a pattern holds itself compared with how strongly it calls the next.",
    not_verified="the published figures. The law T_d ln(1 / (1 - sqrt(r))) was derived from the authors' ansatz; the passage to "
    "the next pattern, one or two T_f, comes on top. Their capacity, exponential in N, was not measured.",
    panels=(
        Panel(
            "Time at each pattern",
            "r = a_s / a_c",
            "time in T_f",
            {"stay": "network", "law": "law"},
            theory=("law",),
            points=True,
        ),
    ),
    checks=(
        Check("least", "what the stay exceeds the law by, at least, in T_f", (0.0, None), "derived from the authors' ansatz"),
        Check("most", "what the stay exceeds the law by, at most, in T_f", (None, 2.5), "derived, and the passage"),
    ),
    size={"N": 1000, "r": [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], "networks": 2},
    quick={"N": 400, "r": [0.3, 0.5, 0.7], "networks": 1},
    full={"N": 4000, "r": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], "networks": 5},
    averaged=True,
)
