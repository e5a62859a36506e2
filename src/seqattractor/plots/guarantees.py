"""Pictures of what a memory guarantees: certificates, measured robustness, attractors, state space and hidden codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from seqattractor.analysis.attractors import Attractors
from seqattractor.analysis.certificate import Certificate
from seqattractor.analysis.hidden_activity import HiddenActivity
from seqattractor.analysis.projection import Projection
from seqattractor.analysis.robustness import RobustnessCurve
from seqattractor.plots.curves import success_curve
from seqattractor.plots.house import BLUE, GREEN, GREY, ORANGE, RED

__all__ = [
    "attractor_bars",
    "certificate_profile",
    "code_overlap",
    "hidden_rates",
    "margin_and_radius",
    "robustness_with_certificate",
    "state_space",
]


def certificate_profile(ax: Axes, certificate: Certificate) -> Axes:
    """Draw for each transition the proven number of flips, the attack above it and Theorem 4 below.

    Parameters
    ----------
    ax : Axes
    certificate : Certificate

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt, seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 30, rng=0)
    >>> certificate = sa.certify(sa.SequenceAttractor(n_hidden=60, random_state=0).fit(X), X)
    >>> ax = certificate_profile(plt.figure().add_subplot(), certificate)
    >>> ax.get_ylabel()
    'flips'
    """
    t = np.arange(len(certificate.radius))
    broken = certificate.breaking <= certificate.n_inputs
    if certificate.attacked and broken.any():
        ax.fill_between(
            t,
            certificate.radius,
            np.where(broken, certificate.breaking - 1, certificate.radius),
            step="mid",
            color=BLUE,
            alpha=0.2,
        )
        ax.plot(t[broken], certificate.breaking[broken], "v", color=RED, markersize=4, label="an attack breaks it")
    ax.step(t, certificate.radius, where="mid", color=BLUE, linewidth=1.6, label="proven")
    ax.step(t, certificate.theorem_4, where="mid", color=GREY, linestyle="--", linewidth=1.2, label="Theorem 4")
    for start in np.flatnonzero(np.diff(certificate.sequence)):
        ax.axvline(start + 0.5, color=GREY, linewidth=0.6)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("transition")
    ax.set_ylabel("flips")
    ax.set_ylim(min(-0.5, float(certificate.radius.min()) - 0.2), None)
    ax.grid(axis="y")
    ax.legend()
    return ax


def margin_and_radius(ax: Axes, certificates: Sequence[Certificate], labels: Sequence[str]) -> Axes:
    """Draw the proven number of flips of every transition over the smallest margin of a visible neuron.

    Parameters
    ----------
    ax : Axes
    certificates : sequence of Certificate
    labels : sequence of str

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt, seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 30, rng=0)
    >>> certificate = sa.certify(sa.SequenceAttractor(n_hidden=60, random_state=0).fit(X), X)
    >>> ax = margin_and_radius(plt.figure().add_subplot(), [certificate], ["T = 6"])
    >>> len(ax.collections)
    1
    """
    for certificate, label in zip(certificates, labels, strict=True):
        spread = np.linspace(-0.25, 0.25, len(certificate.radius))  # points of equal height side by side
        ax.scatter(certificate.margin, certificate.radius + spread, s=12, alpha=0.7, label=label)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("smallest visible margin, of the sum of the weights")
    ax.set_ylabel("flips, proven")
    ax.grid(visible=True)
    ax.legend()
    return ax


def robustness_with_certificate(ax: Axes, curve: RobustnessCurve, certificate: Certificate | None = None) -> Axes:
    """Draw how often one step is right after random flips, with what is proven shaded.

    Parameters
    ----------
    ax : Axes
    curve : RobustnessCurve
    certificate : Certificate, optional
        Of the same network and sequences.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt, seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 30, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=60, random_state=0).fit(X)
    >>> curve = sa.robustness_curve(net, X, trials=20, rng=0)
    >>> ax = robustness_with_certificate(plt.figure().add_subplot(), curve, sa.certify(net, X))
    >>> ax.get_xlabel()
    'flipped units'
    """
    if certificate is not None and certificate.radius.min() >= 0:
        least, worst = int(certificate.radius.min()), int(certificate.breaking.min())
        ax.axvspan(0, least, color=GREEN, alpha=0.18, label=f"proven for any flips: {least}")
        if worst <= certificate.n_inputs:
            ax.axvline(worst, color=RED, linewidth=1.2, label=f"chosen flips break it: {worst}")
    success_curve(
        ax, curve.flips, curve.successes.tolist(), [curve.trials] * len(curve.flips), color=BLUE, label="random flips, measured"
    )
    ax.set_xlabel("flipped units")
    ax.set_ylabel("next pattern exact, %")
    ax.set_xlim(left=0)
    ax.legend()
    return ax


def attractor_bars(ax: Axes, attractors: Attractors, *, most: int = 12) -> Axes:
    """Draw how many starts came to each attractor, stored ones in another colour than spurious ones.

    Parameters
    ----------
    ax : Axes
    attractors : Attractors
    most : int
        How many to show; the rest is put together.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt, seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 30, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=60, random_state=0).fit(X)
    >>> ax = attractor_bars(plt.figure().add_subplot(), sa.find_attractors(net, X, flips=2, rng=0))
    >>> ax.get_xlabel()
    'starts, %'
    """
    total = len(attractors.which)
    bars = []
    for a in attractors.found[:most]:
        name = a.name if a.stored is not None or a.mirror_of is not None else f"{a.name}, period {a.period}"
        color = BLUE if a.stored is not None else ORANGE
        bars.append((name, a.starts, color))
    rest = sum(a.starts for a in attractors.found[most:])
    if rest:
        bars.append((f"{len(attractors) - most} others", rest, GREY))
    if attractors.unfinished:
        bars.append(("not settled", attractors.unfinished, GREY))
    for y, (_, count, color) in enumerate(bars):
        ax.barh(y, 100 * count / total, color=color)
        ax.text(100 * count / total + 1, y, str(count), va="center", fontsize=8)
    ax.set_yticks(range(len(bars)), [name for name, _, _ in bars])
    ax.invert_yaxis()
    ax.set_xlim(0, 112)
    ax.set_xlabel("starts, %")
    ax.grid(axis="x")
    return ax


def state_space(ax: Axes, plane: Projection, stored: Sequence[ArrayLike], trajectories: Sequence[ArrayLike] = ()) -> Axes:
    """Draw stored sequences and some trajectories in the plane of the first two principal components.

    Parameters
    ----------
    ax : Axes
    plane : Projection
        As `principal_plane` gives it, of visible or of hidden states.
    stored : sequence of arrays, each of shape (T_s, N)
    trajectories : sequence of arrays, each of shape (K, N)

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt, seqattractor as sa
    >>> X = sa.datasets.random_periodic(9, 30, rng=0)
    >>> ax = state_space(plt.figure().add_subplot(), sa.principal_plane(X), [X], [sa.noise.flip(X, 3, rng=0)])
    >>> len(ax.lines)
    3
    """
    for k, path in enumerate(trajectories):
        points = _two(plane(path))
        ax.plot(*points.T, color=GREY, linewidth=0.8, alpha=0.8, label="recall" if k == 0 else None)
        ax.plot(*points[0], "o", color=GREY, markersize=4, label="cue" if k == 0 else None)
    colours = (BLUE, ORANGE, GREEN, RED)
    for s, sequence in enumerate(stored):
        points = _two(plane(sequence))
        name = "stored" if len(stored) == 1 else f"sequence {s}"
        ax.plot(*points.T, "o-", color=colours[s % 4], markersize=3, linewidth=1.2, label=name if s < 6 else None)
    ax.set_xlabel(_axis_name(plane, 0))
    ax.set_ylabel(_axis_name(plane, 1))
    ax.legend()
    return ax


def code_overlap(ax: Axes, activity: HiddenActivity) -> Axes:
    """Draw the overlap of every pair of hidden codes.

    Parameters
    ----------
    ax : Axes
    activity : HiddenActivity

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt, seqattractor as sa
    >>> X = sa.datasets.random_periodic(9, 30, rng=0)
    >>> activity = sa.hidden_activity(sa.OneHotNetwork().fit(X), X)
    >>> code_overlap(plt.figure().add_subplot(), activity).images[0].get_array().shape
    (8, 8)
    """
    image = ax.imshow(activity.overlap, cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
    figure = ax.get_figure()
    if figure is not None:
        figure.colorbar(image, ax=ax, label="overlap of codes", shrink=0.85)
    ax.set_xlabel("transition")
    ax.set_ylabel("transition")
    return ax


def hidden_rates(ax: Axes, activity: HiddenActivity) -> Axes:
    """Draw how many hidden neurons are active at which part of the transitions.

    Parameters
    ----------
    ax : Axes
    activity : HiddenActivity

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt, seqattractor as sa
    >>> X = sa.datasets.random_periodic(9, 30, rng=0)
    >>> activity = sa.hidden_activity(sa.OneHotNetwork().fit(X), X)
    >>> hidden_rates(plt.figure().add_subplot(), activity).get_ylabel()
    'hidden neurons'
    """
    ax.hist(100 * activity.rate, bins=np.linspace(0, 100, 26).tolist(), color=BLUE)
    ax.axvline(100 * float(activity.rate.mean()), color=ORANGE, linewidth=1.4, label="mean")
    ax.set_xlim(0, 100)
    ax.set_xlabel("active at so many transitions, %")
    ax.set_ylabel("hidden neurons")
    ax.grid(axis="y")
    ax.legend()
    return ax


def _two(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two coordinates, also of states on a line."""
    return points if points.shape[1] == 2 else np.column_stack([points[:, 0], np.zeros(len(points))])


def _axis_name(plane: Projection, k: int) -> str:
    """The number of a component and its part of the variance."""
    return f"component {k + 1} ({plane.explained[k]:.0%})" if k < len(plane.explained) else ""
