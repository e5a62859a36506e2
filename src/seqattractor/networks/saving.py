"""Saving a network: all that it has learned, in one file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from seqattractor.networks.declared import check_fitted
from seqattractor.networks.hooks import Hooks
from seqattractor.networks.model_file import write_model
from seqattractor.networks.plain_values import from_json, to_json


class Saving(Hooks):
    """A network that can be written to a file, and knows how large it is."""

    def n_parameters(self) -> int:
        """Count the parameters that a trained network needs for recall.

        Returns
        -------
        int

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.zoo.HebbianMemory().fit(sa.datasets.random_periodic(4, 30, rng=0)).n_parameters()
        900
        """
        check_is_fitted(self, "n_features_in_")
        names = self.traits().weights
        if names is None:
            names = tuple(
                k for k, v in self._fitted().items() if isinstance(v, np.ndarray) and not k.endswith(("errors_", "names_in_"))
            )
        return sum(int(np.asarray(getattr(self, name)).size) for name in names)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to one file, whole or not at all; `sa.load` brings it back.

        Parameters
        ----------
        path : str or path
            The name of the file, an npz with all arrays as they are and a JSON header (no pickle).

        Examples
        --------
        >>> import tempfile, pathlib, seqattractor as sa
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.npz"
        >>> sa.OneHotNetwork().fit(sa.datasets.xor()).save(path)
        >>> sa.load(path)
        OneHotNetwork()
        """
        check_is_fitted(self, "n_features_in_")
        write_model(path, *self._contents())

    def _contents(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What a file holds of the network: a header of plain values, and arrays."""
        from seqattractor import __version__

        fitted = self._fitted()
        arrays = {k: v for k, v in fitted.items() if isinstance(v, np.ndarray) and k != "feature_names_in_"}
        values = {k: to_json(v, k) for k, v in fitted.items() if k not in arrays}
        parameters = {k: to_json(v, k) for k, v in self.get_params(deep=False).items()}
        as_loaded = [{k: from_json(v) for k, v in part.items()} for part in (parameters, values)]
        try:  # what could not be loaded is not saved
            check_fitted(self, as_loaded[0], as_loaded[1], arrays)
        except (TypeError, ValueError) as error:
            raise type(error)(f"this {type(self).__name__} cannot be saved: {str(error).rstrip('.')}.") from None
        header = {"class": type(self).__name__, "parameters": parameters, "values": values, "seqattractor": __version__}
        return header, arrays
