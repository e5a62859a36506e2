"""The API of the page: each function answers one kind of request, with JSON or a file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import wraps
from typing import Any
from weakref import WeakValueDictionary

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from seqattractor import __version__
from seqattractor.io._subprocess import stop_reading
from seqattractor.lab import downloads
from seqattractor.lab.choices import NETWORKS, OWN, Chosen, Own, degree_for, read_network
from seqattractor.lab.jobs import Job, Outcome, Visit, Visits
from seqattractor.lab.materials import CATALOGUE, Material, make_material
from seqattractor.lab.neurons import Inside, neuron, wiring
from seqattractor.lab.rates import TRIALS
from seqattractor.lab.recall import (
    Shown,
    as_json,
    corrupted_cue,
    read_cue,
    recall_all,
    shown_truth,
    steps_for,
)
from seqattractor.lab.requests import Fields, Limits, Rejection, pack, parse
from seqattractor.lab.turns import Turns
from seqattractor.lab.uploads import read_upload
from seqattractor.networks.base import SequenceMemory
from seqattractor.sequences._transitions import find_conflicts
from seqattractor.tasks.recall import Recall
from seqattractor.zoo.dense import MOST_DEGREE

_LOOK = 0.05  # seconds between looks at a job that learns
_FILES = {
    "sequence": ("sequence.npz", "application/octet-stream"),
    "model": ("model{}.npz", "application/octet-stream"),
    "gif": ("recall{}.gif", "image/gif"),
    "figure": ("recall.png", "image/png"),
}
_PIECE = 65536  # bytes of a file that are sent at once
Answer = Callable[["Lab", Visit, Fields], Any]
Asked = Callable[["Lab", Visit, Request], Awaitable[Response]]


def _asks(*names: str, newest_only: bool = False) -> Callable[[Answer], Asked]:
    """Return an answer to requests with these fields: a response, or values for JSON, made in a
    thread when its turn comes.

    With `newest_only`, a request replaces one of the same visit that still waits for its turn.
    """

    def decorate(answer: Answer) -> Asked:
        @wraps(answer)
        async def asked(lab: Lab, visit: Visit, request: Request) -> Response:
            spec = parse(
                await _body(request, lab.limits.body, "The request has more than {:g} MB.")
            )
            spec.only(*names)
            return await lab._in_turn(
                visit,
                request,
                lambda: answer(lab, visit, spec),
                answer.__name__ if newest_only else "",
            )

        return asked

    return decorate


class _OfVisit:
    """The endpoint of an open visit; a request counts until its answer has been sent."""

    def __init__(
        self, lab: Lab, kind: str, asked: Callable[[Visit, Request], Awaitable[Response]]
    ) -> None:
        self._lab, self._kind, self._asked = lab, kind, asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        visit = self._lab.visits.get(request.headers.get("x-lab-visit", ""))
        with visit.asks(self._kind, self._lab.limits), suppress(ClientDisconnect):
            response = await self._asked(visit, request)
            await response(scope, receive, send)


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    """Yield a file piece by piece: the request ends when the client has read it, not before."""
    for at in range(0, len(content), _PIECE):
        yield content[at : at + _PIECE]


class Lab:
    """The state of the server and the answers of its API."""

    def __init__(self, limits: Limits, own: Own | None = None) -> None:
        self.limits, self.own = limits, own
        self.learning = Turns(limits.workers, waiting=limits.waiting)
        self.turns = Turns(limits.threads, waiting=2 * limits.visits)
        self.visits = Visits(limits)
        self.shared: WeakValueDictionary[str, Outcome] = WeakValueDictionary()
        self._closed = False

    def close(self) -> None:
        """Stop all jobs and reject what waits; work in threads ends by itself, or with the
        process.
        """
        self._closed = True
        self.visits.stop_all()
        self.learning.close()
        self.turns.close()
        stop_reading()

    @property
    def at_work(self) -> bool:
        """Return whether a thread is at work."""
        return self.learning.at_work or self.turns.at_work

    def routes(self) -> list[Route]:
        """Return the addresses of the API, below /api."""
        posts = {
            "sequence": self.sequence,
            "upload": self.upload,
            "learn": self.learn,
            "continue": self.continue_learning,
            "stop": self.stop,
            "recall": self.recall,
            "promise": self.promise,
            "rates": self.rates,
            "wiring": self.wiring,
            "neuron": self.neuron,
            "code": self.code,
            "download": self.download,
        }
        return [
            Route("/catalogue", self.catalogue, methods=["GET"]),
            Route("/visit", self.open_visit, methods=["POST"]),
            Route("/leave", self.leave, methods=["POST"]),
            Route("/progress", _OfVisit(self, "progress", self.progress), methods=["GET"]),
            *[
                Route(f"/{kind}", _OfVisit(self, kind, asked), methods=["POST"])
                for kind, asked in posts.items()
            ],
        ]

    # -- the page
    # ----------------------------------------------------------------------------------------------

    async def catalogue(self, request: Request) -> Response:
        """Return the sequences and networks to choose from."""
        limits = {
            name: getattr(self.limits, name)
            for name in ("units", "frames", "hidden", "epochs", "order", "upload")
        }
        limits["degree"] = MOST_DEGREE
        networks = [{"name": name, **vars(offer)} for name, offer in NETWORKS.items()]
        sequences = [*CATALOGUE]
        if self.own is not None:
            networks.insert(0, self.own.offer())
            sequences += [self.own.entry()] if self.own.material is not None else []
        return JSONResponse(
            {"version": __version__, "sequences": sequences, "networks": networks, "limits": limits}
        )

    async def open_visit(self, request: Request) -> Response:
        """Begin a visit."""
        return JSONResponse({"visit": self.visits.open().name})

    async def leave(self, request: Request) -> Response:
        """End a visit: the page was closed."""
        self.visits.close(request.headers.get("x-lab-visit", ""))
        return JSONResponse({})

    # -- sequences
    # ----------------------------------------------------------------------------------------------

    async def sequence(self, visit: Visit, request: Request) -> Response:
        """Make a sequence and show it."""
        spec = parse(await _body(request, self.limits.body, "The request has more than {:g} MB."))
        return await self._in_turn(
            visit, request, lambda: _as_json(self._material(spec), self.limits)
        )

    async def upload(self, visit: Visit, request: Request) -> Response:
        """Read dropped files and show them as a sequence."""
        body = await _body(
            request,
            self.limits.upload,
            "The files have more than {:g} MB together; drop smaller ones.",
        )
        return await self._in_turn(
            visit, request, lambda: _as_json(read_upload(body, self.limits), self.limits)
        )

    # -- learning
    # ----------------------------------------------------------------------------------------------

    @_asks("sequence", "networks")
    def learn(self, visit: Visit, spec: Fields) -> dict[str, Any]:
        """Start to learn a sequence with one or two networks; a job that still runs is stopped."""
        chosen = self._chosen(spec)
        material = self._material(spec.object("sequence"))
        for choice in chosen:
            choice.check_size(material.data, self.limits)
        job = Job(material, chosen, self.limits, key=spec.digest(), shared=self.shared)
        self.visits.make_room(visit, job)
        if visit.job is not None:
            visit.job.stop()
        if not job.adopt():
            job.turn = self.learning.submit(visit.name, job.run)
        visit.job = job
        if visit.ended:  # the page was closed meanwhile
            job.stop()
        return {"ahead": self.learning.ahead(job.turn)}

    @_asks("epochs")
    def continue_learning(self, visit: Visit, spec: Fields) -> dict[str, Any]:
        """Continue to learn from the weights as they are."""
        epochs = spec.whole("epochs", 500, 1, self.limits.epochs)
        job = self._job(visit)
        job.prepare_to_continue(epochs)
        try:
            self.visits.make_room(visit, job)
            job.turn = self.learning.submit(visit.name, job.run)
        except Rejection:
            job.state = "stopped"
            raise
        return {"ahead": self.learning.ahead(job.turn)}

    async def stop(self, visit: Visit, request: Request) -> Response:
        """Stop learning after the current epoch."""
        job = visit.the_job()
        job.stop()
        return JSONResponse(job.summary())

    async def progress(self, visit: Visit, request: Request) -> Response:
        """Stream the errors of each epoch as server-sent events, until learning ends."""
        job = visit.the_job()
        return StreamingResponse(self._events(job), media_type="text/event-stream")

    async def _events(self, job: Job) -> AsyncIterator[str]:
        """Yield the events of a job."""
        seen = [0 for _ in job.chosen]
        reported = -1
        while True:
            running = job.running  # read first, so that nothing is missed after the end
            news = job.progress(seen)
            if news:
                yield _event({"epochs": news})
            if not running or self._closed:
                break
            ahead = self.learning.ahead(job.turn) if job.state == "waiting" else 0
            if ahead != reported:
                reported = ahead
                yield _event({"ahead": ahead})
            await asyncio.sleep(_LOOK)
        yield _event({"end": job.summary()})

    # -- recall
    # ----------------------------------------------------------------------------------------------

    @_asks("cue", "sequence", "orders", "inside", newest_only=True)
    def recall(self, visit: Visit, spec: Fields) -> dict[str, Any]:
        """Recall from the corrupted cue with every network, one of which may be as it was after an
        epoch or lack some hidden neurons; with a sequence in the request, only show its corrupted
        cue.
        """
        if spec.has("sequence"):
            material = self._material(spec.object("sequence"))
            orders = spec.wholes("orders", 1, self.limits.order, 2)
            cue = read_cue(spec.object("cue"), material)
            rows = corrupted_cue(material, cue, max(orders, default=1))
            return {"cue": pack(rows[-1:])}
        job, nets = self._learned(visit)
        runs, shown = self._runs(job, nets, spec)
        first = runs[0]
        return {
            "cue": pack(first.states[first.cue_rows - 1 : first.cue_rows]),
            "rows": len(first.states),
            "cue_rows": first.cue_rows,
            "runs": [as_json(*each) for each in zip(nets, runs, shown, strict=True)],
        }

    @_asks()
    def promise(self, visit: Visit, spec: Fields) -> dict[str, Any]:
        """Return the certified radius of each frame, for each network; computed once for each
        job.
        """
        job, _ = self._learned(visit)
        return {"radii": job.outcome.certify(job.material.data)}

    @_asks("cue", newest_only=True)
    def rates(self, visit: Visit, spec: Fields) -> dict[str, Any]:
        """Return of how many of 100 cues like the visitor's each network locks on; null where
        trying that takes long.
        """
        job, _ = self._learned(visit)
        cue = read_cue(spec.object("cue"), job.material)
        return {"trials": TRIALS, "locked_on": job.outcome.rates(job.material, cue, self.limits)}

    @_asks("inside", newest_only=True)
    def wiring(self, visit: Visit, spec: Fields) -> dict[str, Any]:
        """Return some hidden neurons of a network, with their strongest connections."""
        job, nets = self._learned(visit)
        return wiring(Inside.read(spec, self.limits).change(job, nets, self.limits))

    @_asks("neuron", "inside", newest_only=True)
    def neuron(self, visit: Visit, spec: Fields) -> dict[str, Any]:
        """Return the weights and the targets of a hidden neuron."""
        job, nets = self._learned(visit)
        net = Inside.read(spec, self.limits).change(job, nets, self.limits)
        return neuron(job, net, spec.whole("neuron", 0, 0, self.limits.units))

    # -- to take away
    # ---------------------------------------------------------------------------------------------

    @_asks("sequence", "networks", "cue", "inside", newest_only=True)
    def code(self, visit: Visit, spec: Fields) -> Response:
        """Return the Python code that does the same, whether it has been learned or not."""
        material, chosen = self._material(spec.object("sequence")), self._chosen(spec)
        orders = [choice.settled_order(material.data) for choice in chosen]
        cue = read_cue(spec.object("cue"), material)
        corrupted_cue(material, cue, max(orders))  # rejected where nothing is left to recall
        steps = steps_for(material, cue.start, max(orders), self.limits)
        inside = Inside.read(spec, self.limits)
        return PlainTextResponse(
            downloads.python_code(material, chosen, orders, cue, steps, inside)
        )

    @_asks("what", "network", "cue", "sequence", "dark", "inside")
    def download(self, visit: Visit, spec: Fields) -> Response:
        """Return a file to take away."""
        what = spec.choice("what", "", tuple(_FILES))
        name, kind = _FILES[what]
        compared = visit.job is not None and len(visit.job.chosen) > 1
        mark = f"-{'ab'[spec.whole('network', 0, 0, 1)]}" if compared else ""
        headers = {"content-disposition": f'attachment; filename="{name.format(mark)}"'}
        content = self._file(what, visit, spec)
        headers["content-length"] = str(len(content))
        return StreamingResponse(_pieces(content), media_type=kind, headers=headers)

    def _file(self, what: str, visit: Visit, spec: Fields) -> bytes:
        """Return the content of a file: the sequence of the request, or the learned networks or
        their recalls.
        """
        if what == "sequence":
            return downloads.sequence(self._material(spec.object("sequence")))
        job, nets = self._learned(visit)
        if what == "figure":
            return downloads.figure(
                job, *self._runs(job, nets, spec), dark=bool(spec.whole("dark", 0, 0, 1))
            )
        k = spec.whole("network", 0, 0, len(nets) - 1)
        if what == "model":
            Inside.read(spec, self.limits).change(job, nets, self.limits)
            return downloads.model(nets[k], job.material)
        runs, shown = self._runs(job, nets, spec)
        return downloads.animation(runs[k], shown[k], job.material)

    # -- requests
    # ----------------------------------------------------------------------------------------------

    async def _in_turn(
        self, visit: Visit, request: Request, work: Callable[[], Any], newest: str = ""
    ) -> Response:
        """Wait for the outcome of work, and drop it if the client is gone before its turn."""

        def made() -> Response:
            value = work()
            return value if isinstance(value, Response) else JSONResponse(value)

        outcome: asyncio.Future[Any] = asyncio.wrap_future(
            self.turns.submit(visit.name, made, newest=newest)
        )
        gone: asyncio.Future[Any] = asyncio.ensure_future(_is_gone(request))
        try:
            await asyncio.wait({outcome, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not outcome.done():
                raise ClientDisconnect
            response: Response = outcome.result()
            return response
        finally:
            gone.cancel()
            outcome.cancel()

    def _material(self, spec: Fields) -> Material:
        """Return the sequence that is described, or that of the lab's own network."""
        if self.own is not None and self.own.material is not None and spec.names(OWN):
            return self.own.material
        return make_material(spec, self.limits)

    def _chosen(self, spec: Fields) -> list[Chosen]:
        """Return the networks of a request."""
        return [
            self.own.choice()
            if self.own is not None and network.names(OWN)
            else read_network(network, self.limits)
            for network in spec.objects("networks", 1, 2)
        ]

    def _job(self, visit: Visit) -> Job:
        """Return the job of a visit; one whose networks were dropped begins to learn again, and
        the request is rejected until it has.
        """
        job = visit.the_job()
        if job.state == "dropped" and not job.adopt():
            job.prepare_to_learn_again()
            try:
                self.visits.make_room(visit, job)
                job.turn = self.learning.submit(visit.name, job.run)
            except Rejection:
                job.drop()
                raise
            raise job.learned_again()
        return job

    def _learned(self, visit: Visit) -> tuple[Job, list[SequenceMemory]]:
        """Return the job of a visit and its networks."""
        job = self._job(visit)
        nets = job.learned()
        if not nets:
            raise Rejection(409, "Learning was stopped before its first epoch; learn again.")
        return job, nets

    def _runs(
        self, job: Job, nets: list[SequenceMemory], spec: Fields
    ) -> tuple[list[Recall], list[Shown]]:
        """Return the recall of each network from the cue of a request, and the truth to show beside
        it.
        """
        Inside.read(spec, self.limits).change(job, nets, self.limits)
        cue = read_cue(spec.object("cue"), job.material)
        runs = recall_all(nets, job.material, cue, self.limits)
        return runs, [
            shown_truth(net, run, job.material, cue) for net, run in zip(nets, runs, strict=True)
        ]


def _as_json(material: Material, limits: Limits) -> dict[str, Any]:
    """Return a sequence for the page, with the context and the degrees that networks need for
    it.
    """
    context = find_conflicts(material.data).context or 1
    shortest = int(material.data.lengths.min())
    degrees = [
        degree_for(material.data, k) if k < shortest else None for k in range(1, limits.order + 1)
    ]
    return {**material.as_json(), "context": context, "degrees": degrees}


async def _is_gone(request: Request) -> None:
    """Wait until the client has closed its connection; its request has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _body(request: Request, most: int, sentence: str) -> bytes:
    """Read the body of a request, up to a limit."""
    parts, size = [], 0
    announced = request.headers.get("content-length", "0")
    async for part in request.stream():
        size += len(part)
        if max(size, int(announced)) > most:
            raise Rejection(413, sentence.format(most / 1e6))
        parts.append(part)
    return b"".join(parts)


def _event(data: dict[str, Any]) -> str:
    """Return a server-sent event."""
    return f"data: {json.dumps(data)}\n\n"
