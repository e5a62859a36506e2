"""The web application: the page and its API."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from seqattractor.lab.api import Lab
from seqattractor.lab.bundle import SCRIPT, bundle
from seqattractor.lab.choices import Own, as_sentence
from seqattractor.lab.guard import HEADERS, Guard
from seqattractor.lab.requests import Limits, Rejection

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def create_app(
    limits: Limits | None = None,
    *,
    hosts: Iterable[str] = LOOPBACK,
    any_address: bool = False,
    own: Own | None = None,
) -> Starlette:
    """Return the application, which may be opened under the names of `hosts`, or with `any_address`
    under any numeric address.

    It offers the network `own` beside those that learn.
    """
    mimetypes.add_type(
        "text/javascript", ".js"
    )  # Windows may call it plain text, which browsers do not run
    lab = Lab(limits or Limits(), own)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        lab.close()

    app = Starlette(
        routes=[
            Mount("/api", routes=lab.routes()),
            Route(f"/{SCRIPT}", _script(bundle().encode())),
            Mount("/", StaticFiles(packages=[("seqattractor.lab", "static")], html=True)),
        ],
        middleware=[Middleware(Guard, hosts=[*hosts], any_address=any_address)],
        exception_handlers={
            **dict.fromkeys((Rejection, HTTPException, ValueError, TypeError), _rejected),
            Exception: _failed,
        },
        lifespan=lifespan,
    )
    app.state.lab = lab
    return app


def _script(content: bytes) -> Callable[[Request], Awaitable[Response]]:
    """Return an answer to requests for the page's script, which sends it only if it is new to the
    browser.
    """
    headers = {"etag": f'"{hashlib.sha256(content).hexdigest()[:32]}"', "vary": "accept-encoding"}
    packed = gzip.compress(content, mtime=0)

    async def script(request: Request) -> Response:
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(content, media_type="text/javascript", headers=headers)
        zipped = {**headers, "content-encoding": "gzip"}
        return Response(packed, media_type="text/javascript", headers=zipped)

    return script


async def _rejected(request: Request, error: Exception) -> Response:
    """Answer a rejected request with a status and one sentence. Errors of the library are about
    what the visitor sent.
    """
    if isinstance(error, Rejection):
        headers = {"retry-after": str(error.retry)} if error.retry else None
        return JSONResponse({"error": error.sentence}, error.status, headers)
    if isinstance(error, HTTPException):
        sentences = {
            404: "There is no such address in the lab.",
            405: "This address does not take such requests.",
        }
        sentence = sentences.get(error.status_code, str(error.detail))
        return JSONResponse({"error": sentence}, error.status_code, dict(error.headers or {}))
    return JSONResponse({"error": as_sentence(error)}, 400)


async def _failed(request: Request, error: Exception) -> Response:
    """Answer after a mistake of our own; the server continues."""
    response = JSONResponse(
        {"error": "The lab made a mistake; the terminal in which it runs shows which."}, 500
    )
    response.raw_headers += HEADERS  # this answer does not pass the guard
    return response
