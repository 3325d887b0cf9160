from gnomon.clock import Nanos
from gnomon.model import Kind, RunId, SpanId, Step, TraceId
from gnomon.web.compare_task import rows


def call(tool: str, arguments: str = "{}", result: str = "{}", error: str | None = None) -> Step:
    return Step(
        run_id=RunId("r"), trace_id=TraceId("t"), span_id=SpanId("s"), started_at=Nanos(0),
        ended_at=Nanos(0), duration_ns=0, kind=Kind.TOOL, counted=True, tool_name=tool,
        tool_arguments=arguments, tool_result=result, error_type=error,
        status="error" if error else "ok",
    )  # fmt: skip


def words(old: list[Step], new: list[Step]) -> list[str]:
    return [row.word for row in rows(old, new, base="v1", cand="v2")]


def test_calls_are_lined_up_by_the_names_of_the_tools() -> None:
    old = [call("look"), call("pay"), call("close")]
    new = [call("look"), call("check"), call("pay"), call("close")]
    found = rows(old, new, base="v1", cand="v2")
    assert [row.word for row in found] == ["same", "only v2", "same", "same"]
    assert [(row.base and row.base.tool, row.cand and row.cand.tool) for row in found] == [
        ("look", "look"), (None, "check"), ("pay", "pay"), ("close", "close"),
    ]  # fmt: skip
    assert words(new, old)[1] == "only v1"


def test_what_differs_between_two_calls_is_named() -> None:
    assert words([call("pay", '{"amount": 30}')], [call("pay", '{"amount": 45}')]) == [
        "other arguments"
    ]
    assert words([call("pay", result="1")], [call("pay", result="2")]) == ["other result"]
    assert words([call("pay")], [call("pay", error="timeout")]) == ["other result"]
    assert words([call("pay", "1", "1")], [call("pay", "2", "2")]) == ["other arguments and result"]
    assert words([call("pay")], [call("refund")]) == ["another tool"]


def test_the_order_of_json_keys_is_no_difference() -> None:
    old, new = call("pay", '{"a": 1, "b": 2}'), call("pay", '{"b": 2, "a": 1}')
    assert words([old], [new]) == ["same"]


def test_a_run_without_calls_has_no_rows() -> None:
    assert rows([], [], base="v1", cand="v2") == []
