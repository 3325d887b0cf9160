"""Rows of every kind in somebody's tables: what each becomes, and that a bad one loses itself alone."""

from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan
from structlog.testing import capture_logs

from collector.store import Reader
from gnomon.errors import StoreUnavailable
from gnomon.store import Store
from tests.stores import MOSTLY_EMBEDDED
from tests.their_tables import GENERATIONS, House, by_otlp, folded, one_span
from tests.traffic import rows

pytestmark = pytest.mark.parametrize("opened", MOSTLY_EMBEDDED, indirect=True, scope="module")

SECOND = 1_000_000_000
BASE = 1_800_000_000 * SECOND
NOW = 1_900_003_600 * SECOND
"""When a house looks for the first time."""
LAST = 2**63 - 1

TIMES = {
    "end before start": (BASE, BASE - 500_000),
    "start 0": (0, BASE),
    "end 0": (BASE, 0),
    "start beyond what is signed": (2**64 - 1, 5),
    "end beyond what is signed": (BASE, 2**64 - 400),
    "both beyond what is signed": (2**63 + 5, 2**63 + 10),
    "the last nanosecond": (LAST, LAST),
    "over the edge": (LAST, 2**63 + 5),
    "in ten minutes": (NOW + 600 * SECOND, NOW + 601 * SECOND),
    "in two days": (NOW + 172_800 * SECOND, NOW + 172_801 * SECOND),
    "in thirty years": (NOW + 2**60, NOW + 2**60),
    "nothing odd": (BASE, BASE + 5),
}


def found(store: Store) -> dict[str, dict[str, Any]]:
    """Return the spans by name, without what tells one road from the other."""
    return {
        row["name"]: {
            key: row[key]
            for key in ("parent_span_id", "start", "end", "attributes", "events_time", "kind")
        }
        for row in rows(store)
    }


@pytest.mark.parametrize(
    ("generation", "duration"), [*[(one, "UInt64") for one in GENERATIONS], ("map", "Int64")]
)
def test_times_of_a_row_become_what_they_become_over_otlp(opened, spool, generation, duration):
    house = House(opened, spool, generation, duration=duration)
    spans = []
    for number, (start, end) in enumerate(TIMES.values(), start=1):
        house.timed(number, start, end)
        spans.append(
            WireSpan(
                trace_id=number.to_bytes(16, "big"),
                span_id=number.to_bytes(8, "big"),
                name=f"span {number}",
                start_time_unix_nano=start,
                end_time_unix_nano=end,
            )
        )
    house.look()
    theirs, steps = found(opened), stepped(opened, len(spans))
    assert house.ledger() == (len(TIMES), len(TIMES), 0)
    opened.command("TRUNCATE TABLE spans", tag="tests.truncate")
    by_otlp(opened, house.now, *spans)
    assert theirs == found(opened)
    assert steps == stepped(opened, len(spans))
    flagged = dict(zip(TIMES, steps, strict=True))
    assert "bad_clock" in flagged["end before start"][1]
    assert "bad_clock" in flagged["in two days"][1]
    assert flagged["nothing odd"] == (5, ())


def stepped(store: Store, count: int) -> list[tuple[int, tuple[str, ...]]]:
    """Return duration and flags of each step."""
    traces = [f"{number:032x}" for number in range(1, count + 1)]
    steps = folded(list(Reader(store).spans(traces)), [])
    return [(step.duration_ns, step.flags) for step in steps]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_rows_of_odd_times_are_received_once(opened, spool, generation):
    house = House(opened, spool, generation)
    for number, (start, end) in enumerate([*TIMES.values(), (0, 0)], start=1):
        house.timed(number, start, end)
    house.look()
    for number, (start, end) in enumerate([*TIMES.values(), (0, 0)], start=101):
        house.timed(number, start, end)  # each window has grown
    house.look()
    house.source = house.restarted()
    house.look()
    many = 2 * len(TIMES) + 2
    assert house.ledger() == (many, many - 2, 2)
    assert house.rejected() == {"invalid_time": 2}


PARENTS = {"xyz": "orphan", "abc": "orphan", "0a" * 4: "orphan", "": "", "00" * 8: "", "0a" * 8: ""}


def test_a_parent_that_is_no_id_makes_an_orphan_as_over_otlp(opened, spool):
    house = House(opened, spool)
    for number, parent in enumerate(PARENTS, start=1):
        house.insert("theirs", one_span(number, ParentSpanId=parent))
    house.look()
    flags = [row["attributes"].get("gnomon.ingest.flags", "") for row in rows(opened)]
    assert flags == list(PARENTS.values())


IDS = {
    "odd hex": {"TraceId": "abc"},
    "short": {"TraceId": "ab" * 8},
    "empty": {"TraceId": ""},
    "no hex": {"TraceId": "g" * 32},
    "spaced": {"TraceId": f"{'ab ' * 16}"},
    "zero": {"TraceId": "0" * 32},
    "nul": {"TraceId": "\0" * 32},
    "odd span": {"SpanId": "abc"},
    "empty span": {"SpanId": ""},
    "zero span": {"SpanId": "0" * 16},
    "quoted span": {"SpanId": "'\"\\\n\t"},
}


@pytest.mark.parametrize("generation", GENERATIONS)
def test_rows_of_bad_ids_are_rejected_alone_and_counted_once(opened, spool, generation):
    house = House(opened, spool, generation)
    house.insert("theirs", one_span(1), *[one_span(2, **ids) for ids in IDS.values()])
    house.look()
    house.insert("theirs", one_span(3))
    house.look()
    assert house.names() == ["span 1", "span 3"]
    assert house.rejected() == {"invalid_trace_id": 7, "invalid_span_id": 4}
    assert house.ledger() == (13, 2, 11)


def test_upper_case_ids_are_the_same_ids(opened, spool):
    house = House(opened, spool)
    house.insert("theirs", one_span(1, TraceId="AB" * 16, SpanId="CD" * 8))
    house.look()
    house.insert("theirs", one_span(2))
    house.look()
    assert house.ledger() == (2, 2, 0)
    assert {row["trace_id"] for row in rows(opened)} == {"ab" * 16, f"{2:032x}"}


def raw(house: House, number: int, **columns: str) -> None:
    """Insert a row whose columns are SQL expressions."""
    given = {
        "Timestamp": f"fromUnixTimestamp64Nano(toInt64({BASE}))",
        "TraceId": f"'{number:032x}'",
        "SpanId": f"'{number:016x}'",
        "SpanName": f"'span {number}'",
        "ServiceName": "'desk'",
        "Duration": "1000",
        **columns,
    }
    names = ", ".join(f"`{name}`" for name in given)
    house.store.command(
        f"INSERT INTO theirs ({names}) SELECT {', '.join(given.values())}", tag="tests.insert"
    )


HOSTILE = {
    "text that is no UTF-8": {"SpanName": "unhex('61ff62')"},
    "attribute that is no UTF-8": {"SpanAttributes": "map('k', unhex('61ff62'))"},
    "key that is no UTF-8": {"SpanAttributes": "map(unhex('61ff62'), 'v')"},
    "resource that is no UTF-8": {"ResourceAttributes": "map('k', unhex('ff'))"},
    "NUL": {"SpanName": "'a\\0b'", "SpanAttributes": "map('k\\0', '\\0')"},
    "10 MB": {"SpanAttributes": "map('k', repeat('0123456789', 1000000))"},
    "one key twice": {"SpanAttributes": "map('k', 'first', 'k', 'second')"},
    "unknown words": {"SpanKind": "'Middle'", "StatusCode": "'Perhaps'"},
    "own flags": {"SpanAttributes": "map('gnomon.ingest.flags', 'orphan')"},
    "many attributes": {
        "SpanAttributes": "mapFromArrays(arrayMap(n -> toString(n), range(2000)),"
        " arrayMap(n -> 'v', range(2000)))"
    },
    "odd event": {
        "Events.Timestamp": "[fromUnixTimestamp64Nano(toInt64(-1))]",
        "Events.Name": "[unhex('ff')]",
        "Events.Attributes": "[map('k', 'v')]",
    },
    "odd link": {
        "Links.TraceId": "['xyz']",
        "Links.SpanId": "['']",
        "Links.TraceState": "['']",
        "Links.Attributes": "[map()]",
    },
}


def test_hostile_content_is_stored_and_marked_as_over_otlp(opened, spool):
    house = House(opened, spool)
    for number, columns in enumerate(HOSTILE.values(), start=1):
        raw(house, number, **columns)
    house.look()
    raw(house, 50)
    house.look()
    assert house.ledger() == (len(HOSTILE) + 1,) * 2 + (0,)
    kept = dict(zip(HOSTILE, rows(opened), strict=False))
    flags = {
        name: row["attributes"].get("gnomon.ingest.flags", "")
        for name, row in kept.items()
        if "gnomon.ingest.flags" in row["attributes"]
    }
    assert flags == {
        "text that is no UTF-8": "repaired_utf8",
        "attribute that is no UTF-8": "repaired_utf8",
        "key that is no UTF-8": "repaired_utf8",
        "resource that is no UTF-8": "repaired_utf8",
        "10 MB": "truncated",
        "many attributes": "truncated",
        "odd event": "bad_clock,repaired_utf8",
    }
    assert kept["text that is no UTF-8"]["name"] == "a\ufffdb"
    assert kept["key that is no UTF-8"]["attributes"]["a\ufffdb"] == "v"
    assert kept["NUL"]["name"] == "a\0b"
    assert kept["NUL"]["attributes"] == {"k\0": "\0"}
    assert len(kept["10 MB"]["attributes"]["k"]) == 1024**2
    assert kept["one key twice"]["attributes"] == {"k": "second"}
    unknown = kept["unknown words"]
    assert (unknown["kind"], unknown["status_code"]) == ("Unspecified", "Unset")
    assert kept["own flags"]["attributes"] == {"gnomon.ingest.flags.sent": "orphan"}


UNEQUAL = """
CREATE VIEW unequal AS SELECT * EXCEPT (`Events.Name`),
    if(SpanName = 'span 2', ['one', 'two'], `Events.Name`) AS `Events.Name` FROM theirs
"""


def test_a_row_that_can_not_be_written_loses_itself_alone(opened, spool):
    house = House(opened, spool)
    opened.command("DROP VIEW IF EXISTS unequal", tag="tests.drop")
    opened.command(UNEQUAL, tag="tests.create")
    house.settings = house.settings.model_copy(update={"traces": "unequal"})
    house.source = house.restarted()
    house.insert("theirs", *[one_span(number) for number in range(1, 31)])
    with capture_logs() as told:
        house.look()
    (lost,) = [line for line in told if line["event"] == "table_row_refused"]
    assert (lost["trace_id"], lost["span_id"]) == (f"{2:032x}", f"{2:016x}")
    assert "desk" not in str(lost), "what a row holds may be personal"
    assert len(house.names()) == 29
    assert house.ledger("traces/table/unequal") == (30, 29, 1)
    house.insert("theirs", one_span(40))
    house.look()
    house.source = house.restarted()
    house.look()
    assert "span 40" in house.names()
    assert house.ledger("traces/table/unequal") == (31, 30, 1)
    assert house.rejected("traces/table/unequal") == {"undecodable": 1}


def test_a_lost_row_of_any_bytes_is_named_in_text_that_a_log_can_hold(opened, spool):
    house = House(opened, spool)
    opened.command("DROP VIEW IF EXISTS unequal", tag="tests.drop")
    opened.command(UNEQUAL, tag="tests.create")
    house.settings = house.settings.model_copy(update={"traces": "unequal"})
    house.source = house.restarted()
    raw(house, 2, TraceId="unhex('61ff')")
    with capture_logs() as told:
        house.look()
    (lost,) = [line for line in told if line["event"] == "table_row_refused"]
    assert lost["trace_id"].encode() == b"a\\udcff"


def test_a_store_that_is_away_fails_the_look_and_loses_nothing(opened, spool, monkeypatch):
    house = House(opened, spool)
    house.insert("theirs", one_span(1))

    def away(*_given: object, **_more: object) -> bytes:
        raise StoreUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(opened, "lines", away)
        with pytest.raises(StoreUnavailable):
            house.look()
    house.look()
    assert house.ledger() == (1, 1, 0)
