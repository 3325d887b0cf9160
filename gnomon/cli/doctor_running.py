"""What `gnomon doctor` asks of a running Gnomon: ready, a span there and back, runs, the books."""

import datetime as dt
import secrets
import time
from collections.abc import Callable, Iterator, Mapping

from gnomon.cli.client import Api
from gnomon.cli.finding import Finding
from gnomon.clock import to_nanos, utc_now
from gnomon.errors import NotFound
from gnomon.model import JsonValue

_PATIENCE = 20.0
_LATE = 60.0
"""Seconds after which a waiting request is late: the alert IngestLag."""

_LETTERS = 200


def readiness(client: Api) -> list[Finding]:
    """Return whether a Gnomon answers here, and what it complains of."""
    answer = client.get("/livez")
    if answer != {"process": "alive"}:
        return [
            Finding(
                subject="process",
                verdict="bad",
                found="something else answers at this address",
                mend="set GNOMON_URL",
            )
        ]
    problems: JsonValue = client.health()
    if not problems:
        return [Finding(subject="process", verdict="ok", found="running and ready")]
    return [
        Finding(
            subject=name, verdict="bad", found=text, mend="deploy/RUNBOOK.md, section IngestLag"
        )
        for name, text in problems.items()
    ]


def _there_and_back(client: Api) -> Iterator[Finding]:
    """Send one span the way an agent does and look for it in the store."""
    import httpx2

    subject = "a span, there and back"
    trace_id, span_id = secrets.token_hex(16), secrets.token_hex(8)
    now = to_nanos(utc_now())
    endpoint = client.get("/v1/config")["addresses"].get("otlp_http")
    span = {
        "traceId": trace_id,
        "spanId": span_id,
        "name": "gnomon doctor",
        "startTimeUnixNano": str(now),
        "endTimeUnixNano": str(now + 1_000_000),
        "attributes": [{"key": "gnomon.origin", "value": {"stringValue": "replay"}}],
    }
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    try:
        answer = httpx2.post(f"{endpoint}/v1/traces", json=body, timeout=10.0, trust_env=False)
    except httpx2.TransportError as error:
        yield Finding(
            subject=subject, verdict="bad", found=f"{endpoint}: {error}", mend="is the port open?"
        )
        return
    if answer.status_code != 200:
        yield Finding(
            subject=subject,
            verdict="bad",
            found=f"{endpoint} answered {answer.status_code}: {answer.text[:200]}",
            mend="the answer says what is wrong",
        )
        return
    began = time.monotonic()
    while time.monotonic() - began < _PATIENCE:
        try:
            client.get(f"/v1/spans/{trace_id}/{span_id}")
        except NotFound:
            time.sleep(0.2)
            continue
        took = time.monotonic() - began
        yield Finding(
            subject=subject, verdict="ok", found=f"readable {took:.1f} s after the answer"
        )
        return
    yield Finding(
        subject=subject,
        verdict="bad",
        found=f"acknowledged, but not readable after {_PATIENCE:.0f} s",
        mend="gnomon ledger shows what is pending; /readyz names the part that is behind",
    )


def _dialects(client: Api) -> Iterator[Finding]:
    """Name the content switch and the known limits of the dialects that were seen."""
    from collector.dialects.content import switch_for

    runs = list(client.items("/v1/runs", limit=200))
    silent: dict[str, int] = {}
    limits: dict[str, None] = {}
    for run in runs:
        limits.update(dict.fromkeys(run.get("limits", [])))
        if run["llm_calls"] and run["input"] is None and run["output"] is None:
            for dialect in run["dialects"]:
                silent[dialect] = silent.get(dialect, 0) + 1
    seen = sorted({dialect for run in runs for dialect in run["dialects"]})
    found = ", ".join(seen) if seen else "no run yet"
    yield Finding(subject="dialects seen", verdict="ok", found=found)
    for dialect, count in sorted(silent.items()):
        switch = switch_for(dialect)
        if switch:
            yield Finding(
                subject=f"content of {dialect}",
                verdict="warning",
                found=f"{count} of the last {len(runs)} runs carry no messages",
                mend=f"set {switch} where the agent runs, if you want to read them here",
            )
    for limit in limits:
        yield Finding(subject="known limit", verdict="warning", found=limit)


def _ledger(client: Api) -> Iterator[Finding]:
    answer = client.get("/v1/ledger", since="24h")
    rejected = answer["totals"]["rejected"]
    if not answer["balanced"]:
        yield Finding(
            subject="ledger",
            verdict="bad",
            found="received is not stored + rejected + pending",
            mend="this is a defect of Gnomon: report it with `gnomon ledger --json`",
        )
    elif rejected:
        found = ", ".join(f"{count} {reason}" for reason, count in sorted(rejected.items()))
        yield Finding(
            subject="ledger",
            verdict="warning",
            found=f"rejected in the last 24 h: {found}",
            mend="deploy/RUNBOOK.md, section IngestRejecting, has the mend of each reason",
        )
    else:
        yield Finding(subject="ledger", verdict="ok", found="balanced, nothing rejected")
    yield _pending(answer["oldest_pending"])
    yield _unread(answer)


def _pending(oldest: str | None) -> Finding:
    subject = "pending"
    if oldest is None:
        return Finding(subject=subject, verdict="ok", found="nothing waits for the store")
    waited = (utc_now() - dt.datetime.fromisoformat(oldest)).total_seconds()
    found = f"the oldest request waits for {waited:.0f} s to be stored"
    if waited < _LATE:
        return Finding(subject=subject, verdict="ok", found=found)
    return Finding(
        subject=subject,
        verdict="bad",
        found=found,
        mend="/readyz says why; deploy/RUNBOOK.md, section IngestLag",
    )


def _unread(answer: JsonValue) -> Finding:
    count = answer["unread_traces"]
    if not count:
        return Finding(subject="unread traces", verdict="ok", found="every trace can be read")
    first = answer["unread"][0]
    return Finding(
        subject="unread traces",
        verdict="bad",
        found=f"{count} stored and set aside, since no run could be made of them; "
        f"the first: {first['trace_id']} ({first['error']})",
        mend="a defect of Gnomon: report the event trace_set_aside of its log, update, restart; "
        "deploy/RUNBOOK.md, section TracesUnread",
    )


def _letters(client: Api) -> Iterator[Finding]:
    found = list(client.items("/v1/dead-letters", limit=_LETTERS + 1))
    subject = "dead letters"
    if not found:
        yield Finding(subject=subject, verdict="ok", found="none")
        return
    reasons = ", ".join(sorted({letter["reason"] for letter in found}))
    count = f"{_LETTERS} and more" if len(found) > _LETTERS else str(len(found))
    yield Finding(
        subject=subject,
        verdict="warning",
        found=f"{count} wait for a decision: {reasons}",
        mend="gnomon dead-letters list, then resend or drop each; "
        "deploy/RUNBOOK.md, section DeadLetters",
    )


LOOKS: Mapping[str, Callable[[Api], Iterator[Finding]]] = {
    "a span, there and back": _there_and_back,
    "runs": _dialects,
    "ledger": _ledger,
    "dead letters": _letters,
}
"""What is looked at, by the subject to blame when looking fails."""
