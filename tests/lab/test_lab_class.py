"""A class in the lab: many pages at once, all of which are served, and what they share."""

import gc
import json
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from test_lab_api import a_job
from test_lab_command import first_answer, start_command
from test_lab_server import connect, head

import lab_browser
import lab_server
from lab_browser import NEEDS_BROWSER, settled
from lab_server import PATIENCE, QUICK, SMALL, Gate, Visitor, running_lab, until
from seqattractor.lab.jobs import Visits
from seqattractor.lab.requests import Limits

lab, chromium, open_page = lab_server.lab, lab_browser.chromium, lab_browser.open_page


def needs_browser(test):
    """Mark one test as those of a whole module are marked."""
    for mark in NEEDS_BROWSER:
        test = mark(test)
    return test


def answer(connection):
    """Return the head and the body of one answer."""
    text = b""
    while b"\r\n\r\n" not in text:
        text += connection.recv(65536)
    first, _, body = text.partition(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", first).group(1))
    while len(body) < length:
        body += connection.recv(65536)
    return first, body


# -- connections
# --------------------------------------------------------------------------------------------------


def test_a_connection_gives_way_when_it_is_idle_after_an_answer_and_never_before_its_first():
    with running_lab(Limits(connections=3)) as (address, _), ExitStack() as opened:
        young, served, later = (opened.enter_context(connect(address)) for _ in range(3))
        request = head(address, "GET", "/icon.svg")
        for one in (served, later):
            one.sendall(request)
            assert b" 200 " in answer(one)[0]
        another = opened.enter_context(connect(address))
        another.sendall(request)
        assert b" 200 " in answer(another)[0]
        assert served.recv(1) == b""  # it was idle longest
        young.sendall(request)
        assert b" 200 " in answer(young)[0]


def test_a_browser_that_is_sent_away_tries_again_by_itself():
    with running_lab(Limits(connections=2)) as (address, _), ExitStack() as opened:
        for _ in range(2):
            opened.enter_context(connect(address))
        until(lambda: httpx.get(f"{address}/icon.svg", timeout=PATIENCE).status_code == 503)
        page = httpx.get(f"{address}/", timeout=PATIENCE)
        assert page.status_code == 503
        assert page.headers["refresh"] == "2"
        assert "tries again by itself" in page.text
        assert page.headers["content-type"].startswith("text/html")
        file = httpx.get(f"{address}/api/catalogue", timeout=PATIENCE)
        assert file.headers["retry-after"] == "2"
        assert file.json()["error"].endswith("try again.")


# -- what is shared
# --------------------------------------------------------------------------------------------------


def jobs_of(lab, *visitors):
    return [lab.visits.get(visitor.http.headers["x-lab-visit"]).job for visitor in visitors]


def test_visitors_who_learn_the_same_share_one_network_until_one_continues():
    with running_lab() as (address, app):
        one, two, three = (Visitor(address) for _ in range(3))
        network = {**QUICK, "epochs": 4}
        ends = [visitor.learn(SMALL, network) for visitor in (one, two)]
        ends.append(three.learn(SMALL, {**network, "seed": 1}))
        assert ends[0] == ends[1]
        first, second, other = jobs_of(app.state.lab, one, two, three)
        assert first.outcome is second.outcome
        assert first.outcome is not other.outcome
        before = two.recall(flips=8)
        one.post("continue", {"epochs": 500})
        assert one.events()[-1]["end"]["networks"][0]["converged"]
        assert first.outcome is not second.outcome
        assert two.recall(flips=8) == before
        for visitor in (one, two, three):
            visitor.post("leave", {})
        del first, second, other
        gc.collect()
        assert len(app.state.lab.shared) == 0  # nobody has them any more


def test_visitors_who_wait_to_learn_the_same_learn_it_once():
    with running_lab(Limits(workers=1)) as (address, app):
        gate, lab = Gate(), app.state.lab
        lab.learning.submit("somebody", gate)
        visitors = [Visitor(address) for _ in range(5)]
        for visitor in visitors:
            visitor.post("learn", {"sequence": SMALL, "networks": [QUICK]})
        gate.open.set()
        assert {visitor.events()[-1]["end"]["state"] for visitor in visitors} == {"done"}
        assert len({id(job.outcome) for job in jobs_of(lab, *visitors)}) == 1


def test_shared_networks_are_in_memory_once():
    visits = Visits(Limits(network_bytes=20_000))
    pupils = [visits.open() for _ in range(9)]
    for pupil in pupils:
        job = a_job(15_000, key="the same")
        visits.make_room(pupil, job)
        pupil.job = job
    visits.make_room(visits.open(), a_job(5000))


def test_networks_make_room_for_others_and_are_learned_again_when_they_are_asked_for():
    limits = Limits(network_bytes=150_000, settle_seconds=0)  # 80 * 40 * 3 numbers of 8 bytes each
    with running_lab(limits) as (address, app):
        one, two = (Visitor(address) for _ in range(2))
        one.learn(SMALL, QUICK)
        before = one.recall(flips=8)
        two.learn(SMALL, {**QUICK, "seed": 1})
        job = jobs_of(app.state.lab, one)[0]
        assert job.state == "dropped"
        assert not job.outcome.networks
        answer = one.post("recall", {"cue": {"flips": 8}})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        until(lambda: one.post("recall", {"cue": {"flips": 8}}).status_code == 200)
        assert one.recall(flips=8) == before
        assert jobs_of(app.state.lab, two)[0].state == "dropped"
        assert two.post("continue", {"epochs": 3}).status_code == 503  # of what is not there yet
        until(lambda: two.post("continue", {"epochs": 3}).status_code == 200)


def test_what_was_stopped_or_continued_is_never_dropped():
    limits = Limits(network_bytes=150_000, settle_seconds=0, spare_seconds=600)
    with running_lab(limits) as (address, _):
        one, two = (Visitor(address) for _ in range(2))
        one.learn(SMALL, {**QUICK, "epochs": 4})
        one.post("continue", {"epochs": 3})
        one.events()
        answer = two.post("learn", {"sequence": SMALL, "networks": [QUICK]})
        assert answer.status_code == 503
        assert "fill the lab" in answer.json()["error"]
        assert one.recall()["rows"] == 35


# -- a page that waits
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [pytest.param("catalogue", marks=pytest.mark.slow), "learn"])
@needs_browser
def test_a_page_waits_while_the_lab_is_busy_and_goes_on_by_itself(open_page, path):
    page = open_page()
    sent_away = []

    def busy(route):
        sent_away.append(page.is_visible("#busy"))
        sentence = json.dumps({"error": "The lab is busy."})
        route.fulfill(status=503, headers={"retry-after": "0.2"}, body=sentence)

    page.route(f"**/api/{path}", busy, times=3)
    if path == "catalogue":
        page.reload()
        page.wait_for_selector("#panels canvas")
    page.click("#go")
    page.wait_for_selector(".verdict.good")
    settled(page)
    assert sent_away == [False, True, True]
    assert page.is_hidden("#busy")
    assert page.inner_text("#alert span") == ""


# -- a whole class
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_hundred_visitors_at_once_all_see_a_recall():
    with running_lab() as (address, app), ThreadPoolExecutor(200) as threads:
        visitors = [*threads.map(Visitor, [address] * 200)]
        ends = [*threads.map(lambda visitor: visitor.learn(SMALL, QUICK)["state"], visitors)]
        assert ends == ["done"] * 200
        answers = threads.map(lambda visitor: visitor.recall(flips=4), visitors)
        assert all(answer["runs"][0]["good"] for answer in answers)
        assert len(app.state.lab.shared) == 1


def most_memory(process):
    """Return how many MB a process has had at most."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) / 1000


def work_in_the_lab(visitor, seed):
    """Learn three networks of 13 MB that nobody else has, and use them."""
    for k in range(3):
        network = {"name": "attractor", "hidden": 200, "seed": 3 * seed + k, "epochs": 20}
        body = {"sequence": {"name": "walker"}, "networks": [network]}
        until(lambda body=body: visitor.post("learn", body).status_code == 200)
        visitor.events()
        for what in ("recall", "promise", ("gif", "figure", "model")[k]):
            spec = {"recall": {"cue": {"flips": 300}}, "promise": {}}.get(what)
            path = what if spec is not None else "download"
            spec = {"what": what, "cue": {}} if spec is None else spec
            until(lambda path=path, spec=spec: visitor.post(path, spec).status_code == 200)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
def test_a_lab_with_many_visits_stays_below_a_gigabyte():
    with start_command("--port", "0") as process, ThreadPoolExecutor(40) as threads:
        address = re.search(r"http://127\.0\.0\.1:[0-9]+", process.stdout.readline()).group()
        first_answer(address)
        visitors = [*threads.map(Visitor, [address] * 40)]
        try:
            list(threads.map(work_in_the_lab, visitors, range(40)))
            assert most_memory(process) < 1000
        finally:
            for visitor in visitors:
                visitor.http.close()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE)


@pytest.mark.slow
@needs_browser
def test_sixty_browsers_at_once_all_see_a_recall(chromium, lab):
    # They share this machine's processors, so none of them plays a film.
    look = {"viewport": {"width": 400, "height": 400}, "reduced_motion": "reduce"}
    contexts = [chromium.new_context(**look) for _ in range(60)]
    try:
        pages = [context.new_page() for context in contexts]
        leave = "(address) => { setTimeout(() => { location = address; }, 100); }"
        for page in pages:  # at the same moment, none waits for another
            page.evaluate(leave, lab[0])
        for page in pages:
            page.wait_for_selector(".verdict.good", timeout=PATIENCE * 1000)
            assert page.inner_text("#alert span") == ""
    finally:
        for context in contexts:
            context.close()
