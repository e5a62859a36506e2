"""Checks of Host and Origin on every request, and security headers on every answer."""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Iterable

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; "
        b"img-src 'self' data: blob:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"cache-control", b"no-cache"),  # a browser asks whether its copy of a file is the present one
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_HOST = re.compile(r"(?:\[(?P<number>[0-9A-Fa-f:.]+)\]|(?P<name>[0-9A-Za-z._-]+))(?::[0-9]{1,5})?")


def is_allowed_host(host: str, allowed: Iterable[str], *, any_address: bool) -> bool:
    """Return whether a Host header, with or without a port, names this server.

    A foreign web page can make its own name point to 127.0.0.1 and then read the lab (DNS
    rebinding), but it cannot change the Host header, which still has its name. `any_address` allows
    all numeric addresses: nobody can rebind a number.
    """
    parts = _HOST.fullmatch(host)
    if parts is None:
        return False
    name = (parts["name"] or parts["number"]).lower()
    try:
        number = (ipaddress.IPv6Address if parts["number"] else ipaddress.IPv4Address)(name)
    except ValueError:
        return parts["number"] is None and name in map(str.lower, allowed)
    return any_address or str(number) in allowed


class Guard:
    """ASGI middleware that rejects foreign hosts and origins and adds security headers to every
    answer.
    """

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], any_address: bool) -> None:
        self._app, self._hosts, self._any_address = app, frozenset(hosts), any_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and forward it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def send_with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        if (rejection := self._rejection(scope)) is not None:
            await JSONResponse({"error": rejection}, 403)(scope, receive, send_with_headers)
            return
        try:
            await self._app(scope, receive, send_with_headers)
        except asyncio.CancelledError:  # the lab is being closed and has waited long enough
            if not begun:
                await JSONResponse({"error": "The lab is being closed."}, 503)(
                    scope, receive, send_with_headers
                )
            raise

    def _rejection(self, scope: Scope) -> str | None:
        """Return a sentence if the request does not come from the lab's own page."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        if not is_allowed_host(host, self._hosts, any_address=self._any_address):
            return "The lab answers only under its own address; open the address that it printed."
        origin = headers.get(b"origin")
        if origin is not None and origin != f"{scope['scheme']}://{host}":
            return "Requests from other web sites are rejected."
        if headers.get(b"sec-fetch-site", "none") not in ("same-origin", "none") and not _is_link(
            scope, headers
        ):
            return "Requests from other web sites are rejected."
        return None


def _is_link(scope: Scope, headers: dict[bytes, str]) -> bool:
    """Return whether the request follows a link on another page or in a mail to the lab's page, in
    a tab of its own.
    """
    navigates = (
        headers.get(b"sec-fetch-mode") == "navigate"
        and headers.get(b"sec-fetch-dest") == "document"
    )
    return scope["method"] == "GET" and scope["path"] == "/" and navigates
