"""Memories with a number of hidden neurons that the user gives, or that `fit` chooses."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count_or_auto, is_auto
from seqattractor._progress import say_line
from seqattractor.learning.problem import ProgressCallback
from seqattractor.networks.choose_hidden import choose_hidden
from seqattractor.networks.layered import HiddenLayerMemory
from seqattractor.networks.online import EpochMemory
from seqattractor.noise import Seed
from seqattractor.sequences import Transitions


class SizedMemory(HiddenLayerMemory, EpochMemory):
    """A memory with ``n_hidden`` hidden neurons; with "auto" `fit` tries sizes until everything is stored."""

    usual_epochs: ClassVar[int] = 500
    """What ``max_epochs="auto"`` is for a given number of hidden neurons: as many as in the paper's experiments."""

    n_hidden: int | Literal["auto"]
    P_: NDArray[Any]
    random_state: Seed

    @abstractmethod
    def _learn_transitions(self, transitions: Transitions, callback: ProgressCallback | None = None) -> tuple[int, int]:
        """Learn from scratch with a given number of hidden neurons.

        Parameters
        ----------
        transitions, callback
            As in `fit_transitions`.

        Returns
        -------
        tuple of int
            Hidden and visible errors that are left.
        """

    @property
    def n_hidden_(self) -> int:
        """M, the number of hidden neurons of a network that has learned."""
        if "P_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} has no n_hidden_ before it has learned.")
        return len(self.P_)

    @property
    def _epochs_at_most(self) -> int:
        """The largest number of epochs for a given number of hidden neurons."""
        return self.usual_epochs if is_auto(self.max_epochs) else int(self.max_epochs)

    @property
    def _most_epochs(self) -> int | None:
        """After how many epochs learning ends at the latest; a search begins again and again."""
        return None if is_auto(self.n_hidden) else self._epochs_at_most

    @property
    def _fewest_hidden(self) -> int:
        """The smallest number of hidden neurons that goes together with the other parameters."""
        return 1

    @property
    def _hidden_left(self) -> int:
        """Updates of hidden neurons in the last epoch, if they are of a kind that comes to an end."""
        return self._last_errors()[0]

    def fit_transitions(self, transitions: Transitions, callback: ProgressCallback | None = None) -> tuple[int, int] | None:
        """Learn from scratch, with as many hidden neurons as are given or needed."""
        return self._fit_sized(transitions, lambda net, each: net._learn_transitions(transitions, each), callback)

    def _fit_sized(
        self,
        transitions: Transitions,
        learn: Callable[[Self, ProgressCallback | None], tuple[int, int]],
        callback: ProgressCallback | None,
    ) -> tuple[int, int] | None:
        """Learn with the given number of hidden neurons, or become the network that a search chooses; tells the errors left."""
        if not is_auto(self.n_hidden):
            return learn(self, callback)
        tell = (lambda attempt: say_line(attempt.describe())) if getattr(self, "verbose", 0) else None
        chosen, attempts = choose_hidden(self, transitions, learn=learn, tell=tell, callback=callback)
        for name, value in chosen._fitted().items():
            setattr(self, name, value)
        _move_on(self.random_state, chosen.random_state)
        # What was asked for is there: a margin that is missing somewhere, or a sparse code with noise, is nothing to warn of.
        best = max(attempts, key=lambda one: one.merit)
        return None if best.score == 1 else (best.hidden_errors, best.wrong_units)

    def _check_size(self) -> None:
        """Refuse a number of hidden neurons or epochs that makes no sense."""
        check_count_or_auto(self.n_hidden, "n_hidden")
        check_count_or_auto(self.max_epochs, "max_epochs")

    def _given_size(self) -> int:
        """M as the user gave it; a stream that has only begun cannot tell how many are needed."""
        if is_auto(self.n_hidden):
            raise ValueError(
                "n_hidden='auto' is chosen by fit, which sees all transitions at once; fit first, or begin partial_fit with a "
                "number of hidden neurons."
            )
        return int(self.n_hidden)

    def _remedies(self) -> list[str]:
        """What to try where errors are left: nothing that a search has tried."""
        epochs = ["allow more epochs (max_epochs)"] if self.n_iter_ >= self._epochs_at_most else []
        if not is_auto(self.n_hidden):
            return [*epochs, "use more hidden neurons", "store less"]
        return [
            *([] if is_auto(self.max_epochs) else epochs),
            f"let it see more of the past (order={self.order_ + 1})",
            "store less",
        ]


def _move_on(rng: Any, used: Any) -> None:
    """Bring a user's random generator to where the copy is that was used; a seed needs no such thing."""
    if isinstance(rng, np.random.Generator):
        rng.bit_generator.state = used.bit_generator.state
    elif isinstance(rng, np.random.RandomState):
        rng.set_state(used.get_state())
