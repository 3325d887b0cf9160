"""The form that has history judged by a grader."""

from collections.abc import Callable

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from gnomon.clock import Nanos
from gnomon.web.forms import Forms
from gnomon.web.port import Judging
from gnomon.web.work import asked_backfill


def add_history(app: FastAPI, forms: Forms, judging: Judging, now: Callable[[], Nanos]) -> None:
    """Add the route that the form of the Status page is sent to."""

    @app.post("/graders/backfill")
    async def backfill(request: Request) -> Response:
        """Ask a grader to judge history."""
        fields = await forms.read(request)
        since, which = asked_backfill(fields, now())
        ask = judging.backfills.ask
        await run_in_threadpool(ask, fields.get("grader", ""), since=since, which=which)
        return RedirectResponse("/status?done=backfill#graders", 303)
