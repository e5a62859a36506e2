"""The core in C is compiled wherever somebody installs: by the machine's compiler, or by ziglang,
which then comes by itself.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import hatchling.build
import pytest
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

from core_selftest import checksums, command, hatch_build
from kernel_calls import KERNELS
from seqattractor.engine import kernels

ROOT = Path(__file__).parents[2]
needs_compiler = pytest.mark.skipif(
    "ziglang" in hatch_build.compiler(), reason="this machine has no C compiler"
)


def build(what, cwd=ROOT, **settings):
    """Call a function of hatchling in a process of its own, as pip does."""
    environment = {name: value for name, value in os.environ.items() if name != "CC"}
    environment |= {"SEQATTRACTOR_CFLAGS": "-O0"} | settings  # compiled sooner
    code = f"import hatchling.build; print(hatchling.build.{what})"
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    folder, before = tmp_path_factory.mktemp("sdist"), Path.cwd()
    os.chdir(ROOT)
    try:
        return folder / hatchling.build.build_sdist(str(folder))
    finally:
        os.chdir(before)


@pytest.fixture
def sources(sdist, tmp_path):
    """A fresh copy of the sources, as the sdist has them."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "fresh", filter="data")
    (found,) = (tmp_path / "fresh").iterdir()
    return found


@pytest.mark.parametrize("what", ["wheel", "editable"])
def test_without_a_compiler_ziglang_is_a_build_requirement_by_itself(what, tmp_path):
    done = build(f"get_requires_for_build_{what}()", PATH=str(tmp_path))
    assert hatch_build.ZIG in done.stdout, done.stderr


@needs_compiler
def test_with_a_compiler_nothing_else_is_needed():
    assert build("get_requires_for_build_wheel()").stdout.strip() == "[]"


def test_a_compiler_that_lacks_something_is_not_used(tmp_path):
    """Such as one without the headers of the C library."""
    (tmp_path / "cc").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "cc").chmod(0o755)
    assert hatch_build.ZIG in build("get_requires_for_build_wheel()", PATH=str(tmp_path)).stdout


@pytest.mark.slow
@needs_compiler
def test_the_wheel_is_for_this_platform_and_every_python(sources, tmp_path):
    done = build(f"build_wheel({str(tmp_path)!r})", sources)
    name = done.stdout.split()[-1]
    assert parse_wheel_filename(name)[-1] & set(sys_tags())
    assert "-py3-none-" in name
    assert "any" not in name
    with zipfile.ZipFile(tmp_path / name) as archive:
        assert f"seqattractor/engine/{kernels.library_path().name}" in archive.namelist()
    assert not list(sources.rglob("_core.*")), "a wheel leaves the sources as they were"


def test_a_wheel_without_the_core_can_be_asked_for(sources, tmp_path):
    """For platforms that neither a compiler nor ziglang is for: plain numpy works there."""
    done = build(f"build_wheel({str(tmp_path)!r})", sources, HATCH_BUILD_NO_HOOKS="true")
    assert done.stdout.strip().endswith("-py3-none-any.whl"), done.stderr


@needs_compiler
def test_sources_that_cannot_be_compiled_end_in_one_sentence_and_the_messages_of_the_compiler(
    sources, tmp_path
):
    with open(sources / "src" / "seqattractor" / "engine" / "csrc" / "core.c", "a") as file:
        file.write("int broken(void) { return nothing; }\n")
    done = build(f"build_wheel({str(tmp_path)!r})", sources)
    assert done.returncode != 0
    assert (
        "The core in C could not be compiled: the messages of the compiler are below"
        in done.stdout + done.stderr
    )
    assert "nothing" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"CC": "no-such-compiler"},
            "The core in C could not be compiled, since no-such-compiler cannot be run",
        ),
        (
            {"SEQATTRACTOR_TARGET": "pdp-11"},
            "SEQATTRACTOR_TARGET must be one of x86_64-linux-gnu.2.17, ",
        ),
    ],
)
def test_a_compiler_or_a_target_that_is_not_there_is_named(sources, tmp_path, settings, sentence):
    done = build(f"build_wheel({str(tmp_path)!r})", sources, **settings)
    assert done.returncode != 0
    assert sentence in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_every_target_has_its_own_tags_and_the_library_that_the_binding_looks_for():
    tags = [tag for target in hatch_build.TARGETS.values() for tag in target.split(".")]
    assert len(set(tags)) == len(tags)
    names = {target: hatch_build.library_name(target) for target in hatch_build.TARGETS}
    assert set(names.values()) == {"_core.so", "_core.dylib", "_core.dll"}
    assert hatch_build.library_name() == kernels.library_path().name
    assert [hatch_build.library_name(system) for system in ("darwin", "win32", "linux")] == [
        "_core.dylib",
        "_core.dll",
        "_core.so",
    ]


@needs_compiler
def test_declarations_and_c_have_the_same_arguments(tmp_path):
    """The self-test calls every kernel as it is declared; the compiler looks at types of arrays and
    at the order of all.
    """
    done = subprocess.run(
        [*command(tmp_path), "-fsyntax-only"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@needs_compiler
def test_the_self_test_agrees_between_instruction_sets(tmp_path):
    """On ARM and WebAssembly it is run by `make dist`."""
    found = [checksums(tmp_path, isa=isa) for isa in kernels.instruction_sets()]
    assert set(found[0]) == {kernel.name for kernel in KERNELS.values()}
    assert all(other == found[0] for other in found)


def install(folder, *words, path):
    """Install into a new environment with this PATH, and give what the kernels compute there, and
    where they are.
    """
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    environment = {
        name: value for name, value in os.environ.items() if name not in ("CC", "PYTHONPATH")
    } | {"PATH": path}
    pip = [python, "-m", "pip", "install", "--quiet"]
    subprocess.run(
        [*pip, "numpy", "lazy_loader"], env=environment, check=True
    )  # all that the kernels need
    subprocess.run([*pip, "--no-deps", *words], env=environment, check=True, cwd=folder)
    command = [python, ROOT / "tests" / "kernel_calls.py", "digest"]
    done = subprocess.run(
        command, env=environment, cwd=folder, check=True, capture_output=True, text=True
    )
    where, digest = done.stdout.split()
    return Path(where), digest


@pytest.mark.slow
@needs_compiler
def test_installations_with_and_without_a_compiler_compute_the_same(sdist, sources, tmp_path):
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    assert not any(shutil.which(name, path=str(nothing)) for name in ("cc", "gcc", "clang"))
    by_zig, one = install(tmp_path / "zig", str(sdist), path=str(nothing))
    in_place, other = install(tmp_path / "gcc", "-e", str(sources), path=os.environ["PATH"])
    assert by_zig.is_relative_to(tmp_path / "zig")
    assert in_place.is_relative_to(sources)
    assert one == other
