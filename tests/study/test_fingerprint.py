"""The fingerprint of a trial follows what it runs: an edit that could change a result is seen, any other is not."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import seqattractor as sa
from seqattractor.study.fingerprint import fingerprint, imported_by

SOURCE = Path(sa.__file__).parent
FINGERPRINTS = """
import json
from seqattractor.tasks.compare import COMPARISON
from seqattractor.study.protocol import RETRIEVAL

settings = [(RETRIEVAL, "attractor"), (RETRIEVAL, "hebbian"), (COMPARISON, "attractor"), (COMPARISON, "dense-3")]
print(json.dumps({f"{protocol.name} {name}": protocol.fingerprint({"network": name}) for protocol, name in settings}))
"""
EVERY = {"retrieval attractor", "retrieval hebbian", "compare attractor", "compare dense-3"}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package whose modules may be edited."""
    copy = tmp_path_factory.mktemp("copy") / "seqattractor"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__", "static"))
    return copy


def fingerprints(package):
    """Those of some trials, by a process that imports this copy."""
    code = f"import sys; sys.path.insert(0, {str(package.parent)!r})\n{FINGERPRINTS}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def before(package):
    found = fingerprints(package)
    assert set(found) == EVERY
    assert len(set(found.values())) == 4
    return found


def changed_by(package, before, edits):
    """Edit modules, as {path: (old, new)}, and give the names of the trials whose fingerprint is another then."""
    whole = {path: (package / path).read_text() for path in edits}
    for path, (old, new) in edits.items():
        assert old in whole[path]
        (package / path).write_text(whole[path].replace(old, new))
    try:
        after = fingerprints(package)
    finally:
        for path, text in whole.items():
            (package / path).write_text(text)
    return {name for name in EVERY if after[name] != before[name]}


@pytest.mark.parametrize(
    ("path", "old", "new", "changed"),
    [
        ("study/settings.py", "PERIODS = 4", "PERIODS = 5", EVERY),
        ("study/comparison_trial.py", "t: int = 40", "t: int = 41", {"compare attractor", "compare dense-3"}),
        ("learning/exact/engine.py", '"""', '""" ', {"retrieval attractor", "compare attractor"}),
        ("zoo/hebbian.py", '"""', '""" ', {"retrieval hebbian"}),
        ("networks/registry.py", '{"degree": 3}', '{"degree": 4}', {"compare dense-3"}),
        ("networks/registry.py", "raise ValueError(", "raise  ValueError(", EVERY),
    ],
)
def test_an_edited_protocol_learning_rule_or_network_changes_the_trials_that_run_it(package, before, path, old, new, changed):
    assert changed_by(package, before, {path: (old, new)}) == changed


def test_the_sources_in_c_belong_to_the_module_that_calls_them(package):
    code = (
        f"import sys; sys.path.insert(0, {str(package.parent)!r})\n"
        "from seqattractor.study.fingerprint import fingerprint\n"
        "print(fingerprint(frozenset({'seqattractor.learning.kernels'})), fingerprint(frozenset({'seqattractor.noise'})))"
    )

    def both():
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    kernels, noise = both()
    for name in ("core.c", "lanes.h"):
        path = package / "learning" / "csrc" / name
        before = path.read_text()
        path.write_text(before.replace("/*", "/* ", 1))
        try:
            edited = both()
        finally:
            path.write_text(before)
        assert edited[0] != kernels, name
        assert edited[1] == noise
    assert both() == [kernels, noise]


def test_an_edited_legend_page_command_or_other_network_changes_no_trial(package, before):
    shows = ["plots/_curves.py", "report/comparison_view.py", "report/templates/base.html", "study/conclusion.py"]
    runs = ["study/store.py", "study/executors.py", "tasks/compare.py", "cli/compare.py", "cli/__init__.py"]
    others = ["zoo/lookup.py", "networks/sparse.py", "networks/__init__.py", "paper/agreement.py", "__init__.py"]
    edits = dict.fromkeys([*shows, *runs, *others], ("\n", "\n\n"))
    edits["study/comparison_tests.py"] = ("Corrupted cues", "Spoiled cues")
    edits["networks/registry.py"] = ("asymmetric Hebbian network (Amari 1972)", "the network of Amari")
    edits["plots/_curves.py"] = ('loc="center left"', 'loc="upper left"')
    assert changed_by(package, before, edits) == set()


def test_imports_inside_functions_count_and_those_for_type_checkers_do_not():
    table = imported_by("seqattractor.study.run")
    assert "seqattractor.study.dask_executor" in table  # inside a function
    assert "seqattractor.plots" not in table
    assert imported_by("seqattractor.plots") == frozenset()  # loads its names when they are asked for


def test_the_fingerprint_of_something_outside_the_package_is_refused():
    with pytest.raises(ValueError, match="numpy is not a module of seqattractor"):
        fingerprint(frozenset({"numpy"}))
