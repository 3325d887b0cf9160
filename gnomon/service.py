"""Parts that open in order and close in the opposite order, and the process's own health."""

import gc
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Protocol

import structlog
from fastapi import APIRouter, FastAPI, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.concurrency import run_in_threadpool

STOP_TIMEOUT = 20.0
"""Seconds a part has to finish what it began."""

OBJECTS_BETWEEN_COLLECTIONS = 20_000
SECONDS_BETWEEN_TURNS = 0.0005

log = structlog.get_logger(__name__)


def answer_first() -> None:
    """Let threads that answer others run soon, and garbage wait; for a whole process only.

    The fold is pure Python and holds the interpreter; a receiver that wants to acknowledge would
    wait the default of 5 ms for every turn, and a request takes several.

    A lot of traces is a hundred thousand objects that live for a moment and leave no circles behind
    that would matter; looking at them every 700 objects takes a sixth of the time of a fold.
    """
    sys.setswitchinterval(SECONDS_BETWEEN_TURNS)
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 10, 10)


class Part(Protocol):
    """Something that runs from start to stop."""

    @property
    def name(self) -> str:
        """A short word for logs and `/readyz`."""

    def start(self) -> None:
        """Open; raises when it can not."""

    def stop(self, timeout: float) -> None:
        """Finish within `timeout` seconds; safe to call after a failed start."""

    def problem(self) -> str | None:
        """Return what is wrong, from memory, or None."""


class Background:
    """The one thread of a part: started, told to stop, and missed when it ends by itself."""

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        self._name = name
        self._work = work
        self._thread: threading.Thread | None = None
        self.stopping = threading.Event()
        """What the work looks at between two steps, and waits on instead of sleeping."""

    def start(self) -> None:
        """Begin to work."""
        self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Ask for the end and wait for it; safe when nothing was started."""
        self.stopping.set()
        if self._thread is not None:
            self._thread.join(timeout)

    def problem(self) -> str | None:
        """Return why no work is done, or None."""
        if self._thread is None:
            return "not started"
        if not self._thread.is_alive() and not self.stopping.is_set():
            return "the thread has ended; restart this process"
        return None


class Life:
    """Where the process stands between its start and its end."""

    def __init__(self) -> None:
        self.draining = False
        """True once the process began to stop; `/readyz` says so."""
        self.failure: BaseException | None = None
        """Why the start failed; the server around the application only sees that it did."""


@asynccontextmanager
async def running(
    parts: Sequence[Part], life: Life, ready: Callable[[], None] | None = None
) -> AsyncIterator[None]:
    """Start the parts in order; stop those that started, last first, whatever happened."""
    async with AsyncExitStack() as stack:
        for part in parts:
            stack.push_async_callback(run_in_threadpool, part.stop, STOP_TIMEOUT)
            try:
                await run_in_threadpool(part.start)
            except Exception as error:
                life.failure = error
                raise
            log.info("part_started", part=part.name)
        if ready is not None:
            ready()
        try:
            yield
        finally:
            life.draining = True
            log.info("draining", parts=len(parts))


def lifespan(
    parts: Sequence[Part], life: Life, ready: Callable[[], None] | None = None
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Return the lifespan of an application that embeds these parts."""

    @asynccontextmanager
    async def manage(_app: FastAPI) -> AsyncIterator[None]:
        async with running(parts, life, ready):
            yield

    return manage


def health_router(parts: Sequence[Part], life: Life, registry: CollectorRegistry) -> APIRouter:
    """Build `/livez`, `/readyz` and `/metrics`."""
    router = APIRouter()

    @router.get("/livez", include_in_schema=False)
    async def livez() -> dict[str, str]:
        """The loop turns."""
        return {"process": "alive"}

    @router.get("/readyz", include_in_schema=False)
    async def readyz(response: Response) -> dict[str, str]:
        """Name what is wrong; empty when nothing is."""
        problems = {part.name: text for part in parts if (text := part.problem()) is not None}
        if life.draining:
            problems["process"] = "draining"
        response.status_code = 503 if problems else 200
        return problems

    @router.get("/metrics", include_in_schema=False)
    def metrics() -> Response:
        """Prometheus text."""
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return router
