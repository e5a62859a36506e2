"""Sequence memory in attractor networks: learn, recall, compare and look.

>>> import seqattractor as sa
>>> X = sa.datasets.random_periodic(20, 100, rng=0)
>>> net = sa.SequenceAttractor(n_hidden=200, random_state=0).fit(X)
>>> trajectory = net.recall(sa.noise.flip(X[0], 10, rng=1), steps=60)
>>> sa.retrieved(trajectory, X)
True

Public names are listed in ``__init__.pyi`` and load on first use, so that importing the package
stays quick.
"""

import lazy_loader as _lazy

__version__ = "0.2.0.dev0"  # the one place where it stands: pyproject.toml takes it from here

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
