"""The command that starts the lab."""

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
import numpy as np
import pytest
from PIL import Image

from lab_server import LONG, PATIENCE, Visitor, until
from seqattractor.cli.lab import command as lab_command
from seqattractor.lab.choices import NETWORKS
from seqattractor.lab.requests import pack
from seqattractor.lab.server import Server

HARD = {"name": "random", "frames": 60, "units": 30}


def start_command(*options, program=("-m", "seqattractor")):
    return subprocess.Popen(
        [sys.executable, *program, "lab", "--no-browser", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def first_answer(address):
    """Return the first answer of the server."""
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


def use_everything(visitor):
    """Learn with each network, recall, take it away, and drop bad files; gives the names of
    networks that ended with errors.
    """
    unsettled = set()
    for name in NETWORKS:
        end = visitor.learn(HARD, {"name": name, "hidden": 20, "epochs": 2})
        unsettled |= set() if end["networks"][0]["converged"] else {name}
        visitor.recall(flips=20, noise=3)
        assert visitor.post("promise", {}).status_code == 200
    for what in ("gif", "figure", "model"):
        assert visitor.post("download", {"what": what, "cue": {"flips": 20}}).status_code == 200
    for file in (b"GIF89a", b"\x93NUMPY\x01\x00", b""):
        head = json.dumps({"files": [{"name": "a.gif", "size": len(file)}]}).encode()
        assert visitor.http.post("/api/upload", content=head + b"\n" + file).status_code == 400
    return unsettled


@pytest.mark.slow
def test_the_terminal_of_the_lab_shows_no_warning_of_the_developers():
    with start_command("--port", "0") as process:
        address = re.search(r"http://127\.0\.0\.1:[0-9]+/", process.stdout.readline()).group()
        first_answer(address)
        visitor = Visitor(address)
        try:
            assert {"attractor", "sparse", "perceptron"} <= use_everything(
                visitor
            )  # of which scikit-learn would warn
        finally:
            visitor.http.close()
            process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=PATIENCE)
        assert rest == "The lab is closed.\n"
        assert errors == ""


def follow(visitor):
    """Read the progress of learning until the lab is gone."""
    with suppress(httpx.TransportError), visitor.http.stream("GET", "/api/progress") as stream:
        list(stream.iter_lines())


def ask(visitor, path, body):
    """Ask for something whose answer may never come."""
    with suppress(httpx.TransportError):
        visitor.http.post(f"/api/{path}", content=body)


def test_ctrl_c_ends_the_lab_whatever_is_under_way():
    with (
        start_command("--port", "0", "--workers", "1") as process,
        ThreadPoolExecutor(80) as threads,
    ):
        address = re.search(r"http://127\.0\.0\.1:[0-9]+/", process.stdout.readline()).group()
        first_answer(address)
        learner, waiting, recaller, uploader = visitors = [Visitor(address) for _ in range(4)]
        # The largest recall that there is: seconds of work that nobody can interrupt.
        frames = np.where(np.random.default_rng(0).random((400, 4096)) < 0.5, 1, -1)
        sequence = {"name": "frames", "shape": [64, 64], "lengths": [400], "bits": pack(frames)}
        assert recaller.learn(sequence, {"name": "one-hot"})["state"] == "done"
        for visitor in (learner, waiting):
            visitor.post("learn", {"sequence": LONG[0], "networks": [LONG[1]]})
            threads.submit(follow, visitor)
        learner.wait_for("epochs")
        for seed in range(60):
            threads.submit(ask, recaller, "recall", json.dumps({"cue": {"seed": seed, "noise": 9}}))
        picture = io.BytesIO()
        Image.fromarray(
            np.random.default_rng(0).integers(0, 255, (1500, 1500, 3), dtype=np.uint8)
        ).save(picture, "PNG")
        files = [{"name": "a.png", "size": len(picture.getvalue())}]
        threads.submit(
            ask,
            uploader,
            "upload",
            json.dumps({"files": files}).encode() + b"\n" + picture.getvalue(),
        )
        with socket.create_connection(
            address.removeprefix("http://").rstrip("/").rsplit(":")
        ) as slow:
            slow.sendall(b"GET / HTT")
            started = time.monotonic()
            process.send_signal(signal.SIGINT)
            rest, errors = process.communicate(timeout=PATIENCE)
            print(f"the lab was closed after {time.monotonic() - started:.2f} s")
        for visitor in visitors:
            visitor.http.close()
        assert process.returncode == 0, errors
        assert rest == "The lab is closed.\n"
        assert "Traceback" not in errors


STUCK = """
import time
from seqattractor.cli import main
from seqattractor.lab import api

api.parse = lambda body: time.sleep(3600)  # all requests are read there: no answer any more
main()
"""


def is_answered(address):
    """Whether the lab answers within a moment."""
    with suppress(httpx.ReadTimeout):
        return httpx.get(address, timeout=httpx.Timeout(PATIENCE, read=1)).is_success
    return False


@pytest.mark.slow
def test_ctrl_c_ends_even_a_lab_that_is_stuck():
    with (
        start_command("--port", "0", program=("-c", STUCK)) as process,
        ThreadPoolExecutor(1) as threads,
    ):
        address = re.search(r"http://127\.0\.0\.1:[0-9]+/", process.stdout.readline()).group()
        first_answer(address)
        visitor = Visitor(address)
        asked = threads.submit(ask, visitor, "recall", "{}")
        until(lambda: not is_answered(address))
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=PATIENCE)
        asked.result()
        visitor.http.close()
        assert process.returncode == 0, errors
        assert rest == "The lab is closed.\n"


def test_the_command_warns_when_others_can_reach_it(run, monkeypatch):
    monkeypatch.setattr(Server, "run", lambda self, sockets: sockets[0].close())
    code, out, err = run("lab", "--no-browser", "--port", "0", "--host", "0.0.0.0")
    assert code == 0, err
    assert "http://localhost:" in out
    assert "Warning: everybody" in err


def test_a_taken_port_is_explained(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, err = run("lab", "--no-browser", "--port", taken.getsockname()[1])
    assert code == 2
    assert "cannot listen" in err
    assert "Traceback" not in err


def test_without_the_extra_the_command_names_the_package_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "seqattractor.lab.server", raising=False)
    with pytest.raises(ValueError, match=r"pip install 'seqattractor\[lab\]'"):
        lab_command.callback(None, "127.0.0.1", 0, (), 1, (), True, None)


def printed(*options):
    """Return what the command prints until it warns of strangers, and the port."""
    with start_command("--port", "0", *options) as process:
        lines = [process.stdout.readline()]
        port = re.search(r":([0-9]+)/", lines[0])[1]
        first_answer(f"http://127.0.0.1:{port}/")  # everything was printed before it answers
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=PATIENCE)
    return [*lines, *rest.splitlines()], port


def test_a_lab_for_others_prints_the_addresses_that_they_can_type():
    lines, port = printed("--host", "0.0.0.0", "--allow-host", "lab.example")
    others = [line.removeprefix("Others open ") for line in lines if line.startswith("Others")]
    assert others[0] == f"http://lab.example:{port}/"
    for address in others[1:]:  # of this machine in its network, where it is in one
        assert re.fullmatch(rf"http://[0-9.]+:{port}/", address)
        assert not address.startswith("http://0.0.0.0")
    assert not any("Others open" in line for line in printed()[0])


def test_the_qr_code_in_the_terminal_is_that_of_the_address():
    segno = pytest.importorskip("segno")
    lines, port = printed("--host", "0.0.0.0", "--allow-host", "lab.example")
    halves = {" ": (0, 0), "▀": (1, 0), "▄": (0, 1), "█": (1, 1)}
    drawn = [line for line in lines if line and set(line) <= set(halves)]
    rows = [[halves[sign][k] for sign in line] for line in drawn for k in (0, 1)]
    wanted = [[*map(int, row)] for row in segno.make(f"http://lab.example:{port}/").matrix]
    size = len(wanted)
    assert [row[2 : 2 + size] for row in rows[2 : 2 + size]] == wanted
