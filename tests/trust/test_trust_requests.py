"""Requests that no page would send: the lab answers rightly or rejects with a sentence, and
continues to serve others.

Every case is one request on a connection of its own. Among them are requests of a visitor whose
network is known: whatever is answered to these is compared with what the library recalls.
"""

import copy
import io
import json
import re
import socket
import threading
import zipfile
from contextlib import suppress
from pathlib import Path

import h11
import numpy as np
import pytest
from campaign import alone, campaign
from PIL import Image
from test_lab_uploads import BAD, gif, npz, png

import seqattractor as sa
from lab_server import PAGE, PATIENCE, QUICK, SMALL, Visitor, running_lab
from seqattractor.lab.guard import HEADERS
from seqattractor.lab.requests import Limits, pack, unpack

FULL = 50_000
FRAMES = {
    "name": "frames",
    "shape": [5, 6],
    "lengths": [4],
    "bits": pack(sa.datasets.random_periodic(4, 30, rng=0)),
}
SEQUENCES = [
    SMALL,
    FRAMES,
    FRAMES
    | {
        "shape": [5, 2],
        "code": {
            "n_levels": 4,
            "kind": "thermometer",
            "low": 0.0,
            "high": 1.5,
            "bits": 3,
            "channels": 1,
        },
    },
    FRAMES | {"shape": [1, 5], "code": {"n_levels": 4, "kind": "gray", "channels": 3}},
    {"name": "toy", "which": "xor"},
    {"name": "tune"},
    {"name": "places", "frames": 9, "path": "eight"},
    {"name": "walker", "frames": 8, "size": "small"},
    {"name": "digits", "sequences": 2, "frames": 5, "digits": 1, "seed": 4},
]
NETWORKS = [
    {
        "name": "attractor",
        "hidden": 30,
        "kappa": 1.0,
        "eta": 0.01,
        "epochs": 5,
        "order": 1,
        "seed": 2,
    },
    {"name": "sparse", "hidden": 30, "epochs": 2},
    {"name": "perceptron", "epochs": 3, "order": 2},
    {"name": "dense", "degree": 3},
    {"name": "one-hot", "order": 0},
]
CUE = {"start": 2, "occlusion": 0.25, "flips": 6, "painted": [0, 7], "noise": 1, "seed": 5}
POSTS = (
    "visit",
    "leave",
    "sequence",
    "upload",
    "learn",
    "continue",
    "stop",
    "recall",
    "promise",
    "wiring",
    "neuron",
    "code",
    "download",
)
METHODS = (
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "OPTIONS",
    "PATCH",
    "TRACE",
    "CONNECT",
    "get",
    "BREW",
    "G\x00T",
    "",
)
JUNK = [
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        0.5,
        -0.0,
        3.0,
        41,
        2**31,
        2**63,
        10**30,
        -(10**30),
        1e308,
        -1e308,
        5e-324,
    ),
    *(
        "",
        "x",
        "walker",
        "../../etc/passwd",
        "__class__",
        "\x00",
        "\ud800",
        "é" * 50,
        "9" * 400,
        "A" * 4000,
        "{}",
        "'; --",
    ),
    *(
        [],
        {},
        [[]],
        [{}],
        [None] * 5,
        [0] * 4097,
        {"": {}},
        {"name": "attractor"},
        [1, [2, [3, [4]]]],
    ),
]
INSIDE = re.compile(
    r"Traceback|NoneType|object is not|not subscriptable|unsupported operand|has no "
    r"attribute|index out of|argument"
)


# -- what is sent
# --------------------------------------------------------------------------------------------------


def pick(rng, choices):
    return choices[int(rng.integers(len(choices)))]


def valid(rng, path):
    """A request as the page sends it."""
    sequence, cue = pick(rng, SEQUENCES), {k: CUE[k] for k in CUE if rng.random() < 0.6}
    networks = [pick(rng, NETWORKS) for _ in range(rng.integers(1, 3))]
    inside = {"network": 0, "epoch": 2, "silenced": [0, 3]}
    what = pick(
        rng, ["sequence", "model", "gif"] if rng.random() < 0.98 else ["figure"]
    )  # which takes long
    whole = {
        "sequence": sequence,
        "learn": {"sequence": sequence, "networks": networks},
        "continue": {"epochs": 2},
        "wiring": {"inside": inside},
        "neuron": {"neuron": 3, "inside": inside},
        "recall": {"cue": cue, "inside": inside}
        if rng.random() < 0.5
        else {"cue": cue, "sequence": sequence, "orders": [1, 2]},
        "code": {"sequence": sequence, "networks": networks, "cue": cue, "inside": inside},
        "download": {"what": what, "network": 0, "cue": cue, "sequence": sequence, "dark": 1}
        | ({"inside": inside} if rng.random() < 0.3 else {}),
    }
    return copy.deepcopy(whole.get(path, {}))


def places_in(value, here=()):
    """Go through the places of a JSON value."""
    yield here
    for key, inner in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        yield from places_in(inner, (*here, key))


def mutated(rng, value):
    """Change a JSON value at one place."""
    place = pick(rng, list(places_in(value)))
    if not place:
        junk = copy.deepcopy(pick(rng, JUNK))  # which is changed further
        return (
            junk
            if rng.random() < 0.2
            else {**value, pick(rng, ["name", "cue", "seed", "__proto__", "x"]): junk}
        )
    holder = value
    for key in place[:-1]:
        holder = holder[key]
    key, old = place[-1], holder[place[-1]]
    near = (
        [old - 1, old + 1, -old, old * 1000, float(old), str(old)]
        if isinstance(old, (int, float))
        else [[old], {"a": old}]
    )
    change = rng.integers(4)
    if change == 0:
        del holder[key]
    elif change == 1:
        holder[key] = pick(rng, near)
    elif change == 2 and isinstance(holder, dict):
        holder[pick(rng, [f"{key}x", str(key).upper(), ""])] = holder.pop(key)
    else:
        holder[key] = copy.deepcopy(pick(rng, JUNK))
    return value


def nonsense(rng, path):
    """A body that is almost right."""
    value = valid(rng, path)
    for _ in range(rng.integers(1, 4)):
        value = mutated(rng, value) if isinstance(value, dict) else value
    body = json.dumps(value).encode()
    spoil = rng.integers(12)
    if spoil == 0:
        return body[: rng.integers(len(body) + 1)]
    if spoil == 1:
        return body.replace(
            b"1", pick(rng, [b"NaN", b"Infinity", b"1e999", b"01", b"9" * 5000, b"-"])
        )
    if spoil == 2:
        return (
            pick(
                rng,
                [b"\xef\xbb\xbf", b"\xff\xfe", b"[" * 50_000, b'{"a":' * 9000, b"\x00", b"//\n"],
            )
            + body
        )
    if spoil == 3:
        return damaged(rng, body)
    return body


def damaged(rng, content):
    """Content with some bytes changed, cut off or repeated."""
    raw = bytearray(content)
    for _ in range(rng.integers(1, 6)):
        if raw:
            raw[rng.integers(len(raw))] = rng.integers(256)
    part = raw[: rng.integers(len(raw) + 1)] if rng.random() < 0.3 else raw
    return bytes(part * 2 if rng.random() < 0.05 else part)


def bomb(side=13_000):
    """A small GIF whose second frame promises to be huge."""
    content = bytearray(gif(3))
    places = [m.start() for m in re.finditer(rb"\x2c\x00\x00", bytes(content))]
    for at in places[1:]:
        content[at + 5 : at + 9] = side.to_bytes(2, "little") * 2
    return bytes(content)


def stored(name, content):
    """A zip archive with one member."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def picture(kind):
    """A picture of a kind."""
    file = io.BytesIO()
    Image.fromarray(np.arange(400, dtype=np.uint8).reshape(20, 20)).save(file, kind)
    return file.getvalue()


EPS_HEAD = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9999 9999\n%%EndComments\n"
EPS = EPS_HEAD + b"while (1) {} loop\n%%EOF\n"
MIDI = b"MThd\0\0\0\6\0\0\0\1\0\1MTrk\0\0\0\x0b\0\x90\x3c\x40\xff\xff\xff\x7f\x80\x3c\0"
FILES = [
    *BAD.values(),
    *[
        ("a.gif", gif()),
        ("a.gif", bomb()),
        ("a.gif", bomb(65_535)),
        ("a.png", EPS),
        ("a.gif", EPS),
        ("a.jpg", MIDI),
    ],
    *[
        ("a.mid", MIDI),
        ("a.csv", b"1,0\n1,x\n"),
        ("a.csv", b"\xff" * 99),
        ("a.npz", b"1,0\n0,1\n"),
        ("a.npy", b"time,unit\n"),
        ("a.csv", b"1,0\n0.5,1\n" * 30),
        ("a.txt", b"0.1 1\n0.2 2\n0.9 1\n" * 9),
        ("a.nwb", b"\x89HDF\r\n\x1a\n" + bytes(99)),
        ("a.mp4", bytes(4) + b"ftypisom" + bytes(99)),
        ("a.mkv", b"#EXTM3U\n/etc/passwd\n"),
        ("a.mat", b"MATLAB 5.0 MAT-file" + bytes(200)),
    ],
    *[
        ("a.png", png((30, 30))[:-20]),
        ("a.jpg", picture("JPEG")[:200]),
        ("a.webp", picture("WEBP")),
        ("a.bmp", picture("BMP")),
    ],
    *[
        ("a.tiff", picture("TIFF")),
        ("a.png", picture("TIFF")),
        ("a.npz", npz(X=np.zeros((9, 9), "S0"))),
    ],
    *[("a.npz", stored("X.npy", b"\0" * 90_000_000)), ("a.npz", stored("../../x.npy", b"\0" * 99))],
    *[
        ("a" * 400 + ".gif", gif()),
        ("a\x00.gif", gif()),
        ("/etc/passwd.gif", gif()),
        (".gif", gif()),
    ],
]


def upload(rng, heavy):
    """Files, more or less as the page sends them; reading them starts a process, so only a few are
    whole enough for that.
    """
    files = [pick(rng, FILES)]
    if heavy and rng.random() < 0.5:
        files = [(name, damaged(rng, content)) for name, content in files]
    if heavy and rng.random() < 0.2:
        files = [(f"{k}.png", damaged(rng, png((9, 9)))) for k in range(3)]
    head = {"files": [{"name": name, "size": len(content)} for name, content in files]}
    head |= pick(rng, [{}, {"levels": 0}, {"levels": 8, "colour": 0}, {"levels": 4, "colour": 1}])
    head |= pick(
        rng,
        [
            {},
            {"threshold": 20, "stride": 2},
            {"threshold": "median"},
            {"threshold": "otsu", "bin": 0.1, "key": "times,units"},
            {"bin": 1e-6, "key": "../../X"},
        ],
    )
    content = b"".join(content for _, content in files)
    if heavy:
        return json.dumps(head).encode() + b"\n" + content
    return (
        json.dumps(mutated(rng, head)).encode()
        + pick(rng, [b"\n", b"", b"\n\n", b"\0"])
        + content[:2000]
        + b"x"
    )


def request(method, path, host, headers=(), body=b"", length=True):
    """The bytes of a request."""
    lines = [f"{method} {path} HTTP/1.1", f"host: {host}", "connection: close", *headers]
    if length:
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + body


def hostile_headers(rng, host, visit):
    """A request whose headers lie."""
    body = json.dumps({"cue": CUE}).encode()
    line = pick(
        rng,
        [
            *[
                f"host: {name}"
                for name in (
                    "evil.com",
                    "[::1]evil.com",
                    "",
                    "localhost:99999999",
                    "a" * 300,
                    "\x80\xff",
                    "[::1",
                )
            ],
            *[
                f"origin: {name}"
                for name in (
                    "null",
                    "http://evil.com",
                    "http://[::1]evil.com",
                    "file://",
                    "x" * 900,
                    "http://",
                )
            ],
            *[
                f"content-length: {n}"
                for n in ("-1", "5, 5", "5, 6", "1e3", "9" * 30, "+5", "0x10", "", "99999999", "4")
            ],
            *[
                f"transfer-encoding: {name}"
                for name in ("chunked", "chunked, chunked", "gzip", "identity", "\x0bchunked", "")
            ],
            *[
                f"x-lab-visit: {name}"
                for name in ("", "x" * 5000, "\xe9", "../x", visit + " ", "None")
            ],
            *[
                "expect: 100-continue",
                "expect: x",
                "connection: upgrade\r\nupgrade: websocket",
                "upgrade: h2c",
                "te: trailers",
            ],
            *[
                "sec-fetch-site: cross-site",
                "sec-fetch-site: ",
                "x: " + "y" * 70_000,
                "a b: c",
                ": x",
                "x\x00y: z",
                " folded: x",
            ],
            *[
                "x-forwarded-for: 1.2.3.4\r\nx-forwarded-proto: javascript",
                "accept-encoding: bomb",
                "range: bytes=0-0,1-1",
            ],
            *[
                'if-none-match: "x"',
                "content-type: multipart/form-data",
                "content-encoding: gzip",
                "cookie: " + "a=b;" * 999,
            ],
        ],
    )
    first = ["host: " + host] if not line.startswith("host") else []
    lines = [
        *first,
        line,
        "connection: close",
        *(["x-lab-visit: " + visit] if "x-lab-visit" not in line else []),
    ]
    if "content-length" not in line and "transfer-encoding" not in line:
        lines.append(f"content-length: {len(body)}")
    version = pick(rng, ["1.1"] * 9 + ["1.0", "0.9", "2", "9.9", "x"])
    if "chunked" in line:
        chunk = f"{len(body):x}".encode() + b"\r\n" + body + b"\r\n0\r\n\r\n"
        body = pick(
            rng,
            [
                chunk,
                chunk[:-3],
                b"ffffffffffffffff\r\n" + body,
                b"-1\r\n\r\n",
                b"zz\r\n",
                b"1;" + b"x" * 99999,
                body,
            ],
        )
    path = pick(rng, ["/api/recall", "/", "/api/progress", "/api/catalogue", "/api/upload"])
    method = (
        "GET" if path in ("/", "/api/progress", "/api/catalogue") and rng.random() < 0.7 else "POST"
    )
    return "\r\n".join([f"{method} {path} HTTP/{version}", *lines, "", ""]).encode("latin-1") + body


PATHS = [
    *(
        "/",
        "/index.html",
        "/style.css",
        "/..",
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fapp.py",
        "?",
    ),
    *(
        "/api",
        "/api/",
        "/api//recall",
        "/API/recall",
        "/api/recall/",
        "/api/%72ecall",
        "/api/recall?x=1",
        "/api/recall%00",
    ),
    *(
        "http://evil.com/",
        "http://127.0.0.1/api/catalogue",
        "evil.com:80",
        "//evil.com",
        "/\xff",
        "/%ff%fe",
        "/%",
        "/%zz",
        "",
    ),
    *(
        "/" + "a" * 9000,
        "/" + "%41" * 9000,
        "/;/api/visit",
        "/api/progress#x",
        "/app.py",
        "/static/main.js",
        "/a b",
        "/\x00",
    ),
    *("*", "/\\..\\app.py"),
]


# -- what is answered
# ------------------------------------------------------------------------------------------------


def is_whole(data):
    """Whether bytes are a whole request, or cannot become one: then an answer must come."""
    server = h11.Connection(h11.SERVER)
    try:
        server.receive_data(data)
        while True:
            event = server.next_event()
            if event is h11.NEED_DATA or isinstance(
                event, h11.ConnectionClosed
            ):  # the latter if there is not a byte
                return False
            if event is h11.PAUSED or isinstance(event, h11.EndOfMessage):
                return True
    except h11.RemoteProtocolError:
        return True


def exchange(address, data, *, break_off=False):
    """Send bytes and read what is answered; nothing may be answered if the sender breaks off, that
    is, closes its side.
    """
    with socket.create_connection(address, timeout=PATIENCE) as connection:
        answer = b""
        with suppress(ConnectionError):  # rejected before all was sent
            connection.sendall(data)
            if break_off:
                connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionError):
            while part := connection.recv(1 << 20):
                answer += part
    return answer


def understood(answer, method):
    """Split an answer and check what every one must have."""
    answer = re.sub(rb"^HTTP/1.1 100 Continue\r\n\r\n", b"", answer)
    head, split, body = answer.partition(b"\r\n\r\n")
    assert split, f"half an answer: {answer[:80]!r}"
    lines = head.lower().split(b"\r\n")
    status = int(lines[0].split()[1])
    assert status < 500 or status == 503, f"{status}: {body[:200]!r}"
    for name, value in HEADERS:
        assert name + b": " + value.lower() in lines, f"{status} without {name.decode()}"
    if status >= 400:
        if method == "HEAD":
            raise ValueError("no body is sent to HEAD")
        sentence = json.loads(body)["error"]
        assert re.match(r"\S.*[.)]$", sentence), f"{status}: no sentence: {sentence!r}"
        assert not INSIDE.search(sentence), f"{status}: about the inside: {sentence!r}"
        assert "/tmp" not in sentence
        raise ValueError(sentence)
    return status, lines, body


class Truth:
    """A visitor whose network is known, and what must be answered to it."""

    def __init__(self, address):
        self.X = sa.datasets.random_periodic(12, 40, rng=3)
        self.net = sa.SequenceAttractor(n_hidden=80, random_state=0).fit(self.X)
        visitor = Visitor(address)
        visitor.learn(SMALL, QUICK)
        self.visit = visitor.http.headers["x-lab-visit"]
        certificate = sa.certify(self.net, self.X, method="count", attack=False)
        self.radii = [[*certificate.radius.tolist(), -1]]

    def check_recall(self, spec, answer):
        """An answer to a recall is that of the library, and so is a rejection; `answer` is None for
        one.
        """
        cue = spec.get("cue", {}) if isinstance(spec, dict) else None
        right = (
            isinstance(cue, dict)
            and set(spec) <= {"cue", "sequence", "orders"}
            and self.is_right(cue)
        )
        assert right == (answer is not None), f"{spec} was {'rejected' if right else 'answered'}"
        if not right:
            return
        seed = int(cue.get("seed", 0))
        start = int(cue.get("start", 0))
        state = self.X[start : start + 1]
        if cue.get("occlusion", 0):
            state = sa.noise.occlude(state, (40,), fraction=float(cue["occlusion"]), rng=seed)
        state = sa.noise.flip(state, int(cue.get("flips", 0)), seed)
        state[0, sorted(set(cue.get("painted", [])))] *= -1
        assert answer["rows"] == 35
        states = self.net.recall(state[0], steps=34, noise=int(cue.get("noise", 0)), rng=seed)
        assert (unpack(answer["runs"][0]["bits"], 35, 40) == states).all(), (
            "another recall than the library's"
        )

    def is_right(self, cue):
        """Whether a cue is one that the page could send."""

        def whole(name, most):
            value = cue.get(name, 0)
            return type(value) in (int, float) and value == value // 1 and 0 <= value <= most

        occlusion, painted = cue.get("occlusion", 0), cue.get("painted", [])
        return (
            set(cue) <= set(CUE)
            and whole("start", 10)  # after the last pattern but one nothing is left
            and whole("flips", 40)
            and whole("noise", 40)
            and whole("seed", 9999)
            and type(occlusion) in (int, float)
            and 0 <= occlusion <= 1
            and isinstance(painted, list)
            and len(painted) <= 40
            and all(type(unit) is int and 0 <= unit < 40 for unit in painted)
        )


def check_answer(path, sent, lines, body):
    """What can be known of an answer to a request of which it is not known what is right."""
    if path == "sequence":
        shown, spec = json.loads(body), json.loads(sent)
        X = unpack(shown["bits"], shown["frames"], shown["units"])
        assert (shown["frames"], shown["units"]) == X.shape
        if spec.get("name") == "random":
            frames, units, seed = (
                int(spec.get(k, d)) for k, d in (("frames", 40), ("units", 100), ("seed", 0))
            )
            assert (sa.datasets.random_periodic(frames, units, rng=seed) == X).all()
        if spec.get("name") == "frames":
            assert shown["bits"] == spec["bits"]
    elif path == "upload":
        shown = json.loads(body)
        assert shown["frames"] <= 400
        assert shown["units"] <= 4096
        unpack(shown["bits"], shown["frames"], shown["units"])
    elif path == "code":
        compile(body.decode(), "code", "exec")
    elif path == "download":
        start = {"application/octet-stream": b"PK", "image/gif": b"GIF89a", "image/png": b"\x89PNG"}
        kind = next(
            line.split(b": ")[1].decode() for line in lines if line.startswith(b"content-type")
        )
        assert body.startswith(start[kind])
    else:
        assert isinstance(json.loads(body), dict)


class Attack:
    """One request after the other. What is sent follows from the number of the case; the visits are
    those of earlier cases.
    """

    def __init__(self, address, lab):
        self.host = address.removeprefix("http://")
        self.at = (self.host.split(":")[0], int(self.host.split(":")[1]))
        self.lab, self.truth = lab, Truth(address)
        self.visits = []

    def visit(self, rng):
        """The visit of somebody who sends nonsense, and who mostly has learned something; a few
        have ended.
        """
        if len(self.visits) < 3 or rng.random() < 0.05:
            opened = exchange(self.at, request("POST", "/api/visit", self.host))
            self.visits = [*self.visits, json.loads(understood(opened, "POST")[2])["visit"]][-6:]
            self.post(
                self.visits[-1],
                "learn",
                json.dumps({"sequence": SMALL, "networks": [pick(rng, NETWORKS)]}).encode(),
            )
        return pick(rng, self.visits)

    def post(self, visit, path, body):
        """Post as the page does; gives what `understood` gives."""
        if path == "leave" and visit in self.visits:
            self.visits.remove(visit)
        return understood(
            exchange(
                self.at, request("POST", f"/api/{path}", self.host, [f"x-lab-visit: {visit}"], body)
            ),
            "POST",
        )

    def known(self, rng):
        """Ask for something that must be answered, whatever others do."""
        kind = rng.integers(4)
        if kind == 0:
            cue = {name: CUE[name] for name in CUE if rng.random() < 0.7} | {
                "seed": int(rng.integers(10_000))
            }
            answer = json.loads(
                self.post(self.truth.visit, "recall", json.dumps({"cue": cue}).encode())[2]
            )
            self.truth.check_recall({"cue": cue}, answer)
        elif kind == 1:
            assert (
                json.loads(self.post(self.truth.visit, "promise", b"{}")[2])["radii"]
                == self.truth.radii
            )
        elif kind == 2:
            name = pick(rng, sorted(PAGE))
            answer = exchange(
                self.at, request("GET", "/" if name == "index.html" else f"/{name}", self.host)
            )
            assert understood(answer, "GET")[2] == PAGE[name]
        else:
            seed = int(rng.integers(10_000))
            spec = json.dumps({"name": "random", "frames": 5, "units": 9, "seed": seed}).encode()
            check_answer("sequence", spec, *self.post(self.truth.visit, "sequence", spec)[1:])

    def almost_right_recall(self, rng):
        """A mutated recall of the network that is known."""
        value = mutated(rng, {"cue": {k: copy.deepcopy(CUE[k]) for k in CUE if rng.random() < 0.6}})
        answer = None
        try:
            answer = json.loads(
                self.post(self.truth.visit, "recall", json.dumps(value).encode())[2]
            )
        finally:
            if not (isinstance(value, dict) and ("sequence" in value or "orders" in value)):
                self.truth.check_recall(value, answer)

    def nonsense(self, rng):
        """Nonsense for any address of the API."""
        path = pick(rng, POSTS)
        body = nonsense(rng, path) if rng.random() < 0.8 else rng.bytes(int(rng.integers(200)))
        visit = self.visit(rng)
        try:
            check_answer(path, body, *self.post(visit, path, body)[1:])
        finally:
            if path in ("learn", "continue"):  # nothing should run for long
                exchange(
                    self.at, request("POST", "/api/stop", self.host, [f"x-lab-visit: {visit}"])
                )

    def upload(self, rng, heavy):
        """Files that are damaged or hostile."""
        check_answer("upload", b"", *self.post(self.visit(rng), "upload", upload(rng, heavy))[1:])

    def raw(self, rng):
        """Bytes that are hardly HTTP."""
        kind = rng.integers(3)
        if kind == 0:
            data = hostile_headers(rng, self.host, self.truth.visit)
        elif kind == 1:
            data = request(
                pick(rng, METHODS),
                pick(rng, PATHS),
                self.host,
                [f"x-lab-visit: {self.truth.visit}"],
            )
        else:
            whole = request(
                "POST",
                "/api/recall",
                self.host,
                [f"x-lab-visit: {self.truth.visit}"],
                b'{"cue": {}}',
            )
            data = (
                damaged(rng, whole) if rng.random() < 0.7 else rng.bytes(int(rng.integers(1, 400)))
            )
        whole = is_whole(data)
        answer = exchange(self.at, data, break_off=not whole)
        if not whole and not answer:
            raise ValueError("the client broke off, and the connection was closed")
        understood(answer, data[:4].decode("latin-1").strip())

    def go(self, case):
        """Send the request of a case and judge the answer."""
        rng = np.random.default_rng([14, case])
        what = rng.random()
        if what < 0.12:
            self.known(rng)
        elif what < 0.27:
            self.almost_right_recall(rng)
        elif what < 0.65:
            self.nonsense(rng)
        elif what < 0.96:
            self.raw(rng)
        else:
            self.upload(rng, heavy=what > 0.995)


def resident():
    """Bytes of memory that this process has now (Linux), or 0."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * 4096 if statm.exists() else 0


def requests(cases):
    """The campaign."""
    limits = Limits(seconds=2.0)
    with running_lab(limits) as (address, app), campaign("requests") as verdicts:
        attack = Attack(address, app.state.lab)
        threads, memory = threading.active_count(), 0
        for case in range(cases):
            with verdicts.case(f"case {case}"):
                attack.go(case)
            if case == cases // 10:
                memory = resident()
        # As if nothing had happened.
        assert threading.active_count() <= threads + limits.threads + limits.workers
        assert resident() - memory < 500e6
        assert len(app.state.lab.visits) <= limits.visits
        another = Visitor(address)
        assert another.learn(SMALL, QUICK)["networks"][0]["right"] == 1.0
        attack.truth.check_recall({"cue": CUE}, another.recall(**CUE))
    return verdicts


@pytest.mark.parametrize("cases", [300, pytest.param(FULL, marks=pytest.mark.trust)])
def test_hostile_requests_are_rejected_and_others_are_served(cases):
    alone(requests, cases).finish(cases, keep=cases == FULL)
