"""Every public name is documented in full, and the reference lists all of them."""

import inspect
import pydoc
import re
from pathlib import Path

import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc

import seqattractor as sa
from seqattractor import (
    analysis,
    constraints,
    datasets,
    encoders,
    io,
    model_selection,
    networks,
    noise,
    plots,
    replay,
    rules,
    study,
    theory,
    zoo,
)
from seqattractor._faces import Result

REFERENCE = Path(__file__).parents[2] / "docs" / "api.rst"
MODULES = {
    "constraints": constraints,
    "datasets": datasets,
    "encoders": encoders,
    "io": io,
    "model_selection": model_selection,
    "noise": noise,
    "plots": plots,
    "replay": replay,
    "rules": rules,
    "theory": theory,
    "zoo": zoo,
}


def public():
    """The functions and classes that a user reaches as sa.<name>, by that name."""
    for prefix, module in {
        "": sa,
        **{f"{name}.": module for name, module in MODULES.items()},
    }.items():
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                yield prefix + name, thing


PUBLIC = dict(public())


def introduced(cls, method):
    """A method where it is first defined: classes further down that fill it in need not explain it
    again.
    """
    return next(vars(base)[method] for base in reversed(cls.__mro__) if method in vars(base))


METHODS = {
    function.__qualname__: function
    for cls in PUBLIC.values()
    if inspect.isclass(cls)
    for method, _ in inspect.getmembers(cls, inspect.isfunction)
    if not method.startswith("_")
    and inspect.isfunction(function := introduced(cls, method))
    and function.__module__.startswith("seqattractor.")
}


def documented(sections):
    """The names in a section of parameters; one line may hold several."""
    return {name.strip().lstrip("*") for entry in sections for name in entry.name.split(",")}


@pytest.mark.parametrize("name", [*PUBLIC, *METHODS])
def test_a_public_name_documents_its_parameters_its_result_and_an_example(name):
    thing = PUBLIC.get(name) or METHODS[name]
    text = ClassDoc(thing) if inspect.isclass(thing) else FunctionDoc(thing)
    known = documented(text["Parameters"])
    if inspect.isclass(thing) and issubclass(thing, Result):  # which users get and do not make
        known |= documented(text["Attributes"])
    for parameter in inspect.signature(thing).parameters.values():
        named = parameter.name in known or parameter.kind is parameter.VAR_KEYWORD
        assert named or parameter.name == "self", f"{name} does not explain {parameter.name}"
    if inspect.isfunction(thing) and thing.__annotations__.get("return") not in (None, "None"):
        assert text["Returns"] or text["Yields"], f"{name} does not document what it returns"
    if not getattr(thing, "__isabstractmethod__", False):
        assert any(">>>" in line for line in text["Examples"]), f"{name} has no example"


def test_the_reference_lists_every_public_name_and_no_other():
    listed = set(re.findall(r"^   ([A-Za-z_][\w.]*)$", REFERENCE.read_text(), flags=re.M))
    assert set(PUBLIC) <= listed
    for package in (analysis, study, networks):
        names = {name for name in package.__all__ if callable(getattr(package, name))}
        assert {
            name
            for name in names
            if not {name, f"{package.__name__.split('.')[1]}.{name}"} & listed
        } == set()
    assert [name for name in listed if pydoc.locate(f"seqattractor.{name}") is None] == []


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in plots.__all__
        if inspect.isfunction(getattr(plots, name)) and name != "style"
    ],
)
def test_every_picture_takes_axes_by_name_or_makes_its_own(name):
    ax = inspect.signature(getattr(plots, name)).parameters["ax"]
    assert ax.kind is ax.KEYWORD_ONLY
    assert ax.default is None
