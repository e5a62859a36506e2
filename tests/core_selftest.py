"""Compile and run the self-test of the kernels (core_selftest.c) on every processor that can be had
here, and compare.

python tests/core_selftest.py            # this processor's instruction sets, ARM, WebAssembly
python tests/core_selftest.py sanitize   # this processor's, with ASan and UBSan

This processor's are compiled by its compiler and by zig. The calls are written from the
declarations of the kernels, so that a new kernel is tested as soon as it is declared, and the
compiler sees whether declarations and C agree. The reference is what the machine's compiler makes
for the oldest processors of this kind. ARM needs qemu-user, WebAssembly needs Node; without them a
note is printed and the rest runs.
"""

import math
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from kernel_calls import KERNELS, Case, evaluate
from seqattractor.engine.kernels import Group

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import hatch_build  # noqa: E402 - it is in a folder that is not on the path

SANITIZE = [
    "-O0",
    "-g1",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
]  # with -O1, gcc takes minutes
ROUNDS = 12
SYSTEM_ROUNDS = {
    "run_innate",
    "run_pinning",
}  # what goes through tanh or exp, and is compared to six places


class Call:
    """The lines of C that make the arguments of one case, call the kernel and add its results to
    the checksum.
    """

    def __init__(self, case):
        self.case, self.lines, self.results = case, [], []
        self.values = iter(case.values)
        passed = [str(case.names[axis]) for axis in case.kernel.axes]
        passed += [
            self.argument(f"a{k}", argument) for k, argument in enumerate(case.kernel.arguments)
        ]
        types = [case.types[kind] for kind in case.kernel.types]
        name = "_".join([case.kernel.name, *types])
        self.lines += [
            f"int64_t code = KERNEL({name})({', '.join(passed)});",
            "CHECK(&code, 1);",
            *self.results,
        ]

    def argument(self, name, argument):
        """How an argument is passed, once its lines are written."""
        if not isinstance(argument, Group):
            return self.member(name, argument)
        inner = [self.member(f"{name}_{k}", member) for k, member in enumerate(argument.members)]
        kinds = {"float": "double ", "int": "int64_t ", "length": "int64_t "}
        fields = [f"{kinds.get(m.use, 'void *')}m{k};" for k, m in enumerate(argument.members)]
        self.lines.append(f"struct {{ {' '.join(fields)} }} {name} = {{ {', '.join(inner)} }};")
        return f"(void *)&{name}"

    def member(self, name, member):
        """The same for an argument that is no group, or a member of one."""
        case = self.case
        if member.use == "length":
            return str(case.names[member.name])
        if member.use == "work":
            size = math.prod(evaluate(axis, case.names) for axis in member.axes)
            self.lines.append(f"SPACE({self.type_of(member)}, {name}, {size});")
            return f"(void *){name}"  # for a kernel to use as it likes
        value = next(self.values)
        if member.use == "Generator":
            return "(void *)&generator"
        if not member.is_array:
            if case.kernel.name in SYSTEM_ROUNDS and member.use == "float":
                value = 4.0  # a time constant with which no difference in the last place grows
            return f"{value}" if member.use == "int" else float(value).hex()
        self.lines.append(
            f"NUMBERS({self.type_of(member)}, {name}, {value.size}, "
            f"{self.range_of(member, value)});"
        )
        if member.use == "out":
            by_system = case.kernel.name in SYSTEM_ROUNDS and value.dtype.kind == "f"
            self.results.append(f"{'add_rounded' if by_system else 'CHECK'}({name}, {value.size});")
        return name

    def type_of(self, member):
        kind = self.case.types.get(member.type, member.type)
        return {"float64": "double", "bool": "uint8_t"}.get(kind, f"{kind}_t")

    def range_of(self, member, value):
        """The lowest and the highest number of an array, and what they are divided by."""
        if member.below:
            return f"0, {max(evaluate(member.below, self.case.names) - 1, 0)}, 1"
        if value.dtype.kind == "f":
            return (
                "-40, 40, 1000.0"
                if self.case.kernel.name in SYSTEM_ROUNDS
                else f"-1000000, 1000000, {[1e3, 1e5, 1e7][value.size % 3]}"
            )
        if value.dtype.kind == "u" and value.dtype.itemsize > 1:
            return "INT64_MIN, INT64_MAX, 1"
        if value.dtype.itemsize == 1:
            return "0, 1, 1" if value.dtype.kind in "bu" else "-1, 1, 1"
        return f"{-(2 ** (2 + value.size % 8))}, {2 ** (2 + value.size % 8)}, 1"


def write_calls(path):
    """Write the calls of all kernels."""
    rng, lines = np.random.default_rng(11), []
    for kernel in KERNELS.values():
        lines.append(f"static void call_{kernel.name}(int round)\n{{\n    switch (round) {{")
        made = 0
        while made < ROUNDS:
            case = Case(kernel, rng, typical=True)
            if case.run() is not None:  # else it is not compiled for these two types
                body = "".join(f"        {line}\n" for line in Call(case).lines)
                lines.append(f"    case {made}: {{\n{body}        break;\n    }}")
                made += 1
        lines.append("    }\n}\n")
    lines.append(
        "#define KERNELS(X) "
        f"{' '.join(f'X({kernel.name}, {ROUNDS})' for kernel in KERNELS.values())}\n"
    )
    path.write_text("\n".join(lines))


def command(folder, isa="base", cc=None, target="", flags=()):
    """The command that compiles the self-test, once the calls are written."""
    if not (Path(folder) / "calls.h").exists():
        write_calls(Path(folder) / "calls.h")
    cc = cc or (hatch_build.zig(target) if target else hatch_build.compiler())
    sets = hatch_build.instruction_sets(target.split("-")[0] or platform.machine())
    named = [
        f"-DISA={isa}",
        f"-I{hatch_build.SOURCES}",
        f"-I{folder}",
        str(ROOT / "tests" / "core_selftest.c"),
    ]
    # Not all warnings: where gcc puts the sizes of our calls into kernels, it warns of loops that
    # never run so far.
    strict = [
        f"-Werror={kind}"
        for kind in (
            "incompatible-pointer-types",
            "int-conversion",
            "implicit-function-declaration",
        )
    ]
    return [*cc, *hatch_build.FLAGS, *strict, *sets[isa], *flags, *named]


def checksums(folder, runner=(), **how):
    """Compile the self-test, run it, and give what it prints: a checksum of each kernel by name."""
    program = Path(folder) / f"selftest-{len(list(Path(folder).iterdir()))}"
    subprocess.run([*command(folder, **how), "-o", str(program), "-lm"], check=True)
    done = subprocess.run([*runner, str(program)], check=True, stdout=subprocess.PIPE, text=True)
    return dict(line.split() for line in done.stdout.splitlines())


def native_sets(folder):
    """The instruction sets that this processor has, as reported by the library that is built
    here.
    """
    import ctypes

    library = ctypes.CDLL(str(hatch_build.compile_core(Path(folder) / hatch_build.library_name())))
    library.known_instruction_sets.restype = ctypes.c_char_p
    return library.known_instruction_sets().decode().split()


def elsewhere():
    """Ways to run the self-test on other processors: name, target, and the program that runs it, if
    it is there.
    """
    arm = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    node = shutil.which("node")
    yield "ARM under qemu-user", "aarch64-linux-musl", arm and [arm]
    yield (
        "WebAssembly in Node",
        hatch_build.WASM,
        node and [node, "--no-warnings", str(ROOT / "tests" / "run_wasi.mjs")],
    )


def main(words):
    """Compare, and print what was compared."""
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
                raise SystemExit(
                    f"{name}: other results than {platform.machine()} base in {', '.join(wrong)}"
                )
            print(f"{name}: the same results in all {len(reference)} kernels", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
