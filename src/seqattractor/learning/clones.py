"""A hidden Markov model in which every symbol has clones: hidden states that all show it, and differ in what follows.

Emissions are certain, so that at each step only the clones of the symbol that is seen can be active. Transition probabilities are
held as blocks T[g], (C, C), one for each pair g of symbols that follow each other; all others are zero. Learning is Baum-Welch
restricted to these clones, then Viterbi training.

The messages of a sequence carry along where it started: A[t], (R, C), is the probability of what was seen up to t with each
start and each clone at t, and B[t], (C, R), that of what is seen after t. An open sequence has one start, the distribution of
first clones, A[0] = pi, and any end, B[-1] = 1. A cycle has C of them, A[0] = diag(pi), and must end where it started,
B[-1] = identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


class Course(NamedTuple):
    """A sequence of symbols: the first and the last one, the pairs that it goes through, and whether it is a cycle."""

    first: int
    last: int
    pairs: Whole
    """Numbers of pairs, shape (n,)."""
    closed: bool


@dataclass
class Clones:
    """Transition and start probabilities.

    Parameters
    ----------
    before : ndarray of int, shape (G,)
        The first symbol of each pair.
    T : ndarray, shape (G, C, C)
        From the clones of the first symbol to those of the second.
    pi : ndarray, shape (symbols, C)
        The distribution of clones with which a sequence starts at this symbol.
    """

    before: Whole
    T: Floats
    pi: Floats

    @classmethod
    def random(cls, before: Whole, symbols: int, n_clones: int, rng: np.random.Generator) -> Clones:
        """Draw transition probabilities; starts are equal."""
        T = rng.random((len(before), n_clones, n_clones))
        return cls(before, _per_clone(T, before, symbols), np.full((symbols, n_clones), 1 / n_clones))

    def learn(self, courses: Sequence[Course], pseudocount: float) -> float:
        """Make one step of Baum-Welch; returns the logarithm of the probability that the courses had before it."""
        counts, starts, total = np.full_like(self.T, pseudocount), np.zeros_like(self.pi), 0.0
        for course in courses:
            shares, log_probability = self.expect(course)
            np.add.at(counts, course.pairs, shares)
            starts[course.first] += shares[0].sum(axis=1)
            total += log_probability
        self._take(counts, starts)
        return total

    def expect(self, course: Course) -> tuple[Floats, float]:
        """The probability of each pair of clones at each step, (n, C, C), given the course; and the log of its own one."""
        A, B, log_probability = self._messages(course)
        shares = self.T[course.pairs] * (A[:-1].swapaxes(1, 2) @ B[1:].swapaxes(1, 2))
        return shares / shares.sum(axis=(1, 2), keepdims=True), log_probability

    def _messages(self, course: Course) -> tuple[Floats, Floats, float]:
        """A, (n + 1, R, C), and B, (n + 1, C, R), each divided by its sum, and the logarithm of the probability of the course."""
        pi, T = self.pi[course.first], self.T[course.pairs]
        n, C = len(T), len(pi)
        R = C if course.closed else 1
        A, B = np.empty((n + 1, R, C)), np.empty((n + 1, C, R))
        A[0] = np.diag(pi) if course.closed else pi
        B[n] = np.eye(C) if course.closed else 1.0
        log_scale = 0.0
        for t in range(n):
            ahead = A[t] @ T[t]
            scale = ahead.sum()
            A[t + 1] = ahead / scale
            log_scale += np.log(scale)
        for t in range(n - 1, -1, -1):
            back = T[t] @ B[t + 1]
            B[t] = back / back.sum()
        return A, B, float(log_scale + np.log(np.sum(A[n] * B[n].T)))

    def decide(self, courses: Sequence[Course]) -> list[Whole]:
        """Make one step of Viterbi training: the most probable clones of each course count alone; returns them, (n + 1,) each."""
        counts, starts, paths = np.zeros_like(self.T), np.zeros_like(self.pi), []
        for course in courses:
            path = self.most_probable(course)
            np.add.at(counts, (course.pairs, path[:-1], path[1:]), 1.0)
            starts[course.first, path[0]] += 1
            paths.append(path)
        self._take(counts, starts)
        return paths

    def most_probable(self, course: Course) -> Whole:
        """The most probable clones, (n + 1,), by the Viterbi algorithm; a cycle ends where it starts."""
        with np.errstate(divide="ignore"):
            log_T, log_pi = np.log(self.T[course.pairs]), np.log(self.pi[course.first])
        n, C = len(log_T), len(log_pi)
        best = np.where(np.eye(C, dtype=bool), log_pi, -np.inf) if course.closed else log_pi[None]
        came_from = np.empty((n, *best.shape), dtype=np.int64)
        for t in range(n):
            ways = best[:, :, None] + log_T[t]
            came_from[t] = ways.argmax(axis=1)
            best = ways.max(axis=1)
        path = np.empty(n + 1, dtype=np.int64)
        start = int(np.argmax(np.diag(best))) if course.closed else 0
        path[n] = start if course.closed else int(np.argmax(best[0]))
        for t in range(n - 1, -1, -1):
            path[t] = came_from[t, start, path[t + 1]]
        return path

    def _take(self, counts: Floats, starts: Floats) -> None:
        """Make probabilities of counts; symbols with which no sequence starts keep theirs."""
        self.T = _per_clone(counts, self.before, len(self.pi))
        begun = starts.sum(axis=1) > 0
        self.pi[begun] = starts[begun] / starts[begun].sum(axis=1, keepdims=True)


def _per_clone(counts: Floats, before: Whole, symbols: int) -> Floats:
    """Divide counts, (G, C, C), by the sum over all that follows a clone; zero for one that is never used."""
    totals = np.zeros((symbols, counts.shape[1]))
    np.add.at(totals, before, counts.sum(axis=2))
    return np.asarray(counts / np.where(totals > 0, totals, 1.0)[before][:, :, None])
