"""The networks by the short names that the command line uses."""

from __future__ import annotations

import inspect
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqattractor.networks.base import SequenceMemory

__all__ = ["make_network", "network_classes"]


def network_classes() -> dict[str, type[SequenceMemory]]:
    """All networks that can be learned, by short name: attractor, sparse, visible, one-hot, dense, ..."""
    import seqattractor as sa
    from seqattractor.networks.base import SequenceMemory

    for name in dir(sa):  # public names load on first use, and a class is known once it is loaded
        if name.endswith(("Attractor", "Network", "Memory", "Retrieval")):
            getattr(sa, name)
    ours = {name: cls for name, cls in SequenceMemory._classes.items() if cls.__module__.startswith("seqattractor.")}
    return {_short(name): cls for name, cls in ours.items() if not inspect.isabstract(cls)}


def make_network(name: str, parameters: dict[str, Any], settings: tuple[str, ...] = ()) -> SequenceMemory:
    """Make a network from its short name, the parameters a command knows, and NAME=VALUE settings."""
    classes = network_classes()
    if name not in classes:
        raise ValueError(f"there is no network {name!r}; there are {', '.join(sorted(classes))}.")
    known = inspect.signature(classes[name]).parameters
    chosen = dict(parameters)
    for setting in settings:
        key, sign, value = setting.partition("=")
        if not sign:
            raise ValueError(f"a setting has the form NAME=VALUE, but {setting!r} has not.")
        chosen[key.strip()] = _value(value.strip())
    for key in chosen:
        if key not in known:
            raise ValueError(f"the network {name!r} has no parameter {key!r}; it has {', '.join(known)}.")
    return classes[name](**chosen)


def _short(name: str) -> str:
    """SparseSequenceAttractor becomes sparse, OneHotNetwork one-hot, SequenceAttractor attractor."""
    for ending in ("SequenceAttractor", "SequenceMemory", "Network", "CodingMemory", "Memory"):
        if name.endswith(ending) and name != ending:
            name = name.removesuffix(ending)
            break
    else:
        name = name.removeprefix("Sequence")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def _value(word: str) -> Any:
    """A value as JSON where it is that, else as a word."""
    try:
        return json.loads(word)
    except json.JSONDecodeError:
        return word
