"""A real lab on a loopback port for tests, and a client for one visitor."""

import contextlib
import json
import socket
import threading
import time
from importlib.resources import files
from typing import ClassVar

import httpx
import pytest

from seqattractor.lab.app import create_app
from seqattractor.lab.requests import Limits
from seqattractor.lab.server import Server

PAGE = {
    file.name: file.read_bytes()
    for file in files("seqattractor.lab").joinpath("static").iterdir()
    if file.is_file()
}

SMALL = {"name": "random", "frames": 12, "units": 40, "seed": 3}
QUICK = {"name": "attractor", "hidden": 80}

# Never learned without errors: a long job that only a visitor or the clock ends.
LONG = (
    {"name": "random", "frames": 300, "units": 60},
    {"name": "attractor", "hidden": 400, "epochs": 5000},
)

# How long to wait for what must come, in seconds; only what is stuck takes as long, on however slow
# a machine.
PATIENCE = 300


@contextlib.contextmanager
def running_lab(limits=None, **options):
    """Run a lab and give its address and the application."""
    app = create_app(limits or Limits(), **options)
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    until = time.monotonic() + PATIENCE
    while not server.started and time.monotonic() < until:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", app
    finally:
        for visitor in Visitor.opened:
            visitor.http.close()
        Visitor.opened.clear()
        server.should_exit = True
        thread.join(timeout=30)
        listener.close()


class Gate:
    """Work that waits until the gate is open; as a context, it is open afterwards."""

    def __init__(self):
        self.open, self.waiting = threading.Event(), 0

    def __call__(self):
        self.waiting += 1
        assert self.open.wait(PATIENCE)

    def wait(self):
        """Wait until somebody is at the gate."""
        until(lambda: self.waiting)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.open.set()


def until(condition):
    """Wait for what must come."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


_ORDINARY = 0.12  # seconds that the yardstick takes on an ordinary machine with nothing else to do


def slowness():
    """How many times longer than an ordinary idle machine this one takes now; never less than 1.

    Limits in seconds are meant for such a machine; tests also run on slow ones that are shared with
    others.
    """
    start = time.perf_counter()
    sum(k * k for k in range(1_500_000))
    return max(1.0, (time.perf_counter() - start) / _ORDINARY)


def in_time(attempt, seconds):
    """Whether one of a few attempts takes less than so many seconds of an ordinary machine that has
    nothing else to do.
    """
    for _ in range(4):  # other tests and other machines' guests come and go
        took = attempt()
        if took < seconds * slowness():
            return True
    return False


@pytest.fixture(scope="module")
def lab():
    """A lab and its application, for all tests of a module."""
    with running_lab() as (address, app):
        yield address, app


@pytest.fixture
def visitor(lab):
    """A visitor of the lab."""
    return Visitor(lab[0])


class Visitor:
    """One open page, without the page."""

    opened: ClassVar[list] = []

    def __init__(self, address):
        Visitor.opened.append(self)
        self.http = httpx.Client(
            base_url=address, timeout=PATIENCE, verify=False
        )  # no TLS, so no certificates to read
        self.http.headers["x-lab-visit"] = self.http.post("/api/visit").json()["visit"]

    def post(self, path, body):
        """Post JSON."""
        return self.http.post(f"/api/{path}", json=body)

    def events(self):
        """Follow learning to its end."""
        text = self.http.get("/api/progress").text
        return [json.loads(part[6:]) for part in text.split("\n\n") if part.startswith("data: ")]

    def wait_for(self, key):
        """Follow learning until an event has this key."""
        with self.http.stream("GET", "/api/progress") as stream:
            for line in stream.iter_lines():
                if line.startswith("data: ") and key in (event := json.loads(line[6:])):
                    return event
        raise AssertionError(f"learning ended without {key}")

    def learn(self, sequence, *networks):
        """Learn and give the end of it."""
        answer = self.post("learn", {"sequence": sequence, "networks": list(networks)})
        assert answer.status_code == 200, answer.text
        return self.events()[-1]["end"]

    def recall(self, **cue):
        """Recall and give the answer."""
        answer = self.post("recall", {"cue": cue})
        assert answer.status_code == 200, answer.text
        return answer.json()
