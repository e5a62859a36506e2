"""The page without a server in a real browser: from a plain file server under a sub-path, without a
connection, in a frame of another page, and what it says it cannot do.
"""

import base64
import json
import re
import shutil
import time

import numpy as np
import pytest

import lab_browser
import lab_playground
import seqattractor as sa
from lab_browser import NEEDS_BROWSER, SETTINGS, learn, settled, until
from lab_playground import file_server
from lab_server import LONG, in_time

chromium, open_page = lab_browser.chromium, lab_browser.open_page
playground = lab_playground.playground
pytestmark = NEEDS_BROWSER


@pytest.fixture(scope="module")
def lab(playground):
    """The page's address, two folders below that of a server which knows nothing but files."""
    with file_server(playground.parents[1]) as address:
        yield (f"{address}/some/where",)


def test_it_learns_and_recalls_from_files_alone(open_page):
    page = open_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    verdict = learn(page)
    assert verdict.startswith("Locked on at step")
    assert "Certified radius" in page.text_content("#notes")
    assert not [url for url in asked if "/api/" in url]
    page.click("text=The same in Python")
    settled(page)
    scope = {}
    exec(page.inner_text("#code").replace("print(", "shown = ("), scope)
    assert scope["shown"] is True
    page.click("[data-source=toy]")
    settled(page)
    with page.expect_download() as file:
        page.click("[data-download=sequence]")
    with np.load(file.value.path()) as arrays:
        assert np.array_equal(arrays["X"], sa.datasets.toy(1))


@pytest.mark.slow  # of the clock
def test_the_first_recall_comes_within_a_second(open_page):
    def first_recall():
        page = open_page()
        start = time.perf_counter()
        page.click("#go")
        page.wait_for_selector(".verdict.good")
        return time.perf_counter() - start

    assert in_time(first_recall, 1)


def test_it_opens_and_learns_without_a_connection(open_page, lab):
    page = open_page()
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.context.set_offline(True)
    page.goto(lab[0] + "/")
    settled(page)
    assert "Locked on" in learn(page)


def test_a_link_opens_in_a_frame_of_another_page_and_learns(open_page, lab, playground):
    page = open_page()
    page.select_option("#network-kind-0", "sparse")
    settled(page)
    learn(page)
    link = page.evaluate("location.hash")
    around = playground.parents[1] / "around.html"
    around.write_text(f'<iframe width=900 height=900 src="some/where/{link}"></iframe>')
    page.goto(lab[0].removesuffix("/some/where") + "/around.html")
    frame = page.frame_locator("iframe")
    frame.locator("#recall[aria-busy=false] .verdict.good").wait_for()
    assert frame.locator("#network-kind-0").input_value() == "sparse"


def test_learning_can_be_stopped_and_continued(open_page):
    sequence, network = LONG
    settings = {"source": "random", "sequence": sequence, "networks": [network], "cue": {}}
    link = base64.urlsafe_b64encode(json.dumps(settings).encode()).decode().rstrip("=")
    page = open_page(f"/#v1.{link}")
    epochs = []
    for button in ("#go", "#continue"):
        page.click(button)
        until(page, "/epoch [0-9]+/.test(document.getElementById('status').textContent)")
        page.click("#stop")
        settled(page)
        epochs.append(int(re.match(r"(\d+) epochs?, stopped", page.inner_text("#status"))[1]))
    assert 0 < epochs[0] < epochs[1] < 5000


def test_what_it_cannot_do_is_said(open_page):
    page = open_page()
    assert [b.inner_text() for b in page.locator("[data-download]").all() if b.is_visible()] == [
        "Sequence"
    ]
    assert "All other files come from the lab on your own machine" in page.inner_text("body")
    page.click("[data-source=file]")
    settled(page)
    assert "Files are read by the lab on your own machine" in page.inner_text("#upload")
    assert not page.locator("#upload label").first.is_visible()
    offered = page.locator("#network-kind-0 option").all_inner_texts()
    assert len(offered) == 5
    assert not [name for name in offered if "Dense" in name]


@pytest.mark.parametrize(
    ("missing", "words"), [("core.wasm", "core.wasm is missing"), ("*", "reload this page")]
)
def test_a_broken_copy_says_so(chromium, playground, tmp_path, missing, words):
    shutil.copytree(playground, tmp_path / "page")
    (tmp_path / "page" / "sw.js").unlink()
    for path in (tmp_path / "page" / "playground").glob(missing):
        path.unlink()
    with file_server(tmp_path) as address:
        page = chromium.new_page()
        page.goto(f"{address}/page/")
        page.wait_for_selector("#alert:not([hidden])")
        assert words in page.inner_text("#alert")
        page.close()


def test_settings_stay_in_the_address(open_page):
    page = open_page()
    page.click("[data-source=tune]")
    settled(page)
    assert page.evaluate(SETTINGS)["sequence"]["name"] == "tune"
