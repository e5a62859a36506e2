"""What the command line keeps with a model: where the sequences came from, and the sequences themselves, bit by bit.

A network does not keep what it learned from. A model *file* may: recall then has something to compare with, and can write the
same kind of thing back. One bit a unit is little beside the weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

__all__ = ["attach", "attached"]

_KEPT = ("names", "units", "rate", "step", "kind", "closed", "options")


def attach(net: Any, data: Bunch, *, patterns: bool = True) -> None:
    """Attach what `load` gave to a fitted network, to be saved with it.

    Parameters
    ----------
    net : SequenceMemory
        Gets ``metadata_`` and, with `patterns`, ``attached_patterns_`` (T, ceil(N / 8)) uint8.
    data : Bunch
        As `load` returns it.
    patterns : bool
        Keep the sequences too.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.xor()
    >>> net = sa.OneHotNetwork().fit(X)
    >>> attach(net, Bunch(X=X, lengths=[5], frame_shape=(2,), names=["xor"], kind="array"))
    >>> attached(net).names, attached(net).X.shape
    (['xor'], (5, 2))
    """
    net.metadata_ = {
        "frame_shape": [int(n) for n in data.frame_shape],
        "lengths": [int(n) for n in data.lengths],
        **{key: data.get(key) for key in _KEPT},
    }
    if patterns:
        net.attached_patterns_ = np.packbits(np.asarray(data.X) > 0, axis=1)


def attached(net: Any) -> Bunch:
    """Give what `attach` attached: a Bunch as of `load`, whose ``X`` is None where the patterns were not kept.

    A model without such information gives frames of N units and no names.
    """
    known = dict(getattr(net, "metadata_", None) or {})
    N = int(net.n_features_in_)
    shape = tuple(int(n) for n in known.get("frame_shape") or (N,))
    if int(np.prod(shape)) != N:
        raise ValueError(f"the model says that its frames have the shape {shape}, but it has {N} units; learn it again.")
    lengths = np.asarray(known.get("lengths") or [], dtype=np.int64)
    packed = getattr(net, "attached_patterns_", None)
    X = None
    if packed is not None:
        if packed.dtype != np.uint8 or packed.shape != (lengths.sum(), -(-N // 8)):
            raise ValueError("the patterns kept in the model do not fit its sizes; learn it again.")
        X = np.where(np.unpackbits(packed, axis=1, count=N), 1, -1).astype(np.int8)
    return Bunch(X=X, lengths=lengths, frame_shape=shape, **{key: known.get(key) for key in _KEPT})
