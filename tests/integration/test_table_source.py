"""Tables of the Collector's ClickHouse exporter, of three generations, read as a way in."""

from datetime import timedelta
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan

from collector.store import Reader
from collector.tables import table
from gnomon.errors import ConfigError, StoreUnavailable
from tests import samples
from tests.stores import MOSTLY_EMBEDDED
from tests.their_tables import (
    GENERATIONS,
    SECOND,
    House,
    by_otlp,
    folded,
    one_span,
    traces_table,
)
from tests.traffic import until, write

pytestmark = pytest.mark.parametrize("opened", MOSTLY_EMBEDDED, indirect=True, scope="module")
needs_samples = pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)


@needs_samples
@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_table_gives_the_steps_that_the_receiver_gives(opened, spool, generation):
    house = House(opened, spool, generation)
    sent, told = [], []
    for name in samples.names()[:: 4 if opened.embedded else 15]:
        house.send_sample(name)
        sent += samples.spans(name)
        told += [log for log in samples.logs(name) if log.event_name]
    house.look()
    reader = Reader(opened)
    traces = {span.trace_id for span in sent}
    theirs = folded(reader.spans(traces), reader.logs(traces))
    ours = folded(sent, told)
    assert [step for step in theirs if step not in ours] == []
    assert len(theirs) == len(ours)


def test_a_window_that_did_not_change_is_not_read_again(opened, spool):
    house = House(opened, spool)
    house.insert("theirs", one_span(1), one_span(2))
    assert [house.look(), house.look()] == [1, 0]
    assert house.ledger() == (2, 2, 0)


def test_a_row_that_comes_late_into_its_window_is_received_alone(opened, spool):
    house = House(opened, spool)
    house.insert("theirs", one_span(2))
    house.look()
    house.insert("theirs", one_span(1))
    house.look()
    assert house.names() == ["span 1", "span 2"]
    assert house.ledger() == (2, 2, 0)


def test_after_a_start_nothing_is_received_a_second_time(opened, spool):
    house = House(opened, spool)
    house.insert("theirs", one_span(1), one_span(2, TraceId="xyz"))
    house.look()
    house.source = house.restarted()
    house.look()
    assert house.ledger() == (2, 1, 1)


def test_a_span_that_comes_again_with_a_later_end_replaces_the_first(opened, spool):
    house = House(opened, spool)
    house.insert("theirs", one_span(1))
    house.look()
    house.insert("theirs", one_span(1, SpanName="finished", Duration=9_000))
    house.look()
    assert house.names() == ["finished"]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_of_two_rows_with_one_end_the_one_with_more_attributes_counts(opened, spool, generation):
    house = House(opened, spool, generation)
    fuller = one_span(1, SpanName="fuller", SpanAttributes={"a.b": "1", "a": "2"})
    house.insert("theirs", one_span(1, SpanAttributes={"a.b": "1"}))
    house.look()
    house.insert("theirs", fuller)
    house.look()
    assert house.names() == ["fuller"]
    house.insert("theirs", one_span(1))
    house.insert("theirs", fuller)  # neither is better than what is stored
    house.look()
    assert house.names() == ["fuller"]
    assert house.ledger() == (2, 2, 0)


def test_a_span_that_came_over_otlp_too_counts_once(opened, spool):
    house = House(opened, spool)
    for number in (1, 2):
        by_otlp(
            opened,
            house.now,
            WireSpan(
                trace_id=number.to_bytes(16, "big"),
                span_id=number.to_bytes(8, "big"),
                start_time_unix_nano=1_800_000_000 * SECOND,
                end_time_unix_nano=1_800_000_000 * SECOND + 1_000,
            ),
        )
    house.insert("theirs", one_span(1), one_span(3))
    house.look()
    assert house.ledger() == (1, 1, 0)
    assert len(house.names()) == 3


def test_while_a_request_waits_for_the_store_its_rows_are_not_read_again(opened, spool):
    house = House(opened, spool)
    house.insert("theirs", one_span(1))
    assert house.source.look() == 1
    house.insert("theirs", one_span(2))
    assert house.source.look() == 0
    write(spool, opened)
    house.look()
    assert house.ledger() == (2, 2, 0)


def test_a_window_of_many_pages_is_read_whole(opened, spool, monkeypatch):
    monkeypatch.setattr(table, "ROWS", 7)
    house = House(opened, spool)
    house.insert("theirs", *[one_span(number) for number in range(1, 51)])
    assert house.look() == 8
    assert house.ledger() == (50, 50, 0)


def test_rows_too_large_for_one_request_go_in_several(opened, spool, monkeypatch):
    monkeypatch.setattr(table, "LARGEST", 5_000)
    house = House(opened, spool)
    house.insert(
        "theirs",
        *[one_span(number, SpanAttributes={"text": "x" * 1_000}) for number in range(1, 21)],
    )
    assert house.look() > 4
    assert house.ledger() == (20, 20, 0)


def test_a_page_too_large_for_memory_is_read_in_smaller_ones(opened, spool, monkeypatch):
    house = House(opened, spool)
    house.insert("theirs", *[one_span(number) for number in range(1, 31)])
    ask, asked = opened.lines, []

    def forgetful(sql: str, *, tag: str, **given: Any) -> bytes:
        if given.get("limit", 0) > 8:
            raise StoreUnavailable("too much", code=241)
        asked.append(given.get("limit"))
        return ask(sql, tag=tag, **given)

    monkeypatch.setattr(opened, "lines", forgetful)
    house.look()
    assert house.ledger() == (30, 30, 0)
    assert max(filter(None, asked)) <= 8


def test_pages_of_large_rows_are_smaller(opened, spool, monkeypatch):
    monkeypatch.setattr(table, "ROWS", 10)
    monkeypatch.setattr(table, "_PAGE_BYTES", 6_000)
    house = House(opened, spool)
    house.insert(
        "theirs",
        *[one_span(number, SpanAttributes={"text": "x" * 1_000}) for number in range(1, 31)],
    )
    assert house.look() > 5
    assert house.ledger() == (30, 30, 0)


def test_a_stop_in_the_middle_of_a_window_loses_nothing(opened, spool, monkeypatch):
    monkeypatch.setattr(table, "ROWS", 5)
    house = House(opened, spool)
    house.insert("theirs", *[one_span(number) for number in range(1, 21)])
    put, source = house.source._put, house.source

    def last(*given: Any) -> None:
        put(*given)
        source.stop(0)

    monkeypatch.setattr(source, "_put", last)
    assert house.look() == 1
    house.source = house.restarted()
    house.look()
    assert house.ledger() == (20, 20, 0)


def test_only_named_services_are_read(opened, spool):
    house = House(opened, spool, services=("desk", "shop"))
    house.insert("theirs", one_span(1), one_span(2, ServiceName="proxy"))
    house.look()
    assert house.names() == ["span 1"]


def test_dotted_names_of_a_json_column_stay_apart_from_longer_ones(opened, spool):
    house = House(opened, spool, "json")
    attributes = {
        "gen_ai.prompt": "hello",
        "gen_ai.prompt.name": "greeting",
        "gen_ai.usage.input_tokens": 0,
        "success": False,
        "list": ["a", {"b": 1}],
    }
    house.insert("theirs", one_span(1, SpanAttributes=attributes))
    house.look()
    (span,) = Reader(opened).spans([f"{1:032x}"])
    assert span.attributes == {
        "gen_ai.prompt": "hello",
        "gen_ai.prompt.name": "greeting",
        "gen_ai.usage.input_tokens": "0",
        "success": "false",
        "list": '["a",{"b":1}]',
    }
    assert span.resource == {"service.name": "desk"}


def test_a_missing_table_is_named_with_its_setting(opened, spool):
    house = House(opened, spool)
    opened.command("DROP TABLE theirs", tag="tests.drop")
    with pytest.raises(ConfigError, match="GNOMON_SOURCE__TRACES=theirs: there is no such table"):
        house.restarted().start()


def test_a_table_of_another_kind_is_refused_by_what_it_lacks(opened, spool):
    house = House(opened, spool)
    opened.command("ALTER TABLE theirs DROP COLUMN Duration", tag="tests.alter")
    with pytest.raises(ConfigError, match="the table lacks Duration"):
        house.restarted().start()


def test_columns_of_other_types_are_named_with_the_mend(opened, spool):
    house = House(opened, spool)
    opened.command("ALTER TABLE theirs MODIFY COLUMN Duration Float64", tag="tests.alter")
    opened.command("ALTER TABLE their_logs MODIFY COLUMN Body Nullable(String)", tag="tests.alter")
    traces, logs = house.restarted()._tables
    with pytest.raises(ConfigError, match=r"types: Duration \(Float64\); expected is .* [(]a view"):
        traces.open()
    with pytest.raises(ConfigError, match=r"SOURCE__LOGS.*Body \(Nullable\(String\)\)"):
        logs.open()


def test_gnomons_own_views_are_no_source(opened, spool):
    house = House(opened, spool)
    for name in ("otel_traces", f"{opened.database}.otel_traces"):
        house.settings = house.settings.model_copy(update={"traces": name})
        with pytest.raises(ConfigError, match=f"TRACES={name}: .* what Gnomon itself has stored"):
            house.restarted().start()


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_view_is_read_like_a_table(opened, spool, generation):
    house = House(opened, spool, generation)
    opened.command("DROP VIEW IF EXISTS seen", tag="tests.drop")
    opened.command(
        "CREATE VIEW seen AS SELECT * EXCEPT (SpanName), upper(SpanName) AS SpanName FROM theirs",
        tag="tests.create",
    )
    house.settings = house.settings.model_copy(update={"traces": "seen"})
    house.source = house.restarted()
    house.insert("theirs", one_span(1), one_span(2))
    house.look()
    assert house.names() == ["SPAN 1", "SPAN 2"]


def test_a_table_made_anew_in_another_generation_is_read_on(opened, spool):
    house = House(opened, spool)
    house.insert("theirs", one_span(1))
    house.look()
    opened.command("DROP TABLE theirs", tag="tests.drop")
    with pytest.raises(ConfigError, match="GNOMON_SOURCE__TRACES=theirs: there is no such table"):
        house.look()
    opened.command(traces_table("json"), tag="tests.create")
    house.insert("theirs", one_span(2, SpanAttributes={"a.b": 1}))
    house.look()
    (span,) = Reader(opened).spans([f"{2:032x}"])
    assert (house.names(), span.attributes) == (["span 1", "span 2"], {"a.b": "1"})


def test_a_table_that_can_not_be_read_keeps_no_other_waiting(opened, spool):
    house = House(opened, spool)
    opened.command("DROP TABLE theirs", tag="tests.drop")
    house.insert(
        "their_logs",
        {
            "Timestamp": "1800000000",
            "TraceId": f"{1:032x}",
            "LogAttributes": {"event.name": "gen_ai.choice"},
        },
    )
    with pytest.raises(ConfigError, match="TRACES=theirs"):
        house.look()
    write(spool, opened)
    assert house.ledger("logs/table/their_logs") == (1, 1, 0)


def test_a_row_at_the_edge_of_the_lookback_is_read_and_one_before_it_is_not(opened, spool):
    house = House(opened, spool, lookback=timedelta(seconds=100))
    now = house.now // SECOND + 3_600
    house.insert(
        "theirs",
        one_span(1, second=now - 100),
        one_span(2, second=now - 111),
        one_span(3, second=now),
    )
    house.look()
    assert house.names() == ["span 1", "span 3"]


def test_a_lookback_longer_than_time_itself_reads_everything(opened, spool):
    house = House(opened, spool, lookback=timedelta.max)
    house.timed(1, 5 * SECOND, 6 * SECOND)
    house.look()
    assert house.names() == ["span 1"]


def test_a_table_that_went_away_is_told_and_waited_for(opened, spool):
    house = House(opened, spool, every=timedelta(0))
    running = house.restarted()
    running.start()
    try:
        opened.command("RENAME TABLE theirs TO elsewhere", tag="tests.rename")
        until(lambda: "the tables are not read" in (running.problem() or ""))
        opened.command("RENAME TABLE elsewhere TO theirs", tag="tests.rename")
        until(lambda: running.problem() is None)
    finally:
        running.stop(20)
