"""What counts as a failure, its class and its words: rules E1 to E7."""

import pytest

from tests.spans import make_event, make_span, read, steps_of


def exception(**attributes: str):
    return make_event("exception", 0.5, **attributes)


def test_e1_an_error_status_is_an_error():
    assert read({}, status_code="Error").status == "error"
    assert read({}, status_code="Ok").status == "ok"
    assert read({}).status == "ok"


@pytest.mark.parametrize(
    "attributes",
    [
        {"error.type": "TimeoutError"},
        {"langfuse.observation.level": "ERROR"},
        {"gen_ai.tool.status": "error"},
        {"success": False},
        {"success": "False"},
        {"gen_ai.task.status": "failure"},
    ],
)
def test_e2_marks_make_an_unset_span_an_error(attributes):
    assert read(attributes).status == "error"
    assert read(attributes, status_code="Ok").status == "ok"


def test_e2_harmless_marks_are_no_errors():
    assert read({"langfuse.observation.level": "WARNING", "success": True}).status == "ok"


def test_e3_a_handled_exception_is_no_error():
    step = read({}, status_code="Ok", events=[exception(exception__type="ValueError")])
    assert (step.status, step.error_type) == ("ok", None)


def test_e4_claude_codes_tool_takes_its_end_from_its_execution():
    scope = "com.anthropic.claude_code.tracing"
    tool = make_span(1, scope_name=scope, attributes={"span.type": "tool", "tool_name": "Bash"})
    execution = make_span(
        2,
        1,
        scope_name=scope,
        attributes={
            "span.type": "tool.execution",
            "success": False,
            "error.type": "ShellError",
            "error": "exit 1",
        },
    )
    step = steps_of(tool, execution)[1]
    assert (step.status, step.error_type, step.error_message) == ("error", "ShellError", "exit 1")
    assert step.status_from == execution.span_id


@pytest.mark.parametrize(
    ("attributes", "events", "name"),
    [
        ({"error.type": "a.B", "error_class": "C"}, [exception(exception__type="D")], "B"),
        (
            {"error_class": "C"},
            [exception(exception__type="openai.RateLimitError")],
            "RateLimitError",
        ),
        ({"error_class": "C", "error_type": "D"}, [], "C"),
        ({"error_type": "D", "error.code": "E"}, [], "D"),
        ({"error.code": "rate_limit_exceeded", "status_code": "429"}, [], "rate_limit_exceeded"),
        ({"status_code": "429"}, [], "429"),
        ({"http.response.status_code": "500"}, [], "500"),
        ({"error.type": "<class 'a.b.C'>"}, [], "C"),
        ({"error.type": "_OTHER"}, [], "_OTHER"),
        ({"error.type": "500"}, [], "500"),
        ({}, [], None),
    ],
)
def test_e5_the_class_is_found_in_order_and_cut_to_its_last_part(attributes, events, name):
    assert read(attributes, status_code="Error", events=events).error_type == name


def test_e5_the_last_exception_event_counts():
    events = [
        make_event("exception", 2, exception__type="Second"),
        make_event("exception", 1, exception__type="First"),
    ]
    assert read({}, status_code="Error", events=events).error_type == "Second"


@pytest.mark.parametrize("generic", ["Exception", "Error", "ERROR"])
def test_e6_a_generic_class_gives_way_to_the_one_in_the_message(generic):
    step = read(
        {"error.type": generic},
        status_code="Error",
        status_message="RateLimitError('slow down')\n\nTraceback (most recent call last):\n x",
    )
    assert step.error_type == "RateLimitError"
    assert step.error_message == "RateLimitError('slow down')"


def test_e7_the_message_is_found_in_order_and_short():
    event = exception(exception__type="E", exception__message="from the event")
    failed = {"status_code": "Error"}
    assert (
        read({"error": "x"}, **failed, status_message="status", events=[event]).error_message
        == "status"
    )
    assert read({"error": "x"}, **failed, events=[event]).error_message == "from the event"
    langfuse = {"langfuse.observation.status_message": "l", "error.message": "m"}
    assert read(langfuse, **failed).error_message == "l"
    assert read({"error.message": "m", "error": "e"}, **failed).error_message == "m"
    assert read({"error": "e"}, **failed).error_message == "e"
    assert len(read({"error": "e" * 5000}, **failed).error_message) == 2000
