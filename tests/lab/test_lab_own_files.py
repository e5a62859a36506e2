"""Visitors' own data on the page's server and in a real browser: tables, music, recordings, video,
and photos.
"""

import io

import numpy as np
import pytest
from PIL import Image
from test_lab_uploads import gif, send

import lab_browser
import lab_server
from lab_browser import NEEDS_BROWSER, SETTINGS, learn, settled, until
from lab_server import QUICK
from seqattractor.lab.requests import unpack

lab, visitor = lab_server.lab, lab_server.visitor
chromium, open_page = lab_browser.chromium, lab_browser.open_page


def sent(visitor, name, content, **how):
    """Send a file that is to be read in some way."""
    head = {"files": [{"name": name, "size": len(content)}], **how}
    return send(visitor, (name, content), head=head)


def shown(visitor, name, content, **how):
    """What the page is shown of a file, and its patterns."""
    answer = sent(visitor, name, content, **how)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    return found, unpack(found["bits"], found["frames"], found["units"])


def learned(visitor, found):
    """Learn what was read, as the page does."""
    names = ("shape", "units", "lengths", "kind", "bits", "code", "pitches")
    sequence = {"name": "frames", **{k: found[k] for k in names if found[k] is not None}}
    assert visitor.learn(sequence, QUICK)["networks"][0]["right"] == 1.0
    return visitor.post("sequence", sequence).json()


def test_a_table_is_read_and_cut_where_the_visitor_says(visitor):
    values = np.random.default_rng(0).normal(size=(9, 12)).round(3)
    table = "\n".join(",".join(map(str, row)) for row in values).encode()
    rejected = sent(visitor, "steps.csv", table)
    assert rejected.status_code == 400
    assert rejected.json()["error"].endswith('choose one, under "Cut at".')
    found, X = shown(visitor, "steps.csv", table, threshold=0.25)
    assert (np.where(values > 0.25, 1, -1) == X).all()
    learned(visitor, found)
    medians = np.median(values, axis=1, keepdims=True)
    assert (
        shown(visitor, "a.csv", table, threshold="median")[1] == np.sign(values - medians)
    ).all()
    assert len(shown(visitor, "a.csv", table, threshold="otsu", stride=2)[1]) == 5


def midi():
    """A scale of eight quarter notes from C4 on."""
    track = b"".join(
        bytes([0, 0x90, 60 + pitch, 90, 96, 0x80, 60 + pitch, 0])
        for pitch in (0, 2, 4, 5, 7, 9, 11, 12)
    )
    track += b"\0\xff\x2f\0"
    head = b"MThd\0\0\0\6\0\0\0\1\0\x60"
    return head + b"MTrk" + len(track).to_bytes(4, "big") + track


def test_music_is_read_with_its_notes_and_can_be_heard(visitor):
    found, X = shown(visitor, "scale.mid", midi())
    assert found["kind"] == "music"
    notes = [found["pitches"][unit] for unit in X.argmax(axis=1)]
    assert notes == [60, 62, 64, 65, 67, 69, 71, 72]
    again = learned(visitor, found)
    assert (again["kind"], again["pitches"]) == ("music", found["pitches"])
    names = ("shape", "units", "lengths", "kind", "bits")
    sequence = {"name": "frames", **{k: found[k] for k in names}}
    for pitches in ([1], "all", [200] * found["units"]):
        answer = visitor.post("sequence", {**sequence, "pitches": pitches})
        assert answer.status_code == 400
        assert "pitches" in answer.json()["error"]


@pytest.mark.slow
def test_a_recording_is_read_in_time_bins(visitor, tmp_path):
    pytest.importorskip("pynwb", reason="NO PYNWB: pip install pynwb")
    from nwb_files import UNITS, empty_session, spike_times, write_session

    session = empty_session()
    for unit, times in spike_times().items():
        session.add_unit(id=unit, spike_times=times)
    content = write_session(tmp_path / "session.nwb", session).read_bytes()
    rejected = sent(visitor, "session.nwb", content).json()["error"]
    assert 'under "Time bin"' in rejected
    _, X = shown(visitor, "session.nwb", content, bin=0.25)
    assert X.shape == (40, len(UNITS))
    rates = [(X[:, k] > 0).sum() for k in range(len(UNITS))]
    first = min(times[0] for times in spike_times().values() if len(times))
    bins = [((times - first) // 0.25).tolist() for times in spike_times().values()]
    assert rates == [len(set(each)) for each in bins]


def video(path, frames):
    """A film of a square that moves, as ffmpeg writes it."""
    pytest.importorskip("imageio_ffmpeg", reason="NO FFMPEG: pip install imageio-ffmpeg")
    import imageio_ffmpeg

    writer = imageio_ffmpeg.write_frames(str(path), (96, 64), fps=10, macro_block_size=1)
    writer.send(None)
    for t in range(frames):
        picture = np.zeros((64, 96, 3), dtype=np.uint8)
        picture[16:48, 4 + 4 * t : 36 + 4 * t] = 200
        writer.send(picture)
    writer.close()
    return path.read_bytes()


def test_a_video_is_read_as_frames(visitor, tmp_path):
    content = video(tmp_path / "square.mp4", 12)
    found, X = shown(visitor, "square.mp4", content)
    assert (found["frames"], found["shape"]) == (12, [43, 64])
    middles = [x.reshape(43, 64).argmax(axis=1)[21] for x in X]
    assert np.diff(middles).min() > 1  # it moves to the right
    learned(visitor, found)
    assert shown(visitor, "square.mp4", content, stride=3)[0]["frames"] == 4


def test_the_greys_of_a_picture_are_cut_where_the_slider_stands(visitor):
    steps = np.repeat(np.arange(0, 250, 10, dtype=np.uint8), 4).reshape(1, 100).repeat(50, axis=0)
    file = io.BytesIO()
    pictures = [Image.fromarray(steps), Image.fromarray(steps[:, ::-1].copy())]
    pictures[0].save(file, format="PNG", save_all=True, append_images=pictures[1:])
    for threshold in (20, 60, 200):
        _, X = shown(visitor, "greys.png", file.getvalue(), threshold=threshold)
        on = (X[0] > 0).mean()
        above = (steps > threshold).mean()
        assert abs(on - min(above, 1 - above)) < 0.05  # the rarer is the figure


@pytest.mark.parametrize(
    "how",
    [
        {"threshold": "mean"},
        {"threshold": [1]},
        {"threshold": 1e300},
        {"threshold": True},
        {"stride": 0},
        {"stride": 1.5},
        {"bin": -1},
        {"bin": "1 s"},
        {"key": 3},
        {"key": "x" * 201},
        {"epochs": "/etc/passwd"},
        {"levels": 4, "threshold": 0.5},
    ],
    ids=str,
)
def test_ways_of_reading_that_make_no_sense_are_rejected(visitor, how):
    answer = sent(visitor, "a.gif", gif(), **how)
    assert answer.status_code == 400
    assert answer.json()["error"].endswith(".")


# -- in the browser
# --------------------------------------------------------------------------------------------------


def photo(k):
    """A photo of 12 megapixels, larger than the server takes: a bright disc on noise."""
    rng = np.random.default_rng(k)
    y, x = np.mgrid[0:3000:4, 0:4000:4]
    disc = (x - 1000 - 500 * k) ** 2 + (y - 1500) ** 2 < 600**2
    grey = np.where(disc, 230, 40) + rng.integers(-30, 26, disc.shape)
    small = Image.fromarray(grey.clip(0, 255).astype(np.uint8))
    file = io.BytesIO()
    small.resize((4000, 3000), Image.Resampling.NEAREST).save(file, format="JPEG", quality=80)
    return file.getvalue()


@pytest.mark.browser
@NEEDS_BROWSER[1]
def test_photos_are_shrunk_before_they_are_sent(open_page):
    page = open_page()
    page.click("[data-source=file]")
    photos = [photo(k) for k in range(2)]  # of more pixels than the server takes
    page.set_input_files(
        "#file",
        [
            {"name": f"photo {k}.jpg", "mimeType": "image/jpeg", "buffer": content}
            for k, content in enumerate(photos)
        ],
    )
    until(page, "document.getElementById('upload-name').textContent.includes('frames')")
    settled(page)
    assert "2 pictures: 2 frames of 3072 units" in page.inner_text("#upload-name")
    sequence = page.evaluate(SETTINGS)["sequence"]
    X = unpack(sequence["bits"], 2, 3072).reshape(2, 48, 64)
    middle = [float(np.flatnonzero((x > 0).any(axis=0)).mean()) for x in X]
    assert np.allclose(middle, [16 + 8 * k for k in range(2)], atol=1.5)


@pytest.mark.slow
@pytest.mark.browser
@NEEDS_BROWSER[1]
def test_the_threshold_slider_reads_the_file_again(open_page):
    ramp = np.tile(np.arange(240, dtype=np.uint8), (60, 1))
    files = []
    for k in range(3):
        file = io.BytesIO()
        Image.fromarray(np.roll(ramp, 40 * k, axis=1)).save(file, format="PNG")
        files.append({"name": f"{k}.png", "mimeType": "image/png", "buffer": file.getvalue()})
    page = open_page()
    page.click("[data-source=file]")
    page.set_input_files("#file", files)
    until(page, "document.getElementById('upload-name').textContent.includes('frames')")
    assert page.is_hidden("#cut-grey")
    page.select_option("#cut", "grey")
    shares = []
    for threshold in (180, 215):
        page.get_by_label("Threshold, from black to white").fill(str(threshold))
        settled(page)
        sequence = page.evaluate(SETTINGS)["sequence"]
        X = unpack(sequence["bits"], 3, sequence["units"])
        shares.append((X > 0).mean())
    assert np.allclose(shares, [(239 - 180) / 240, (239 - 215) / 240], atol=0.03)
    page.select_option("#shades", "4,0")
    settled(page)
    assert page.is_hidden("#cut-grey")
    assert page.is_disabled("#cut")
    assert "3 units each" in page.inner_text("#upload-name")


@pytest.mark.slow
@pytest.mark.browser
@NEEDS_BROWSER[1]
def test_a_moving_picture_is_sent_as_it_is(open_page, tmp_path):
    rng = np.random.default_rng(0)
    frames = [Image.fromarray(rng.integers(0, 256, (300, 300), dtype=np.uint8)) for _ in range(4)]
    path = tmp_path / "noise.webp"
    frames[0].save(path, save_all=True, append_images=frames[1:], quality=95)
    assert path.stat().st_size > 200_000
    page = open_page()
    page.click("[data-source=file]")
    page.set_input_files("#file", str(path))
    until(page, "document.getElementById('upload-name').textContent.includes('frames')")
    assert "4 frames" in page.inner_text("#upload-name")


@pytest.mark.slow
@pytest.mark.browser
@NEEDS_BROWSER[1]
def test_music_of_a_visitor_can_be_heard(open_page):
    page = open_page()
    page.click("[data-source=file]")
    page.set_input_files("#file", {"name": "scale.mid", "mimeType": "audio/midi", "buffer": midi()})
    until(page, "document.getElementById('upload-name').textContent.includes('frames')")
    settled(page)
    assert page.is_visible("#sound")
    assert "Locked on" in learn(page)
