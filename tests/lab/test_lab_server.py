"""Idle, endless and too many connections are closed, and every answer has the security headers."""

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import httpx
import pytest

from lab_server import PATIENCE, Gate, Visitor, running_lab, until
from seqattractor.lab import api, downloads
from seqattractor.lab.guard import HEADERS
from seqattractor.lab.requests import Limits


@pytest.fixture
def hasty():
    """A lab that expects its clients to be quick."""
    with running_lab(Limits(grace=0.5)) as (address, app):
        yield address, app.state.lab


def connect(address):
    host, port = address.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=PATIENCE)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def head(address, method, path, *lines):
    return "\r\n".join(
        [f"{method} {path} HTTP/1.1", f"host: {address.removeprefix('http://')}", *lines, "", ""]
    ).encode()


def drip(connection, piece, pause=0.02):
    """Send a piece again and again until the server closes the connection; gives what it has
    answered.
    """
    answer, until = b"", time.monotonic() + PATIENCE
    connection.settimeout(pause)
    with suppress(ConnectionError):
        while time.monotonic() < until:
            with suppress(TimeoutError):
                connection.sendall(piece)
                if not (part := connection.recv(65536)):
                    return answer
                answer += part
            if not piece:
                continue
            time.sleep(pause)
        raise AssertionError("the connection was never closed")
    return answer


def check(answer, status):
    """An answer has a status, the security headers and one sentence."""
    first, _, body = answer.partition(b"\r\n\r\n")
    lines = first.lower().split(b"\r\n")
    assert int(lines[0].split()[1]) == status, answer
    for name, value in HEADERS:
        assert name + b": " + value.lower() in lines, (name, lines)
    if status != 200:
        assert json.loads(body)["error"].endswith(".")


@pytest.mark.parametrize("piece", [b"", b"x"], ids=["silent", "slow"])
def test_a_request_that_never_begins_is_cut_off(hasty, piece):
    with connect(hasty[0]) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: ")
        check(drip(connection, piece), 408)


@pytest.mark.parametrize("framing", ["content-length: 900000", "transfer-encoding: chunked"])
def test_a_body_that_does_not_come_is_cut_off(hasty, framing):
    visit = hasty[1].visits.open().name
    with connect(hasty[0]) as connection:
        connection.sendall(head(hasty[0], "POST", "/api/learn", f"x-lab-visit: {visit}", framing))
        check(drip(connection, b""), 408)
    assert hasty[1].visits.get(visit).under_way.total() == 0


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("POST", "/api/upload", 413), ("POST", "/api/learn", 413), ("GET", "/", 200)],
)
def test_an_endless_body_is_rejected_and_cut_off(hasty, method, path, status):
    visit = hasty[1].visits.open().name
    with connect(hasty[0]) as connection:
        connection.sendall(
            head(hasty[0], method, path, f"x-lab-visit: {visit}", "transfer-encoding: chunked")
        )
        answer = drip(connection, b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n", pause=0.001)
    if answer:  # else the client was cut off before it had read
        check(answer, status)


DOWNLOAD = {"what": "sequence", "sequence": {"name": "toy"}}


def test_a_client_that_does_not_read_the_answer_is_cut_off(hasty, monkeypatch):
    monkeypatch.setattr(downloads, "sequence", lambda material: b"\0" * 100_000_000)
    visit = hasty[1].visits.open()
    body = json.dumps(DOWNLOAD)
    lines = f"x-lab-visit: {visit.name}", f"content-length: {len(body)}"
    with connect(hasty[0]) as connection:
        connection.sendall(head(hasty[0], "POST", "/api/download", *lines) + body.encode())
        assert connection.recv(1)  # and no more
        until(lambda: not visit.under_way.total())


def test_one_page_has_two_downloads_under_way_at_most(monkeypatch):
    gate, sequence = Gate(), downloads.sequence
    monkeypatch.setattr(downloads, "sequence", lambda material: (gate(), sequence(material))[1])
    with running_lab() as (address, app), ThreadPoolExecutor(2) as threads, gate:
        visitor = Visitor(address)
        visit = app.state.lab.visits.get(visitor.http.headers["x-lab-visit"])
        asked = [threads.submit(visitor.post, "download", DOWNLOAD) for _ in range(2)]
        until(lambda: visit.under_way.total() == 2)
        assert visitor.post("download", DOWNLOAD).status_code == 503
        gate.open.set()
        assert [future.result().status_code for future in asked] == [200, 200]
        until(lambda: not visit.under_way.total())


def test_a_client_that_reads_gets_it_all(monkeypatch):
    content = bytes(range(256)) * 100_000
    monkeypatch.setattr(downloads, "sequence", lambda material: content)
    with running_lab() as (address, _):
        assert Visitor(address).post("download", DOWNLOAD).content == content


def test_idle_connections_are_closed_and_others_served():
    with running_lab(Limits(connections=8, grace=0.5)) as (address, _), ExitStack() as opened:
        for connection in [opened.enter_context(connect(address)) for _ in range(40)]:
            connection.sendall(b"GET / HTT")
        until(lambda: httpx.get(address, timeout=PATIENCE).status_code == 200)


@pytest.fixture
def gate(monkeypatch):
    """A gate at which everybody waits who asks for a sequence."""
    gate, make_material = Gate(), api.make_material
    monkeypatch.setattr(api, "make_material", lambda *given: (gate(), make_material(*given))[1])
    return gate


def test_when_all_connections_are_at_work_a_newcomer_is_rejected(gate):
    with running_lab(Limits(connections=3)) as (address, _), ThreadPoolExecutor(3) as threads:
        visitors = [Visitor(address) for _ in range(3)]
        asked = [threads.submit(visitor.post, "sequence", {"name": "toy"}) for visitor in visitors]
        with gate:
            until(lambda: gate.waiting == 3)
            with connect(address) as connection:
                connection.sendall(head(address, "GET", "/api/catalogue"))
                check(drip(connection, b""), 503)
        assert [future.result().status_code for future in asked] == [200] * 3


def test_one_page_cannot_have_everything_under_way_at_once(gate):
    with running_lab(Limits(requests=4)) as (address, _), ThreadPoolExecutor(30) as threads:
        visit = Visitor(address).http.headers["x-lab-visit"]

        def ask(_):
            return httpx.post(
                f"{address}/api/sequence",
                headers={"x-lab-visit": visit},
                json={"name": "toy"},
                timeout=PATIENCE,
            )

        asked = [threads.submit(ask, k) for k in range(30)]
        with gate:
            until(
                lambda: sum(future.done() for future in asked) >= 26
            )  # one is at the gate, three wait
        answers = [future.result() for future in asked]
    assert sorted({answer.status_code for answer in answers}) == [200, 503]
    assert all(
        "too much at once" in answer.json()["error"]
        for answer in answers
        if answer.status_code == 503
    )


# -- every answer
# --------------------------------------------------------------------------------------------------

RAW = {
    "no HTTP": (b"\x16\x03\x01 hello\r\n\r\n", 400),
    "two lengths": (
        b"POST /api/visit HTTP/1.1\r\nhost: HOST\r\n"
        b"content-length: 3\r\ncontent-length: 5\r\n\r\nabc",
        400,
    ),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "an endless line": (b"GET /" + b"x" * 200_000, 400),
    "a bad chunk": (
        b"POST /api/learn HTTP/1.1\r\nhost: HOST\r\nx-lab-visit: VISIT\r\n"
        b"transfer-encoding: chunked\r\n\r\nzz\r\n",
        400,
    ),
    "a foreign host": (b"GET / HTTP/1.1\r\nhost: [::1]evil.com\r\n\r\n", 403),
    "no such page": (b"GET /nothing HTTP/1.1\r\nhost: HOST\r\n\r\n", 404),
    "no such method": (b"DELETE / HTTP/1.1\r\nhost: HOST\r\n\r\n", 405),
    "no visit": (b"POST /api/learn HTTP/1.1\r\nhost: HOST\r\ncontent-length: 0\r\n\r\n", 410),
    "too large": (
        b"POST /api/upload HTTP/1.1\r\nhost: HOST\r\nx-lab-visit: VISIT\r\n"
        b"content-length: 99999999\r\n\r\nx",
        413,
    ),
    "the page": (b"GET / HTTP/1.1\r\nhost: HOST\r\n\r\n", 200),
    "an upgrade": (
        b"GET / HTTP/1.1\r\nhost: HOST\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
        200,
    ),
    "a mistake of ours": (b"GET /api/catalogue HTTP/1.1\r\nhost: HOST\r\n\r\n", 500),
}


@pytest.fixture(scope="module")
def mistaken():
    """A lab with a mistake in its list of networks."""
    with pytest.MonkeyPatch.context() as patch, running_lab() as (address, _):
        patch.setattr(api, "NETWORKS", None)
        yield address


@pytest.mark.parametrize("name", RAW)
def test_every_answer_has_the_security_headers_and_every_rejection_a_sentence(mistaken, name):
    request, status = RAW[name]
    visit = Visitor(mistaken).http.headers["x-lab-visit"].encode()
    with connect(mistaken) as connection:
        connection.sendall(
            request.replace(b"HOST", mistaken.removeprefix("http://").encode()).replace(
                b"VISIT", visit
            )
        )
        answer = b""
        while b"\r\n\r\n" not in answer or (status != 200 and not answer.endswith(b"}")):
            part = connection.recv(65536)
            assert part, answer
            answer += part
    check(answer, status)
