"""A data directory with a million spans in the tables as they are, and one run of 50,000 spans.

The first spans go through the real way: queue, writer, roll-up. The rest are their copies, made by
ClickHouse in the same tables: each under ids of its own, further back in time, under another agent,
version, customer and order, so that every column keeps a realistic number of values. Of each run two
versions are written, open and settled, as the roll-up writes them; nothing is merged by hand. The
judge is told that it has seen them all.

`python -m tests.bench.million FOLDER SPANS LARGE` makes one and prints the id of the large run.
"""

import datetime as dt
import json
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.folding.lot import TraceFolding
from collector.folding.rollup import RollUp
from collector.queue.spool import Spool
from collector.store import Reader
from collector.store import Writer as Rows
from collector.watched import watched
from collector.writer import Writer
from gnomon.cli.demo import demo_config
from gnomon.clock import Nanos, to_nanos, utc_now
from gnomon.config import QueueSettings, Settings
from gnomon.store import Store, open_store
from gnomon.store.migrate import bring_up_to_date
from gnomon.watch import parse
from tests.bench.ingest import as_request
from tests.bench.load import templates
from tests.traffic import count

COPIES = 20
"""Of so many copies one went through the real way."""

DAYS = 30
AGENTS = ("refund-desk", "billing-desk", "code-review", "triage", "returns-eu")
CONFIG = "gnomon.yaml"
SECONDS = DAYS * 86_400 // COPIES
"""What the first copy spreads over; each further one lies so much further back."""

LARGE = b"\x1a" * 16
"""The trace of the large run."""

_LONGEST_RUN = 600
LATER = dt.timedelta(hours=2)
"""Longer than any quiet period: everything settles."""

_ID = "lower(hex(MD5(concat({}, '/', {{copy:String}}))))"
_BACK = "toIntervalSecond({shift:Int64})"
_ORDER = "replaceRegexpAll({}, '\\\\bO-[0-9A-Z]{{6}}', '\\\\0' || {{mark:String}})"
_NAME = "if(isNull({}), NULL, {{agent:String}})"
_OWN = "if(isNull({0}), NULL, concat({0}, {{mark:String}}))"
_KEYS = "mapApply((k, v) -> (k, if(k = 'topic', v, concat(v, {mark:String}))), business_keys)"
_VERSION = "if(isNull(agent_version), NULL, concat(agent_version, {release:String}))"

_MOVED: Mapping[str, str] = {
    **{
        name: f"{name} - {_BACK}"
        for name in ("start", "end", "started_at", "ended_at", "last_received_at")
    },
    "trace_id": _ID.format("trace_id"),
    "run_id": _ID.format("run_id"),
    "trace_ids": f"arrayMap(t -> {_ID.format('t')}, trace_ids)",
    "agent_name": _NAME.format("agent_name"),
    "agent_version": _VERSION,
    "service_name": "{agent:String}",
    "agents": "[{agent:String}]",
    "conversation_id": _OWN.format("conversation_id"),
    "user_id": _OWN.format("user_id"),
    "business_keys": _KEYS,
    "input": _ORDER.format("input"),
    "output": _ORDER.format("output"),
    "tool_arguments": _ORDER.format("tool_arguments"),
}
"""What a copy has of its own, by column."""

_OPEN = {"state": "'open'", "settled_at": "NULL", "folded_at": "folded_at - 1"}
_SETTLED = {"state": "'settled'", "settled_at": f"settled_at - {_BACK}"}


def fill(folder: Path, spans: int, large: int) -> str:
    """Make the data; return the id of the large run."""
    (folder / CONFIG).write_text(demo_config(), encoding="utf-8")
    store = open_store(Settings(data=folder))
    bring_up_to_date(store)
    since = utc_now() - dt.timedelta(seconds=SECONDS)
    first = list(_first(max(1, spans // COPIES), since))
    _store_and_fold(folder, store, first)
    for copy in range(1, COPIES):
        _copy(store, copy, to_nanos(since))
    _store_and_fold(folder, store, _one_large(first, large))
    leave_unjudged(store)
    store.close()
    return LARGE.hex()


def _first(spans: int, since: dt.datetime) -> Iterator[bytes]:
    """Yield requests of the demo's agent over the newest part of the time."""
    gap = (SECONDS - _LONGEST_RUN) / max(1, spans // 10)
    for one in templates(max(1, spans // 100), since=since, gap=gap):
        yield one.body


def _one_large(bodies: Sequence[bytes], spans: int) -> Iterator[bytes]:
    """Yield requests whose spans are all one run: all roots lie under the first of them."""
    dice = random.Random(1)
    root = b""
    while True:
        for body in bodies:
            request = ExportTraceServiceRequest.FromString(body)
            root = _in_one_trace(request, root, dice)
            yield request.SerializeToString()
            spans -= count(request)
            if spans <= 0:
                return


def _in_one_trace(request: ExportTraceServiceRequest, root: bytes, dice: random.Random) -> bytes:
    """Put all spans into one trace under fresh ids; return the span that holds them."""
    ids: dict[bytes, bytes] = {}
    spans = [
        span
        for block in request.resource_spans
        for scoped in block.scope_spans
        for span in scoped.spans
    ]
    for span in spans:
        ids[span.span_id] = dice.randbytes(8)
    for span in spans:
        span.trace_id = LARGE
        span.span_id = ids[span.span_id]
        span.parent_span_id = ids.get(span.parent_span_id, root)
        root = root or span.span_id * (not span.parent_span_id)
    return root


def _store_and_fold(folder: Path, store: Store, bodies: Iterable[bytes]) -> None:
    """Send requests the real way, until their runs are settled."""
    spool = Spool(folder, QueueSettings(), clock=utc_now)
    spool.start()
    requests = (as_request(ExportTraceServiceRequest.FromString(body)) for body in bodies)
    for future in [spool.put(request) for request in requests]:
        future.result()
    writer = Writer(spool, store, QueueSettings(), clock=utc_now)
    writer.start()
    writer.stop(600)
    folding = TraceFolding(Reader(store), Rows(store), watched(parse(demo_config())))
    for moment in (utc_now(), utc_now() + LATER):
        rollup = RollUp(folding, spool.touched, clock=partial(_same, moment))
        while rollup.pass_once():
            pass
    spool.stop(60)


def _same(moment: dt.datetime) -> dt.datetime:
    return moment


def _copy(store: Store, copy: int, since: Nanos) -> None:
    """Write one copy of everything, one insert a table and version."""
    given: dict[str, str | int] = {
        "copy": str(copy),
        "shift": copy * SECONDS,
        "mark": f"{copy:02}",
        "agent": AGENTS[copy % len(AGENTS)],
        "release": f".{copy // len(AGENTS)}",
        "since": since,
    }
    for table, more in (("spans", {}), ("steps", {}), ("runs", _OPEN), ("runs", _SETTLED)):
        moved = {**_MOVED, **more}
        columns = _columns(store, table)
        start = "start" if table == "spans" else "started_at"
        sql = (
            f"INSERT INTO {table} ({', '.join(f'`{name}`' for name in columns)})"
            f" SELECT {', '.join(moved.get(name, f'`{name}`') for name in columns)}"
            f" FROM {table} FINAL"
            f" WHERE {start} >= fromUnixTimestamp64Nano({{since:Int64}}, 'UTC')"
        )
        store.command(_bound(sql, given), tag=f"bench.copy.{table}")


def leave_unjudged(store: Store) -> None:
    """Note all windows as judged: a month of runs written at once would keep the judge busy."""
    end = f"toStartOfMinute(now('UTC') + toIntervalSecond({int(2 * LATER.total_seconds())}))"
    store.command(
        f"INSERT INTO job_ledger SELECT 'judge', {end} - toIntervalDay(60), {end}, 0, now('UTC')",
        tag="bench.judged",
    )


def _columns(store: Store, table: str) -> Sequence[str]:
    rows = store.read(
        "SELECT name FROM system.columns WHERE database = currentDatabase()"
        " AND table = {table:String} AND default_kind IN ('', 'DEFAULT') ORDER BY position",
        tag="bench.columns",
        table=table,
    )
    return [row["name"] for row in rows]


def _bound(sql: str, given: Mapping[str, str | int]) -> str:
    """Put values where a SELECT would have parameters: an INSERT takes none here."""
    for name, value in given.items():
        kind = "Int64" if isinstance(value, int) else "String"
        sql = sql.replace(f"{{{name}:{kind}}}", str(value) if kind == "Int64" else f"'{value}'")
    return sql


if __name__ == "__main__":
    made = fill(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write(json.dumps({"large": made}) + "\n")
