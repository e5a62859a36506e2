"""The HTTP server of the lab: it disconnects idle clients, and stops within seconds."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any

import h11
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from seqattractor.lab.guard import HEADERS
from seqattractor.lab.requests import Limits

_GRACE = 1  # seconds for answers that are under way when the lab is closed
_AGAIN = 2  # seconds after which a client that was sent away should come back
_BY_ITSELF = "This page tries again by itself."
_OTHER_FILES = 200  # that a process has open, beside connections
_M_MMAP_THRESHOLD, _LARGE = -3, 2**18  # bytes from which on an array has pages of its own
_END = 2.0  # seconds after which the process ends, whatever it does


class Connection(H11Protocol):
    """A connection that is closed when the lab waits for its client in vain.

    When there is one too many, the one that has been idle longest since its last answer is closed;
    where there is none, the newcomer gets status 503.
    """

    def __init__(self, *args: Any, limits: Limits, **options: Any) -> None:
        super().__init__(*args, **options)
        self._limits = limits
        self._moved = self.loop.time()  # when the client did last what the lab waits for
        self._unread = 0
        self.answered: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to watch the client."""
        super().connection_made(transport)
        self._full = len(self.connections) > self._limits.connections and not self._make_room()
        self._watch()

    def _make_room(self) -> bool:
        """Close the connection whose client has asked for nothing since its last answer for
        longest; return whether there is room now.
        """
        here = [one for one in self.connections if not one.transport.is_closing()]
        if len(here) <= self._limits.connections:
            return True
        idle = [one for one in here if isinstance(one, Connection) and one.is_idle]
        if idle:
            min(idle, key=lambda one: one.answered or 0.0).transport.close()
        return bool(idle)

    @property
    def is_idle(self) -> bool:
        """Return whether all that was asked for was answered; a connection on which nothing was
        asked for yet is young, not idle.
        """
        return (
            self.answered is not None
            and self.conn.our_state is h11.IDLE
            and not self.conn.trailing_data[0]
        )

    def on_response_complete(self) -> None:
        """Note when an answer was complete."""
        self.answered = self.loop.time()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop watching."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Receive data; only those of a body show that the client does its part, since a head is
        short.
        """
        if self.cycle is not None and self.cycle.more_body and not self.cycle.response_complete:
            self._moved = self.loop.time()
        if self._full:
            self._reject_for_now(data)
        else:
            super().data_received(data)

    def send_400_response(self, msg: str) -> None:
        """Reject data that are not HTTP."""
        self._reject(400, "This is not a valid HTTP request.")

    def shutdown(self) -> None:
        """Close, because the lab is being closed."""
        with suppress(
            h11.LocalProtocolError
        ):  # of a connection that was rejected in the middle of a request
            super().shutdown()

    def _watch(self) -> None:
        """Close the connection if the client has sent or read nothing for too long; check again
        soon.
        """
        now, unread, cycle = self.loop.time(), self.transport.get_write_buffer_size(), self.cycle
        lab_works = (
            cycle is not None and not cycle.response_complete and not cycle.more_body and not unread
        )
        if lab_works or unread != self._unread:
            self._moved = now
        self._unread = unread
        if now - self._moved > self._limits.grace:
            if unread or self.transport.is_closing():
                self.transport.abort()
            else:
                self._reject(408, "The request came too slowly; send it again.")
        self._timer = self.loop.call_later(self._limits.grace / 10, self._watch)

    def _reject_for_now(self, data: bytes) -> None:
        """Ask a client to come back; a browser that asked for the page does so by itself."""
        busy = "The lab is busy: too many connections are open."
        again = str(_AGAIN).encode()
        if data.startswith((b"GET / ", b"GET /?")):
            page = f"<!doctype html><title>The lab is busy</title><p>{busy} {_BY_ITSELF}</p>"
            self._answer(503, page.encode(), b"text/html; charset=utf-8", (b"refresh", again))
        else:
            sentence = f"{busy} Please wait a moment, then try again."
            self._answer(503, _as_json(sentence), b"application/json", (b"retry-after", again))

    def _reject(self, status: int, sentence: str) -> None:
        """Answer with a sentence, and close the connection."""
        self._answer(status, _as_json(sentence), b"application/json")

    def _answer(self, status: int, body: bytes, kind: bytes, *more: tuple[bytes, bytes]) -> None:
        """Answer in the application's place, unless an answer has begun, and close the
        connection.
        """
        if self.cycle is not None:  # the application need not continue its work on the request
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        head = [
            (b"content-type", kind),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *more,
        ]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            with suppress(h11.LocalProtocolError):  # to HEAD, no body is sent
                for event in (
                    h11.Response(status_code=status, headers=[*head, *HEADERS]),
                    h11.Data(body),
                    h11.EndOfMessage(),
                ):
                    self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def _as_json(sentence: str) -> bytes:
    """Return a sentence as the API says it."""
    return json.dumps({"error": sentence}).encode()


def _prepare_process(connections: int) -> None:
    """Let the process open so many connections, and return freed arrays to the system.

    The allocator of glibc would keep those of up to 32 MB for itself, in each thread: hundreds of
    MB after ten minutes of a class.
    """
    if sys.platform != "win32":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = connections + _OTHER_FILES
        if soft != resource.RLIM_INFINITY and soft < wanted:
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if sys.platform == "linux":
        with suppress(AttributeError, OSError):  # another C library
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)


class Server(uvicorn.Server):
    """A server for the lab that stops within seconds, and calls `at_the_end` if it has to end the
    process for that.
    """

    def __init__(self, app: Starlette, at_the_end: Callable[[], None] = lambda: None) -> None:
        self._lab, self._at_the_end = app.state.lab, at_the_end
        super().__init__(
            uvicorn.Config(
                app,
                http=partial(Connection, limits=self._lab.limits),  # type: ignore[arg-type]
                ws="none",
                log_level="error",
                timeout_graceful_shutdown=_GRACE,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, with as many open connections as the limits allow."""
        _prepare_process(self._lab.limits.connections)
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop all work, so that its answers come at once, and close."""
        self._lab.close()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; work that does not stop soon is ended with the process."""
        if not self.should_exit:
            timer = threading.Timer(_END, self.leave)
            timer.daemon = True
            timer.start()
        super().handle_exit(sig, frame)

    def leave(self) -> None:
        """End the process at once."""
        self._at_the_end()
        os._exit(0)
