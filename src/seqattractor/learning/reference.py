"""The plain online loop: one transition at a time, epoch after epoch, on the weights. Slow, and the truth.

Learning works in steps of eta on a dyadic grid (`grid`), in which every sum is exact: a field that equals kappa is seen as
equal, and learning epoch by epoch, with the weights multiplied by eta in between, is the same as learning all epochs at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from seqattractor.learning import rule
from seqattractor.learning.grid import in_steps
from seqattractor.learning.result import Learned, LearnedVisible, ProgressCallback
from seqattractor.sequences import Patterns

Weights = NDArray[np.float64]


def learn(
    inputs: Patterns,
    targets: Patterns,
    hidden_targets: Patterns,
    *,
    U: Weights,
    V: Weights,
    kappa: float,
    eta: float,
    max_epochs: int,
    input_threshold: float = 0.0,
    learn_U: bool = True,
    bias: bool = False,
    n_jobs: int | None = None,
    callback: ProgressCallback | None = None,
) -> Learned:
    """Learn U and V by equations (4)-(9), or only V.

    Parameters
    ----------
    inputs : ndarray of int8, shape (n, N_in)
        x(t) of each transition, in the order of presentation.
    targets : ndarray of int8, shape (n, N)
        x(t+1).
    hidden_targets : ndarray of int8, shape (n, M)
        z(t+1), eq. (4).
    U, V : ndarray of float64, shapes (M, N_in) and (N, M)
        Initial weights; they may be overwritten.
    kappa, eta, max_epochs, input_threshold
        As in `SequenceAttractor`.
    learn_U : bool
        Whether U learns, too.
    bias : bool
        Whether there are biases: then U is (M, N_in + 1) and V is (N, M + 1), with the biases in their last columns.
    n_jobs : int, optional
        Not used here: the plain loop runs in one thread.
    callback : callable, optional
        Told of every epoch; see `ProgressCallback`.

    Returns
    -------
    Learned
    """
    fixed_U, U, V = U, in_steps(U, eta), in_steps(V, eta)
    margin, theta = float(in_steps(kappa, eta)), float(in_steps(input_threshold, eta))
    x, x_next = inputs.astype(np.float64), targets.astype(np.float64)

    def epoch() -> tuple[int, int]:
        hidden = visible = 0
        for t in range(len(x)):
            transition = x[t], x_next[t], hidden_targets[t]
            mu, nu = rule.learn_transition(U, V, *transition, kappa=margin, eta=1.0, theta=theta, learn_U=learn_U, bias=bias)
            hidden, visible = hidden + mu, visible + nu
        return hidden, visible

    errors, converged = repeat(epoch, max_epochs, callback)
    return Learned(U * eta if learn_U else fixed_U, V * eta, errors[:, 0], errors[:, 1], len(errors), converged)


def learn_with_feedback(
    inputs: Patterns,
    targets: Patterns,
    drive: Weights,
    *,
    U: Weights,
    V: Weights,
    Q: NDArray[np.int64],
    learned_feedback: float,
    kappa: float,
    eta: float,
    max_epochs: int,
    input_threshold: float = 0.0,
    bias: bool = False,
    n_jobs: int | None = None,
    callback: ProgressCallback | None = None,
) -> Learned:
    """Learn U, V and the feedback Q: hidden targets are z = sign((P + lambda Q) x(t+1)), and Q gets the update of V.

    Parameters
    ----------
    inputs, targets : ndarray of int8, shapes (n, N_in) and (n, N)
        x(t) and x(t+1) of each transition, in the order of presentation.
    drive : ndarray of float64, shape (n, M)
        P x(t+1) less the threshold of targets, `rule.target_drive`.
    U, V : ndarray of float64, shapes (M, N_in) and (N, M), with one more column each if there are biases
        Initial weights; they may be overwritten.
    Q : ndarray of int64, shape (M, N)
        The feedback that was learned before, in units of eta: whole numbers, since it starts at zero. It is left as it is.
    learned_feedback : float
        lambda.
    kappa, eta, max_epochs, input_threshold, bias, n_jobs, callback
        As in `learn`.

    Returns
    -------
    Learned
        With Q.

    Examples
    --------
    >>> X = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.int8)
    >>> drive = np.array([[0.4, -0.1], [0.2, 0.3]])
    >>> start = {"U": np.zeros((2, 3)), "V": np.zeros((3, 2)), "Q": np.zeros((2, 3), dtype=np.int64)}
    >>> learned = learn_with_feedback(X[:-1], X[1:], drive, **start, learned_feedback=0.1, kappa=1.0, eta=0.5, max_epochs=50)
    >>> learned.converged, bool((learned.V == 0.5 * learned.Q.T).all())
    (True, True)
    """
    U, V, feedback = in_steps(U, eta), in_steps(V, eta), Q.astype(np.float64)
    theta = float(in_steps(input_threshold, eta))
    margin = float(in_steps(kappa, eta))
    x, x_next = inputs.astype(np.float64), targets.astype(np.float64)

    def epoch() -> tuple[int, int]:
        hidden = visible = 0
        for t in range(len(x)):
            z = rule.learned_target(drive[t], feedback, x_next[t], learned_feedback)
            transition = x[t], x_next[t], z
            mu, nu = rule.learn_transition(U, V, *transition, kappa=margin, eta=1.0, theta=theta, bias=bias, Q=feedback)
            hidden, visible = hidden + mu, visible + nu
        return hidden, visible

    errors, converged = repeat(epoch, max_epochs, callback)
    return Learned(U * eta, V * eta, errors[:, 0], errors[:, 1], len(errors), converged, feedback.astype(np.int64))


def learn_visible(
    inputs: Patterns,
    targets: Patterns,
    *,
    W: Weights,
    kappa: float,
    eta: float,
    max_epochs: int,
    n_jobs: int | None = None,
    callback: ProgressCallback | None = None,
) -> LearnedVisible:
    """Learn the weights W (N, N_in) of a network without hidden neurons: the margin perceptron, eqs. (8)-(9) on W."""
    W = in_steps(W, eta)
    margin = float(in_steps(kappa, eta))
    x, x_next = inputs.astype(np.float64), targets.astype(np.float64)

    def epoch() -> tuple[int, int]:
        return 0, sum(rule.update_visible(W, x[t], x_next[t], kappa=margin, eta=1.0) for t in range(len(x)))

    errors, converged = repeat(epoch, max_epochs, callback)
    return LearnedVisible(W * eta, errors[:, 1], len(errors), converged)


def repeat(
    epoch: Callable[[], tuple[int, int]], max_epochs: int, callback: ProgressCallback | None
) -> tuple[NDArray[np.int64], bool]:
    """Run epochs until one has no error (all later ones would change nothing), or the callback says stop."""
    errors: list[tuple[int, int]] = []
    while len(errors) < max_epochs:
        errors.append(epoch())
        stop = callback is not None and callback(len(errors), *errors[-1])
        if stop or errors[-1] == (0, 0):
            break
    return np.array(errors, dtype=np.int64).reshape(-1, 2), bool(errors) and errors[-1] == (0, 0)
