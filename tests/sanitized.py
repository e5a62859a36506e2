"""Run tests with a core in C that checks itself, by AddressSanitizer and UndefinedBehaviorSanitizer
(`make sanitize`).

python tests/sanitized.py tests/engine/test_engine.py ...

The package is copied, and its core compiled there by gcc or clang with both sanitizers; first every
instruction set is fuzzed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from core_selftest import ROOT, SANITIZE, hatch_build

CALLS = 3000


def main(tests):
    """Compile, fuzz and test; gives the exit code of the tests."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "seqattractor"
        shutil.copytree(
            ROOT / "src" / "seqattractor", package, ignore=shutil.ignore_patterns("__pycache__")
        )
        cc = hatch_build.compiler()
        hatch_build.compile_core(package / "engine" / hatch_build.library_name(), cc, SANITIZE)
        # The run-time of the sanitizer must be loaded before anything else, and that of C++ with
        # it, or an exception ends the process. Leaks are Python's own: the core allocates nothing.
        ask_for = [[*cc, f"-print-file-name={name}"] for name in ("libasan.so", "libstdc++.so.6")]
        runtime = " ".join(
            subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
            for ask in ask_for
        )
        settings = {
            "PYTHONPATH": folder,
            "LD_PRELOAD": runtime,
            "ASAN_OPTIONS": "detect_leaks=0",
            "PYTHONMALLOC": "malloc",
        }
        environment = os.environ | settings | {"UBSAN_OPTIONS": "print_stacktrace=1"}
        ask = (
            "from seqattractor.engine import kernels as k; print(*k.instruction_sets(), k.__file__)"
        )
        asked = subprocess.run(
            [sys.executable, "-c", ask], env=environment, check=True, capture_output=True, text=True
        )
        *sets, where = asked.stdout.split()
        assert Path(where).is_relative_to(folder), f"{where} is not the copy in {folder}"
        for isa in sets:
            command = [
                sys.executable,
                str(ROOT / "tests" / "kernel_calls.py"),
                str(CALLS),
                "0",
                isa,
            ]
            done = subprocess.run(
                command, env=environment, check=False, capture_output=True, text=True
            )
            if done.returncode:
                print(done.stderr[-5000:])
                return done.returncode
            print(f"{isa}: {CALLS} calls, right and wrong ones, without an error", flush=True)
        # The command line reads files in subprocesses with little memory, of which sanitizers
        # reserve terabytes.
        chosen = ["-m", "not slow and not trust", "-k", "not command_line"]
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *chosen, *tests]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
