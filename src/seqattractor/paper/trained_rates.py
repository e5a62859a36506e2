"""Neighbours: BCPNN, innate training and PINning."""

from seqattractor.paper.neighbours import Check, Neighbour, Panel

BCPNN = Neighbour(
    name="bcpnn",
    title="BCPNN as a network of rates",
    network="bcpnn",
    source="P. Tully, H. Linden, M. Hennig, A. Lansner 2016; rate version after R. Martinez Mayorquin",
    trial="trials.trained_rates:run_bcpnn",
    about="Columns with adaptation hold each pattern for a while and then go on to the next. For how long follows from the "
    "weights, the strength of adaptation and two time constants.",
    not_verified="the full spiking network, which is not built here.",
    panels=(
        Panel(
            "How long a pattern is held",
            "strength of adaptation g_a",
            "time in ms",
            {"held": "network", "theory": "theory"},
            theory=("theory",),
            points=True,
        ),
    ),
    checks=(
        Check(
            "deviation",
            "largest deviation of persistence times from theory",
            (0.0, 0.02),
            "the published formula",
            kind="published",
        ),
        Check("in_order", "fraction of runs in order", 1.0, "what the model is for"),
    ),
    size={"patterns": 10, "g_a": [0.7, 0.8, 1.0, 1.3, 1.6, 2.0], "dt": 0.1},
    quick={"g_a": [0.8, 1.5], "dt": 0.25},
    full={"g_a": [0.65, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5], "dt": 0.05},
)

INNATE = Neighbour(
    name="innate",
    title="Innate training",
    network="innate",
    source="R. Laje, D. Buonomano 2013, as replicated by J. Vitay 2016",
    trial="trials.trained_rates:run_innate_timing",
    about="A chaotic network learns to come back to the path that it once took by itself. A read-out that should give a pulse "
    "at a certain time then does so even if the network is jolted on the way.",
    not_verified="R^2 at our smaller size; the published network has 800 neurons, which --full takes.",
    panels=(
        Panel(
            "Output after a jolt",
            "time after the cue in ms",
            "output",
            {"wanted": "wanted", "before": "before training", "after": "after training"},
            theory=("wanted",),
        ),
    ),
    checks=(
        Check("after", "R^2 of the output after training", (0.5, 1.0), "near 1 up to 4 s with 800 neurons, in the replication"),
        Check("gain", "what training adds to R^2", (0.1, None), "that training tames chaos"),
    ),
    size={"neurons": 400, "window": 800, "g": 1.8, "trials": 30, "networks": 3},
    quick={"neurons": 300, "window": 400, "networks": 2},
    full={"neurons": 800, "window": 2000},
)

PINNING = Neighbour(
    name="pinning",
    title="PINning: training a part of the network",
    network="pinning",
    source="K. Rajan, C. Harvey, D. Tank 2016",
    trial="trials.trained_rates:run_pinning_on_bumps",
    about="Units should be active one after the other. Only the outgoing weights of a fraction p of the neurons learn, while the "
    "network runs by itself with frozen noise as its input.",
    not_verified="the published numbers (p of about 8 % suffices at N = 500, bVar of about .92) are from general knowledge; "
    "what is shown here is pVar, at a smaller N unless --full is given.",
    panels=(
        Panel(
            "Variance that is explained", "fraction of trained neurons p", "pVar", {"explained": "network"}, log="x", points=True
        ),
        Panel(
            "Five units at the largest p",
            "time in ms",
            "rate",
            {**{f"wanted {k}": "wanted" for k in range(5)}, **{f"unit {k}": "network" for k in range(5)}},
            theory=tuple(f"wanted {k}" for k in range(5)),
        ),
    ),
    checks=(
        Check("all", "pVar at the largest p", (0.85, 1.0), "about .85 for recorded data at p = 12 % (not verified)"),
        Check("few", "pVar at the smallest p", (None, 0.85), "too few neurons cannot make the sequence"),
    ),
    size={"N": 100, "duration": 2000, "width": 100.0, "fractions": [0.01, 0.03, 0.08, 0.2, 0.5], "passes": 30, "networks": 2},
    quick={"N": 50, "duration": 800, "width": 60.0, "fractions": [0.02, 0.3], "passes": 15, "networks": 1},
    full={"N": 500, "duration": 10500, "width": 300.0, "fractions": [0.01, 0.04, 0.08, 0.12, 0.3], "passes": 100, "networks": 1},
)
