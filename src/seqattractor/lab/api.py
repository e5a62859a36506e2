"""What the page may ask for: each function answers one kind of request, with JSON or a file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import wraps
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from seqattractor import __version__
from seqattractor.lab import downloads
from seqattractor.lab.choices import NETWORKS, Chosen, read_network
from seqattractor.lab.compiled import Compiled
from seqattractor.lab.jobs import Job, Pool, Visit, Visits
from seqattractor.lab.materials import CATALOGUE, Material, make_material
from seqattractor.lab.recall import as_json, certified_radii, corrupted_cue, read_cue, recall_all, steps_for
from seqattractor.lab.requests import Fields, Limits, Refusal, pack, parse
from seqattractor.lab.uploads import read_upload, split_files
from seqattractor.networks._base import SequenceMemory
from seqattractor.tasks.recall import Recall

_LOOK = 0.05  # seconds between looks at a job that learns
_KEEP_ALIVE = 15.0
_FILES = {
    "sequence": ("sequence.npz", "application/octet-stream"),
    "model": ("model{}.npz", "application/octet-stream"),
    "gif": ("recall{}.gif", "image/gif"),
    "figure": ("recall.png", "image/png"),
}
Answer = Callable[["Lab", Visit, Fields], Any]
Endpoint = Callable[["Lab", Request], Awaitable[Response]]


def _asks(*names: str) -> Callable[[Answer], Endpoint]:
    """Answer requests of a visitor that have these fields: with a response, or with values for JSON, made in a thread."""

    def decorate(answer: Answer) -> Endpoint:
        @wraps(answer)
        async def endpoint(lab: Lab, request: Request) -> Response:
            visit, spec = lab._visit(request), await lab._json(request)
            spec.only(*names)
            value = await run_in_threadpool(answer, lab, visit, spec)
            return value if isinstance(value, Response) else JSONResponse(value)

        return endpoint

    return decorate


class Lab:
    """The state of the server and the answers of its API."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.compiled = Compiled()
        self.pool = Pool(limits)
        self.visits = Visits(limits, self.pool.stop)
        self._uploads = asyncio.Semaphore(2)

    def routes(self) -> list[Route]:
        """List the addresses of the API."""
        posts = {
            "visit": self.open_visit,
            "leave": self.leave,
            "sequence": self.sequence,
            "upload": self.upload,
            "learn": self.learn,
            "continue": self.go_on,
            "stop": self.stop,
            "recall": self.recall,
            "promise": self.promise,
            "code": self.code,
            "download": self.download,
        }
        return [
            Route("/api/catalogue", self.catalogue, methods=["GET"]),
            Route("/api/progress", self.progress, methods=["GET"]),
            *[Route(f"/api/{name}", answer, methods=["POST"]) for name, answer in posts.items()],
        ]

    # -- the page -------------------------------------------------------------------------------------------------

    async def catalogue(self, request: Request) -> Response:
        """What there is to choose from."""
        limits = {name: getattr(self.limits, name) for name in ("units", "frames", "hidden", "epochs", "order", "upload")}
        networks = [{"name": name, **vars(offer)} for name, offer in NETWORKS.items()]
        return JSONResponse({"version": __version__, "sequences": CATALOGUE, "networks": networks, "limits": limits})

    async def open_visit(self, request: Request) -> Response:
        """Begin a visit."""
        return JSONResponse({"visit": self.visits.open().name})

    async def leave(self, request: Request) -> Response:
        """End a visit: the page was closed."""
        self.visits.close(request.headers.get("x-lab-visit", ""))
        return JSONResponse({})

    # -- sequences ------------------------------------------------------------------------------------------------

    async def sequence(self, request: Request) -> Response:
        """Make a sequence and show it."""
        material = await run_in_threadpool(make_material, await self._json(request), self.limits)
        return JSONResponse(material.as_json())

    async def upload(self, request: Request) -> Response:
        """Read dropped files and show them as a sequence."""
        self._visit(request)
        body = await _body(request, self.limits.upload, "The files have more than {:g} MB together; drop smaller ones.")
        async with self._uploads:  # pictures take memory while they are unpacked
            material = await run_in_threadpool(lambda: read_upload(split_files(body), self.limits))
        return JSONResponse(material.as_json())

    # -- learning -------------------------------------------------------------------------------------------------

    @_asks("sequence", "networks")
    def learn(self, visit: Visit, spec: Fields) -> dict[str, Any]:
        """Start to learn a sequence with one or two networks; a job that still runs is stopped."""
        chosen = self._chosen(spec)
        material = self._material(spec)
        for choice in chosen:
            choice.check_size(material.data, self.limits)
        job = Job(material, chosen, self.limits, self.compiled)
        with visit.lock:
            if visit.job is not None:
                self.pool.stop(visit.job)
            self.pool.submit(job)
            visit.job = job
        return {"ahead": self.pool.ahead(job)}

    @_asks("epochs")
    def go_on(self, visit: Visit, spec: Fields) -> dict[str, Any]:
        """Continue to learn from the weights as they are."""
        epochs = spec.whole("epochs", 500, 1, self.limits.epochs)
        with visit.lock:
            job = visit.the_job()
            job.prepare_to_continue(epochs)
            try:
                self.pool.submit(job)
            except Refusal:
                job.state = "stopped"
                raise
        return {"ahead": self.pool.ahead(job)}

    async def stop(self, request: Request) -> Response:
        """Stop learning after the current epoch."""
        job = self._visit(request).the_job()
        self.pool.stop(job)
        return JSONResponse(job.summary())

    async def progress(self, request: Request) -> Response:
        """Tell the errors of each epoch as they come, as server-sent events, until learning ends."""
        job = self._visit(request).the_job()
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(self._events(job), media_type="text/event-stream", headers=headers)

    async def _events(self, job: Job) -> AsyncIterator[str]:
        """Go through what happens to a job."""
        seen = [0 for _ in job.chosen]
        told, quiet = {"ahead": -1, "compiling": False}, 0.0
        while True:
            running = job.running  # read first, so that nothing is missed after the end
            news = job.progress(seen)
            if news:
                yield _event({"epochs": news})
                quiet = 0.0
            if not running:
                break
            ahead = self.pool.ahead(job) if job.state == "waiting" else 0
            for name, now in {"ahead": ahead, "compiling": job.compiling}.items():
                if now != told[name]:
                    told[name] = now
                    yield _event({name: now})
            quiet += _LOOK
            if quiet > _KEEP_ALIVE:
                yield ": still here\n\n"
                quiet = 0.0
            await asyncio.sleep(_LOOK)
        yield _event({"end": job.summary()})

    # -- recall ---------------------------------------------------------------------------------------------------

    @_asks("cue", "sequence", "orders")
    def recall(self, visit: Visit, spec: Fields) -> dict[str, Any]:
        """Recall from the corrupted cue with every network; with a sequence in the request, only show its corrupted cue."""
        if spec.has("sequence"):
            material = self._material(spec)
            orders = spec.wholes("orders", 1, self.limits.order, 2)
            cue = read_cue(spec.object("cue"), material)
            rows, _ = corrupted_cue(material, cue, max(orders, default=1))
            return {"cue": pack(rows[-1:])}
        job, nets = self._learned(visit)
        runs = self._runs(job, nets, spec)
        first = runs[0]
        truth = first.truth if first.truth is not None else first.states[:0]
        unknown = np.full((len(first.states) - len(truth), first.states.shape[1]), -1, dtype=np.int8)
        return {
            "cue": pack(first.states[first.cue_rows - 1 : first.cue_rows]),
            "rows": len(first.states),
            "cue_rows": first.cue_rows,
            "truth": pack(np.concatenate([truth, unknown])),
            "known": len(truth),
            "runs": [as_json(net, run) for net, run in zip(nets, runs, strict=True)],
        }

    @_asks()
    def promise(self, visit: Visit, spec: Fields) -> dict[str, Any]:
        """The certified radius of each frame, for each network; computed once for each job."""
        job, nets = self._learned(visit)
        with job.certifying:
            if job.radii is None:
                job.radii = [certified_radii(net, job.material.data) for net in nets]
            return {"radii": job.radii}

    # -- to take away ---------------------------------------------------------------------------------------------

    @_asks("sequence", "networks", "cue")
    def code(self, visit: Visit, spec: Fields) -> Response:
        """The Python code that does the same, whether it has been learned or not."""
        material, chosen = self._material(spec), self._chosen(spec)
        orders = [choice.settled_order(material.data) for choice in chosen]
        cue = read_cue(spec.object("cue"), material)
        corrupted_cue(material, cue, max(orders))  # refused where nothing is left to recall
        steps = steps_for(material, cue.start, max(orders), self.limits)
        return PlainTextResponse(downloads.python_code(material, chosen, orders, cue, steps))

    @_asks("what", "network", "cue", "sequence", "dark")
    def download(self, visit: Visit, spec: Fields) -> Response:
        """A file to take away."""
        what = spec.choice("what", "", tuple(_FILES))
        name, kind = _FILES[what]
        compared = visit.job is not None and len(visit.job.chosen) > 1
        mark = f"-{'ab'[spec.whole('network', 0, 0, 1)]}" if compared else ""
        headers = {"content-disposition": f'attachment; filename="{name.format(mark)}"'}
        return Response(self._file(what, visit, spec), media_type=kind, headers=headers)

    def _file(self, what: str, visit: Visit, spec: Fields) -> bytes:
        """The content of a file: the sequence of the request, or what the networks have learned or recall."""
        if what == "sequence":
            return downloads.sequence(self._material(spec))
        job, nets = self._learned(visit)
        if what == "figure":
            return downloads.figure(job, self._runs(job, nets, spec), dark=bool(spec.whole("dark", 0, 0, 1)))
        k = spec.whole("network", 0, 0, len(nets) - 1)
        if what == "model":
            return downloads.model(nets[k], job.material)
        return downloads.animation(self._runs(job, nets, spec)[k], job.material)

    # -- requests -------------------------------------------------------------------------------------------------

    def _visit(self, request: Request) -> Visit:
        """The visit that a request belongs to."""
        return self.visits.get(request.headers.get("x-lab-visit", ""))

    async def _json(self, request: Request) -> Fields:
        """The JSON object in the body of a request."""
        return parse(await _body(request, self.limits.body, "The request has more than {:g} MB."))

    def _material(self, spec: Fields) -> Material:
        """The sequence of a request."""
        return make_material(spec.object("sequence"), self.limits)

    def _chosen(self, spec: Fields) -> list[Chosen]:
        """The networks of a request."""
        return [read_network(network, self.limits) for network in spec.objects("networks", 1, 2)]

    def _learned(self, visit: Visit) -> tuple[Job, list[SequenceMemory]]:
        """The job of a visit and its networks."""
        job = visit.the_job()
        nets = job.learned()
        if not nets:
            raise Refusal(409, "Learning was stopped before its first epoch; learn again.")
        return job, nets

    def _runs(self, job: Job, nets: list[SequenceMemory], spec: Fields) -> list[Recall]:
        """The recall of each network from the cue of a request."""
        return recall_all(nets, job.material, read_cue(spec.object("cue"), job.material), self.limits)


async def _body(request: Request, most: int, sentence: str) -> bytes:
    """Read the body of a request, up to a limit."""
    parts, size = [], 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise Refusal(413, sentence.format(most / 1e6))
            parts.append(part)
    except ClientDisconnect:
        raise Refusal(400, "The request was cut short.") from None
    return b"".join(parts)


def _event(data: dict[str, Any]) -> str:
    """One server-sent event."""
    return f"data: {json.dumps(data)}\n\n"
