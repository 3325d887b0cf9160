"""The pages put together: routes, headers, errors. They show, ask and send; no SQL, no statistics."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import gnomon
from collector.folding.set_aside import SetAside
from collector.queue.port import Books, TouchedTraces
from collector.watched import Watched
from gnomon.clock import Clock, utc_now
from gnomon.config import Settings
from gnomon.errors import GnomonError, NotFound
from gnomon.http import allowed
from gnomon.model import Run
from gnomon.segment import segment
from gnomon.web import assets, errors, overview, run, runs, status
from gnomon.web.cache import Cache
from gnomon.web.filters import parse, unpacked
from gnomon.web.forms import Forms, own_path
from gnomon.web.frame import THEME_COOKIE, THEMES, Pages, digest, region_of
from gnomon.web.history import add_history
from gnomon.web.judged_routes import add_judged, csv_of, judged_version, judges
from gnomon.web.known import none_of, only_known, wrong
from gnomon.web.port import Explain, Judging, PageReader
from gnomon.web.runs_csv import runs_csv
from gnomon.web.timeline import Period
from gnomon.web.work import Standing

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
_YEAR = 365 * 86_400
Number = Annotated[int, Field(ge=0, lt=2**63)]
"""What counts or names something stored."""


class Guarded:
    """Puts the security headers on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = [(k.lower().encode(), v.encode()) for k, v in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        await self._app(scope, receive, guarded)


def build_web(
    reader: PageReader,
    books: Books,
    touched: TouchedTraces,
    watched: Watched,
    settings: Settings,
    clock: Clock = utc_now,
    *,
    judging: Judging | None = None,
    explain: Explain | None = None,
    addresses: Callable[[], Mapping[str, str]] | None = None,
    unread: Callable[[], Sequence[SetAside]] = tuple,
) -> FastAPI:
    """Return the pages as an application to be mounted at `/`, behind the API's routes.

    `judging`: what graders found; without it the pages show what happened, not how good it was.
    `explain`: which rule filled which field; without it the tab is absent.
    `addresses`: where `otlp_http` and `otlp_grpc` are received, for the first steps; without it
    they are read from the settings.
    `unread`: the traces that cannot be folded into runs.
    """
    forms = Forms()
    files = assets.load()
    pages = Pages(
        assets=files,
        forms=forms,
        clock=clock,
        version=gnomon.__version__,
        judged=judging is not None,
    )
    app = FastAPI(
        openapi_url=None, docs_url=None, redoc_url=None, dependencies=[Depends(only_known)]
    )
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    app.add_middleware(Guarded)
    _add_static(app, files)
    _add_overview(app, pages, reader, books, touched, judging, addresses or _ports(settings))
    order = tuple(watched.business_keys)
    _add_runs(app, pages, reader, order, judging)
    _add_run(app, pages, reader, explain, order, judging)
    _add_status(app, pages, books, touched, unread, forms, judging)
    if judging is not None:
        add_judged(app, pages, reader, judging)
        add_history(app, forms, judging, pages.now)
    _add_frame(app, pages, forms)
    _add_errors(app, pages)
    return app


def _ports(settings: Settings) -> Callable[[], Mapping[str, str]]:
    host = settings.host
    return lambda: {
        "otlp_http": f"http://{host}:{settings.otlp_http_port}",
        "otlp_grpc": f"{host}:{settings.otlp_grpc_port}",
    }


def _add_static(app: FastAPI, files: assets.Assets) -> None:
    @app.get("/static/{name}")
    async def static(name: str) -> Response:
        """A file under its hashed name, for ever."""
        asset = files.hashed.get(name)
        if asset is None:
            raise NotFound(f"no file {name}; reload the page")
        return Response(
            asset.body, media_type=asset.media_type, headers={"Cache-Control": assets.FOR_EVER}
        )

    @app.get("/favicon.ico")
    async def favicon() -> Response:
        """The mark, for browsers that do not read the link."""
        return RedirectResponse(files.url("mark.svg"), 301)


def _add_overview(
    app: FastAPI,
    pages: Pages,
    reader: PageReader,
    books: Books,
    touched: TouchedTraces,
    judging: Judging | None,
    addresses: Callable[[], Mapping[str, str]],
) -> None:
    boards: Cache[overview.Board] = Cache()
    judged_by = judges(reader, judging) if judging else None

    def board_of(agent: str, period: Period) -> overview.Board:
        now = pages.now()
        key = (
            agent,
            period.name,
            reader.data_version(),
            judged_version(judging) if judging else "",
            now // (period.width * 1_000_000_000),
        )
        return boards.get(
            key,
            lambda: overview.board(
                reader, agent=agent, period=period, now=now, judged_by=judged_by
            ),
        )

    @app.get("/")
    def overview_page(request: Request, period: str = "", agent: str = "") -> Response:
        """Is any agent getting worse now?"""
        now = pages.now()
        chosen = overview.chosen_period(reader, now, period)

        def address(name: str) -> str:
            pairs = {"period": name} | ({"agent": agent} if agent else {})
            return f"/?{urlencode(pairs)}"

        view = overview.overview(
            lambda one: board_of(agent, one),
            period=chosen,
            agent=agent,
            books=books,
            touched=touched,
            now=now,
            address=address,
            addresses=addresses(),
            configured=judging is None or judging.configured,
        )
        return pages.show(request, "overview.html", view)

    @app.get("/figures/{name}.csv")
    def figure_csv(name: str, period: str = "", agent: str = "") -> Response:
        """The table of a figure."""
        chosen = overview.chosen_period(reader, pages.now(), period)
        return csv_of(board_of(agent, chosen).figures, name)


def _add_runs(
    app: FastAPI, pages: Pages, reader: PageReader, order: Sequence[str], judging: Judging | None
) -> None:
    @app.get("/runs")
    def runs_page(
        request: Request, after: str | None = None, before: str | None = None
    ) -> Response:
        """Which runs?"""
        view = runs.runs(
            reader,
            parse(request.query_params, "after", "before"),
            pages.now(),
            after=unpacked("after", after),
            before=unpacked("before", before),
            order=order,
            judging=judging,
        )
        response = pages.show(request, "runs.html", view)
        address = f"/runs?{request.url.query}" if after or before else view.query.url()
        response.headers["HX-Push-Url"] = address
        return response

    @app.get("/runs.csv")
    def runs_file(request: Request) -> Response:
        """The runs of a list as a file."""
        now = pages.now()
        where = runs.judged_where(parse(request.query_params), now, judging)
        return runs_csv(reader, where, now, judging)

    @app.get("/news/runs")
    def runs_news(request: Request, than: str) -> Response:
        """How many runs came since the list was drawn."""
        since = unpacked("than", than)
        if since is None:
            raise wrong("than", than, "is no position in the list")
        view = runs.news(reader, parse(request.query_params, "than"), pages.now(), since, judging)
        return pages.show(request, "news.html", view)

    @app.get("/jump")
    def jump(q: str = "") -> Response:
        """Go to the run with this id, or the beginning of one; else to the runs that mention it."""
        text = q.strip()
        if text and reader.run(text) is not None:
            return RedirectResponse(f"/runs/{segment(text)}", 303)
        named = reader.beginning(text, limit=2) if text else ()
        if len(named) == 1:
            return RedirectResponse(f"/runs/{segment(named[0].run_id)}", 303)
        return RedirectResponse(f"/runs?{urlencode({'period': 'all', 'q': text})}", 303)


def _add_run(
    app: FastAPI,
    pages: Pages,
    reader: PageReader,
    explain: Explain | None,
    order: Sequence[str],
    judging: Judging | None,
) -> None:
    forests: Cache[run.Steps] = Cache(size=8)

    def kept(one: Run) -> run.Steps:
        return forests.get(digest(one), lambda: run.steps_of(reader, one))

    @app.get("/runs/{run_id:id}")
    def run_page(request: Request, run_id: str) -> Response:
        """Why did this fail?"""
        ask = run.asked(request.query_params)
        view = run.run_page(
            reader,
            run_id,
            ask,
            now=pages.now(),
            explain=explain,
            kept=kept,
            order=order,
            judging=judging,
            whole=region_of(request) != "detail",
        )
        return pages.show(request, "run.html", view)

    @app.get("/news/run")
    def run_news(request: Request, run_id: str, than: Number) -> Response:
        """How many spans came since the page was drawn."""
        found = reader.run(run_id)
        if found is None:
            raise NotFound(f"no run {run_id}")
        view = runs.NewsView(
            runs=max(0, found.spans - than), href=f"/runs/{segment(run_id)}", noun="span", most=0
        )
        return pages.show(request, "news.html", view)


def _add_status(
    app: FastAPI,
    pages: Pages,
    books: Books,
    touched: TouchedTraces,
    unread: Callable[[], Sequence[SetAside]],
    forms: Forms,
    judging: Judging | None,
) -> None:
    standing = Standing(judging) if judging else None

    @app.get("/status")
    def status_page(
        request: Request,
        hours: Annotated[int, Query(ge=1, le=24 * 31)] = 24,
        after: Number = 0,
        done: str = "",
    ) -> Response:
        """Does Gnomon itself work?"""
        if done and done not in status.DONE:
            raise none_of("done", done, status.DONE)
        view = status.status(
            books,
            touched,
            pages.now(),
            unread=unread(),
            hours=hours,
            after=after,
            done=status.DONE.get(done, ""),
            # The polled ledger does not show it.
            work=standing.at(pages.now()) if standing and region_of(request) != "ledger" else None,
        )
        return pages.show(request, "status.html", view)

    @app.get("/status/dead-letters/{letter}")
    def letter_page(request: Request, letter: Number) -> Response:
        """One dead letter."""
        return pages.show(request, "letter.html", status.letter_page(books, letter))

    @app.post("/status/dead-letters/{letter}/{act}")
    async def letter_act(request: Request, letter: Number, act: str) -> Response:
        """Re-send or drop a dead letter."""
        await forms.read(request)
        acts: dict[str, Callable[[int], None]] = {"resend": books.resend, "drop": books.drop}
        if act not in acts:
            raise NotFound(f"a dead letter can be re-sent or dropped, not {act!r}")
        await run_in_threadpool(acts[act], letter)
        return RedirectResponse(f"/status?done={act}#letters", 303)


def _add_frame(app: FastAPI, pages: Pages, forms: Forms) -> None:
    @app.get("/keys")
    def keys_page(request: Request) -> Response:
        """The key sheet, for those without JavaScript."""
        return pages.show(request, "keys.html", None)

    @app.post("/theme")
    async def theme(request: Request) -> Response:
        """Choose light, dark, or what the system says."""
        fields = await forms.read(request)
        chosen = fields.get("theme", "")
        if chosen not in THEMES:
            raise none_of("theme", chosen, THEMES)
        response = RedirectResponse(own_path(fields.get("here", "/")), 303)
        response.set_cookie(THEME_COOKIE, chosen, max_age=_YEAR, samesite="lax", httponly=True)
        return response


def _add_errors(app: FastAPI, pages: Pages) -> None:
    def answer(request: Request, problem: errors.ErrorView) -> Response:
        if request.url.path.startswith("/v1"):
            return JSONResponse(
                errors.as_problem(problem, request.url.path),
                problem.status,
                media_type="application/problem+json",
            )
        # The framework answers what nobody foresaw outside of Guarded.
        more = dict(HEADERS) if problem.status == 500 else {}
        if problem.status == 405:
            more["Allow"] = allowed(request)
        return pages.show(request, "error.html", problem, status=problem.status, headers=more)

    def handler(
        read: Callable[[Exception], errors.ErrorView],
    ) -> Callable[[Request, Exception], Awaitable[Response]]:
        async def handle(request: Request, error: Exception) -> Response:
            return answer(request, read(error))

        return handle

    app.add_exception_handler(GnomonError, handler(errors.of_gnomon))
    app.add_exception_handler(HTTPException, handler(errors.of_http))
    app.add_exception_handler(RequestValidationError, handler(errors.of_validation))
    app.add_exception_handler(Exception, handler(errors.of_bug))
