"""Pictures of what a memory guarantees: certificates, beside what attacks break and what chance leaves right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from seqattractor._checks import check_kind
from seqattractor.analysis._certificate import Certificate
from seqattractor.analysis._robustness import RobustnessCurve
from seqattractor.analysis._separability import Separability
from seqattractor.plots._curves import success_curve
from seqattractor.plots._house import BLUE, GREEN, GREY, RED, axes_or_new


def certificate_profile(certificate: Certificate, *, ax: Axes | None = None) -> Axes:
    """Draw for each transition the proven number of flips, the attack above it and Theorem 4 below.

    Parameters
    ----------
    certificate : Certificate
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 30, rng=0)
    >>> certificate = sa.certify(sa.SequenceAttractor(n_hidden=60, random_state=0).fit(X), X)
    >>> ax = certificate_profile(certificate)
    >>> ax.get_ylabel()
    'flips'
    """
    check_kind(certificate, Certificate, "certificate", "what certify gives")
    ax = axes_or_new(ax)
    t = np.arange(len(certificate.radius))
    broken = certificate.breaking <= certificate.n_inputs
    if certificate.attacked and broken.any():
        possible = np.where(broken, certificate.breaking - 1, certificate.radius)
        ax.fill_between(t, certificate.radius, possible, step="mid", color=BLUE, alpha=0.2)
        ax.plot(t[broken], certificate.breaking[broken], "v", color=RED, markersize=4, label="an attack breaks it")
    ax.step(t, certificate.radius, where="mid", color=BLUE, linewidth=1.6, label="proven")
    ax.step(t, certificate.theorem_4, where="mid", color=GREY, linestyle="--", linewidth=1.2, label="Theorem 4")
    for start in np.flatnonzero(np.diff(certificate.sequence)):
        ax.axvline(start + 0.5, color=GREY, linewidth=0.6)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="transition", ylabel="flips", ylim=(min(-0.5, float(certificate.radius.min()) - 0.2), None))
    ax.grid(axis="y")
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, borderaxespad=0.0)
    return ax


def margin_and_radius(certificates: Sequence[Certificate], labels: Sequence[str], *, ax: Axes | None = None) -> Axes:
    """Draw the proven number of flips of every transition over the smallest margin of a visible neuron.

    Parameters
    ----------
    certificates : sequence of Certificate
    labels : sequence of str
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 30, rng=0)
    >>> certificate = sa.certify(sa.SequenceAttractor(n_hidden=60, random_state=0).fit(X), X)
    >>> ax = margin_and_radius([certificate], ["T = 6"])
    >>> len(ax.collections)
    1
    """
    for given, name in ((certificates, "certificates"), (labels, "labels")):
        check_kind(given, (list, tuple, np.ndarray), name, "a list")
    if not len(certificates) or len(certificates) != len(labels):
        raise ValueError(f"each certificate needs a label, but there are {len(certificates)} and {len(labels)}.")
    for each in certificates:
        check_kind(each, Certificate, "each certificate", "what certify gives")
    ax = axes_or_new(ax)
    for certificate, label in zip(certificates, labels, strict=True):
        spread = np.linspace(-0.25, 0.25, len(certificate.radius))  # points of equal height side by side
        ax.scatter(certificate.margin, certificate.radius + spread, s=12, alpha=0.7, label=label)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="smallest visible margin, of the sum of the weights", ylabel="flips, proven")
    ax.grid(visible=True)
    ax.legend(loc="upper left")
    return ax


def robustness_with_certificate(
    curve: RobustnessCurve, certificate: Certificate | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how often one step is right after random flips, with what is proven shaded.

    Parameters
    ----------
    curve : RobustnessCurve
    certificate : Certificate, optional
        Of the same network and sequences.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 30, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=60, random_state=0).fit(X)
    >>> curve = sa.robustness_curve(net, X, trials=20, rng=0)
    >>> ax = robustness_with_certificate(curve, sa.certify(net, X))
    >>> ax.get_xlabel()
    'flipped units'
    """
    check_kind(curve, RobustnessCurve, "curve", "what robustness_curve gives")
    check_kind(certificate, (Certificate, type(None)), "certificate", "what certify gives, or None")
    ax = axes_or_new(ax)
    if certificate is not None and certificate.radius.min() >= 0:
        least, worst = int(certificate.radius.min()), int(certificate.breaking.min())
        ax.axvspan(0, least, color=GREEN, alpha=0.18, label=f"proven for any flips: {least}")
        if worst <= certificate.n_inputs:
            ax.axvline(worst, color=RED, linewidth=1.2, label=f"chosen flips break it: {worst}")
    trials = [curve.trials] * len(curve.flips)
    success_curve(curve.flips, curve.successes.tolist(), trials, color=BLUE, label="random flips, measured", ax=ax)
    ax.set(xlabel="flipped units", ylabel="next pattern exact, %", xlim=(0, None))
    ax.legend(loc="upper right")
    return ax


def separability_margins(separability: Separability, *, ax: Axes | None = None) -> Axes:
    """Draw the margin of each visible neuron as a perceptron, with those marked that no weights can serve.

    Parameters
    ----------
    separability : Separability
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import seqattractor as sa
    >>> ax = separability_margins(sa.separable(sa.datasets.xor()))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['separable: 1', 'not separable: 1']
    """
    check_kind(separability, Separability, "separability", "what separable gives")
    ax = axes_or_new(ax)
    margin, impossible = separability.margin, separability.impossible
    possible, alone = np.flatnonzero(np.isfinite(margin)), np.flatnonzero(np.isinf(margin))
    highest = float(margin[possible].max(initial=1.0))
    ax.plot(possible, margin[possible], "o", color=BLUE, markersize=4, label=f"separable: {possible.size}")
    if alone.size:  # any margin can be had: above all others
        ax.plot(alone, np.full(alone.size, 1.1 * highest), "^", color=GREEN, label=f"by the bias alone: {alone.size}")
    ax.plot(impossible, np.zeros(impossible.size), "x", color=RED, label=f"not separable: {impossible.size}")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="visible neuron", ylabel="margin, largest weight 1", ylim=(-0.05 * highest, None))
    ax.grid(axis="y")
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, borderaxespad=0.0)
    return ax
