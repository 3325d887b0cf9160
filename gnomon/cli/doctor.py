"""What `gnomon doctor` looks at: each finding says what is so and, if it is wrong, the mend."""

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gnomon.cli.client import Api
from gnomon.cli.process import settings_of, watch_of
from gnomon.clock import to_nanos, utc_now
from gnomon.config import Settings
from gnomon.errors import GnomonError, NotFound, StoreHeld
from gnomon.model import JsonValue

_ROOM = 2 * 1024**3
_PATIENCE = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    subject: str
    verdict: Literal["ok", "warning", "bad"]
    found: str
    mend: str = ""


def examine(
    *, data: Path | None, store: str | None, config_file: Path | None, url: str | None
) -> Iterator[Finding]:
    """Yield findings while they are made: configuration, disk, store, then a span there and back."""
    try:
        settings = settings_of(data=data, store=store, config_file=config_file)
    except GnomonError as error:
        yield Finding(subject="settings", verdict="bad", found=error.detail, mend="change it")
        return
    yield Finding(subject="settings", verdict="ok", found="every GNOMON_ name is known")
    yield _disk(settings)
    with Api(url or settings.api_url, timeout=10.0) as client:
        try:
            problems = _readiness(client)
            running = client.get("/v1/config")
        except GnomonError as error:
            yield _watch(settings)
            yield Finding(
                subject="process",
                verdict="warning",
                found="no Gnomon is running here",
                mend=error.detail,
            )
            yield _store(settings)
            return
        yield from problems
        yield _prices(running["file"], running["hash"], priced=bool(running["watched"]["prices"]))
        looks = {
            "a span, there and back": _there_and_back,
            "runs": _dialects,
            "ledger": _ledger,
        }
        for subject, look in looks.items():
            try:
                yield from look(client)
            except GnomonError as error:
                yield Finding(
                    subject=subject, verdict="bad", found=error.detail, mend="mend that first"
                )


def _watch(settings: Settings) -> Finding:
    try:
        watch, watched = watch_of(settings)
    except GnomonError as error:
        return Finding(
            subject="gnomon.yaml", verdict="bad", found=error.detail, mend="mend that line"
        )
    return _prices(watch.name, watch.digest, priced=bool(watched.prices))


def _prices(name: str, digest: str, *, priced: bool) -> Finding:
    if priced:
        return Finding(subject="gnomon.yaml", verdict="ok", found=f"{name}, hash {digest}")
    return Finding(
        subject="gnomon.yaml",
        verdict="warning",
        found=f"{name}: no prices, so every cost is unknown",
        mend="add a section `prices` (docs/configuration.md)",
    )


def _disk(settings: Settings) -> Finding:
    place = settings.data.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if not os.access(place, os.W_OK):
        return Finding(
            subject="data",
            verdict="bad",
            found=f"{settings.data} can not be written",
            mend=f"chown it to uid {os.getuid()}, or choose another with GNOMON_DATA",
        )
    found = f"{settings.data}, {free / 1024**3:.1f} GiB free"
    if free < _ROOM:
        return Finding(
            subject="data", verdict="bad", found=found, mend="free some space or move GNOMON_DATA"
        )
    return Finding(subject="data", verdict="ok", found=found)


def _store(settings: Settings) -> Finding:
    """Open the store when no process of ours holds it."""
    from gnomon.store import open_store
    from gnomon.store.migrate import pending

    where = (settings.store.url and "server") or "embedded"
    if where == "embedded" and not (settings.data / "clickhouse").exists():
        return Finding(subject="store", verdict="ok", found="embedded, made at the first start")
    try:
        client = open_store(settings)
        try:
            missing = pending(client)
        finally:
            client.close()
    except StoreHeld as error:
        return Finding(
            subject="store",
            verdict="bad",
            found=error.detail,
            mend="set GNOMON_URL to that process",
        )
    except GnomonError as error:
        return Finding(
            subject="store", verdict="bad", found=error.detail, mend="the finding says it"
        )
    if missing:
        return Finding(
            subject="store",
            verdict="warning",
            found=f"{where}, {len(missing)} migrations to apply",
            mend="gnomon migrate (`gnomon serve` does it on an embedded store)",
        )
    return Finding(subject="store", verdict="ok", found=f"{where}, up to date")


def _readiness(client: Api) -> list[Finding]:
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
    rejected: dict[str, int] = {}
    for row in answer["items"]:
        for reason, count in row["rejected"].items():
            rejected[reason] = rejected.get(reason, 0) + count
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
