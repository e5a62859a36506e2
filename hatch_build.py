"""How the core in C is compiled: by pip, through hatchling, or by hand with ``python hatch_build.py``."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent
SOURCES = ROOT / "src" / "seqattractor" / "learning" / "csrc"
# -ffp-contract=off: the same bits on every processor. Vectors as wide as the processor has them: our loops are long.
FLAGS = ["-std=c11", "-O3", "-ffp-contract=off", "-fno-strict-aliasing", "-fwrapv", "-fvisibility=hidden", "-Wall", "-Wextra"]
X86 = {
    "base": [],
    "avx2": ["-mavx2", "-mbmi", "-mbmi2", "-mlzcnt", "-mpopcnt"],
    "avx512": [
        *("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx512vpopcntdq", "-mbmi", "-mbmi2", "-mlzcnt", "-mpopcnt"),
        "-mprefer-vector-width=512",
    ],
}


def library_name() -> str:
    """The name of the shared library on this platform, as `seqattractor.learning.kernels` looks for it."""
    return "_core." + {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")


def compiler() -> list[str]:
    """The machine's C compiler, as $CC says or by its usual names, else that of the package ziglang."""
    if "CC" in os.environ:
        return os.environ["CC"].split()
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    return [sys.executable, "-m", "ziglang", "cc"]


def compile_core(target: Path, cc: list[str] | None = None, flags: list[str] | None = None) -> Path:
    """Compile the core for all instruction sets of this kind of processor into one shared library."""
    cc = cc or compiler()
    sets = X86 if platform.machine().lower() in ("x86_64", "amd64") else {"base": []}
    options = [*FLAGS, *(flags or []), *([] if sys.platform == "win32" else ["-fPIC"])]
    with tempfile.TemporaryDirectory() as folder:
        commands = [[*options, *more, f"-DISA={isa}", "-c", str(SOURCES / "core.c")] for isa, more in sets.items()]
        commands.append([*options, f"-DSETS={len(sets)}", "-c", str(SOURCES / "dispatch.c")])
        objects = [str(Path(folder) / f"{k}.o") for k in range(len(commands))]
        running = [subprocess.Popen([*cc, *command, "-o", name]) for command, name in zip(commands, objects, strict=True)]
        if any([process.wait() for process in running]):
            raise RuntimeError("the core in C could not be compiled; the messages of the compiler are above.")
        made = Path(folder) / target.name
        subprocess.run([*cc, *(flags or []), "-shared", "-o", str(made), *objects, "-lm"], check=True)
        made.replace(target) if made.stat().st_dev == target.parent.stat().st_dev else shutil.copyfile(made, target)
    return target


if __name__ == "__main__":
    print(compile_core(SOURCES.parent / library_name()))
