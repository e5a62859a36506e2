"""How the lab is served: connections to clients who must keep up, and an end within seconds."""

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
    """A connection to a client, who must ask in time, send and read at a minimal rate, and leave room for others.

    Which of these applies is its phase: the client asks, sends the body of its request, or reads the answer. While the lab works,
    nothing is asked of the client.
    """

    def __init__(self, *args: Any, limits: Limits, **options: Any) -> None:
        super().__init__(*args, **options)
        self._limits = limits
        self._full = False
        self._phase: tuple[str, int] = ("", 0)
        self._since = 0.0
        self._received = 0
        self._unread = 0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; if there are too many connections, an idle one makes room, or this one is refused as soon as it asks."""
        super().connection_made(transport)
        if len(self.connections) > self._limits.connections:
            idle = [c for c in self.connections if isinstance(c, Connection) and c is not self and c.idle_since is not None]
            if idle:
                longest = min(idle, key=lambda c: c.idle_since or 0.0)
                self.connections.discard(longest)  # at once, so that the next newcomer finds another one
                longest.transport.abort()
            else:
                self._full = True
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what the client sends."""
        self._received += len(data)
        if self._full:
            self._refuse(503, "The lab is busy: too many connections are open. Please wait a moment, then try again.")
        else:
            super().data_received(data)

    def resume_writing(self) -> None:
        """Go on with an answer, since the client has read a piece of it."""
        super().resume_writing()
        self._phase = ("", 0)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        self._refuse(400, "This is not a valid HTTP request.")

    def shutdown(self) -> None:
        """Close, since the lab is being closed."""
        with suppress(h11.LocalProtocolError):  # one that was refused in the middle of something
            super().shutdown()

    @property
    def idle_since(self) -> float | None:
        """When the lab began to wait for the next request, if it does."""
        return self._since if self._current_phase()[0] in ("asks", "closes") else None

    def _current_phase(self) -> tuple[str, int]:
        """What the client has to do, and in which request."""
        cycle: Any = self.cycle
        if self.transport.is_closing():
            return "closes", id(cycle)
        if self.transport.get_write_buffer_size():
            return "reads", id(cycle)
        if cycle is None or cycle.response_complete:
            return "asks", id(cycle)
        return ("sends" if cycle.more_body else "", id(cycle))

    def _look(self) -> None:
        """See from time to time whether the client keeps up."""
        now, phase, unread = self.loop.time(), self._current_phase(), self.transport.get_write_buffer_size()
        if phase != self._phase:
            self._phase, self._since, self._received, self._unread = phase, now, 0, unread
        self._unread = max(self._unread, unread)
        moved = {"sends": self._received, "reads": self._unread - unread}.get(phase[0], 0)
        if phase[0] and now - self._since > self._limits.grace + moved / self._limits.rate:
            if phase[0] in ("reads", "closes"):
                self.transport.abort()
            else:
                self._refuse(408, "The request came too slowly; send it again.")
        self._timer = self.loop.call_later(self._limits.grace / 10, self._look)

    def _refuse(self, status: int, sentence: str) -> None:
        """Answer in the application's place, unless an answer has begun, and close the connection."""
        cycle: Any = self.cycle
        if cycle is not None:  # whoever works on the request need not go on
            cycle.disconnected = True
            cycle.message_event.set()
        body = json.dumps({"error": sentence}).encode()
        head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), (b"connection", b"close")]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            with suppress(h11.LocalProtocolError):  # to HEAD, no body is sent
                for event in (h11.Response(status_code=status, headers=[*head, *HEADERS]), h11.Data(body), h11.EndOfMessage()):
                    self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class Server(uvicorn.Server):
    """A server for the lab that ends within seconds, whatever is under way.

    Parameters
    ----------
    app : Starlette
        As `create_app` makes it.
    at_the_end : callable
        Called before a process ends that could not be ended otherwise.

    Examples
    --------
    >>> from seqattractor.lab.app import create_app
    >>> Server(create_app()).started
    False
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
        """Stop what is under way, so that its answers come at once, and close."""
        self._lab.close()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; whatever has not ended soon, ends with the process."""
        if not self.should_exit:
            timer = threading.Timer(_END, self.leave)
            timer.daemon = True
            timer.start()
        super().handle_exit(sig, frame)

    def leave(self) -> None:
        """End the process at once."""
        self._at_the_end()
        os._exit(0)
