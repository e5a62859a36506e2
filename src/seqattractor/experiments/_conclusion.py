"""What a comparison says, in plain sentences made from its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Row = dict[str, Any]

HALF = 0.5
"""A network holds a value if it succeeds in at least this fraction of the trials."""


def conclusion(comparison: Any) -> str:
    """Say in a paragraph what a comparison shows, fairly to every network."""
    s = comparison.settings
    intro = (
        f"{s['title']}: {s['setting']}. Trials at each value of the {s['axis']}: {s['trials']}, with the same sequences and cues "
        "for every network. A network holds a value if it succeeds in at least half of the trials there and at all easier values."
    )
    learning = [n for n in comparison.networks if not n["stores_patterns"]]
    storing = [n for n in comparison.networks if n["stores_patterns"]]
    sentences = [
        intro,
        _ranking(comparison, learning, "Networks that learn weights"),
        _ranking(comparison, storing, "Memories that keep the patterns themselves"),
        _partly(comparison),
        _price(comparison, learning, storing),
        _paired(comparison, learning),
        _conditions(learning + storing),
        _not_taking_part(comparison),
    ]
    if s["trials"] < 10:
        sentences.append(f"With so few trials ({s['trials']} per value) only gross differences can show.")
    return " ".join(sentence for sentence in sentences if sentence)


def reach(comparison: Any, network: str) -> Any:
    """Give the hardest value that a network holds, together with all easier ones; None if it fails at the easiest."""
    held = None
    for value in comparison.settings["values"]:
        row = comparison.row(network, value)
        if row["successes"] < HALF * row["trials"]:
            break
        held = value
    return held


def mcnemar(first: str, second: str) -> tuple[int, int, float]:
    """Compare two networks on the same trials.

    Parameters
    ----------
    first, second : str
        Successes by trial, such as "1101".

    Returns
    -------
    only_first, only_second : int
        In how many trials only one of them succeeded.
    p : float
        Two-sided exact McNemar test: the chance of so uneven a split if both were equally good.

    Examples
    --------
    >>> mcnemar("11111100", "10000000")
    (5, 0, 0.0625)
    """
    a = sum(x == "1" and y != "1" for x, y in zip(first, second, strict=True))
    b = sum(x != "1" and y == "1" for x, y in zip(first, second, strict=True))
    from scipy.stats import binomtest

    return a, b, float(binomtest(a, a + b).pvalue) if a + b else 1.0


def _ranking(comparison: Any, networks: Sequence[Row], who: str) -> str:
    """Who holds how much, the best first."""
    if not networks:
        return ""
    order = {value: k for k, value in enumerate(comparison.settings["values"])}
    groups: dict[Any, list[str]] = {}
    for name in (network["network"] for network in networks):
        if _took_part(comparison, name):
            groups.setdefault(reach(comparison, name), []).append(name + _again(comparison, name))
    if not groups:
        return ""
    ranked = sorted(groups, key=lambda value: -1 if value is None else order[value], reverse=True)
    last = comparison.settings["values"][-1]
    parts = [
        f"{listed(groups[value])} {'holds' if len(groups[value]) == 1 else 'hold'} "
        + ("none of these values" if value is None else f"up to {value}" + (" (the end of the test)" if value == last else ""))
        for value in ranked
    ]
    return f"{who}: {'; '.join(parts)}."


def _again(comparison: Any, network: str) -> str:
    """At which harder values a network succeeds again after one that it does not hold, in brackets."""
    values = comparison.settings["values"]
    held = reach(comparison, network)
    beyond = values if held is None else values[values.index(held) + 1 :]
    again = [str(v) for v in beyond if (row := comparison.row(network, v))["successes"] >= HALF * row["trials"]]
    return f" (and again at {listed(again)})" if again else ""


def _partly(comparison: Any) -> str:
    """Where several sequences are stored: how many of them each network recalls."""
    if not comparison.several:
        return ""
    value = comparison.settings["values"][-1]
    shares = {
        row["network"]: row["recalled"] for row in comparison.results if row["value"] == value and row["recalled"] is not None
    }
    groups: dict[str, list[str]] = {}
    for name in sorted(shares, key=lambda name: -shares[name]):
        groups.setdefault(f"{100 * shares[name]:.0f} %", []).append(name)
    told = "; ".join(f"{share} by {listed(names)}" for share, names in groups.items())
    return f"A trial succeeds only if all its sequences are recalled; of the sequences at {value} are recalled: {told}."


def _price(comparison: Any, learning: Sequence[Row], storing: Sequence[Row]) -> str:
    """What it costs to keep the patterns, beside what the networks that learn have."""
    value = comparison.settings["values"][-1]
    sizes = {
        n["network"]: p for n in [*learning, *storing] if (p := comparison.row(n["network"], value)["parameters"]) is not None
    }
    kept = {p for n in storing if (p := sizes.get(n["network"])) is not None}
    if not kept:
        return ""
    least = f"{min(kept):,}" if min(kept) == max(kept) else f"{min(kept):,} to {max(kept):,}"
    text = (
        "These need no learning because they keep every pattern and its successor with a unit of their own, and grow with what "
        f"they store: at {value} they hold {least} numbers, entries of +-1"
    )
    if any(n["local"] is False and n["online"] is False for n in storing):
        text += " but for what a pseudo-inverse adds"
    weights = {n["network"]: sizes[n["network"]] for n in learning if n["network"] in sizes}
    if weights:
        small, large = min(weights, key=weights.__getitem__), max(weights, key=weights.__getitem__)
        between = f"{weights[small]:,}" if weights[small] == weights[large] else f"{weights[small]:,} to {weights[large]:,}"
        text += f". The networks that learn have {between} real weights, whatever they store"
    return text + "."


def _paired(comparison: Any, learning: Sequence[Row]) -> str:
    """The two that come furthest of those that learn, trial by trial, where they differ most."""
    names = [n["network"] for n in learning if _took_part(comparison, n["network"])]
    totals = {name: sum(comparison.row(name, value)["successes"] for value in comparison.settings["values"]) for name in names}
    if len(names) < 2:
        return ""
    first, second = sorted(names, key=lambda name: -totals[name])[:2]
    if not totals[second]:
        return ""
    splits = {
        value: mcnemar(comparison.row(first, value)["by_trial"], comparison.row(second, value)["by_trial"])
        for value in comparison.settings["values"]
    }
    value = min(splits, key=lambda v: (splits[v][2], -abs(splits[v][0] - splits[v][1])))
    a, b, p = splits[value]
    if a + b == 0:
        return f"{first} and {second}, which come furthest of those that learn, succeed in the same trials everywhere."
    return (
        f"The two that come furthest of those that learn differ most at {value}: only {first} succeeds in {a} "
        f"trial{'s' if a != 1 else ''}, only {second} in {b} (exact McNemar test, p = {p:.2g}, "
        "not corrected for the choice of the value)."
    )


def _conditions(networks: Iterable[Row]) -> str:
    """Which of them learn in a way that neurons could."""
    networks = list(networks)
    sentences = []
    not_local = [n["network"] for n in networks if n["online"] is False or n["local"] is False]
    if not_local:
        sentences.append(f"Not learned online by local rules: {listed(not_local)}.")
    unknown = [n["network"] for n in networks if n["online"] is None or n["local"] is None or n["stores_patterns"] is None]
    if unknown:
        sentences.append(f"Not stated for {listed(unknown)}: whether learning is online and local, or patterns are stored.")
    dwelling = [n["network"] for n in networks if n["dwells"]]
    if dwelling:
        stays = "stays" if len(dwelling) == 1 else "stay"
        sentences.append(
            f"{listed(dwelling)} {stays} at each pattern for several steps; every stay counts once, and states between two "
            "patterns are passed over."
        )
    if "one-hot" in [n["network"] for n in networks]:
        sentences.append("one-hot is the construction of Theorem 1, which promises nothing for corrupted cues.")
    if "sparse" in [n["network"] for n in networks]:
        sentences.append("sparse learns from patterns that it corrupts itself, so that few of its epochs are free of errors.")
    return " ".join(sentences)


def _not_taking_part(comparison: Any) -> str:
    """Who refused, and why."""
    refused: dict[str, str] = {}
    for row in comparison.results:
        if row["error"] is not None:
            refused.setdefault(row["network"], row["error"])
    return " ".join(f"{network} could not take part everywhere: {error}" for network, error in refused.items())


def _took_part(comparison: Any, network: str) -> bool:
    """Whether a network did at least one trial."""
    return any(row["parameters"] is not None for row in comparison.results if row["network"] == network)


def listed(names: Sequence[str]) -> str:
    """Names with commas and an and."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
