"""The lab's page in a real browser: how it looks, what it is for those who cannot see it, and what
can be taken away.
"""

import json

import numpy as np
import pytest
from PIL import Image

import lab_browser
import lab_server
import seqattractor as sa
from lab_browser import NEEDS_BROWSER, SETTINGS, learn, settled, until
from lab_server import PATIENCE, in_time

lab, chromium, open_page = lab_server.lab, lab_browser.chromium, lab_browser.open_page
pytestmark = NEEDS_BROWSER

SCHEMES = ["light", pytest.param("dark", marks=pytest.mark.slow)]


@pytest.mark.slow
def test_the_page_is_light(open_page):
    page = open_page()
    loaded = page.evaluate(
        """() => ["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind))
            .filter((e) => !e.name.includes("/api/")).map((e) => [e.name, e.encodedBodySize])"""
    )
    assert len(dict(loaded)) == 4  # the page, its style, its script, its icon
    assert 0 < sum(dict(loaded).values()) < 150_000


@pytest.mark.slow  # of the clock
def test_the_page_paints_within_a_second(open_page):
    def paint():
        page = open_page()
        until(page, "performance.getEntriesByType('paint').length > 0")
        return (
            page.evaluate(
                "Math.max(...performance.getEntriesByType('paint').map((p) => p.startTime))"
            )
            / 1000
        )

    assert in_time(paint, 1)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_phone_shows_everything_without_scrolling_sideways(open_page, scheme):
    page = open_page(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True, color_scheme=scheme
    )
    page.tap("#go")
    settled(page)
    assert page.locator(".verdict.good").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    button = page.locator("#go").bounding_box()
    assert button["y"] + button["height"] <= 740  # always in reach
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, select")]
            .filter((b) => b.offsetParent && b.offsetHeight < 36).map((b) => b.id)"""
    )
    assert small == []


def test_everything_has_a_name_and_is_reached_with_the_keyboard(open_page):
    page = open_page()
    nameless = page.evaluate(
        """() => {
            const all = document.querySelectorAll(
                "button, input, select, canvas[tabindex], [role=img]",
            );
            const name = (e) => e.getAttribute("aria-label")
                || e.labels?.[0]?.textContent.trim()
                || e.textContent.trim();
            return [...all].filter((e) => e.offsetParent && !name(e))
                .map((e) => e.outerHTML.slice(0, 80));
        }"""
    )
    assert nameless == []
    page.focus("[data-source=walker]")
    page.keyboard.press("ArrowLeft")  # round to the last of the tiles
    assert page.get_attribute("[data-source=file]", "aria-checked") == "true"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.get_attribute("[data-source=toy]", "aria-checked") == "true"
    settled(page)
    page.focus("#go")
    page.keyboard.press("Enter")
    settled(page)
    assert page.locator(".verdict.good").count() == 1
    assert (
        page.evaluate("document.activeElement.id") == "go"
    )  # it was on Stop meanwhile, and was not lost


@pytest.mark.slow
def test_the_keyboard_goes_from_learn_to_stop_and_back(open_page):
    page = open_page()
    page.get_by_role("button", name="How much fits in?").focus()
    page.route("**/api/progress", lambda route: held.append(route))  # as long as learning takes
    held = []
    page.focus("#go")
    page.keyboard.press("Enter")
    while not held:
        page.wait_for_timeout(20)
    assert page.evaluate("document.activeElement.id") == "stop"
    assert page.get_by_role("button", name="How much fits in?").is_disabled()
    page.keyboard.press("Enter")
    held[0].continue_()
    settled(page)
    assert page.evaluate("document.activeElement.id") == "go"


CONTRAST = """() => {
    const rgb = (text) => text.match(/[0-9.]+/g).map(Number);
    const linear = (c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => [r, g, b].map((c) => linear(c / 255))
        .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
    const ground = (e) => {
        for (; e; e = e.parentElement) {
            const c = rgb(getComputedStyle(e).backgroundColor);
            if (c.length === 3 || c[3] > 0) return c;
        }
    };
    const weak = [];
    for (const e of document.querySelectorAll("body *")) {
        const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
        if (!own || !e.offsetParent || e.disabled) continue;
        if (["OPTION", "SCRIPT"].includes(e.tagName)) continue;
        const text = rgb(getComputedStyle(e).color);
        const [a, b] = [light(text), light(ground(e))].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.5) weak.push([e.textContent.trim().slice(0, 30), ratio.toFixed(2)]);
    }
    return weak;
}"""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_all_text_has_enough_contrast(open_page, scheme):
    page = open_page(color_scheme=scheme, reduced_motion="reduce")  # colours change at once
    page.check("#compare")
    settled(page)
    assert page.evaluate(CONTRAST) == []
    learn(page)
    page.mouse.move(0, 0)
    assert page.evaluate(CONTRAST) == []


def test_a_link_restores_all_settings(open_page, lab):
    page = open_page()
    page.click("[data-source=places]")
    page.get_by_label("Places").fill("20")
    page.check("#compare")
    page.select_option("#network-kind-1", "dense")
    page.get_by_label("Random flips").fill("11")
    settled(page)
    page.locator("#cue-canvas").click(position={"x": 5, "y": 5})
    settled(page)
    assert page.evaluate(SETTINGS)["cue"]["painted"] == [0]
    link = page.evaluate("location.hash")
    again = open_page("/" + link)
    assert again.get_attribute("[data-source=places]", "aria-checked") == "true"
    assert again.get_by_label("Places").input_value() == "20"
    assert again.input_value("#network-kind-1") == "dense"
    assert again.get_by_label("Random flips").input_value() == "11"
    assert again.evaluate("location.hash") == link  # with what was painted
    assert learn(again) == learn(page)
    broken = open_page("/#v1.nonsense")
    assert "damaged" in broken.inner_text("#alert")


def download(page, what, folder):
    """Press a button under "Take it with you" and give the file."""
    with page.expect_download() as download:
        page.click(f"[data-download={what}]")
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_model_animation_and_figure_are_downloaded(open_page, tmp_path):
    page = open_page()
    page.click("[data-source=places]")
    settled(page)
    assert page.is_disabled("[data-download=model]")  # nothing is learned yet
    learn(page)
    assert page.is_hidden("#share-which")
    files = {
        what: download(page, what, tmp_path) for what in ("model", "gif", "figure", "sequence")
    }
    assert [file.name for file in files.values()] == [
        "model.npz",
        "recall.gif",
        "recall.png",
        "sequence.npz",
    ]
    assert sa.load(files["model"]).score(np.load(files["sequence"])["X"]) == 1.0
    with Image.open(files["gif"]) as animation:
        assert animation.n_frames > 10


@pytest.mark.slow
def test_of_two_networks_each_can_be_downloaded(open_page, tmp_path):
    page = open_page()
    page.click("[data-source=toy]")
    page.check("#compare")
    learn(page)
    models, animations = [], []
    for mark in "AB":
        page.select_option("#share-network", f"network {mark}")
        models.append(download(page, "model", tmp_path))
        animations.append(download(page, "gif", tmp_path))
    assert [file.name for file in models + animations] == [
        "model-a.npz",
        "model-b.npz",
        "recall-a.gif",
        "recall-b.gif",
    ]
    assert [type(sa.load(file)) for file in models] == [sa.SequenceAttractor, sa.VisibleNetwork]
    assert (
        animations[0].read_bytes() != animations[1].read_bytes()
    )  # only the first recalls the sequence
    page.uncheck("#compare")
    learn(page)
    assert page.is_hidden("#share-which")
    assert download(page, "model", tmp_path).name == "model.npz"


@pytest.mark.slow
def test_the_code_on_the_page_runs_and_follows_the_settings(open_page, capsys):
    page = open_page()
    page.click("[data-source=random]")
    page.click("#code-box summary")
    until(
        page, "document.getElementById('code').textContent !== ''"
    )  # the event of opening it comes a moment later
    settled(page)
    before = page.inner_text("#code")
    page.locator("#cue-canvas").click(position={"x": 5, "y": 5})
    page.get_by_label("Random flips").fill("7")
    settled(page)
    code = page.inner_text("#code")
    assert before != code
    assert "painted by hand" in code
    learn(page)
    variables = {}
    exec(code, variables)
    assert capsys.readouterr().out == "True\n"
    X, trajectory = variables["X"], variables["trajectory"]
    assert np.sum(trajectory[0] != X[0]) == np.sum(
        sa.noise.flip(X[0], 7, rng=1)[1:] != X[0][1:]
    ) + (trajectory[0, 0] != X[0, 0])
    tau = sa.analysis.retrieved_at(trajectory, X)
    assert f"Here τ = {tau}" in page.inner_text("#notes")


def test_the_page_shows_when_the_server_is_gone(open_page):
    page = open_page()
    page.route("**/api/learn", lambda route: route.abort())
    page.click("#go")
    page.wait_for_selector("#alert:visible")
    assert "does not answer" in page.inner_text("#alert")
    page.unroute("**/api/learn")
    page.click("#alert button")
    assert "Locked on" in learn(page)


@pytest.mark.slow
def test_a_visit_that_the_server_forgot_is_opened_again(open_page):
    page = open_page()
    page.route(
        "**/api/learn",
        lambda route: route.fulfill(status=410, body=json.dumps({"error": "forgotten"})),
        times=1,
    )
    assert "Locked on" in learn(page)


@pytest.mark.slow
def test_a_link_to_a_result_learns_and_recalls_again_by_itself(open_page):
    page = open_page()
    page.click("[data-source=toy]")
    verdicts = learn(page)
    link = page.evaluate("location.hash")
    page.get_by_label("Random flips").fill("0")  # not as in the link
    settled(page)
    again = open_page("/" + link)
    again.wait_for_selector(".verdict.good")
    settled(again)
    assert again.inner_text("#verdicts") == verdicts
    assert again.inner_text("#status") == page.inner_text("#status")


@pytest.mark.slow
def test_nothing_old_stays_after_another_choice(open_page):
    page = open_page(reduced_motion="reduce")
    learn(page)
    status = page.inner_text("#status")
    assert "epochs" in status
    held = []
    page.route("**/api/sequence", lambda route: held.append(route))
    page.click("[data-source=toy]")
    while not held:
        page.wait_for_timeout(20)
    # The new sequence has not come yet, but what was written about the old one is gone.
    assert page.locator(".verdict.good, .verdict.bad").count() == 0
    assert page.locator("#panels canvas").count() == 0
    assert page.inner_text("#status") == ""
    assert page.inner_text("#errors-legend") == ""
    assert page.is_disabled("[data-download=model]")
    for route in held:
        route.continue_()
    settled(page)
    page.unroute("**/api/sequence")
    learn(page)
    m = page.get_by_label("Hidden neurons M")
    m.fill("60")
    settled(page)
    assert page.inner_text("#status") == ""
    assert "settings have changed" in page.inner_text("#verdicts")
    m.fill("50")  # as it was learned
    settled(page)
    assert "epoch" in page.inner_text("#status")
    assert page.locator(".verdict.good").count() == 1


def recalls(page):
    """The questions for a recall, as the page asks them from now on."""
    asked = []
    page.on(
        "request",
        lambda request: (
            asked.append(request.post_data) if request.url.endswith("/api/recall") else None
        ),
    )
    return asked


@pytest.mark.slow
def test_dragging_the_slider_of_hidden_neurons_asks_for_one_recall(open_page):
    page = open_page()
    slider = page.get_by_label("Hidden neurons M")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    asked = recalls(page)
    page.mouse.move(box["x"] + box["width"] * 0.15, box["y"] + box["height"] / 2)
    page.mouse.down()
    for k in range(1, 55):
        page.mouse.move(box["x"] + box["width"] * (0.15 + k / 100), box["y"] + box["height"] / 2)
    assert asked == []  # it is not let go yet
    page.mouse.up()
    settled(page)
    assert len(asked) == 1
    assert page.evaluate(SETTINGS)["networks"][0]["hidden"] > 600


@pytest.mark.slow
def test_holding_an_arrow_key_on_the_slider_of_hidden_neurons_asks_for_one_recall(open_page):
    page = open_page()
    asked = recalls(page)
    page.get_by_label("Hidden neurons M").evaluate(
        """(slider) => {
            for (let m = 160; m <= 700; m += 10) {
                slider.value = m;
                slider.dispatchEvent(new Event("input"));
                slider.dispatchEvent(new Event("change"));
            }
        }"""
    )
    settled(page)
    assert len(asked) == 1
    assert page.evaluate(SETTINGS)["networks"][0]["hidden"] == 700


# What is drawn when the recall is moved on by 100 steps.
DRAWN = """() => {
    const counts = { pixels: 0, pictures: 0 };
    const count = (kind, name, what) => {
        const whole = kind.prototype[name];
        kind.prototype[name] = function (...all) {
            counts[what] += 1;
            return whole.apply(this, all);
        };
    };
    count(OffscreenCanvasRenderingContext2D, "putImageData", "pixels");
    count(OffscreenCanvasRenderingContext2D, "drawImage", "pictures");
    count(CanvasRenderingContext2D, "drawImage", "pictures");
    for (let k = 0; k < 100; k++) document.getElementById("forward").click();
    return counts;
}"""


@pytest.mark.slow
def test_all_steps_of_103_frames_cost_one_picture_in_each_panel_at_a_step(open_page):
    page = open_page(reduced_motion="reduce")
    page.get_by_label("Frames", exact=True).fill("103")
    page.get_by_label("Size").select_option("small")
    settled(page)
    learn(page)
    page.click("#view-raster")
    page.evaluate("document.getElementById('inside').hidden = true")  # it draws pictures of its own
    # The pixels of 218 steps are put together once. At 20 steps per second there would be no time
    # to do it at each of them.
    assert page.evaluate(DRAWN) == {"pixels": 0, "pictures": 100 * 3}
    assert page.inner_text("#step") == "step 100 of 218"


@pytest.mark.slow
def test_a_recall_that_ends_in_the_negative_is_explained_and_not_green(open_page):
    page = open_page(reduced_motion="reduce")
    page.click("[data-source=random]")
    learn(page)
    page.get_by_label("Random flips").fill("50")
    settled(page)
    for _ in range(20):
        if "the negative of sequence 1" in page.inner_text("#verdicts"):
            break
        page.click("#cue-again")
        settled(page)
    assert page.locator(".verdict.good").count() == 0
    assert "it is odd" in page.inner_text(".caught")
    assert page.is_visible("#legend-caught")
    assert page.is_hidden("#legend-locked")
    page.get_by_label("Step of the recall").fill("60")
    assert "\N{MINUS SIGN}x(t" in page.locator("figcaption").first.inner_text()
    page.click("#view-frames")
    assert "0 of 100 units wrong" in page.get_attribute("[data-panel=state]", "aria-label")


@pytest.mark.slow
def test_a_server_that_goes_while_it_learns_is_reported_as_such(open_page):
    page = open_page()
    page.route(
        "**/api/progress",
        lambda route: route.fulfill(
            body='data: {"ahead": 0}\n\n', content_type="text/event-stream"
        ),
    )
    page.click("#go")
    page.wait_for_selector("#alert:visible")
    assert "does not answer" in page.inner_text("#alert")
    assert page.is_visible("#go")


@pytest.mark.slow
def test_what_the_server_forgot_is_reported_and_can_be_learned_again(open_page):
    page = open_page()
    learn(page)
    page.route(
        "**/api/recall",
        lambda route: route.fulfill(status=410, body=json.dumps({"error": "forgotten"})),
        times=1,
    )
    page.click("#cue-again")
    settled(page)
    assert "forgotten what was learned" in page.inner_text("#alert")
    assert page.inner_text("#status") == ""  # of learning that is not there any more
    assert page.locator(".verdict.good").count() == 0
    page.click("#alert button")
    assert "Locked on" in learn(page)


@pytest.mark.slow
def test_a_link_on_another_site_restores_settings_and_result(open_page, lab):
    page = open_page()
    page.click("[data-source=toy]")
    page.get_by_label("Random flips").fill("20")
    verdicts = learn(page)
    link = page.evaluate("location.href")
    course = f"<a href='{link}'>here</a> <a href='{link}' target=_blank>in a new tab</a>"
    elsewhere = page.context.new_page()
    elsewhere.set_default_timeout(PATIENCE * 1000)
    elsewhere.route(
        "http://course.example/", lambda route: route.fulfill(body=course, content_type="text/html")
    )
    elsewhere.goto("http://course.example/")
    with elsewhere.context.expect_page() as opened:
        elsewhere.click("text=in a new tab")
    elsewhere.click("text=here")
    for visited in (elsewhere, opened.value):
        visited.set_default_timeout(PATIENCE * 1000)
        visited.wait_for_selector(".verdict.good, .verdict.bad")
        settled(visited)
        assert visited.inner_text("#verdicts") == verdicts
        assert visited.get_by_label("Random flips").input_value() == "20"
        visited.reload()
        visited.wait_for_selector(".verdict.good, .verdict.bad")
        settled(visited)
        assert visited.inner_text("#verdicts") == verdicts


def test_another_site_can_do_nothing_with_the_lab_but_link_to_it(open_page, lab):
    page = open_page()
    site = page.context.new_page()
    site.route(
        "http://course.example/",
        lambda route: route.fulfill(body="<p>course</p>", content_type="text/html"),
    )
    site.goto("http://course.example/")
    answers = []
    site.on(
        "response",
        lambda response: (
            answers.append(response.status) if response.url.startswith(lab[0]) else None
        ),
    )
    visits = len(lab[1].state.lab.visits)
    site.evaluate(
        """async (address) => {
            const ended = (element, source) => new Promise((end) => {
                element.onload = element.onerror = end;
                element.src = source;
                document.body.append(element);
            });
            const rejected = (path, options) =>
                fetch(address + path, { mode: "no-cors", ...options }).catch(() => null);
            await ended(document.createElement("iframe"), address + "/");
            await ended(document.createElement("img"), address + "/icon.svg");
            await ended(document.createElement("script"), address + "/lab.js");
            await rejected("/api/visit", { method: "POST" });
            await rejected("/");
            await rejected("/api/catalogue");
        }""",
        lab[0],
    )
    site.evaluate(
        """(address) => {
            const form = document.createElement("form");
            Object.assign(form, { method: "post", action: address + "/" });
            document.body.append(form);
            form.submit();
        }""",
        lab[0],
    )
    site.wait_for_url(lab[0] + "/")
    assert answers  # some never leave the browser
    assert set(answers) == {403}
    assert len(lab[1].state.lab.visits) == visits
