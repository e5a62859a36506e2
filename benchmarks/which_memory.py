"""The decision table of docs/which_memory.rst: every network on the protocols of `seqattractor
compare`, few trials of each.

    python benchmarks/which_memory.py --measure           # runs what is missing, writes the page
    python benchmarks/which_memory.py --measure NAME ...  # for these networks; the others stay
    python benchmarks/which_memory.py                     # only writes the page from what was kept

All that is missing takes about ten minutes. The page is docs/which_memory_results.inc. Trials are
kept in which_memory.db, in the system's folder for temporary files, as they finish: the first
command goes on where it was stopped.
"""

import json
import sys
import tempfile
import warnings
from pathlib import Path

from rst import list_table, named_parts

from seqattractor.report.page import Table
from seqattractor.study.compare import choose_networks, compare

HERE = Path(__file__).parent
KEPT = HERE / "which_memory.json"
PAGE = HERE.parent / "docs" / "which_memory_results.inc"
STUDY = Path(tempfile.gettempdir()) / "which_memory.db"

CASES = {
    "random": ((20, 50, 100), 3, "a long sequence", "T = {}"),
    "noise": ((0, 10, 30), 3, "recall from a poor cue", "{} of 100 units flipped"),
    "recall-noise": (
        (0, 2, 10),
        3,
        "recall while noise goes on",
        "{} of 100 units flipped before every step",
    ),
    "context": (
        (0, 2, 8),
        3,
        "patterns that repeat, with different successors",
        "{} patterns twice in a loop of 30",
    ),
    "multi": (("5x5", "5x10", "10x10"), 3, "many sequences in one network", "{} (number x length)"),
    "walker": ((0, 100, 350), 1, "pictures, more pixels than frames", "{} of 1290 pixels flipped"),
}
"""For each protocol its values, trials, what is needed, and a value in words."""
SLOW = ("gsemm-dense", "gsemm-linear", "eden", "predictive-2", "rnn", "pinning", "bcpnn", "innate")
"""Of which a trial takes seconds to a minute: one trial, and only the first two values."""
SLOWEST = ("bcpnn", "innate")
"""Of these, the ones that run on two protocols only."""
NO_PICTURES = (
    *SLOW[1:],
    "brea",
    "leaky-perceptron",
    "slow-synapses",
    "fiete",
    "gillett",
    "gillett-sparse",
)
"""Of which a trial with pictures takes long."""

GROUPS = {
    "weights, learned online by a local rule": lambda n: (
        not n["stores_patterns"] and n["online"] and n["local"]
    ),
    "weights, learned otherwise": lambda n: (
        not n["stores_patterns"] and not (n["online"] and n["local"])
    ),
    "patterns stored": lambda n: n["stores_patterns"],
}
"""Kinds of memory between which the reader has to choose first: name, and whether a network is
one.
"""

WHY = {
    "attractor": "random hidden neurons make transitions separable, "
    "and a margin is learned for each",
    "attractor-V": "random hidden neurons make transitions separable",
    "attractor-bias": "as attractor, with thresholds that fit the patterns",
    "attractor-learned-targets": "as attractor, with hidden targets that follow the input",
    "sparse": "sparse hidden codes overlap little, and it learns from corrupted patterns",
    "perceptron": "a margin is learned for each transition",
    "perceptron-bias": "a margin is learned for each transition",
    "leaky-perceptron": "sums of inputs that fade hold what came before",
    "pseudo-inverse": "correlations between patterns are taken out",
    "predictive": "the delta rule takes correlations out",
    "brea": "hidden neurons take what the visible ones need",
    "scaffold": "a cue only has to find its label; labels step on by themselves",
    "rnn": "its hidden state holds what came before",
    "clone-hmm": "each pattern has clones, one for each context; patterns are looked up",
    "lookup": "the nearest stored pattern is looked up",
    "sdm": "addresses of which only the nearest fire hardly overlap",
}
"""Why a network does what it does well; of others the families say it (`why`)."""


def main():
    if "--measure" in sys.argv[1:]:
        KEPT.write_text(
            json.dumps(measure([name for name in sys.argv[1:] if name != "--measure"]), indent=1)
            + "\n"
        )
    PAGE.write_text(page(json.loads(KEPT.read_text())))


# -- measuring
# --------------------------------------------------------------------------------------------------


def measure(asked):
    """All networks, or those asked for, on all protocols: what they are, and a row for each
    protocol, network and value.
    """
    warnings.simplefilter("ignore")
    names = list(choose_networks(["all"]))
    before = json.loads(KEPT.read_text()) if asked else {"networks": [], "rows": []}
    networks = {n["network"]: n for n in before["networks"]}
    rows = [row for row in before["rows"] if row["network"] not in asked]
    for protocol, some, values, trials in runs(asked or names):
        comparison = compare(protocol, some, values=values, trials=trials, study=STUDY)
        settings = {n["network"]: n.pop("setting") for n in comparison.networks}
        networks |= {n["network"]: n for n in comparison.networks}
        for row, times in zip(comparison.results, comparison.seconds, strict=True):
            kept = (
                "network",
                "value",
                "trials",
                "successes",
                "in_phase",
                "parameters",
                "order",
                "error",
            )
            seconds = {
                key: times[key] and round(times[key], 4)
                for key in ("learn_seconds", "recall_seconds")
            }
            setting = settings[row["network"]]
            rows.append(
                {
                    "protocol": protocol,
                    **{key: row[key] for key in kept},
                    "setting": setting,
                    **seconds,
                }
            )
        print(protocol, *values, *some, flush=True)
    rows.sort(
        key=lambda row: (list(CASES).index(row["protocol"]), names.index(row["network"]))
    )  # values stay in their order
    return {"networks": [networks[name] for name in names], "rows": rows}


def runs(names):
    """What is run: protocol, networks, values and trials; quick networks first."""
    quick, slow = [], []
    for protocol, (values, trials, *_) in CASES.items():
        some = [name for name in names if takes_part(name, protocol)]
        quick.append((protocol, [name for name in some if name not in SLOW], values, trials))
        slow += [(protocol, [name], values[:2], 1) for name in some if name in SLOW]
    return [run for run in quick if run[1]] + sorted(slow, key=lambda run: SLOW.index(run[1][0]))


def takes_part(name, protocol):
    """Whether a network is run on a protocol."""
    if protocol == "walker":
        return name not in NO_PICTURES
    return name not in SLOWEST or protocol in ("random", "context")


# -- the page
# --------------------------------------------------------------------------------------------------


def page(results):
    """All parts of the page that are results, each between two comments that docs/which_memory.rst
    names.
    """
    return named_parts(
        {
            "decision": list_table(decision(results)),
            "everything": list_table(everything(results)),
            "rejections": rejections(results),
        }
    )


def decision(results):
    """What you need, and for each kind of memory the best one, with the number that shows it and
    why.
    """
    rows = []
    for protocol, (_, _, need, words) in CASES.items():
        for group, belongs in GROUPS.items():
            members = [n["network"] for n in results["networks"] if belongs(n)]
            names, row = best(results, protocol, members)
            if row is None:
                rows.append(
                    [
                        need,
                        group,
                        "none",
                        "no network of this kind succeeds in half of the trials at any value",
                        "",
                    ]
                )
                continue
            number = (
                f"{counted(row)} of {row['trials']} at {words.format(row['value'])}; "
                f"{row['parameters']:,} parameters"
            )
            rows.append([need, group, listed(names), number, why(names[0], row, results)])
    caption = (
        "The best of each kind for each need: the one that holds the hardest value, in at least "
        "half of the trials there and at all easier ones, then the most successes. Of equals the "
        "one with the fewest parameters comes first and is shown."
    )
    return Table(["you need", "kind of memory", "which", "shown by", "why"], rows, caption)


def best(results, protocol, members):
    """Who holds the hardest value, then succeeds most often; all that do equally well, the smallest
    first, and its row there.
    """
    found = []
    for name in members:
        rows = rows_of(results, protocol, name)
        held = 0
        while held < len(rows) and 2 * counted(rows[held]) >= rows[held]["trials"]:
            held += 1
        if held:
            share = sum(counted(row) / row["trials"] for row in rows)
            found.append(((held, share), rows[held - 1]["parameters"], name, rows[held - 1]))
    if not found:
        return [], None
    top = max(rank for rank, *_ in found)
    winners = sorted((size, name) for rank, size, name, _ in found if rank == top)
    first = winners[0][1]
    return [name for _, name in winners], next(row for _, _, name, row in found if name == first)


def counted(row):
    """The successes that count: those in phase with the cue, or all of a network that dwells, which
    has no phase.
    """
    return row["successes"] if row["in_phase"] is None else row["in_phase"]


def rows_of(results, protocol, network):
    """The rows of a network, by value."""
    return [
        row for row in results["rows"] if (row["protocol"], row["network"]) == (protocol, network)
    ]


def why(name, row, results):
    """Why a network does well."""
    if row["order"] > 1:
        return f'delay lines: it sees the last {row["order"]} patterns (``order="auto"``)'
    if name in WHY:
        return WHY[name]
    note = next(n["note"] for n in results["networks"] if n["network"] == name)
    return note or "see its docstring"


def everything(results):
    """Successes of every network at every value, its kind, size and seconds."""
    rows = []
    for network in results["networks"]:
        name = network["network"]
        cells = []
        for protocol in CASES:
            of_network = rows_of(results, protocol, name)
            done = [row for row in of_network if row["parameters"] is not None]
            counts = " ".join(
                "×" if row["parameters"] is None else str(counted(row)) for row in of_network
            )
            cells.append(
                f"{counts} of {of_network[0]['trials']}"
                if done
                else "refused"
                if of_network
                else "not run"
            )
        kinds = [
            "yes" if network[key] else "no"
            for key in ("stores_patterns", "online", "local", "dwells")
        ]
        middle = next((row for row in rows_of(results, "random", name) if row["value"] == 50), None)
        size = (
            "–" if middle is None or middle["parameters"] is None else f"{middle['parameters']:,}"
        )
        seconds = [
            "–" if middle is None or middle[key] is None else f"{middle[key]:.2g}"
            for key in ("learn_seconds", "recall_seconds")
        ]
        rows.append(
            [name, network["family"], *cells, setting_of(results, name), *kinds, size, *seconds]
        )
    heads = [
        f"{protocol} {', '.join(map(str, values))}" for protocol, (values, *_) in CASES.items()
    ]
    kinds = [
        "setting",
        "stores patterns",
        "online",
        "local",
        "dwells",
        "parameters",
        "s to learn",
        "s to recall",
    ]
    caption = (
        "Successes at each value, easy ones first, in phase with the cue unless the network "
        "dwells; parameters and seconds are those of random, T = 50."
    )
    return Table(["network", "family", *heads, *kinds], rows, caption)


def setting_of(results, name):
    """How the setting of a network came about, and what it has instead where patterns repeat."""
    usual, repeated = (
        rows_of(results, protocol, name)[0]["setting"] for protocol in ("random", "context")
    )
    return usual if repeated == usual else f"{usual}; in context {repeated}"


def rejections(results):
    """Who could not take part, and why, in their own words."""
    said = {}
    for row in results["rows"]:
        if row["error"] is not None:
            said.setdefault((row["network"], row["error"]), []).append(row["protocol"])
    lines = [
        f"* *{network}* ({', '.join(dict.fromkeys(protocols))}): {error}".replace("`", "").replace(
            "|", " "
        )
        for (network, error), protocols in said.items()
    ]
    return "\n".join(lines) if lines else "No network refused a test that it was given."


def listed(names):
    """Up to six names, and how many others."""
    shown = ", ".join(names[:6])
    return shown if len(names) <= 6 else f"{shown} and {len(names) - 6} others"


if __name__ == "__main__":
    main()
