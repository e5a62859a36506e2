"""Try the wheel as a stranger would: in a new environment, outside the repository.

python release/try_wheel.py dist

Installs the wheel without extras and says how many seconds a stranger waits from `pip install` to
the first recall, the first example of the README. Then come the parts that need files other than
Python's: a report (templates), and, with its extra, the lab (a page).
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

WINDOWS = os.name == "nt"


class Stranger:
    """A folder with an environment of its own, and nothing of ours on its paths."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "env" / ("Scripts" if WINDOWS else "bin")
        home = folder / "home"
        home.mkdir()
        theirs = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "VIRTUAL_ENV", "MPL"))
        }
        self.settings = theirs | {
            "HOME": str(home),
            "USERPROFILE": str(home),
            "MPLBACKEND": "Agg",
            "PYTHONUTF8": "1",
        }
        venv.create(folder / "env", with_pip=True)

    def install(self, what: str) -> None:
        """Install as pip does, with the cache and the index of this machine's user."""
        subprocess.run(
            [self.programs / "python", "-m", "pip", "install", "--quiet", what],
            cwd=self.folder,
            check=True,
        )

    def run(self, program: str, *words: str) -> str:
        """Run a program of the environment, and give what it printed."""
        command = [str(self.programs / program), *words]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.settings,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout


class Clock:
    """The time, and how long the processor has worked for what this program started: on a busy
    machine these are far apart.
    """

    def __init__(self) -> None:
        self.time = time.perf_counter()
        times = os.times()
        self.work = times.children_user + times.children_system  # 0 on Windows, which does not tell

    def __sub__(self, other: "Clock") -> str:
        """How long it was from the other one to this one, in words."""
        return f"{self.time - other.time:.0f} s ({self.work - other.work:.0f} s of processor time)"


def first_example(wheel: Path) -> str:
    """The first Python example of the page that PyPI would show."""
    with zipfile.ZipFile(wheel) as archive:
        metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        page = message_from_bytes(archive.read(metadata)).get_payload(decode=True)
    return re.findall(r"```python\n(.*?)```", page.decode(), flags=re.DOTALL)[0]


def try_recall(stranger: Stranger, example: str) -> str:
    """Run the example, and compare what it prints with what its comments promise."""
    (stranger.folder / "first_recall.py").write_text(example, encoding="utf-8")
    printed = stranger.run("python", "first_recall.py")
    promised = re.findall(r"print\(.*\)\s+# (True|False|[\d.]+)", example)
    if promised and printed.split() != promised:
        raise SystemExit(
            f"The first example of the README should print {promised}, but printed:\n{printed}"
        )
    return printed.strip()


def try_report(stranger: Stranger) -> None:
    """Make a small report: without templates and styles there is none."""
    stranger.run("seqattractor", "reproduce", "fig2", "--quick", "--out", "report")
    page = (stranger.folder / "report" / "report.html").read_text(encoding="utf-8")
    if "<style" not in page or "Figure 2" not in page:
        raise SystemExit("The report has no style, or not its figure.")


def try_lab(stranger: Stranger, wheel: Path) -> int:
    """Open the lab and fetch its page with everything that belongs to it; gives the number of
    files.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = [
            name.removeprefix("seqattractor/lab/static/")
            for name in archive.namelist()
            if name.startswith("seqattractor/lab/static/")
        ]
    command = [str(stranger.programs / "seqattractor"), "lab", "--no-browser", "--port", "0"]
    lab = subprocess.Popen(
        command,
        cwd=stranger.folder,
        env=stranger.settings | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    try:
        address = re.search(r"http://\S+/", lab.stdout.readline())[0]
        for name in ["", *(name for name in names if name != "index.html")]:
            with urllib.request.urlopen(
                address + name, timeout=60
            ) as answer:  # an answer other than 200 is an error here
                answer.read()
        if WINDOWS:
            lab.terminate()
        else:
            lab.send_signal(signal.SIGINT)
            if lab.wait(timeout=60):
                raise SystemExit(f"The lab ended with {lab.returncode}.")
    finally:
        lab.kill()
        lab.communicate()
    return len(names)


def try_export(stranger: Stranger) -> None:
    """Write the page that needs no server: without the core for browsers there is none."""
    stranger.run("seqattractor", "lab", "--export", "page")
    page = stranger.folder / "page"
    if not (page / "playground" / "core.wasm").exists() or not (page / "index.html").exists():
        raise SystemExit("`seqattractor lab --export` did not write its page.")


def main(dist: str) -> None:
    """Try the wheel for this platform that is in a folder, and tell what was done."""
    ours = set(sys_tags())
    (wheel,) = (
        path
        for path in Path(dist).resolve().glob("*.whl")
        if parse_wheel_filename(path.name)[-1] & ours
    )
    number = wheel.name.split("-")[1]
    with tempfile.TemporaryDirectory(prefix="seqattractor-", ignore_cleanup_errors=True) as folder:
        stranger = Stranger(Path(folder))
        start = Clock()
        stranger.install(str(wheel))
        installed = Clock()
        printed = try_recall(stranger, first_example(wheel))
        recalled = Clock()
        print(f"The first example of the README printed: {printed}")
        print(f"From `pip install` to the first recall: {recalled - start}.")
        print(f"That is {installed - start} for pip, and {recalled - installed} for the example.")
        sets = (
            "from seqattractor.engine import kernels as k; print(*(k.instruction_sets() if "
            "k.available() else []))"
        )
        if not (found := stranger.run("python", "-c", sets).split()):
            raise SystemExit(f"The core in {wheel.name} cannot be used here.")
        print(f"Its core in C has the instruction sets {', '.join(found)}")
        where = stranger.run(
            "python", "-c", "import seqattractor as sa; print(sa.__version__, sa.__file__)"
        ).split(maxsplit=1)
        if where[0] != number or not Path(where[1].strip()).is_relative_to(
            Path(folder).resolve() / "env"
        ):
            raise SystemExit(f"Tried the wrong package: version {where[0]} in {where[1]}")
        if f"version {number}" not in stranger.run("seqattractor", "--version"):
            raise SystemExit("`seqattractor --version` tells another version than the wheel.")
        print(
            f"`seqattractor --help` has {len(stranger.run('seqattractor', '--help').splitlines())} "
            "lines"
        )
        try_report(stranger)
        print("`seqattractor reproduce fig2 --quick` wrote its report")
        try_export(stranger)
        print("`seqattractor lab --export` wrote its page")
        stranger.install(f"{wheel}[lab]")
        print(f"`seqattractor lab` served all {try_lab(stranger, wheel)} files of its page")
        stranger.run("python", "-m", "pip", "check")
    print(f"{wheel.name} works.")


if __name__ == "__main__":
    main(*sys.argv[1:])
