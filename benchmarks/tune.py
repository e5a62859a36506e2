"""Tune every registered memory by one rule, on sequences that no result is made of.

    python benchmarks/tune.py --measure [NAME ...]  # runs what is missing, writes results and page
    python benchmarks/tune.py --check [NAME ...]    # compares chosen settings with defaults
    python benchmarks/tune.py                       # only writes the page from the results of both

Results are written into the package, the page is docs/tuning_results.inc. --check takes the
sequences of the results.

For each memory a short list of settings, the published or default one first, at most eight and with
at most 500 hidden neurons. Each climbs a ladder of tests, three trials on a rung: random loops of
10, 20, 40 and 80 patterns (N = 100, 10 flips), and loops of 30 patterns of which 1, 2, 4 and 8
occur twice. The climb ends with the second failure on a rung; success is in phase with the cue,
unless the memory dwells. The setting with the most successes is chosen; of equals the first. Once a
setting succeeds in all trials, none can be better, and the others are not tried. The seed is not
that of any other result. Of two memories a trial takes up to a minute: they have four settings at
most, and two rungs.

Trials are cached in tuning.db, in the system's folder for temporary files.
"""

import json
import sys
import tempfile
import warnings
from pathlib import Path

from rst import list_table, named_parts

from seqattractor.networks import REGISTRY
from seqattractor.networks.registry import takes_hidden
from seqattractor.report.page import Table
from seqattractor.study.compare import compare
from seqattractor.study.comparison_trial import make_prototype
from seqattractor.study.tuning import RESULTS, TRIALS, choose, describe_setting, never_failed

PAGE = Path(__file__).parent.parent / "docs" / "tuning_results.inc"
CHECKED = Path(__file__).parent / "tuning_checked.json"
STUDY = Path(tempfile.gettempdir()) / "tuning.db"
LADDERS = {"random": (10, 20, 40, 80), "context": (1, 2, 4, 8)}
MOST = 8
CHECKS = 20
SLOW = ("bcpnn", "innate")
"""Of which a trial takes up to a minute: four settings at most, and two rungs."""
SEED = 29_000

ATTRACTOR = [
    {},
    {"kappa": 0.3},
    {"kappa": 3.0},
    {"kappa": 10.0},
    {"kappa": 3.0, "max_epochs": 2000},
    {"eta": 0.01},
    {"n_hidden": 100},
    {"n_hidden": 250},
]
PERCEPTRON = [
    {},
    *({"kappa": kappa} for kappa in (0.1, 0.3, 3.0, 10.0)),
    {"eta": 0.01},
    {"kappa": 3.0, "max_epochs": 2000},
    {"init_scale": 0.0},
]
CANDIDATES = {
    "attractor": ATTRACTOR,
    "attractor-V": ATTRACTOR,
    "attractor-hebbian": [
        {},
        *({"n_hidden": m} for m in (50, 100, 250)),
        *({"input_threshold": theta} for theta in (5.0, 10.0, 15.0, 20.0)),
    ],
    "attractor-bias": ATTRACTOR,
    "attractor-learned-targets": [
        {},
        {"learned_feedback": 0.005},
        {"learned_feedback": 0.1},
        {"kappa": 0.3},
        {"kappa": 3.0},
        {"kappa": 10.0},
        {"n_hidden": 100},
        {"n_hidden": 250},
    ],
    "sparse": [
        {},
        {"n_winners": 5},
        {"n_winners": 10},
        {"noise": 5},
        {"noise": 20},
        {"kappa": 3.0},
        {"n_hidden": 250},
        {"code": "thresholds"},
    ],
    "hebbian": [{}],
    "slow-synapses": [
        {},
        *({"slow_weight": w} for w in (1.2, 1.5, 2.0, 4.0)),
        *({"slow_steps": tau} for tau in (2, 3, 10)),
    ],
    "pseudo-inverse": [{}],
    "perceptron": PERCEPTRON,
    "perceptron-bias": PERCEPTRON,
    "leaky-perceptron": [
        {},
        {"leak": 0.1},
        {"leak": 0.25},
        {"leak": 0.75},
        {"kappa": 3.0},
        {"kappa": 10.0},
        {"leak": 0.1, "kappa": 3.0},
        {"leak": 0.25, "kappa": 3.0},
    ],
    "predictive": [
        {},
        {"learning_rate": 0.1},
        {"learning_rate": 0.02},
        {"learning_rate": 1.0},
        {"max_epochs": 20},
        {"max_epochs": 100},
        {"learning_rate": 0.1, "max_epochs": 20},
        {"learning_rate": 0.1, "max_epochs": 100},
    ],
    "predictive-2": [
        {},
        {"n_latent": 100},
        {"n_latent": 400},
        {"learning_rate": 0.3},
        {"learning_rate": 3.0},
        {"inference_rate": 0.05},
        {"inference_steps": 20, "inference_rate": 0.05},
        {"query": "offline"},
    ],
    "brea": [
        {"n_hidden": 50},
        {"n_hidden": 0},
        {"n_hidden": 100},
        {"n_hidden": 500},
        {"n_hidden": 0, "eta": 0.01},
        {"n_hidden": 0, "eta": 0.2},
        {"n_hidden": 50, "eta": 0.01},
        {"n_hidden": 50, "init_scale": 1.0},
    ],
    "fiete": [
        {},
        *({"synapses": m} for m in (3.0, 30.0, 50.0)),
        *({"inhibition": b} for b in (0.1, 0.3, 0.9)),
        {"synapses": 50.0, "inhibition": 0.9},
    ],
    "dense": [{}, {"self_overlap": True}],
    "dense-3": [{}, {"self_overlap": True}],
    "dense-auto": [{}, {"self_overlap": True}],
    "dense-exponential": [
        {},
        *({"beta": beta} for beta in (0.1, 0.3, 0.5, 2.0)),
        {"self_overlap": True},
    ],
    "dense-pseudo-inverse": [
        {},
        *({"degree": d} for d in (3, 5)),
        {"self_overlap": True},
        *({"interaction": "exponential", "beta": beta} for beta in (0.1, 0.3, 1.0)),
        {"degree": 3, "self_overlap": True},
    ],
    "modern-hopfield": [
        {},
        *({"beta": beta} for beta in (0.1, 0.3, 0.5, 2.0)),
        {"self_overlap": False},
    ],
    "mixed": [
        {},
        *({"slow_weight": w} for w in (1.5, 4.0)),
        *({"slow_steps": tau} for tau in (3, 10)),
        *({"degree": d} for d in (3, 5)),
        {"interaction": "exponential"},
    ],
    "gillett": [
        {},
        *({"A": A} for A in (0.5, 2.0, 4.0)),
        *({"theta": theta} for theta in (0.0, 0.1)),
        {"theta": 0.0, "A": 2.0},
        {"sigma": 0.3},
    ],
    "gillett-sparse": [
        {},
        *({"A": A} for A in (2.0, 8.0, 14.0)),
        *({"theta": theta} for theta in (0.0, 0.2)),
        *({"q_f": q} for q in (0.5, 0.8)),
    ],
    "gsemm-dense": [
        {},
        *({"a_c": a} for a in (3.0, 8.0)),
        *({"gain": g} for g in (0.5, 2.0)),
        *({"a_s": a} for a in (0.5, 2.0)),
        {"T_d": 10.0},
    ],
    "gsemm-linear": [
        {},
        *({"a_c": a} for a in (0.25, 0.5, 0.8)),
        *({"a_s": a} for a in (2.0, 9.0)),
        {"gain": 5.0},
        {"T_d": 10.0},
    ],
    "eden": [
        {},
        *({"a_s": a} for a in (0.3, 0.7, 0.9)),
        *({"beta": b} for b in (30.0, 300.0)),
        *({"T_d": t} for t in (10.0, 40.0)),
    ],
    "scaffold": [
        {},
        {"n_hidden": 250},
        {"ridge": 10.0},
        {"ridge": 1000.0},
        {"cue": "hebb"},
        {"cue": "pinv"},
        {"code": "relu"},
        {"query": "recalled"},
    ],
    "bcpnn": [{}, {"units_per_hypercolumn": 5}, {"units_per_hypercolumn": 20}, {"g_a": 0.5}],
    "innate": [
        {"n_hidden": 300},
        {"n_hidden": 100},
        {"n_hidden": 300, "g": 1.8},
        {"n_hidden": 300, "noise": 0.1},
    ],
    "pinning": [
        {},
        *({"amplitude": a} for a in (1.0, 4.0, 8.0)),
        *({"g": g} for g in (1.0, 1.8)),
        {"alpha": 10.0},
        {"amplitude": 4.0, "g": 1.0},
    ],
    "one-hot": [{}, *({"tolerance": k} for k in (0, 10, 20, 25, 30))],
    "sdm": [{}, *({"n_active": k} for k in (1, 3, 5, 20, 50)), *({"radius": r} for r in (37, 40))],
    "clone-hmm": [{}, *({"n_clones": c} for c in (2, 5, 20)), {"n_init": 20}],
    "rnn": [
        {"n_hidden": 100},
        {"n_hidden": 50},
        {"n_hidden": 200},
        {"n_hidden": 500},
        {"n_hidden": 100, "noise": 0.2},
        {"n_hidden": 100, "learning_rate": 0.003},
        {"n_hidden": 100, "learning_rate": 0.03},
        {"n_hidden": 100, "forgetting": 0.3},
    ],
    "lookup": [{}],
}
"""For each memory what is tried, the published or default setting first; with 500 hidden neurons
where that says nothing else.
"""


def in_lines(results: dict) -> str:
    """JSON with a line for each network."""
    return (
        "{\n"
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(found)}" for name, found in results.items())
        + "\n}\n"
    )


def main():
    if "--measure" in sys.argv[1:]:
        warnings.simplefilter("ignore")
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        names = [name for name in sys.argv[1:] if not name.startswith("-")] or list(REGISTRY)
        for name in names:
            results[name] = {protocol: tune(name, protocol) for protocol in LADDERS}
            ordered = {each: results[each] for each in REGISTRY if each in results}
            RESULTS.write_text(in_lines(ordered))
            print(
                name,
                *(
                    describe_setting(name, tried[choose(tried)]["parameters"])
                    for tried in results[name].values()
                ),
                sep="; ",
                flush=True,
            )
    if "--check" in sys.argv[1:]:
        warnings.simplefilter("ignore")
        names = [name for name in sys.argv[1:] if not name.startswith("-")] or list(REGISTRY)
        checked = json.loads(CHECKED.read_text()) if CHECKED.exists() else {}
        for name in names:
            checked[name] = check(name, json.loads(RESULTS.read_text())[name]["random"])
            ordered = {each: checked[each] for each in REGISTRY if checked.get(each)}
            CHECKED.write_text(in_lines(ordered))
    PAGE.write_text(page(json.loads(RESULTS.read_text()), json.loads(CHECKED.read_text())))


def tune(name, protocol):
    """What was tried of a memory: for each setting its successes at each rung that it reached."""
    tried = []
    for parameters in CANDIDATES[name]:
        network = prototype(name, parameters, protocol)
        successes = []
        for value in ladder(name, protocol):
            successes.append(climb(protocol, name, network, value))
            if successes[-1] < TRIALS - 1:
                break
        tried.append({"parameters": parameters, "successes": successes})
        if never_failed(tried[-1]):
            break
    return tried


def check(name, tried):
    """Successes of the default and the chosen setting on other sequences, at the longest T that the
    chosen one recalled.
    """
    best = tried[choose(tried)]
    if describe_setting(name, best["parameters"]) == "default":
        return None
    T = LADDERS["random"][max(k for k, successes in enumerate(best["successes"]) if successes)]
    settings = {"default": tried[0]["parameters"], "tuned": best["parameters"]}
    networks = {key: prototype(name, parameters, "random") for key, parameters in settings.items()}
    found = compare("random", networks, values=[T], trials=CHECKS, study=STUDY)
    counts = {
        key: [(row := found.row(key, T))["successes"], round(row["low"], 3), round(row["high"], 3)]
        for key in networks
    }
    return {
        "setting": describe_setting(name, best["parameters"]),
        "T": T,
        "trials": CHECKS,
        **counts,
    }


def prototype(name, parameters, protocol):
    """A memory with a setting, and 500 hidden neurons where that says nothing else."""
    hidden = {"n_hidden": 500} if takes_hidden(name) else {}
    return make_prototype(name, {**hidden, **parameters}, test=protocol)


def ladder(name, protocol):
    """The rungs that a memory may climb."""
    return LADDERS[protocol][:2] if name in SLOW else LADDERS[protocol]


def climb(protocol, name, network, value):
    """The successes on one rung; no trial follows the second failure."""
    for trials in range(2, TRIALS + 1):
        row = compare(
            protocol, {name: network}, values=[value], trials=trials, seed=SEED, study=STUDY
        ).results[0]
        successes = row["successes"] if row["in_phase"] is None else row["in_phase"]
        if trials - successes > 1:
            break
    return successes


def page(results, checked):
    """The tables of docs/rivals.rst: what was tried and chosen, and what that is worth on other
    sequences.
    """
    rows = []
    for name, of_network in results.items():
        for protocol, tried in of_network.items():
            best = choose(tried)
            told = [
                f"{describe_setting(name, each['parameters'])}: {sum(each['successes'])}"
                for each in tried
            ]
            told[best] = f"**{told[best]}**"
            rows.append([name, protocol, "; ".join(told)])
    caption = (
        "Every setting that was tried, with its successes, 12 at most (bcpnn, innate: 6); the "
        "chosen one is bold."
    )
    tables = {"tuning": Table(["memory", "tuned on", "settings and successes"], rows, caption)}
    rows = [
        [
            name,
            str(found["T"]),
            *(
                f"{s} ({100 * low:.0f}–{100 * high:.0f} %)"
                for s, low, high in (found["default"], found["tuned"])
            ),
        ]
        for name, found in checked.items()
    ]
    trials = next(iter(checked.values()))["trials"]
    caption = (
        f"Tuned settings on other sequences: successes of {trials}, in any phase, with 95 % Wilson "
        "intervals."
    )
    tables["checked"] = Table(["memory", "T", "default", "tuned"], rows, caption)
    return named_parts({name: list_table(table) for name, table in tables.items()})


if __name__ == "__main__":
    main()
