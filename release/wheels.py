"""Make the wheels of all platforms from the sdist, and the core for WebAssembly.

python release/wheels.py dist

Everything is compiled here, by zig (`hatch_build.TARGETS`). Each wheel is opened again, since it
must hold the library of its platform and no other; the module for WebAssembly is loaded in Node, if
there is one.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import hatch_build  # noqa: E402 - it is in a folder that is not on the path

# How the files of shared libraries begin.
BEGINNINGS = {"_core.so": b"\x7fELF", "_core.dylib": b"\xcf\xfa\xed\xfe", "_core.dll": b"MZ"}


def make_wheel(sources: Path, dist: Path, target: str) -> Path:
    """Make the wheel of a platform."""
    before = set(dist.glob("*.whl"))
    subprocess.run(
        [
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
            str(dist),
            str(sources),
        ],
        env=os.environ | {"SEQATTRACTOR_TARGET": target},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    (made,) = set(dist.glob("*.whl")) - before
    return made


def check_wheel(wheel: Path, target: str) -> int:
    """Check that a wheel holds the library of its platform, and gives that library's size."""
    name = hatch_build.library_name(target)
    with zipfile.ZipFile(wheel) as archive:
        held = {entry for entry in archive.namelist() if Path(entry).name.startswith("_core.")}
        wanted = [f"seqattractor/engine/{each}" for each in (name, "_core.wasm")]
        if held != {*wanted}:
            raise SystemExit(
                f"{wheel.name} should hold {name}, the core for browsers and no other library, but "
                f"holds {sorted(held)}."
            )
        library, module = map(archive.read, wanted)
    digest = hatch_build.digest_of_sources().encode()
    if not module.startswith(b"\0asm") or digest not in module:
        raise SystemExit(f"The core for browsers in {wheel.name} is not made from these sources.")
    if not library.startswith(BEGINNINGS[name]) or digest not in library:
        raise SystemExit(
            f"The library in {wheel.name} is not one for {target}, or not made from these sources."
        )
    return len(library)


def functions_in(module: Path) -> str:
    """Load a module of WebAssembly in Node, and say how many functions it has."""
    node = shutil.which("node")
    if not node:
        return "not loaded, since Node is not installed here"
    command = [node, "--no-warnings", str(ROOT / "tests" / "run_wasi.mjs"), str(module)]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    if "known_instruction_sets" not in names or "memory" not in names:
        raise SystemExit(f"{module.name} exports only {names}.")
    return f"loaded in Node, {sum(name.endswith('_base') for name in names)} kernels"


def main(folder: str) -> None:
    """Make and check all wheels from the only sdist in a folder, and say how large they are."""
    dist = Path(folder).resolve()
    (sdist,) = dist.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as unpacked:
        with tarfile.open(sdist) as archive:
            archive.extractall(unpacked, filter="data")
        (sources,) = Path(unpacked).iterdir()
        for target in hatch_build.TARGETS:
            start = time.perf_counter()
            wheel = make_wheel(sources, dist, target)
            size = check_wheel(wheel, target)
            took = time.perf_counter() - start
            print(
                f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, of which the library is "
                f"{size / 1e3:.0f} kB; {took:.0f} s"
            )
    version = sdist.name.removesuffix(".tar.gz").removeprefix("seqattractor-")
    module = hatch_build.compile_core(
        dist / f"seqattractor-core-{version}.wasm", target=hatch_build.WASM
    )
    print(f"{module.name}: {module.stat().st_size / 1e3:.0f} kB, {functions_in(module)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
