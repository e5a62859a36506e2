"""Compile and run the self-test of the kernels (core_selftest.c) on every processor that can be had here, and compare.

python tests/core_selftest.py            # this processor's instruction sets, by its compiler and by zig; ARM; WebAssembly
python tests/core_selftest.py sanitize   # this processor's, with AddressSanitizer and UndefinedBehaviorSanitizer

The reference is what the machine's compiler makes for the oldest processors of this kind. ARM needs qemu-user, WebAssembly needs
Node; without them it says so and goes on.
"""

import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import hatch_build  # noqa: E402 - it is in a folder that is not on the path

SANITIZE = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def checksums(folder, isa="base", cc=None, target="", flags=(), runner=()):
    """Compile the self-test, run it, and give what it prints: a checksum of each kernel by name."""
    machine = target.split("-")[0] or platform.machine()
    program = Path(folder) / f"selftest-{target or 'native'}-{isa}-{len(list(Path(folder).iterdir()))}"
    cc = cc or (hatch_build.zig(target) if target else hatch_build.compiler())
    sets = hatch_build.instruction_sets(machine)
    command = [*cc, *hatch_build.FLAGS, *flags, *sets[isa], f"-DISA={isa}", f"-I{hatch_build.SOURCES}"]
    subprocess.run([*command, str(ROOT / "tests" / "core_selftest.c"), "-o", str(program), "-lm"], check=True)
    done = subprocess.run([*runner, str(program)], check=True, stdout=subprocess.PIPE, text=True)
    return dict(line.split() for line in done.stdout.splitlines())


def native_sets(folder):
    """The instruction sets that this processor has, as the library that is built here says."""
    import ctypes

    library = ctypes.CDLL(str(hatch_build.compile_core(Path(folder) / hatch_build.library_name())))
    library.known_instruction_sets.restype = ctypes.c_char_p
    return library.known_instruction_sets().decode().split()


def elsewhere():
    """Ways to run the self-test on other processors: name, target, and the program that runs it, if it is there."""
    arm = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    node = shutil.which("node")
    yield "ARM under qemu-user", "aarch64-linux-musl", arm and [arm]
    yield "WebAssembly in Node", hatch_build.WASM, node and [node, "--no-warnings", str(ROOT / "tests" / "run_wasi.mjs")]


def main(words):
    """Compare, and say what was compared."""
    with tempfile.TemporaryDirectory() as folder:
        sets = native_sets(folder)
        reference = checksums(folder)
        if words == ["sanitize"]:
            runs = [(f"{isa}, with sanitizers", {"isa": isa, "flags": SANITIZE}) for isa in sets]
        else:
            runs = [(f"{isa} by the machine's compiler", {"isa": isa}) for isa in sets]
            runs += [(f"{isa} by zig", {"isa": isa, "cc": hatch_build.zig()}) for isa in sets]
            for name, target, runner in elsewhere():
                if runner:
                    runs.append((name, {"target": target, "runner": runner}))
                else:
                    print(f"{name}: not checked, since what runs it is not installed here")
        for name, how in runs:
            found = checksums(folder, **how)
            if found != reference:
                wrong = [kernel for kernel in reference if found.get(kernel) != reference[kernel]]
                raise SystemExit(f"{name}: other results than {platform.machine()} base in {', '.join(wrong)}")
            print(f"{name}: the same results in all {len(reference)} kernels")


if __name__ == "__main__":
    main(sys.argv[1:])
