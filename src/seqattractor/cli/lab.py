"""`seqattractor lab`: start the lab and open it in the browser."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import sys
import threading
import time
import warnings
import webbrowser
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seqattractor.cli.loading import PATH, read_like

if TYPE_CHECKING:
    from seqattractor.lab.choices import Own
    from seqattractor.lab.requests import Limits
    from seqattractor.lab.server import Server

PORT = 8765
_ALL = ("0.0.0.0", "::")
CLOSED = "The lab is closed."
EXAMPLES = """\b
Examples:
  seqattractor lab
  seqattractor lab --port 9000 --no-browser
  seqattractor lab --export page"""


@click.command(name="lab", epilog=EXAMPLES)
@click.argument("model", type=PATH, required=False)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; a wider one lets others in.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help=f"Port; by default {PORT}, or a free one if that is taken.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="A name under which others may open the lab; can be repeated.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help="How many visitors' networks may learn at the same time.",
)
@click.option(
    "--data",
    "files",
    multiple=True,
    type=PATH,
    help="The sequences of MODEL, where it does not hold them; may be repeated.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option(
    "--export",
    "page",
    type=PATH,
    metavar="DIR",
    help="Write the page as static files that need no server, and do not open it.",
)
def command(
    model: Path | None,
    host: str,
    port: int | None,
    allow_host: tuple[str, ...],
    workers: int,
    files: tuple[Path, ...],
    no_browser: bool,
    page: Path | None,
) -> None:
    """See a sequence memory learn and recall, in the browser.

    Opens a page on which you choose or draw a sequence, let a network learn it, corrupt the cue and
    watch the recall. Everything stays on your machine. Ctrl-C ends it.

    With a MODEL, the page begins with that network, wherever it was trained: what `learn` or
    `net.save` wrote, or a .safetensors or .onnx file of `export`.

    With --export, the page is written as files that any web server can offer, under any address:
    the browser itself computes then, with the same results.
    """
    if page is not None:
        if model is not None or files:
            raise ValueError("--export writes a page without a network of yours; leave out MODEL.")
        _export(page)
        return
    try:
        from seqattractor.lab.app import LOOPBACK, create_app
        from seqattractor.lab.requests import Limits
        from seqattractor.lab.server import Server
    except ModuleNotFoundError as error:
        raise ValueError(
            f"the lab needs {error.name}; install it with: pip install 'seqattractor[lab]'"
        ) from None
    if files and model is None:
        raise ValueError("--data goes with a MODEL; without one, drop your files onto the page.")
    limits = Limits(workers=workers)
    own = None if model is None else _own(model, files, limits)
    listener = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    wide = not _is_loopback(host)
    port = listener.getsockname()[1]
    # These stand for all of this machine's addresses.
    name = "localhost" if host in _ALL else shown
    address = f"http://{name}:{port}/"
    if (
        not sys.warnoptions
    ):  # they are for developers; the page shows what matters, such as errors that are left
        warnings.simplefilter("ignore")
    app = create_app(limits, hosts=[*LOOPBACK, host, *allow_host], any_address=wide, own=own)
    server = Server(app, at_the_end=lambda: click.echo(CLOSED))
    logging.getLogger("uvicorn.error").addFilter(_is_worth_telling)
    click.echo(f"The lab is open at {address}  (Ctrl-C ends it)")
    if wide:
        names = [*allow_host, _own_address() if host in _ALL else shown]
        _show_to_others([f"http://{name}:{port}/" for name in names if name])
        click.echo(
            "Warning: everybody who can reach this machine can use the lab, without a password. Do "
            "this only on a network that you trust.",
            err=True,
        )
    if not no_browser:
        threading.Thread(target=_open_when_ready, args=(server, address), daemon=True).start()
    with suppress(KeyboardInterrupt):  # Ctrl-C is the way to end it
        server.run(sockets=[listener])
    if app.state.lab.at_work:  # in threads that nobody can stop
        server.leave()
    click.echo(CLOSED)


def _own_address() -> str:
    """Return the address of this machine in its network; empty where it is in none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent; it only chooses the way out
        except OSError:
            return ""
        return str(probe.getsockname()[0])


def _show_to_others(addresses: list[str]) -> None:
    """Print what others type to open the lab, and the first as a QR code to point a phone at."""
    for address in addresses:
        click.echo(f"Others open {address}")
    if addresses and (code := _qr_code(addresses[0])):
        click.echo(code)


def _qr_code(text: str) -> str:
    """Return a QR code for a terminal, dark on light whatever its colours; empty where it cannot be
    drawn.
    """
    try:
        import segno
    except ModuleNotFoundError:  # of an older installation; the address can be typed
        return ""
    rows = [[*row] for row in segno.make(text, micro=False).matrix_iter(border=2)]
    rows += [[0] * len(rows[0])] * (len(rows) % 2)
    halves = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}
    lines = [
        click.style(
            "".join(halves[bool(a), bool(b)] for a, b in zip(*two, strict=True)),
            "black",
            "bright_white",
        )
        for two in zip(rows[::2], rows[1::2], strict=True)
    ]
    code = "\n".join(lines)
    try:
        code.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return ""
    return code


def _export(folder: Path) -> None:
    """Write the page that needs no server."""
    from seqattractor.lab.export import export

    made = export(folder)
    size = sum(path.stat().st_size for path in made)
    click.echo(
        f"{folder} holds the page: {len(made)} files, {size / 1e3:.0f} kB. Put the folder on any "
        f"web server, or try it here: python -m http.server --directory {folder}"
    )


def _own(model: Path, files: tuple[Path, ...], limits: Limits) -> Own:
    """Return the network of a model file, with its sequences or those of other files."""
    from seqattractor.io._attached import attached
    from seqattractor.lab.choices import Own
    from seqattractor.networks import load

    net = load(model)
    known = attached(net)
    data = read_like(known, files, {}) if files else known.sequences
    if data is not None and len(known.frame_shape) > len(
        data.frame_shape
    ):  # a table of units has no shape of its own
        data = replace(data, frame_shape=known.frame_shape)
    return Own.of(net, model.name, data, limits)


def _is_worth_telling(record: logging.LogRecord) -> bool:
    """Return whether a message of the server is about anything but requests that Ctrl-C has cut
    short.
    """
    error = record.exc_info[1] if record.exc_info else None
    return (
        not isinstance(error, asyncio.CancelledError)
        and "graceful shutdown" not in record.getMessage()
    )


def _listen(host: str, port: int | None) -> socket.socket:
    """Listen on the port, or on any free one if none was asked for and ours is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server(
            (host, PORT if port is None else port), family=family, backlog=1024
        )
    except OSError as error:
        if port is None:
            return _listen(host, 0)
        where = f"{host}, port {port}" if port else host
        why = str(error.strerror).partition(" (while")[0]
        raise ValueError(
            f"the lab cannot listen on {where}: {why}; choose another with --port."
        ) from None


def _is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _open_when_ready(server: Server, address: str) -> None:
    """Open the page as soon as the server answers."""
    until = time.monotonic() + 60
    while not server.started and time.monotonic() < until:
        time.sleep(0.05)
    webbrowser.open(address)
