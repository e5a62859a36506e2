"""What all tests share: quiet, bounded Hypothesis runs, and the command line."""

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent
sys.path[:0] = [
    str(folder) for folder in (HERE, *HERE.iterdir(), HERE.parent / "benchmarks") if folder.is_dir()
]  # oracles, and what files share

# Time limits per example depend more on the machine than on the code.
settings.register_profile(
    "seqattractor", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("seqattractor")


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run the command line in a folder of its own; gives the exit code, what was printed, and what
    was complained about.
    """
    from seqattractor.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["seqattractor", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call
