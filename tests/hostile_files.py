"""Small files that promise much: each made a loader take gigabytes, minutes, or another program."""

import io
import struct
import zipfile
import zlib

import numpy as np
from PIL import Image


def gif(sizes, canvas=(8, 8)):
    """A GIF with frames of these sizes, each with the data of one pixel; every frame shows the
    whole canvas.
    """
    parts = [b"GIF89a" + struct.pack("<HH", *canvas) + b"\x80\0\0" + b"\0\0\0\xff\xff\xff"]
    for width, height in sizes:
        parts.append(
            b"\x2c" + struct.pack("<HHHH", 0, 0, width, height) + b"\0" + b"\x02\x02\x44\x01\0"
        )  # one pixel, then the end
    return b"".join([*parts, b";"])


def progressive_jpeg(scans, side=256):
    """A progressive JPEG in which the last scan stands many times."""
    file = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (side, side), dtype=np.uint8)).save(
        file, "JPEG", progressive=True
    )
    data = file.getvalue()
    last = data.rindex(b"\xff\xda")
    return data[:last] + data[last:-2] * scans + b"\xff\xd9"


def png(width, height, rows=b""):
    """A PNG whose header promises a size."""
    parts = [b"\x89PNG\r\n\x1a\n"]
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    for kind, content in ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")):
        parts.append(
            struct.pack(">I", len(content))
            + kind
            + content
            + struct.pack(">I", zlib.crc32(kind + content))
        )
    return b"".join(parts)


def webp(width, height):
    """A WebP whose header promises a size."""
    body = (
        b"VP8X"
        + struct.pack("<I", 10)
        + bytes(4)
        + (width - 1).to_bytes(3, "little")
        + (height - 1).to_bytes(3, "little")
    )
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def eps():
    """A drawing that Pillow would hand to Ghostscript, which runs the program in it."""
    head = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\n"
    return head + b"(x) print\nshowpage\n%%EOF\n"


def npy(shape, dtype="<f8", rest=b""):
    """An npy file whose header promises a shape."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (117 - len(text)) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + rest


def npz(**members):
    """A zip with these members, packed as tightly as it can be."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def tiff_tile(side):
    """A TIFF of 64 x 64 pixels whose only tile is larger than the picture."""
    data = zlib.compress(bytes(1000))
    tags = {
        256: 64,
        257: 64,
        258: 8,
        259: 8,
        262: 1,
        277: 1,
        322: side,
        323: side,
        324: 8,
        325: len(data),
    }
    pages = struct.pack("<H", len(tags)) + b"".join(
        struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items()
    )
    return b"II*\0" + struct.pack("<I", 8 + len(data)) + data + pages + bytes(4)


def tiff_loop():
    """A TIFF whose second page is followed by its first."""
    file = io.BytesIO()
    Image.new("L", (4, 4)).save(file, "TIFF", save_all=True, append_images=[Image.new("L", (4, 4))])
    data = bytearray(file.getvalue())
    first = struct.unpack("<I", data[4:8])[0]
    at = first
    while following := struct.unpack(
        "<I", data[at + 2 + 12 * struct.unpack("<H", data[at : at + 2])[0] :][:4]
    )[0]:
        at = following
    end = at + 2 + 12 * struct.unpack("<H", data[at : at + 2])[0]
    data[end : end + 4] = struct.pack("<I", first)
    return bytes(data)


def midi(track):
    """A MIDI file with one track."""
    return (
        b"MThd"
        + struct.pack(">IHHH", 6, 0, 1, 480)
        + b"MTrk"
        + struct.pack(">I", len(track))
        + track
    )


def mat(content, *, promised=None):
    """A MATLAB file with one compressed variable, whose size may be promised to be another."""
    packed = zlib.compress(struct.pack("<II", 14, promised or len(content)) + content)
    return b" " * 124 + b"\x00\x01IM" + struct.pack("<II", 15, len(packed)) + packed


def mat_array(shape, values=b"", kind=6):
    """A variable X of MATLAB that declares a shape, of class double by default."""
    parts = [
        (6, struct.pack("<II", kind, 0)),
        (5, struct.pack(f"<{len(shape)}i", *shape)),
        (1, b"X"),
        (2, values),
    ]
    return b"".join(
        struct.pack("<II", code, len(part)) + part + bytes(-len(part) % 8) for code, part in parts
    )


# name -> (file name, content, options): each must be rejected, in a moment and in little memory.
HOSTILE = {
    "second frame of 13000 x 13000": ("a.gif", gif([(8, 8), (13000, 13000)]), {}),
    "8190 x 8190 again and again": ("a.gif", gif([(1, 1)] * 40, (8190, 8190)), {}),
    "5000 x 5000 a thousand times": ("a.gif", gif([(1, 1)] * 1000, (5000, 5000)), {}),
    "2000 scans": ("a.jpg", progressive_jpeg(2000), {}),
    "EPS as PNG": ("frame1.png", eps(), {}),
    "EPS as TIFF": ("a.tif", eps(), {}),
    "EPS as anything": ("a.xyz", eps(), {"format": "pictures"}),
    "PNG of 60000 x 60000": ("a.png", png(60000, 60000), {}),
    "PNG of 60000 x 1": ("a.png", png(2**31 - 1, 1), {}),
    "WebP of 16383 x 16383": ("a.webp", webp(16383, 16383), {}),
    "TIFF with a tile of 40000 x 40000": ("a.tif", tiff_tile(40000), {}),
    "npy of 10 GB": ("a.npy", npy((1250, 1_000_000)), {}),
    "npy of nothing, 2**40 times": ("a.npy", npy((2**40,), "|S0"), {}),
    "npy of nothing in four dimensions": ("a.npy", npy((2**40, 2, 2, 2), "|S0"), {}),
    "npy with a negative side": ("a.npy", npy((-1, 4), "<f8", bytes(64)), {}),
    "npy header that is no Python": ("a.npy", npy("(3, (4", "<f8", bytes(64)), {}),
    "lengths that sum up by overflow": (
        *(
            "a.npz",
            npz(
                X=npy((5, 1), "|i1", bytes(5)),
                lengths=npy((3,), "<u8", struct.pack("<QQQ", 2**63, 2**63, 5)),
            ),
        ),
        {"frames": (6, 7)},
    ),
    "MATLAB array of 10 GB": ("a.mat", mat(mat_array((10**5, 10**5))), {}),
    "MATLAB array of 800 MB in one byte": ("a.mat", mat(mat_array((10**4, 10**4), b"1")), {}),
    "MATLAB array with a negative side": ("a.mat", mat(mat_array((-1, -4), b"1234")), {}),
    "MATLAB variable that unpacks to 4 GB": (
        "a.mat",
        mat(mat_array((4, 2), bytes(8)), promised=2**32 - 1),
        {},
    ),
    "MATLAB cell of 2**31 entries": ("a.mat", mat(mat_array((2**31 - 1, 1), kind=1)), {"bin": 1.0}),
    "notes that all sound for ever": (
        "a.mid",
        midi(b"\0\x90\x3c\x40" * 50_000 + b"\xff\xff\xff\x7f\x80\x3c\0" * 50_000),
        {},
    ),
    "one long line over many short ones": ("a.txt", b"#" * 2**20 + b"\n#" * 2**20, {}),
    "two million rows": ("a.csv", b"1\n0\n" * 2**20, {}),
    "two million columns": ("a.csv", b"1," * 2**21 + b"0\n", {}),
    "a number of 5000 digits": ("a.csv", b"9" * 5000 + b",1\n0,1\n", {"threshold": 0.5}),
    "a unit with a name of a million letters": (
        "a.csv",
        b"0.1," + b"n" * 2**20 + b"\n0.2,b" * 10_000,
        {"bin": 1e-9},
    ),
}
