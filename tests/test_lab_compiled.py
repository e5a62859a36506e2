"""Learning is compiled behind the lab's page, once on each machine."""

import subprocess
import sys
import threading

import pytest

from lab_server import PATIENCE
from seqattractor.lab import compiled
from seqattractor.lab.compiled import Compiled


@pytest.fixture
def cold(monkeypatch):
    """Nothing compiled as far as the lab knows; numba's cache makes it quick all the same."""
    monkeypatch.setattr(Compiled, "ready", {kind: threading.Event() for kind in Compiled.ready})
    monkeypatch.setattr(compiled, "is_cached", lambda: False)
    return Compiled()


def test_each_network_becomes_quick_as_soon_as_it_is_compiled_in_another_process(cold, monkeypatch):
    loaded, use = [], compiled.use
    monkeypatch.setattr(compiled, "use", lambda kind: (loaded.append(kind), use(kind)))
    assert not cold.covers("SequenceAttractor")
    assert cold.covers("DenseSequenceMemory")  # never compiled
    cold.warm_up()
    assert loaded == ["SequenceAttractor", "VisibleNetwork", "SparseSequenceAttractor"]  # each once
    assert all(map(cold.covers, loaded))
    assert cold.child.returncode == 0


def test_where_no_process_can_be_started_the_lab_compiles_by_itself(cold, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    cold.warm_up()
    assert cold.wait(0)


def test_closing_the_lab_ends_the_compiling(cold, monkeypatch):
    monkeypatch.setattr(compiled, "use", lambda kind: None)
    start = subprocess.Popen

    def endless(command, **options):
        return start([sys.executable, "-c", "while True: pass"], **options)

    monkeypatch.setattr(compiled.subprocess, "Popen", endless)
    thread = threading.Thread(target=cold.warm_up)
    thread.start()
    while cold.child is None:
        thread.join(0.05)
    cold.close()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_what_numba_keeps_on_disk_is_found():
    Compiled().warm_up()
    assert compiled.is_cached()


def test_compiling_says_nothing_in_the_terminal_of_the_lab():
    code = "from seqattractor.lab.compiled import compile_all; compile_all()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Warning" not in done.stderr
