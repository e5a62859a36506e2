"""What is uploaded: the wheel and the sdist hold what they should, and nothing of the machine they
were made on.

`make dist` also installs the wheel into a new environment, which needs the network.
"""

import os
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import hatchling.build
import pytest

import seqattractor as sa
from seqattractor.engine import kernels

ROOT = Path(__file__).parents[2]
STEM = f"seqattractor-{sa.__version__}"


def in_repository(*where):
    """The files that git tracks or would add, as paths relative to the root."""
    if not (ROOT / ".git").exists():
        pytest.skip(
            "this is not a git repository, so that nothing determines which files belong to it"
        )
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *where]
    names = subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    return {name for name in names if name and (ROOT / name).exists()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the wheel and the sdist, made as pip would make them, with the hatchling that
    is installed.
    """
    made = tmp_path_factory.mktemp("dist")
    before = Path.cwd()
    os.chdir(ROOT)
    os.environ["SEQATTRACTOR_CFLAGS"] = "-O0"  # compiled sooner
    try:
        hatchling.build.build_wheel(str(made))
        hatchling.build.build_sdist(str(made))
    finally:
        del os.environ["SEQATTRACTOR_CFLAGS"]
        os.chdir(before)
    return made


@pytest.fixture(scope="module")
def wheel(folder):
    (made,) = folder.glob(f"{STEM}-py3-none-*.whl")  # for this platform, and every Python
    with zipfile.ZipFile(made) as archive:
        yield archive


@pytest.fixture(scope="module")
def sdist(folder):
    with tarfile.open(folder / f"{STEM}.tar.gz") as archive:
        yield archive


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    installed = {name for name in wheel.namelist() if not name.startswith(f"{STEM}.dist-info/")}
    core = f"seqattractor/engine/{kernels.library_path().name}"
    assert installed == {
        name.removeprefix("src/") for name in in_repository("src/seqattractor")
    } | {core}


@pytest.mark.parametrize(
    "name",
    [
        "py.typed",
        "__init__.pyi",
        "plots/__init__.pyi",
        "plots/house.mplstyle",
        "report/templates/base.html",
        "lab/static/index.html",
        "engine/csrc/core.c",
    ],
)
def test_the_wheel_holds_files_that_are_not_python(wheel, name):
    assert (
        wheel.getinfo(f"seqattractor/{name}").file_size
        == (ROOT / "src" / "seqattractor" / name).stat().st_size
    )


def test_the_sdist_holds_the_repository_and_nothing_of_the_machine(sdist):
    held = {
        member.name.removeprefix(f"{STEM}/") for member in sdist.getmembers() if member.isfile()
    }
    assert held - {"PKG-INFO"} == in_repository()


def test_nobody_who_made_the_sdist_is_named_in_it(sdist):
    assert {
        (member.uid, member.gid, member.uname, member.gname) for member in sdist.getmembers()
    } == {(0, 0, "", "")}


def test_what_pypi_would_show_is_known_and_true(wheel):
    page = message_from_bytes(wheel.read(f"{STEM}.dist-info/METADATA"))
    assert page["Version"] == sa.__version__
    assert page["License-Expression"] == "BSD-3-Clause"
    assert page["Description-Content-Type"] == "text/markdown"
    assert page.get_payload(decode=True).decode() == (ROOT / "README.md").read_text(
        encoding="utf-8"
    )
    assert not [value for name, value in page.items() if "FILL-IN" in value]
    assert [
        url
        for url in page.get_all("Project-URL", [])
        if not url.split(", ")[1].startswith("https://")
    ] == []


@pytest.mark.slow
def test_the_wheel_alone_recalls_and_writes_a_report(folder, wheel, tmp_path):
    """Unpacked elsewhere, with nothing of the repository on the path."""
    wheel.extractall(tmp_path / "site")
    settings = os.environ | {"PYTHONPATH": str(tmp_path / "site")}

    def run(*words):
        return subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env=settings,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    code = (
        "import seqattractor as sa; X = sa.datasets.random_periodic(5, 40, rng=0); net = "
        "sa.zoo.HebbianMemory().fit(X); print(sa.retrieved(net.recall(X[0], steps=8), X), "
        "sa.__file__)"
    )
    right, where = run("-c", code).split(maxsplit=1)
    assert right == "True"
    assert Path(where.strip()).is_relative_to(tmp_path / "site")
    run("-m", "seqattractor", "reproduce", "fig2", "--quick", "--out", "report")
    assert "<style" in (tmp_path / "report" / "report.html").read_text()
