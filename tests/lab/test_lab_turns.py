"""Nobody waits for another visitor: work is done in turn, one thing of a visit at a time, and only
what is still wanted.
"""

from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest

from lab_server import LONG, PATIENCE, QUICK, SMALL, Gate, Visitor, running_lab, until
from seqattractor.lab import api
from seqattractor.lab.requests import Rejection
from seqattractor.lab.turns import Turns


@contextmanager
def turns_of(threads, waiting=100):
    turns = Turns(threads, waiting=waiting)
    yield turns
    turns.close()


def test_whatever_one_visit_asks_for_another_is_served():
    gate = Gate()
    with turns_of(2) as turns:
        first = [turns.submit("a", gate) for _ in range(45)]
        assert turns.submit("b", lambda: 7).result(PATIENCE) == 7
        assert not any(future.done() for future in first)
        gate.open.set()
        for future in first:
            future.result(PATIENCE)


def test_visits_take_turns():
    gate, done = Gate(), []
    with turns_of(1) as turns:
        turns.submit("x", gate)
        gate.wait()
        names = ["a1", "a2", "a3", "b1", "b2", "c1"]
        futures = [turns.submit(name[0], lambda name=name: done.append(name)) for name in names]
        assert turns.ahead(futures[-1]) == 2
        gate.open.set()
        for future in futures:
            future.result(PATIENCE)
    assert done == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_the_newest_takes_the_place_of_what_waits():
    gate = Gate()
    with turns_of(1) as turns:
        running = turns.submit("a", gate, newest="recall")
        gate.wait()
        old, other, new = (
            turns.submit("a", lambda k=k: k, newest=kind)
            for k, kind in enumerate(["recall", "code", "recall"])
        )
        with pytest.raises(Rejection, match="newer request") as rejected:
            old.result(PATIENCE)
        assert rejected.value.status == 409
        gate.open.set()
        assert (running.result(PATIENCE), other.result(PATIENCE), new.result(PATIENCE)) == (
            None,
            1,
            2,
        )


def test_what_nobody_wants_any_more_is_not_done():
    gate, done = Gate(), []
    with turns_of(1, waiting=2) as turns:
        turns.submit("a", gate)
        gate.wait()
        for _ in range(100):  # they leave their places to others
            assert turns.submit("b", lambda: done.append("b")).cancel()
        last = turns.submit("b", lambda: done.append("last"))
        gate.open.set()
        last.result(PATIENCE)
    assert done == ["last"]


def test_too_much_is_rejected():
    gate = Gate()
    with turns_of(1, waiting=5) as turns:
        turns.submit("a", gate)
        gate.wait()
        accepted = [turns.submit("a", int) for _ in range(3)]
        accepted += [turns.submit("b", int) for _ in range(2)]
        with pytest.raises(Rejection, match="busy"):
            turns.submit("c", int)
        gate.open.set()
        assert [future.result(PATIENCE) for future in accepted] == [0] * 5


def test_an_error_goes_to_its_own_request():
    with turns_of(1) as turns:
        with pytest.raises(ZeroDivisionError):
            turns.submit("a", lambda: 1 / 0).result(PATIENCE)
        assert turns.submit("a", lambda: 1).result(PATIENCE) == 1


def test_closing_waits_for_nothing():
    gate = Gate()
    turns = Turns(1, waiting=5)
    turns.submit("a", gate)
    gate.wait()
    waiting, cancelled = turns.submit("a", int), turns.submit("b", int)
    cancelled.cancel()
    turns.close()
    with pytest.raises(Rejection, match="being closed"):
        waiting.result(PATIENCE)
    with pytest.raises(CancelledError):
        cancelled.result(PATIENCE)
    with pytest.raises(Rejection, match="being closed"):
        turns.submit("a", int)
    assert turns.at_work
    gate.open.set()


# -- in the lab
# --------------------------------------------------------------------------------------------------


@pytest.fixture
def gated(monkeypatch):
    """A lab in which the recall of cues with the seed 1 waits at a gate; gives its address, the
    application, gate and calls.
    """
    gate, calls, recall_all = Gate(), [], api.recall_all

    def recall(nets, material, cue, limits):
        calls.append(cue.seed)
        if cue.seed == 1:
            gate()
        return recall_all(nets, material, cue, limits)

    monkeypatch.setattr(api, "recall_all", recall)
    with running_lab() as (address, app):
        yield address, app.state.lab, gate, calls
        gate.open.set()


def test_many_recalls_of_one_visitor_do_not_keep_another_waiting(gated):
    address, _, gate, calls = gated
    one, two = Visitor(address), Visitor(address)
    for visitor in (one, two):
        visitor.learn(SMALL, QUICK)
    headers = {"x-lab-visit": one.http.headers["x-lab-visit"]}

    def ask(_):
        return httpx.post(
            f"{address}/api/recall", json={"cue": {"seed": 1}}, headers=headers, timeout=PATIENCE
        )

    with ThreadPoolExecutor(20) as threads:
        asked = [threads.submit(ask, k) for k in range(20)]
        gate.wait()
        for _ in range(5):
            assert two.recall(seed=2)["rows"] == 35  # while the first one's are under way
        until(
            lambda: sum(future.done() for future in asked) == 18
        )  # one is at the gate, and the newest one waits
        gate.open.set()
        answers = [future.result() for future in asked]
    assert [answer.status_code for answer in answers].count(200) == 2
    for answer in answers:
        assert answer.status_code in (200, 409, 503)
        assert answer.status_code == 200 or answer.json()["error"].endswith(".")
    assert calls.count(1) == 2  # the others were never begun
    assert one.recall(seed=2) == two.recall(seed=2)


def test_requests_of_a_visitor_who_has_left_are_dropped(gated):
    address, lab, gate, calls = gated
    visitor = Visitor(address)
    visitor.learn(SMALL, QUICK)
    visit = lab.visits.get(visitor.http.headers["x-lab-visit"])
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(visitor.recall, seed=1)
        gate.wait()
        with pytest.raises(httpx.ReadTimeout):  # it waits behind the first one; its client gives up
            httpx.post(
                f"{address}/api/recall",
                json={"cue": {"seed": 5}},
                headers={"x-lab-visit": visit.name},
                timeout=httpx.Timeout(PATIENCE, read=0.5),
            )
        until(lambda: visit.under_way.total() == 1)
        gate.open.set()
        first.result()
    assert visitor.recall(seed=2)["rows"] == 35
    assert calls == [1, 2]


def test_a_new_learning_does_not_take_a_second_thread(gated):
    address, lab = gated[:2]
    visitor = Visitor(address)
    visit = visitor.http.headers["x-lab-visit"]
    begun = Gate()
    lab.learning.submit(visit, begun)
    begun.wait()
    visitor.post("learn", {"sequence": SMALL, "networks": [QUICK]})
    other = Visitor(address)
    assert other.learn(SMALL, QUICK)["state"] == "done"
    assert lab.visits.get(visit).job.state == "waiting"
    begun.open.set()
    assert visitor.events()[-1]["end"]["state"] == "done"


def test_a_page_that_is_closed_while_it_asks_to_learn_leaves_no_job_behind(monkeypatch):
    gate, make_material = Gate(), api.make_material
    monkeypatch.setattr(api, "make_material", lambda *given: (gate(), make_material(*given))[1])
    with running_lab() as (address, app), ThreadPoolExecutor(1) as threads:
        visitor = Visitor(address)
        visit = app.state.lab.visits.get(visitor.http.headers["x-lab-visit"])
        asked = threads.submit(visitor.post, "learn", {"sequence": LONG[0], "networks": [LONG[1]]})
        with gate:
            gate.wait()
            visitor.post("leave", {})
        asked.result()
        until(lambda: visit.job.state == "stopped")
