"""Run the slow tests of the folders that the last commit has touched: `python tests/touched.py
[OPTIONS OF PYTEST]`.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def touched(files):
    """Return the folders of tests of changed files: those that mirror a folder, and that of all
    pages and examples.

    >>> touched(["src/seqattractor/zoo/dense.py", "tests/io/test_nwb.py", "tests/oracle.py"])
    ['tests/io', 'tests/zoo']
    >>> touched(["examples/plot_tune.py"])
    ['tests/docs']
    """
    folders = set()
    for name in files:
        first, *rest = Path(name).parts or ("",)
        if first in ("docs", "examples") or first == "README.md":
            folders.add("docs")
        elif first == "benchmarks":
            folders.add("benchmarks")
        elif first in ("src", "tests"):
            folders.add(rest[1 if first == "src" else 0])
    return sorted(f"tests/{folder}" for folder in folders if (ROOT / "tests" / folder).is_dir())


if __name__ == "__main__":
    changed = subprocess.run(
        ["git", "diff", "--name-only", "HEAD~1"], cwd=ROOT, capture_output=True, text=True
    )
    folders = touched(changed.stdout.split("\n"))
    if changed.returncode or not folders:
        print(
            "no slow tests: "
            + (changed.stderr.strip() or "the last commit touches no folder that has tests")
        )
        sys.exit()
    print("slow tests of " + ", ".join(folders), flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "slow", *sys.argv[1:], *folders], cwd=ROOT
    )
    sys.exit(done.returncode if done.returncode != 5 else 0)  # 5: these folders have no slow tests
