"""OTLP over HTTP: which requests are let in, and the way of each to its answer."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

from collector.queue.port import Signal
from collector.receiving.answers import Answer, Sent, refusal
from collector.receiving.decompress import unpack
from collector.receiving.discard import discarded
from collector.receiving.discard import refused as unused
from collector.receiving.http_call import Call, Gone, Reply, write
from collector.receiving.intake import (
    COMMIT_SECONDS,
    Hold,
    Intake,
    Parcel,
    Taken,
    sender_of,
)
from collector.receiving.listener import HttpListener
from collector.receiving.refusals import Refused
from gnomon.config import Settings
from gnomon.errors import Unavailable

_PREFIXES = ("", "/api/public/otel", "/otel")
"""Where OTLP exporters, the Langfuse SDK and the LangSmith SDK post."""
_SENT: Mapping[str, Sent] = {
    "/v1/traces": "traces",
    "/v1/logs": "logs",
    "/v1/metrics": "metrics",
    "/v1development/profiles": "profiles",
}
_PATHS: Mapping[str, Sent] = {
    f"{prefix}{path}": sent for prefix in _PREFIXES for path, sent in _SENT.items()
}
_HEALTH = "/healthz"
_NOT_FOUND, _UNIMPLEMENTED = 404, 12
_INSPECTORS = 2
"""Threads that open and inspect requests; more would only wait for one another."""

log = structlog.get_logger(__name__)


class _Receiver:
    """The ASGI application."""

    def __init__(self, intake: Intake, settings: Settings) -> None:
        self._intake = intake
        self._origins = settings.ingest.cors_origins
        self._discards = settings.ingest_metrics == "discard"
        self._pool = ThreadPoolExecutor(_INSPECTORS, thread_name_prefix="otlp-http")
        self._failed = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        call = Call.of(scope)
        try:
            reply = await self._reply(call, receive)
        except Gone:
            self._intake.count_refused("http", "hung_up")
            return
        except Exception as error:  # noqa: BLE001 - our own bug must not cost the connection
            reply = self._broken(call, error)
        await write(send, reply)

    async def _reply(self, call: Call, receive: Receive) -> Reply:
        if call.path == _HEALTH:
            return _health(call)
        sent = _PATHS.get(call.path)
        if sent is None:
            return self._unknown_path(call)
        cors = call.cors(self._origins)
        if cors is not None and (asked := call.preflight()) is not None:
            reply = asked
        elif call.method != "POST":
            reply = self._wrong_method(call, "POST")
        elif sent == "traces" or sent == "logs":
            reply = call.reply(await self._export(sent, call, receive), sent)
        else:
            reply = await self._unkept(sent, call, receive)
        return replace(reply, headers=(*reply.headers, *cors)) if cors else reply

    async def _export(self, signal: Signal, call: Call, receive: Receive) -> Answer:
        """Take one request, and answer when the queue has it."""
        with self._intake.hold() as hold:
            taken = await self._taken(signal, call, receive, hold)
            if taken.done is None:
                return taken.answer
            try:
                # Shielded: a caller that goes away must not cancel what the queue is writing.
                done = asyncio.shield(asyncio.wrap_future(taken.done))
                await asyncio.wait_for(done, COMMIT_SECONDS)
            except Exception as error:  # noqa: BLE001 - the queue is a plug-in; the sender tries again
                return self._intake.failed("http", error)
            return taken.answer

    async def _taken(self, signal: Signal, call: Call, receive: Receive, hold: Hold) -> Taken:
        parcel = Parcel(
            signal=signal,
            transport="http",
            sender="unknown",
            body=b"",
            encoding="identity",
            is_json=False,
        )
        on_thread = asyncio.get_running_loop().run_in_executor
        try:
            parcel = replace(parcel, sender=sender_of(call.headers))
            parcel = replace(parcel, is_json=call.is_json, encoding=call.encoding)
            body = await call.body(receive, hold, self._intake.max_body)
        except Refused as refused:
            return await on_thread(self._pool, self._intake.refuse, parcel, refused, None)
        except Unavailable as error:
            return Taken(answer=self._intake.busy("http", error))
        return await on_thread(self._pool, self._intake.take, replace(parcel, body=body), hold)

    async def _unkept(self, sent: Sent, call: Call, receive: Receive) -> Reply:
        """Refuse a signal nobody reads, or take it and throw it away where that is asked for."""
        self._intake.count_refused("http", f"unused_{sent}")
        if not self._discards:
            answer = Answer(status=_NOT_FOUND, code=_UNIMPLEMENTED, message=unused(sent))
            return call.error(answer)
        loop = asyncio.get_running_loop()
        try:
            with self._intake.hold() as hold:
                is_json, encoding = call.is_json, call.encoding
                body = await call.body(receive, hold, self._intake.max_body)

                def count() -> Answer:
                    limit = self._intake.max_body
                    opened = unpack(body, encoding, limit=limit, grow=hold.grow)
                    return discarded(sent, opened, is_json=is_json)

                return call.reply(await loop.run_in_executor(self._pool, count), sent)
        except Refused as refused:
            return call.reply(refusal(refused), sent)
        except Unavailable as error:
            return call.error(self._intake.busy("http", error))

    def _unknown_path(self, call: Call) -> Reply:
        self._intake.count_refused("http", "unknown_path")
        message = "There is nothing here; OTLP goes to /v1/traces and /v1/logs"
        return call.error(Answer(status=_NOT_FOUND, code=_UNIMPLEMENTED, message=message))

    def _wrong_method(self, call: Call, allowed: str) -> Reply:
        self._intake.count_refused("http", "method")
        answer = Answer(status=405, code=_UNIMPLEMENTED, message=f"Only {allowed} is taken here")
        return call.error(answer, ("allow", allowed))

    def _broken(self, call: Call, error: Exception) -> Reply:
        if not self._failed:
            self._failed = True
            log.error("http_receiver_failed", error=repr(error), exc_info=error)
        self._intake.count_refused("http", "internal")
        return call.error(Answer(status=500, code=13, message="Gnomon failed on this request"))


def _health(call: Call) -> Reply:
    if call.method not in {"GET", "HEAD"}:
        answer = Answer(status=405, code=_UNIMPLEMENTED, message="Only GET is taken here")
        return call.error(answer, ("allow", "GET, HEAD"))
    return Reply(status=200, body=b'{"status":"ok"}')


def http_application(intake: Intake, settings: Settings) -> ASGIApp:
    """Return the application that takes OTLP over HTTP into the queue."""
    return _Receiver(intake, settings)


def http_listener(intake: Intake, settings: Settings) -> HttpListener:
    """Return the part that serves this application on the port of OTLP over HTTP."""
    return HttpListener(
        http_application(intake, settings),
        name="otlp_http",
        host=settings.host,
        port=settings.otlp_http_port,
        setting="GNOMON_OTLP_HTTP_PORT",
    )
