"""The collectors that `naive` compares, each a process of its own on an empty embedded store.

`python -m tests.bench.collectors NAME` prints its address, serves until a line comes in on stdin,
stores what it still holds, merges the table, and prints what it used.

- `gnomon`: receiver, spool and writer of Gnomon as `gnomon serve` puts them together; no roll-up.
- `plain`: FastAPI, protobuf, rows as Python lists, one insert a request, answered when it is stored:
  as durable as Gnomon.
- `batched`: the same rows, answered at once and inserted each second from memory: a crash loses them.
- `bare`: reads each body, appends it to a file with one fsync, and answers: what HTTP itself takes
  here; it stores nothing.
"""

import asyncio
import json
import os
import resource
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from clickhouse_connect import get_client
from fastapi import FastAPI, Request, Response
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from collector.queue.spool import Spool
from collector.receiving.receivers import build_receivers
from collector.writer import Writer
from gnomon.clock import utc_now
from gnomon.config import QueueSettings, Settings
from gnomon.store import Store, open_store
from gnomon.store.migrate import bring_up_to_date

COLUMNS = (
    "trace_id", "span_id", "parent_span_id", "trace_state", "name", "kind", "start", "end",
    "status_code", "status_message", "resource", "attributes", "scope_name", "scope_version",
    "scope_attributes", "events.time", "events.name", "events.attributes", "links.trace_id",
    "links.span_id", "links.trace_state", "links.attributes", "dropped_attributes",
    "dropped_events", "dropped_links",
)  # fmt: skip
KINDS = ("Unspecified", "Internal", "Server", "Client", "Producer", "Consumer")
STATUSES = ("Unset", "Ok", "Error")
WORKERS = 8
FLUSH_SECONDS = 1.0
_DONE = ExportTraceServiceResponse().SerializeToString()

Rows = list[list[Any]]
Insert = Callable[[Rows], None]


def rows_of(body: bytes) -> Rows:
    """Return a request as rows of the table, in the order of `COLUMNS`."""
    found = []
    for block in ExportTraceServiceRequest.FromString(body).resource_spans:
        resource_ = attributes_of(block.resource.attributes)
        for scoped in block.scope_spans:
            scope = attributes_of(scoped.scope.attributes)
            for span in scoped.spans:
                found.append(
                    [
                        span.trace_id.hex(),
                        span.span_id.hex(),
                        span.parent_span_id.hex(),
                        span.trace_state,
                        span.name,
                        KINDS[span.kind],
                        span.start_time_unix_nano,
                        span.end_time_unix_nano,
                        STATUSES[span.status.code],
                        span.status.message,
                        resource_,
                        attributes_of(span.attributes),
                        scoped.scope.name,
                        scoped.scope.version,
                        scope,
                        [event.time_unix_nano for event in span.events],
                        [event.name for event in span.events],
                        [attributes_of(event.attributes) for event in span.events],
                        [link.trace_id.hex() for link in span.links],
                        [link.span_id.hex() for link in span.links],
                        [link.trace_state for link in span.links],
                        [attributes_of(link.attributes) for link in span.links],
                        span.dropped_attributes_count,
                        span.dropped_events_count,
                        span.dropped_links_count,
                    ]
                )
    return found


def attributes_of(pairs: Sequence[KeyValue]) -> dict[str, str]:
    """Return attributes as texts."""
    return {pair.key: text_of(pair.value) for pair in pairs}


def text_of(value: AnyValue) -> str:
    """Return a value as text, arrays and lists as JSON."""
    name = value.WhichOneof("value")
    match name:
        case None:
            return ""
        case "string_value":
            return value.string_value
        case "bool_value":
            return "true" if value.bool_value else "false"
        case "array_value" | "kvlist_value":
            return json.dumps(plain(value))
        case _:
            return str(getattr(value, name))


def plain(value: AnyValue) -> Any:
    """Return a value as JSON has it."""
    name = value.WhichOneof("value")
    if name == "array_value":
        return [plain(item) for item in value.array_value.values]
    if name == "kvlist_value":
        return {pair.key: plain(pair.value) for pair in value.kvlist_value.values}
    return None if name is None else getattr(value, name)


class Handles:
    """Inserts rows by the driver; each thread has a handle of its own."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._own = threading.local()

    def insert(self, rows: Rows) -> None:
        """Insert some rows."""
        if not hasattr(self._own, "client"):
            self._own.client = get_client(
                interface="chdb", path=str(self._data / "clickhouse"), database="gnomon"
            )
        self._own.client.insert("spans", rows, column_names=COLUMNS)


@contextmanager
def plain_collector(data: Path, store: Store) -> Iterator[FastAPI]:
    """Serve the collector that stores each request before it answers."""
    handles = Handles(data)
    pool = ThreadPoolExecutor(WORKERS)
    app = FastAPI()

    @app.post("/v1/traces")
    async def export(request: Request) -> Response:
        body = await request.body()

        def keep() -> None:
            handles.insert(rows_of(body))

        await asyncio.get_running_loop().run_in_executor(pool, keep)
        return Response(_DONE, media_type="application/x-protobuf")

    yield app
    pool.shutdown()


@contextmanager
def batched_collector(data: Path, store: Store) -> Iterator[FastAPI]:
    """Serve the collector that answers at once and stores each second."""
    handles = Handles(data)
    waiting: Rows = []
    ending = threading.Event()

    def flush() -> None:
        some = waiting[:]
        del waiting[: len(some)]
        if some:
            handles.insert(some)

    def work() -> None:
        while not ending.wait(FLUSH_SECONDS):
            flush()
        flush()

    thread = threading.Thread(target=work)
    thread.start()
    app = FastAPI()

    @app.post("/v1/traces")
    async def export(request: Request) -> Response:
        waiting.extend(rows_of(await request.body()))
        return Response(_DONE, media_type="application/x-protobuf")

    yield app
    ending.set()
    thread.join()


@contextmanager
def bare_server(data: Path, store: Store) -> Iterator[FastAPI]:
    """Serve what only keeps the bytes."""
    pool = ThreadPoolExecutor(WORKERS)
    app = FastAPI()
    with (data / "bodies").open("ab", buffering=0) as file:

        def keep(body: bytes) -> None:
            file.write(body)
            os.fsync(file.fileno())

        @app.post("/v1/traces")
        async def export(request: Request) -> Response:
            body = await request.body()
            await asyncio.get_running_loop().run_in_executor(pool, keep, body)
            return Response(_DONE, media_type="application/x-protobuf")

        yield app
        pool.shutdown()


COLLECTORS: Mapping[str, Callable[[Path, Store], Any]] = {
    "plain": plain_collector,
    "batched": batched_collector,
    "bare": bare_server,
}


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """Serve an application on a free port; yield its address."""
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, access_log=False)
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@contextmanager
def gnomon_collector(data: Path, store: Store) -> Iterator[str]:
    """Serve Gnomon's own way from the request to the table."""
    settings = Settings(data=data, otlp_http_port=0, otlp_grpc_port=0)
    spool = Spool(data, QueueSettings(), clock=utc_now)
    spool.start()
    writer = Writer(spool, store, QueueSettings(), clock=utc_now)
    _, http = build_receivers(spool, settings, utc_now)
    writer.start()
    http.start()
    yield f"http://127.0.0.1:{http.port}"
    http.stop(10)
    writer.stop(600)
    spool.stop(60)


@contextmanager
def collecting(name: str, data: Path, store: Store) -> Iterator[str]:
    """Serve a collector by name; everything is stored when the block has ended."""
    if name == "gnomon":
        with gnomon_collector(data, store) as address:
            yield address
        return
    with COLLECTORS[name](data, store) as app, served(app) as address:
        yield address


def cpu() -> float:
    """Return the CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main(name: str) -> None:
    """Serve until told to end, then say what it took."""
    with tempfile.TemporaryDirectory(prefix="gnomon-bench-") as folder:
        data = Path(folder)
        store = open_store(Settings(data=data))
        bring_up_to_date(store)
        with collecting(name, data, store) as address:
            tell({"address": address})
            before = cpu()
            sys.stdin.readline()
        stored = cpu() - before
        (row,) = store.read("SELECT count() AS spans FROM spans FINAL", tag="bench.count")
        tell({"stored": True, "cpu": stored, "spans": row["spans"]})
        before = cpu()
        store.command("OPTIMIZE TABLE spans FINAL", tag="bench.optimize")
        tell({"merging": cpu() - before, "peak": _peak()})
        store.close()


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def tell(what: Mapping[str, Any]) -> None:
    """Print one line of JSON for the process that measures."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
