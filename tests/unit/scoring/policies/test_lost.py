"""Whether what failed may have taken effect all the same, in whatever words it is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model import JsonValue, Step
from scoring.policies.check import check_run
from scoring.policies.endings import Ending, ending_of
from scoring.policies.recorded import read
from tests.unit.scoring.policies.test_check import policy, run, step

LOST = [
    "timeout",
    "timed out",
    "read timed out",
    "ReadTimeout",
    "The service took too long to respond",
    "took longer than 30 seconds",
    "no response from server after 30s",
    "No response received",
    "The server did not respond in time",
    "payment gateway didn't respond",
    "HTTP 408",
    "HTTP/1.1 502",
    "Request failed with status code 504",
    "status: 503",
    "502 Bad Gateway",
    "503 Service Unavailable",
    "Server error '502 Bad Gateway' for url",
    "StatusCode.UNAVAILABLE",
    "upstream request timeout",
    "upstream connect error or disconnect/reset before headers",
    "connection reset by peer",
    "ConnectionResetError(104)",
    "Connection aborted.",
    "connection closed before a response",
    "An existing connection was forcibly closed by the remote host",
    "Remote end closed connection without response",
    "Server disconnected without sending a response.",
    "peer closed connection without sending complete message body (incomplete chunked read)",
    "socket hang up",
    "ECONNRESET",
    "ETIMEDOUT",
    "ESOCKETTIMEDOUT",
    "EPIPE",
    "write: broken pipe",
    "network error",
    "NetworkError",
    "unexpected EOF",
    "This operation was aborted",
    "Empty reply from server",
]  # fmt: skip

NEVER_SENT = [
    "connection refused",
    "connect ECONNREFUSED 127.0.0.1:443",
    "[Errno 111] Connection refused",
    "getaddrinfo ENOTFOUND pay.example",
    "Temporary failure in name resolution",
    "Could not resolve host: pay.example",
    "No route to host",
    "Network is unreachable",
    "Failed to connect to pay.example",
]

OTHERS = [
    "no such order",
    "HTTP 404",
    "500 Internal Server Error",
    "ValueError: amount 502 is too high",
    "No responses found",
    "SyntaxError: unexpected EOF while parsing",
    "threepipes is no customer",
    "",
]


def ways(text: str) -> list[tuple[str, Step]]:
    """The same error, as tools and exporters tell it."""
    answers: list[JsonValue] = [
        {"error": text},
        {"error": {"code": "failed", "message": text}},
        {"ok": False, "reason": text},
        {"status": "error", "message": text},
        {"content": [{"type": "text", "text": text}], "isError": True},
        f"Error: {text}",
    ]
    failed = step(1, "pay", {}, status="error", error_type=text)
    return [("error type", failed), *((str(one), step(1, "pay", {}, one)) for one in answers)]


def ending(one: Step) -> Ending:
    result = None if one.tool_result is None else read(one.tool_result)
    return ending_of(one, result, None).ending


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, Ending.AMBIGUOUS) for text in LOST),
        *((text, Ending.FAILED) for text in (*NEVER_SENT, *filter(None, OTHERS))),
    ],
)
def test_an_error_leaves_open_whether_it_took_effect_or_does_not(
    text: str, expected: Ending
) -> None:
    assert {way: ending(one) for way, one in ways(text)} == {way: expected for way, _ in ways(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, Ending.AMBIGUOUS) for text in LOST),
        *((text, Ending.FAILED) for text in NEVER_SENT if len(text) < 60),
    ],
)
def test_a_remark_says_it_as_well(text: str, expected: Ending) -> None:
    assert ending(step(1, "pay", {}, text)) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        *((code, Ending.AMBIGUOUS) for code in (408, 502, 503, 504, 520, 524)),
        *((code, Ending.FAILED) for code in (400, 403, 404, 409, 422, 429, 500, 501)),
    ],
)
def test_a_code_leaves_it_open_or_does_not(code: int, expected: Ending) -> None:
    answers: list[JsonValue] = [
        {"status": code},
        {"statusCode": str(code)},
        {"error": {"code": code}},
    ]
    failed = step(1, "pay", {}, status="error", error_type=str(code))
    for one in (failed, *(step(1, "pay", {}, answer) for answer in answers)):
        assert ending(one) is expected


@given(
    st.sampled_from([*LOST, *NEVER_SENT, *OTHERS]),
    st.sampled_from(LOST),
    st.sampled_from([". ", ": ", " - ", "\n", " ("]),
    st.booleans(),
)
def test_a_lost_answer_beside_an_error_never_makes_it_less_ambiguous(
    error: str, phrase: str, between: str, first: bool
) -> None:
    both = f"{phrase}{between}{error}" if first else f"{error}{between}{phrase}"
    assert {ending(one) for _, one in ways(both)} == {Ending.AMBIGUOUS}


def test_an_inspection_is_asked_for_after_a_lost_answer_and_not_after_a_refused_connection() -> (
    None
):
    rules = policy("after_ambiguous_write: {pay: {related: [pay, look], next_must_be: look}}")
    for text, outcome in (("socket hang up", "broken"), ("connection refused", "kept")):
        steps = [step(1, "pay", {}, {"error": text}), step(2, "pay", {}, {"ok": True})]
        assert check_run(rules, run(), steps).outcome == outcome
