from dataclasses import replace

from inline_snapshot import snapshot

from collector.reading import statements as st
from collector.spans import LogRecord
from collector.views import FACETS, RunFilter, RunPosition
from gnomon.clock import Nanos
from gnomon.model import Origin, RunState, RunStatus
from gnomon.store.statements import columns


def compiled(where: RunFilter) -> tuple[str, dict[str, object]]:
    found = st.where(where)
    return found.text, dict(found.params)


def test_a_filter_that_asks_nothing_is_true() -> None:
    assert compiled(RunFilter(origin=None)) == ("true", {})


def test_what_nobody_asked_for_is_production_only() -> None:
    assert compiled(RunFilter()) == snapshot(("origin = {origin:String}", {"origin": "production"}))


def test_every_condition_goes_through_a_typed_parameter() -> None:
    where = RunFilter(
        since=Nanos(1), until=Nanos(2), status=RunStatus.ERROR, state=RunState.OPEN, agent="a",
        version="v", environment="e", error_type="E", model="m", tool="t", conversation_id="c",
        business_keys={"order_id": "1", "ticket": "2"}, text="x'; DROP", origin=Origin.REPLAY,
    )  # fmt: skip
    text, params = compiled(where)
    assert text == snapshot(
        "started_at >= fromUnixTimestamp64Nano({since:Int64}, 'UTC') AND started_at < fromUnixTimestamp64Nano({until:Int64}, 'UTC') AND origin = {origin:String} AND status = {status:String} AND state = {state:String} AND agent_name = {agent_name:String} AND agent_version = {agent_version:String} AND environment = {environment:String} AND (has(error_types, {error_type:String}) OR error_type = {error_type:String}) AND has(models, {models:String}) AND has(tools, {tools:String}) AND conversation_id = {conversation_id:String} AND search LIKE lowerUTF8({text:String}) AND has(mapValues(business_keys), {value0:String}) AND business_keys[{key0:String}] = {value0:String} AND has(mapValues(business_keys), {value1:String}) AND business_keys[{key1:String}] = {value1:String}"
    )
    assert params == snapshot(
        {
            "since": 1,
            "until": 2,
            "origin": "replay",
            "status": "error",
            "state": "open",
            "agent_name": "a",
            "agent_version": "v",
            "environment": "e",
            "error_type": "E",
            "models": "m",
            "tools": "t",
            "conversation_id": "c",
            "text": "%x'; DROP%",
            "key0": "order_id",
            "value0": "1",
            "key1": "ticket",
            "value1": "2",
        }
    )
    assert "DROP" not in text


def test_a_text_is_looked_for_as_it_is() -> None:
    _, params = compiled(RunFilter(text=r"50%_\ off", origin=None))
    assert params == {"text": r"%50\%\_\\ off%"}


def test_a_facet_is_counted_under_the_conditions_of_all_others() -> None:
    where = RunFilter(status=RunStatus.OK, agent="a", model="m", conversation_id="c", origin=None)
    found, others = st.faceted(where)
    assert found.text == "conversation_id = {conversation_id:String}"
    assert found.params == st.where(where).params
    assert set(others) == set(FACETS)
    assert others["status"] == "agent_name = {agent_name:String} AND has(models, {models:String})"
    assert others["model"] == "status = {status:String} AND agent_name = {agent_name:String}"
    assert others["tool"] == st.where(replace(where, conversation_id=None)).text
    assert set(st.faceted(RunFilter(origin=None))[1].values()) == {"true"}


def test_places_come_as_one_json_text() -> None:
    found = st.where(RunFilter(origin=None, places=[RunPosition(Nanos(5), "r'1")]))
    assert found.params == {"places": '[[5,"r\'1"]]'}
    assert " ".join(found.text.split()) == snapshot(
        "(started_at, run_id) IN ( SELECT fromUnixTimestamp64Nano(place.1, 'UTC'), place.2 FROM (SELECT arrayJoin(JSONExtract({places:String}, 'Array(Tuple(Int64, String))')) AS place) )"
    )


def test_a_position_bounds_the_time_first() -> None:
    found = st.where(RunFilter(origin=None))
    st.behind(found, RunPosition(Nanos(5), "r"), newer=False)
    assert found.text == snapshot(
        "started_at <= fromUnixTimestamp64Nano({position:Int64}, 'UTC') AND (started_at, run_id) < (fromUnixTimestamp64Nano({position:Int64}, 'UTC'), {position_id:String})"
    )
    newer = st.where(RunFilter(origin=None))
    st.behind(newer, RunPosition(Nanos(5), "r"), newer=True)
    assert newer.text == snapshot(
        "started_at >= fromUnixTimestamp64Nano({position:Int64}, 'UTC') AND (started_at, run_id) > (fromUnixTimestamp64Nano({position:Int64}, 'UTC'), {position_id:String})"
    )


def test_columns_are_the_fields_of_the_row_type_with_moments_as_numbers() -> None:
    assert columns(LogRecord) == snapshot(
        "trace_id, span_id, toUnixTimestamp64Nano(time) AS time, toUnixTimestamp64Nano(observed) AS observed, event_name, severity, body, resource, attributes, scope_name"
    )


def test_a_list_of_steps_names_the_long_texts_it_leaves_out() -> None:
    short = st.step_columns(whole=False)
    assert short.count("if(length(tool_result) > 16384, NULL, tool_result) AS tool_result") == 1
    for name in st.LARGE:
        assert f"'{name}'" in short
    assert "left_out" not in st.step_columns(whole=True)
