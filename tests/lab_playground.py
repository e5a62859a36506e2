"""The page without a server for tests: exported once, with its code run in Node, or offered by a
plain file server.
"""

import contextlib
import json
import shutil
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import hatch_build
import pytest

from seqattractor.lab import export

NODE = shutil.which("node")
NEEDS_NODE = pytest.mark.skipif(
    NODE is None, reason="NO NODE: install Node 20; the page without a server is not tested"
)


@pytest.fixture(scope="session")
def playground(tmp_path_factory):
    """The exported page, below a folder that a server offers."""
    if export.why_missing(export.core_path()):
        if find_spec("ziglang") is None:
            pytest.skip("NO ZIG: pip install ziglang; the page without a server is not tested")
        hatch_build.compile_for_browsers()
    folder = tmp_path_factory.mktemp("site") / "some" / "where"
    export.export(folder)
    return folder


@pytest.fixture(scope="session")
def modules(playground, tmp_path_factory):
    """All modules of the page, as Node wants them, beside data and core of the export."""
    folder = tmp_path_factory.mktemp("modules")
    shutil.copytree(export.STATIC, folder, dirs_exist_ok=True)
    for name in ("data.json", "core.wasm"):
        shutil.copyfile(playground / "playground" / name, folder / "playground" / name)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


def answers(modules, cases):
    """What the worker's code answers to some lists of requests (path, body)."""
    done = subprocess.run(
        [NODE, str(Path(__file__).with_suffix(".mjs")), str(modules)],
        input="\n".join(map(json.dumps, cases)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        """Say nothing."""


@contextlib.contextmanager
def file_server(folder):
    """A server that knows nothing but files; gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
