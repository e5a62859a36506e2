"""The command that starts the lab."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress

import httpx
import pytest

from lab_server import LONG, PATIENCE, Visitor
from seqattractor.cli.lab import command as lab_command


def start_command(*options):
    return subprocess.Popen(
        [sys.executable, "-m", "seqattractor", "lab", "--no-browser", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def first_answer(address):
    """What the server says once it answers."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with suppress(httpx.TransportError):
            return httpx.get(address, timeout=PATIENCE).text
        time.sleep(0.1)
    raise AssertionError(f"{address} never answered")


def test_the_command_prints_an_address_that_answers_and_ends_with_ctrl_c():
    with start_command("--port", "0") as process:
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:[0-9]+/", line).group()
        assert "seqattractor lab" in first_answer(address)
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
        assert "closed" in rest
        assert "Traceback" not in errors


def test_ctrl_c_while_somebody_learns_ends_it_without_a_traceback():
    with start_command("--port", "0") as process:
        address = re.search(r"http://127\.0\.0\.1:[0-9]+/", process.stdout.readline()).group()
        first_answer(address)
        visitor = Visitor(address)
        visitor.post("learn", {"sequence": LONG[0], "networks": [LONG[1]]})
        with suppress(httpx.TransportError), visitor.http.stream("GET", "/api/progress") as stream:
            told = stream.iter_lines()
            assert next(told).startswith("data: ")
            process.send_signal(signal.SIGINT)
            list(told)  # until the lab is gone
        visitor.http.close()
        rest, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
        assert "closed" in rest
        assert "Traceback" not in errors


def test_the_command_warns_when_others_can_reach_it():
    with start_command("--port", "0", "--host", "0.0.0.0") as process:
        process.stdout.readline()
        warning = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        assert "Warning: everybody" in warning


def test_a_taken_port_is_explained():
    with socket.create_server(("127.0.0.1", 0)) as taken, start_command("--port", str(taken.getsockname()[1])) as process:
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert "cannot listen" in errors
        assert "Traceback" not in errors


def test_without_the_extra_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(ValueError, match=r"pip install 'seqattractor\[lab\]'"):
        lab_command.callback("127.0.0.1", 0, (), 1, True)
