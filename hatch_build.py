"""How the core in C is compiled: by pip, through hatchling, or by hand with ``python
hatch_build.py``.

The machine's C compiler is used; where none works, hatchling asks pip for ``ziglang``, which holds
clang for every platform. With ``SEQATTRACTOR_TARGET``, one of `TARGETS`, it also compiles for other
platforms (``make dist``). ``SEQATTRACTOR_CFLAGS`` are more options for the compiler, such as
``-O0``. ``python hatch_build.py wasm`` makes the core for browsers, by zig; wheels of `TARGETS`
bring it along.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # by hand, nothing but a compiler is needed
    BuildHookInterface = object

ROOT = Path(__file__).parent
SOURCES = ROOT / "src" / "seqattractor" / "engine" / "csrc"
ZIG = "ziglang~=0.17.0"  # the version that all targets were tried with
# -ffp-contract=off: the same bits on every processor. Vectors as wide as the processor has them:
# our loops are long.
FLAGS = [
    *(
        "-std=c11",
        "-O3",
        "-ffp-contract=off",
        "-fno-strict-aliasing",
        "-fwrapv",
        "-fvisibility=hidden",
    ),
    *("-Wall", "-Wextra", "-Wno-psabi"),  # vectors are passed between functions of one file only
]
X86 = {
    "base": ["-O1"],  # for processors of before 2013: half of the time to compile would go into it
    "avx2": ["-mavx2", "-mbmi", "-mbmi2", "-mlzcnt", "-mpopcnt"],
    "avx512": [
        *(
            "-mavx512f",
            "-mavx512bw",
            "-mavx512dq",
            "-mavx512vl",
            "-mavx512vpopcntdq",
            "-mbmi",
            "-mbmi2",
            "-mlzcnt",
            "-mpopcnt",
        ),
        "-mprefer-vector-width=512",
    ],
}
# Platforms that zig compiles for, and the tags of their wheels: the oldest systems that still run
# the library.
TARGETS = {
    "x86_64-linux-gnu.2.17": "manylinux_2_17_x86_64.manylinux2014_x86_64",
    "aarch64-linux-gnu.2.17": "manylinux_2_17_aarch64.manylinux2014_aarch64",
    "x86_64-macos.11.0": "macosx_11_0_x86_64",
    "aarch64-macos.11.0": "macosx_11_0_arm64",
    "x86_64-windows-gnu": "win_amd64",
}
WASM = "wasm32-wasi"  # no wheel: a module for browsers and Node, by `compile_core`
# What the page without a server calls of it (`seqattractor lab --export`).
FOR_BROWSERS = (
    *("add_start_fields", "look_ahead_int32", "set_bounds_int32", "learn_rows_int32_int32"),
    *("sort_flips", "play_int32", "replay_rows_int32_int32"),
    *("sparse_learn_int32", "sparse_learn_int64", "practise_V"),
)
_TRIAL = """
#include <math.h>
#include <string.h>
typedef int V __attribute__((vector_size(16)));
int f(V *v) { *v = __builtin_shufflevector(*v, *v, 0, 4, 1, 5); return 0; } /* gcc 12 and newer */
"""


class CompilationError(Exception):
    """The core could not be compiled."""


def library_name(target: str = "") -> str:
    """The name of the shared library on a platform, as `seqattractor.engine.kernels` looks for
    it.
    """
    system = target or sys.platform
    endings = {"darwin": "dylib", "macos": "dylib", "win": "dll"}  # "darwin" before "win"
    return "_core." + next((ending for part, ending in endings.items() if part in system), "so")


def digest_of_sources() -> str:
    """A digest of all sources: the library holds it, so that one compiled from other sources is
    never used.
    """
    digest = hashlib.sha256()
    for path in sorted(SOURCES.glob("*.[ch]")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def instruction_sets(machine: str) -> dict[str, list[str]]:
    """The instruction sets that the core is compiled for on a kind of processor, with their
    flags.
    """
    return (
        X86
        if machine.lower() in ("x86_64", "amd64")
        else {"base": ["-msimd128"] if machine == "wasm32" else []}
    )


def compiler() -> list[str]:
    """The machine's C compiler: what $CC names, or the first that works of its usual names, else
    that of the package ziglang.
    """
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    # MinGW's gcc keeps vectors of AVX on a stack that is not aligned for them (GCC bug 54412),
    # others want Microsoft's headers.
    names = () if sys.platform == "win32" else ("cc", "gcc", "clang")
    return next(([name] for name in names if _works(name)), []) or zig()


def zig(target: str = "") -> list[str]:
    """The compiler of the package ziglang, for every processor of a platform: by itself it would
    use all that this one has.
    """
    return [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        *(["-target", target] if target else ["-mcpu=baseline"]),
    ]


def _works(cc: str) -> bool:
    """Whether a compiler is there and has the headers, vectors and instruction sets that the core
    needs.
    """
    if not shutil.which(cc):
        return False
    flags = [flag for more in instruction_sets(platform.machine()).values() for flag in more]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "trial.c"
        source.write_text(_TRIAL)
        command = [
            cc,
            *FLAGS,
            *flags,
            "-fPIC",
            "-shared",
            str(source),
            "-o",
            str(Path(folder) / "trial.so"),
            "-lm",
        ]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def compile_core(
    made: Path,
    cc: list[str] | None = None,
    flags: list[str] | None = None,
    target: str = "",
    kernels: tuple[str, ...] = (),
) -> Path:
    """Compile the core for all instruction sets of a kind of processor into one shared library, or
    a module of WebAssembly: of all kernels, or only of some.
    """
    cc = cc or (zig(target) if target else compiler())
    wasm, windows = target == WASM, made.suffix == ".dll"
    sets = instruction_sets(target.split("-")[0] or platform.machine())
    flags = [*(flags or []), *shlex.split(os.environ.get("SEQATTRACTOR_CFLAGS", ""))]
    options = [*FLAGS, *([] if windows or wasm else ["-fPIC"])]
    names = ["__heap_base", "digest_of_sources", *(f"{kernel}_base" for kernel in kernels)]
    linked = (
        [
            "-mexec-model=reactor",
            *([] if kernels else ["-Wl,--export-dynamic"]),
            *(f"-Wl,--export={name}" for name in names),
        ]
        if wasm
        else ["-shared", "-lm"]
    )
    stripped = ["-s"] if "ziglang" in cc else []  # else it holds tables for debuggers
    with tempfile.TemporaryDirectory() as folder:
        parts = [(isa, part) for part in (1, 2) for isa in sets]  # the first take longest
        commands = [
            [*sets[isa], *flags, f"-DISA={isa}", f"-DPART={part}", "-c", str(SOURCES / "core.c")]
            for isa, part in parts
        ]
        commands.append(
            [
                *flags,
                f"-DSETS={len(sets)}",
                f'-DDIGEST="{digest_of_sources()}"',
                "-c",
                str(SOURCES / "dispatch.c"),
            ]
        )
        objects = [str(Path(folder) / f"{k}.o") for k in range(len(commands))]
        _run(
            [
                [*cc, *options, *command, "-o", name]
                for command, name in zip(commands, objects, strict=True)
            ]
        )
        whole = Path(folder) / made.name
        _run([[*cc, "-O3", *stripped, *flags, "-o", str(whole), *objects, *linked]])
        # Not over the old library, which a running Python may have mapped into its memory: beside
        # it, and then in its place.
        shutil.copy(whole, made.with_name(f"{made.name}.new"))
        made.with_name(f"{made.name}.new").replace(made)
    return made


def compile_for_browsers(made: Path = SOURCES.parent / "_core.wasm") -> Path:
    """Compile the kernels that the page without a server calls to WebAssembly, by zig."""
    return compile_core(made, target=WASM, kernels=FOR_BROWSERS)


def _run(commands: list[list[str]]) -> None:
    """Run commands, one on each processor, show what they complain about, and fail if one of them
    does.
    """
    try:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            done = list(
                pool.map(
                    lambda command: subprocess.run(command, stderr=subprocess.PIPE, check=False),
                    commands,
                )
            )
    except OSError as error:
        raise CompilationError(
            f"The core in C could not be compiled, since {commands[0][0]} cannot be run: {error}."
        ) from None
    said = [one.stderr.decode(errors="replace") for one in done]
    if failed := [k for k, one in enumerate(done) if one.returncode]:
        k = failed[0]
        raise CompilationError(
            "The core in C could not be compiled: the messages of the compiler are below, and $CC "
            "can name another one.\n"
            f"{shlex.join(commands[k])}\n{said[k]}"
        )
    sys.stderr.write("".join(said))


class CoreBuildHook(BuildHookInterface):  # type: ignore[misc]
    """What hatchling calls for a wheel, or for an installation that leaves the sources where they
    are.
    """

    def dependencies(self) -> list[str]:
        """What pip has to install before: a compiler, if there is none, or if the wheel is for
        another platform.
        """
        return [ZIG] if os.environ.get("SEQATTRACTOR_TARGET") or "ziglang" in compiler() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile: beside the sources for an editable installation, else into the wheel, which then
        is for one platform.
        """
        target = os.environ.get("SEQATTRACTOR_TARGET", "")
        if target and target not in TARGETS:
            self.app.abort(
                f"SEQATTRACTOR_TARGET must be one of {', '.join(TARGETS)}, not {target}."
            )
        name = library_name(target)
        self.folder = tempfile.TemporaryDirectory()
        try:
            if version == "editable":
                compile_core(SOURCES.parent / name, target=target)
                return
            made = compile_core(Path(self.folder.name) / name, target=target)
            if target:  # zig is here, which makes the core for browsers, too
                module = compile_for_browsers(Path(self.folder.name) / "_core.wasm")
                build_data["force_include"][str(module)] = f"seqattractor/engine/{module.name}"
        except CompilationError as error:
            self.app.abort(str(error))
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{TARGETS[target] if target else _this_platform()}"
        build_data["force_include"][str(made)] = f"seqattractor/engine/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Take the library away that is in the wheel now."""
        self.folder.cleanup()


def _this_platform() -> str:
    """The tag of wheels that are made for this very platform, and not for older ones."""
    from packaging.tags import platform_tags  # hatchling has it

    return next(tag for tag in platform_tags() if not tag.startswith(("manylinux", "musllinux")))


def check() -> None:
    """Compile with every warning as an error, by the machine's compiler and by clang: its own, or
    zig's.
    """
    clang = ["clang"] if _works("clang") else zig()
    with tempfile.TemporaryDirectory() as folder:
        for cc in (compiler(), clang):
            compile_core(Path(folder) / library_name(), cc, ["-Werror"])
            print(f"{shlex.join(cc)}: no warning")


if __name__ == "__main__":
    try:
        if "--check" in sys.argv:
            check()
        elif "wasm" in sys.argv:
            print(compile_for_browsers())
        else:
            print(compile_core(SOURCES.parent / library_name()))
    except CompilationError as error:
        sys.exit(str(error))
