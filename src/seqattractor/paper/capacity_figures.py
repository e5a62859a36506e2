"""The figures of `reproduce capacity`: one function for each, from the result alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.analysis._gardner import gardner_capacity
from seqattractor.analysis._lost_starts import ENDS, FIRST_STEPS
from seqattractor.paper.capacity import COVER, bits_per_weight, loads, scaling_laws
from seqattractor.paper.target import Result, draw_successes
from seqattractor.plots._starts import END_COLORS

ENOUGH = 0.95
"""The rate of success from which on a length counts as stored."""


def success_figure(result: Result, names: Mapping[str, str]) -> Figure:
    """Four panels: success and basin against T, success against flips, and moving digits."""
    s = result.data["settings"]
    figure, ((success, basins), (cues, digits)) = plt.subplots(2, 2, figsize=(9.6, 7.2), layout="constrained")
    colors = dict(zip(names, (plots.BLUE, plots.GREEN, plots.ORANGE, plots.GREY, plots.RED), strict=True))
    for k, (name, words) in enumerate(names.items()):
        rows, line = result.rows(part="length", network=name), {"color": colors[name], "label": words}
        lengths = [row["T"] for row in rows]
        draw_successes(rows, "T", shift=0.005 * max(s["lengths"]) * (k - 2), ax=success, **line)
        _draw_percent(basins, lengths, [100 * row["basin"] for row in rows], "basin, %", linewidth=1.4, **line)
    for ax in (success, basins):
        for T in (s["M"] + 1, 2 * s["M"] + 1):
            ax.axvline(T, color=plots.GREY, linewidth=0.8, linestyle=":")
        ax.set_xlabel("period length T (dotted: M + 1, 2M + 1)")
    figure.legend(*basins.get_legend_handles_labels(), fontsize=8, ncols=3, loc="outside upper center")
    for k, name in enumerate(("sparse", "paper", "one-hot")):
        for T, dash in zip(s["cue_lengths"], ("-", "--"), strict=True):
            rows, line = result.rows(part="flips", network=name, T=T), {"color": colors[name], "linestyle": dash}
            draw_successes(rows, "flips", shift=0.2 * k, label=f"{names[name].partition(',')[0]}, T = {T}", ax=cues, **line)
    for name in ("dense", "sparse", "paper", "one-hot"):  # the first two lie on each other
        rows = result.rows(part="digits", network=name)
        stored, recalled = [row["stored"] for row in rows], [100 * np.mean(row["recalled"]) / row["stored"] for row in rows]
        _draw_percent(digits, stored, recalled, "all frames exact, %", color=colors[name], label=names[name].partition(",")[0])
    cues.set(xlabel="flipped units of the cue", xticks=s["cue_flips"])
    digits.set(xlabel="stored sequences of moving digits", xticks=s["digits"]["stored"])
    for ax in (cues, digits):  # above the panels, where no interval can lie
        ax.legend(fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def _draw_percent(ax: Axes, x: list[int], percent: list[float], what: str, **line: Any) -> None:
    """Draw a line of percentages that have no interval."""
    ax.plot(x, percent, "o-", markersize=4, **line)
    ax.set(ylabel=what, ylim=(-4, 104))
    ax.grid(visible=True)


def ablation_figure(result: Result) -> Figure:
    """The basin with one thing changed, a panel for each length; the successes stand beside the bars."""
    s = result.data["settings"]
    names, lengths = list(s["ablations"]), s["ablation_lengths"]
    figure, axes = plt.subplots(
        1,
        len(lengths),
        figsize=(3.4 + 2.6 * len(lengths), 0.6 + 0.3 * len(names)),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for ax, T in zip(axes[0], lengths, strict=True):
        rows = [result.rows(part="ablation", options=name, T=T)[0] for name in names]
        whole = 100 * rows[0]["basin"]
        ax.barh(names, [100 * row["basin"] for row in rows], color=[plots.BLUE] + [plots.GREY] * (len(rows) - 1), height=0.7)
        ax.axvline(whole, color=plots.BLUE, linewidth=1, linestyle=":")
        for place, row in enumerate(rows):
            ax.text(103, place, f"{row['successes']}/{row['trials']}", va="center", fontsize=8)
        ax.set(xlim=(0, 122), xticks=[0, 25, 50, 75, 100], xlabel="basin, %; beside it success", title=f"T = {T}")
        ax.grid(axis="x")
    axes[0, 0].set_ylim(len(names) - 0.5, -0.5)
    return figure


def limits_figure(result: Result) -> Figure:
    """Three panels: bits per weight and loads as fractions of theory's limits against T, and Gardner's limit."""
    rows = loads(result)
    figure, (bits, fractions, gardner) = plt.subplots(1, 3, figsize=(13.2, 4.2), layout="constrained")
    stored = [row["rate"] is not None and row["rate"] >= ENOUGH for row in rows]
    T = [row["T"] for row in rows]
    _draw_bits(result, bits)
    lines = {
        "V, of Cover's limit": ([row["visible_load"] / COVER for row in rows], plots.BLUE),
        "U, of Gardner's limit": ([row["hidden_load"] / row["gardner"] for row in rows], plots.ORANGE),
    }
    for label, (values, color) in lines.items():
        fractions.plot(T, values, color=color, label=label, linewidth=1.4)
        _draw_reached(fractions, T, values, stored, color)
    fractions.axhline(1, color=plots.GREY, linewidth=0.9, linestyle=":")
    fractions.set(xlabel="period length T", ylabel="fraction of the limit", ylim=(0, None), title="load of the two layers")
    fractions.legend(fontsize=8, loc="lower right")
    fractions.grid(visible=True)
    _draw_gardner(result, gardner)
    _draw_reached(gardner, [row["active"] for row in rows], [row["hidden_load"] for row in rows], stored, plots.BLUE)
    gardner.plot([], [], "o", color=plots.BLUE, markersize=5, label="sparse")
    gardner.legend(fontsize=8, loc="upper right")
    return figure


def _draw_reached(ax: Axes, x: list[Any], y: list[Any], stored: list[bool], color: str, size: float = 26) -> None:
    """Draw points, filled where sequences are retrieved."""
    faces = [color if yes else mpl.rcParams["axes.facecolor"] for yes in stored]
    ax.scatter(x, y, s=size, color=faces, edgecolors=color, zorder=3)


def _draw_bits(result: Result, ax: Axes) -> None:
    """Bits for each weight against T: the sparse network, the paper's rule, and memories that keep the patterns."""
    s = result.data["settings"]
    N, M = s["N"], s["M"]
    lines = (("paper", "the paper's rule", plots.ORANGE, 110), ("sparse", "sparse", plots.BLUE, 26))
    for name, words, color, area in lines:  # the same load is the same place: the larger points lie below
        rows = result.rows(part="length", network=name)
        if name == "paper":  # its shorter sequences are those of the flips
            short = result.rows(part="flips", network=name, flips=s["cue_flips"][0])
            rows = list({row["T"]: row for row in (*short, *rows)}.values())
        rows.sort(key=lambda row: int(row["T"]))
        T = [row["T"] for row in rows]
        values = [bits_per_weight(t, N, M) for t in T]
        ax.plot(T, values, color=color, label=words, linewidth=1.4)
        _draw_reached(ax, T, values, [row["successes"] >= ENOUGH * row["trials"] for row in rows], color, area)
    ax.axhline(0.5, color=plots.RED, linewidth=1.2, linestyle="-.", label="dense, one-hot: keys and values")
    full = bits_per_weight(round(COVER * M) + 1, N, M)
    ax.axhline(full, color=plots.GREY, linewidth=0.9, linestyle=":", label="Cover's limit of V")
    ax.set(xlabel=f"period length T (filled: at least {ENOUGH:.0%} success)", ylabel="bits per weight", ylim=(0, None))
    ax.set_title(f"N = {N}, M = {M}")
    ax.legend(fontsize=8, loc="lower right")
    ax.grid(visible=True)


def _draw_gardner(result: Result, ax: Axes) -> None:
    """Gardner's limit against the coding level, with its growth for few active neurons, and the paper's rule."""
    f = np.geomspace(1e-3, 0.5, 80)
    few = f[f < 0.2]
    ax.plot(f, [gardner_capacity(x) for x in f], color=plots.GREY, label="Gardner's limit")
    ax.plot(few, 1 / (2 * few * np.log(1 / few)), color=plots.GREY, linestyle=":", label="1 / (2 f ln(1/f))")
    tried = [row for part in ("length", "flips") for row in result.rows(part=part, network="paper")]
    retrieved = [row for row in tried if row["successes"] >= ENOUGH * row["trials"]]
    if retrieved:
        longest = max(retrieved, key=lambda row: int(row["T"]))
        place = [(longest["T"] - 1) / longest["N"]]
        ax.scatter([0.5], place, s=32, color=plots.ORANGE, zorder=3, label="the paper's rule")
    ax.set(xscale="log", yscale="log", xlabel="coding level f: active hidden neurons", ylabel="patterns for each input of U")
    ax.set_title("what a hidden neuron can hold")
    ax.grid(visible=True)


def inside_figure(result: Result) -> Figure:
    """Four panels: first steps, ends of lost starts, what is proven and measured, and curves of robustness."""
    s, rows = result.data["settings"], result.rows(part="inside")
    T = [row["T"] for row in rows]
    figure, ((first, ends), (proven, curves)) = plt.subplots(2, 2, figsize=(10.4, 7.2), layout="constrained")
    counts = np.array([row["counts"] for row in rows], dtype=float)
    share = 100 * counts / counts.sum(axis=(1, 2), keepdims=True)
    causes = dict(zip(FIRST_STEPS, (plots.BLUE, plots.ORANGE, plots.GREEN, plots.RED), strict=True))
    for k, (name, color) in enumerate(causes.items()):
        if k:
            first.plot(T, share[:, k].sum(axis=1), "o-", markersize=4, color=color, label=f"{name}: all starts")
        words = "lost although right" if not k else f"{name}: lost"
        first.plot(T, share[:, k, 1:].sum(axis=1), "--", linewidth=1.2, color=color, label=words)
    first.set(ylabel=f"starts with {s['flips']} flips, %", title="hidden neurons in the first step", ylim=(0, None))
    lost = share[:, :, 1:].sum(axis=1)
    ends.stackplot(T, *lost.T, labels=ENDS[1:], colors=[END_COLORS[end] for end in ENDS[1:]], alpha=0.85)
    ends.set(ylabel=f"starts with {s['flips']} flips, %", title="where lost starts end", ylim=(0, None))
    flips = np.array(s["robust_flips"], dtype=float)
    half = [flips_at(flips, np.array(row["right"]), 0.5) for row in rows]
    sure = [flips_at(flips, np.array(row["right"]), 0.95) for row in rows]
    proven.plot(T, half, "o-", markersize=4, color=plots.BLUE, label="half of the steps right, random flips")
    proven.plot(T, sure, "s-", markersize=4, color=plots.GREEN, label="95 % of the steps right, random flips")
    proven.plot(T, [row["radius"] for row in rows], "D-", markersize=4, color=plots.ORANGE, label="proven for any flips, mean")
    proven.plot(T, [row["least_radius"] for row in rows], ":", color=plots.ORANGE, label="proven for any flips, least")
    proven.set(ylabel="flipped units", title="flips that a step withstands", ylim=(0, None))
    for k, row in enumerate(rows):
        shade = mpl.colormaps["viridis"](0.9 * k / max(len(rows) - 1, 1))
        curves.plot(flips, [100 * x for x in row["right"]], "o-", markersize=3, color=shade, label=f"T = {row['T']}")
    curves.set(xlabel="random flips", ylabel="next pattern exact, %", title="one step from a stored pattern", ylim=(-4, 104))
    for ax, place in ((first, "upper left"), (ends, "upper left"), (proven, "upper right"), (curves, "lower left")):
        ax.legend(fontsize=8, loc=place)
        ax.grid(visible=True)
        if ax is not curves:
            ax.set_xlabel("period length T")
    return figure


def flips_at(flips: Any, rates: Any, level: float) -> float:
    """The number of flips at which a falling curve crosses a level; NaN if it starts below, the last number if it never does."""
    below = np.flatnonzero(rates < level)
    if not below.size:
        return float(flips[-1])
    k = int(below[0])
    if not k:
        return float("nan")
    return float(flips[k - 1] + (rates[k - 1] - level) / (rates[k - 1] - rates[k]) * (flips[k] - flips[k - 1]))


def scaling_figure(result: Result, names: Mapping[str, str]) -> Figure:
    """The longest sequence with 95 % success against M, with laws, and what memories with one unit per pattern store."""
    laws, rows = scaling_laws(result), result.rows(part="scaling")
    widths = sorted({row["N"] for row in rows})
    figure, axes = plt.subplots(
        1, len(widths), figsize=(1 + 3.4 * len(widths), 4.4), sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    colors = dict(zip(names, (plots.BLUE, plots.ORANGE, plots.RED), strict=True))
    M = np.array(sorted({row["M"] for row in rows if row["M"] is not None}), dtype=float)
    fine = np.geomspace(M[0] / 1.1, M[-1] * 1.1, 40)
    for ax, N in zip(axes[0], widths, strict=True):
        ax.plot(fine, 2 * fine, color=plots.GREY, linewidth=0.9, linestyle=":", label="T = 2M, Cover's limit of V")
        ax.plot(fine, fine + 1, color=plots.GREY, linewidth=0.9, label="T = M + 1, one unit per pattern")
        for name, words in names.items():
            these = [row for row in rows if row["network"] == name and row["N"] == N and row["t95"] > 1]
            if these and these[0]["M"] is None:  # it has no hidden neurons to choose
                ax.axhline(these[0]["t95"], color=colors[name], linewidth=1.2, linestyle="-.", label=words)
                continue
            t = np.array([row["t95"] for row in these], dtype=float)
            reach = np.array([[row["t95"] - row["t95_low"] for row in these], [row["t95_high"] - row["t95"] for row in these]])
            place = [row["M"] for row in these]
            ax.errorbar(place, t, yerr=np.maximum(reach, 0), fmt="o", color=colors[name], markersize=5, capsize=2, label=words)
            law = laws.get(name)
            if law is not None:
                ax.plot(fine, [law({"n": N, "m": m, "sequences": 1}) for m in fine], "--", color=colors[name], linewidth=1.2)
        ax.set(xscale="log", yscale="log", xlabel="hidden neurons M", title=f"N = {N}, {N // 10} flips")
        ax.set_xticks(M, labels=[f"{m:g}" for m in M])
        ax.minorticks_off()
        ax.grid(visible=True)
    low, high = axes[0, 0].get_ylim()
    axes[0, 0].set_ylim(max(low, 4), high)
    ticks = [t for t in (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if max(low, 4) <= t <= high]
    axes[0, 0].set_yticks(ticks, labels=[str(t) for t in ticks])
    axes[0, 0].set_ylabel("longest T with 95 % success")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=8, ncols=3, loc="outside lower center")
    return figure
