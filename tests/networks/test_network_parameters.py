"""Parameters of networks, read from the source of a class: the same as its signature tells."""

import inspect

import pytest

from seqattractor.networks import registry as registry
from seqattractor.networks.registry import read_parameters


def signature_of(name):
    return {each.name: each.default for each in inspect.signature(registry.network_class(name)).parameters.values()}


@pytest.mark.parametrize("name", registry.REGISTRY)
def test_parameters_and_their_defaults_are_those_of_the_signature(name):
    entry = registry.REGISTRY[name]
    assert registry.parameters_of(name) == signature_of(name) | dict(entry.parameters)
    read = read_parameters(entry.module, entry.cls)
    assert read is None or read == signature_of(name)


@pytest.mark.parametrize(
    "init",
    [
        "def __init__(self, size): ...",
        "def __init__(self, size=1, *rest): ...",
        "def __init__(self, size=1, **more): ...",
        "def __init__(self, size=default_size()): ...",
        "def __init__(self, *, size): ...",
        "def fit(self, X): ...",
    ],
)
def test_what_the_source_does_not_tell_is_asked_of_the_class(tmp_path, monkeypatch, init):
    (tmp_path / "own.py").write_text(f"class Own:\n    {init}\n")
    monkeypatch.setattr(inspect.getmodule(read_parameters), "__file__", str(tmp_path / "networks" / "registry.py"))
    assert read_parameters("own", "Own") is None
    assert read_parameters("_no_such_file", "Own") is None


def test_defaults_that_are_written_out_are_read(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text("class Own:\n    def __init__(self, size=-1, *, kind='a', rate=1e-3, seed=None): ...\n")
    monkeypatch.setattr(inspect.getmodule(read_parameters), "__file__", str(tmp_path / "networks" / "registry.py"))
    assert read_parameters("own", "Own") == {"size": -1, "kind": "a", "rate": 1e-3, "seed": None}
