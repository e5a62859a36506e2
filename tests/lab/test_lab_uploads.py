"""Files dropped on the lab: pictures and arrays are learned, bad and hostile ones are rejected with
a sentence.
"""

import io
import json
import zipfile
import zlib

import numpy as np
import pytest
from PIL import Image

import lab_server
import seqattractor as sa
from films import grey_film
from hostile_files import HOSTILE
from lab_server import QUICK
from seqattractor.lab.requests import unpack

lab, visitor = lab_server.lab, lab_server.visitor


def gif(frames=6, side=20):
    pictures = []
    for t in range(frames):
        image = np.full((side, side), 255, dtype=np.uint8)
        image[t : t + 6, 4 + t : 9 + t] = 0
        pictures.append(Image.fromarray(image))
    file = io.BytesIO()
    pictures[0].save(file, format="GIF", save_all=True, append_images=pictures[1:], duration=100)
    return file.getvalue()


def npz(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def png(size=(8, 8), color=0):
    file = io.BytesIO()
    Image.new("L", size, color).save(file, format="PNG")
    return file.getvalue()


def send(visitor, *files, head=None):
    line = json.dumps(
        head or {"files": [{"name": name, "size": len(content)} for name, content in files]}
    ).encode()
    return visitor.http.post(
        "/api/upload", content=line + b"\n" + b"".join(content for _, content in files)
    )


def test_a_dropped_gif_is_learned(visitor):
    shown = send(visitor, ("moving.GIF", gif())).json()
    assert shown["frames"] == 6
    assert shown["kind"] == "pictures"
    assert shown["shape"][0] == shown["shape"][1]
    sequence = {
        "name": "frames",
        **{k: shown[k] for k in ("shape", "units", "lengths", "kind", "bits")},
    }
    assert visitor.learn(sequence, QUICK)["networks"][0]["right"] == 1.0


def test_dropped_pictures_are_frames_in_natural_order(visitor):
    light = [(f"frame{k}.png", png(color=255)) for k in (10, 1)]
    shown = send(visitor, light[0], ("frame2.png", png()), light[1]).json()
    X = unpack(shown["bits"], 3, shown["units"])
    assert (X[0] == X[2]).all()
    assert (X[1] != X[0]).all()


def test_dropped_arrays_are_learned_as_they_are(visitor):
    X = sa.datasets.random_periodic(8, 30, rng=0)
    shown = send(visitor, ("x.npz", npz(X=X))).json()
    assert (unpack(shown["bits"], 8, 30) == X).all()
    assert shown["kind"] == "units"


def huge_png():
    """A tiny file that promises 40000 x 40000 pixels."""
    content = bytearray(png())
    content[16:24] = (40000).to_bytes(4, "big") * 2
    content[29:33] = zlib.crc32(bytes(content[12:29])).to_bytes(4, "big")
    return bytes(content)


def pickled_npz():
    file = io.BytesIO()
    np.savez(file, X=np.array([{"a": 1}], dtype=object))
    return file.getvalue()


def lying_npy():
    """A header that promises a terabyte."""
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"
    return b"\x93NUMPY\x01\x00" + (len(head) + 1).to_bytes(2, "little") + head + b"\n" + b"\0" * 64


BAD = {
    "no picture": ("a.gif", b"GIF89a, but nothing more"),
    "cut short": ("a.gif", gif()[:-200]),
    "text": ("notes.txt", b"hello"),
    "script": ("a.html", b"<script>"),
    "path": ("../../etc/passwd", b"root"),
    "path with an ending": ("../../../tmp/evil.npz", b"PK"),
    "one frame": ("a.png", png()),
    "empty zip": ("a.npz", b"PK\x05\x06" + b"\0" * 18),
    "pickle": ("a.npz", pickled_npz()),
    "lying header": ("a.npy", lying_npy()),
    "bomb": ("a.npz", npz(X=np.zeros((400, 200_000), dtype=np.int8))),
    "promised pixels": ("a.png", huge_png()),
    "too many pixels": ("a.png", png((3000, 2000))),
    "other numbers": ("a.npz", npz(X=np.arange(30.0).reshape(5, 6))),
    "too many frames": ("a.npz", npz(X=np.ones((401, 4), dtype=np.int8))),
    "too many units": ("a.npz", npz(X=np.ones((4, 5000), dtype=np.int8))),
    **{
        name: HOSTILE[name][:2]
        for name in ("second frame of 13000 x 13000", "5000 x 5000 a thousand times", "2000 scans")
    },
    **{
        name: HOSTILE[name][:2]
        for name in ("EPS as PNG", "WebP of 16383 x 16383", "npy of nothing, 2**40 times")
    },
    "two arrays": ("a.npz", npz(a=np.ones((4, 4)), b=np.ones((4, 4)))),
    "not a number": ("a.npz", npz(X=np.full((4, 4), np.nan))),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_rejected_with_a_sentence_and_no_path_of_the_server(visitor, name):
    answer = send(visitor, BAD[name])
    assert answer.status_code in (400, 413), answer.text
    sentence = answer.json()["error"]
    assert sentence[0].isupper() or sentence[0].isalnum()
    assert sentence.endswith((".", ")"))
    assert "/tmp" not in sentence
    assert "--" not in sentence
    assert "seqattractor-lab-" not in sentence


def test_a_rejection_calls_a_file_what_the_visitor_calls_it(visitor):
    broken = ("frame 2.png", png()[:-20])
    sentence = send(visitor, ("frame1.png", png()), broken).json()["error"]
    assert sentence.startswith("frame 2.png is damaged or cut short")
    assert (
        send(visitor, ("walk.gif", b"GIF89a"))
        .json()["error"]
        .startswith("walk.gif cannot be read as GIF: it is damaged")
    )
    mixed = send(visitor, ("a.png", png()), ("b.png", png((8, 4)))).json()["error"]
    assert mixed.startswith("The frames of the pictures have different sizes")
    assert mixed.endswith("bring them to one size.")


def test_uploads_that_do_not_keep_to_their_head_are_rejected(visitor):
    for head in (
        {"files": [{"name": "a.gif", "size": 99}]},
        {"files": []},
        {"files": [{"name": 3, "size": 3}]},
        {"files": [{"name": "a.gif", "size": "3"}]},
        {"files": [{"name": "a.gif", "size": -3}]},
        {"file": "a.gif"},
    ):
        assert send(visitor, ("a.gif", b"GIF"), head=head).status_code == 400
    assert visitor.http.post("/api/upload", content=b"no JSON at all").status_code == 400
    assert visitor.http.post("/api/upload", content=b"").status_code == 400
    assert visitor.http.post("/api/upload", content=b"x" * 8_000_001).status_code == 413


@pytest.mark.parametrize(
    ("size", "shown"), [((16, 16), [16, 16]), ((64, 40), [40, 64]), ((128, 64), [32, 64])]
)
def test_pictures_are_shrunk_and_never_enlarged(visitor, size, shown):
    frames = [Image.new("L", size, 255) for _ in range(3)]
    for k, frame in enumerate(frames):
        frame.paste(0, (4 * k, 4, 4 * k + 8, 12))
    file = io.BytesIO()
    frames[0].save(file, format="GIF", save_all=True, append_images=frames[1:])
    answer = send(visitor, ("film.gif", file.getvalue()))
    assert answer.json()["shape"] == shown


def test_a_zip_that_lies_about_its_sizes_does_no_harm(visitor):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", b"\0" * 100_000_000)
    content = bytearray(file.getvalue())
    central = content.rfind(b"PK\x01\x02")
    content[central + 24 : central + 28] = (1000).to_bytes(4, "little")
    assert send(visitor, ("a.npz", bytes(content))).status_code == 400


# -- grey and colour
# --------------------------------------------------------------------------------------------------


def in_shades(visitor, frames, levels, colour=0):
    """Upload a film in grey or colour."""
    file = io.BytesIO()
    np.save(file, frames)
    head = {
        "files": [{"name": "film.npy", "size": len(file.getvalue())}],
        "levels": levels,
        "colour": colour,
    }
    return send(visitor, ("film.npy", file.getvalue()), head=head)


@pytest.mark.parametrize(("levels", "colour"), [(4, 0), (3, 1)])
def test_a_film_in_grey_or_colour_is_learned_recalled_and_taken_away(visitor, levels, colour):
    frames = grey_film(8, 10, colour=bool(colour))
    shown = in_shades(visitor, frames, levels, colour).json()
    code = {
        "n_levels": levels,
        "kind": "thermometer",
        "low": 0.0,
        "high": 255.0,
        "bits": levels - 1,
        "channels": 1 + 2 * colour,
    }
    assert (shown["shape"], shown["code"]) == ([10, 10], code)
    assert shown["units"] == frames[0].size * (levels - 1)
    X = sa.encoders.LevelEncoder(levels, value_range=(0, 255)).fit_transform(frames)
    assert np.array_equal(unpack(shown["bits"], 8, shown["units"]), X)
    sequence = {
        "name": "frames",
        **{k: shown[k] for k in ("shape", "units", "lengths", "kind", "bits", "code")},
    }
    assert visitor.learn(sequence, QUICK)["networks"][0]["right"] == 1.0
    cue = {"flips": shown["units"] // 10, "occlusion": 0.1}
    assert visitor.recall(**cue)["runs"][0]["good"]
    with Image.open(
        io.BytesIO(visitor.post("download", {"what": "gif", "cue": cue}).content)
    ) as animation:
        assert animation.n_frames == 8
        assert animation.width > 4 * 190  # truth, cue, recall and errors
    assert visitor.post("download", {"what": "figure", "cue": cue}).content.startswith(b"\x89PNG")
    python = visitor.post("code", {"sequence": sequence, "networks": [QUICK], "cue": cue}).text
    assert f"code=sa.encoders.LevelCode(n_levels={levels}" in python
    assert "axes=2" in python


def test_a_large_film_is_shrunk_until_its_units_are_few_enough(visitor):
    shown = in_shades(
        visitor, np.random.default_rng(0).integers(0, 256, (3, 90, 70), dtype=np.uint8), 8
    ).json()
    assert shown["units"] == shown["shape"][0] * shown["shape"][1] * 7 <= 4096


@pytest.mark.parametrize(
    "code",
    [
        {"n_levels": 1},
        {"n_levels": 4, "kind": "roman"},
        {"n_levels": 4, "bits": 2},
        {"n_levels": 4, "channels": 2},
        {"n_levels": 4, "low": 1, "high": 1},
        {"n_levels": 5},
        {"n_levels": 4, "colour": 1},
        3,
    ],
    ids=str,
)
def test_a_code_that_makes_no_sense_is_rejected(visitor, code):
    shown = in_shades(visitor, grey_film(3, 6), 4).json()
    sequence = {
        "name": "frames",
        **{k: shown[k] for k in ("shape", "units", "lengths", "kind", "bits")},
    }
    assert visitor.post("sequence", {**sequence, "code": shown["code"]}).status_code == 200
    answer = visitor.post("sequence", {**sequence, "code": code})
    assert answer.status_code == 400
    assert answer.json()["error"].endswith(".")


@pytest.mark.parametrize(("levels", "colour"), [(1, 0), (300, 0), (0, 1), (4, 2), ("8", 0)])
def test_shades_that_make_no_sense_are_rejected(visitor, levels, colour):
    assert in_shades(visitor, grey_film(3, 6), levels, colour).status_code == 400
