"""The HTTP server of the lab: it disconnects idle clients, and stops within seconds."""

from __future__ import annotations

import asyncio
import json
import os
import socket
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
_END = 2.0  # seconds after which the process ends, whatever it does


class Connection(H11Protocol):
    """A connection that is closed when the lab waits for its client in vain; one too many gets
    status 503.
    """

    def __init__(self, *args: Any, limits: Limits, **options: Any) -> None:
        super().__init__(*args, **options)
        self._limits = limits
        self._moved = self.loop.time()  # when the client did last what the lab waits for
        self._unread = 0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to watch the client."""
        super().connection_made(transport)
        self._full = len(self.connections) > self._limits.connections
        self._watch()

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
            self._reject(
                503,
                "The lab is busy: too many connections are open. Please wait a moment, then try "
                "again.",
            )
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

    def _reject(self, status: int, sentence: str) -> None:
        """Answer in the application's place, unless an answer has begun, and close the
        connection.
        """
        if self.cycle is not None:  # the application need not continue its work on the request
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        body = json.dumps({"error": sentence}).encode()
        head = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
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
