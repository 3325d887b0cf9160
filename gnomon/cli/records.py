"""`gnomon runs`, `spans`, `ledger` and `dead-letters`: what the API knows, as tables or JSON."""

from typing import Annotated
from urllib.parse import quote

import typer

from gnomon.cli import show
from gnomon.cli.options import Json, RunId, Url, api
from gnomon.model import JsonValue
from gnomon.segment import segment

runs = typer.Typer(help="Runs: one agent handling one request.", no_args_is_help=True)
spans = typer.Typer(help="Spans as they came, and how they were read.", no_args_is_help=True)
letters = typer.Typer(
    help="Requests the store could not take, kept until a person decides.", no_args_is_help=True
)

_STEPS = 100_000
"""Spans of a run that are listed at most."""

_UNPRICED = (
    "some model calls have no price, so the cost is unknown, or only at least (≥) what stands there;"
    " add the model to prices in gnomon.yaml"
)

Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="At most this many.")]


@runs.command("list")
def list_runs(
    limit: Limit = 50,
    since: Annotated[str | None, typer.Option(help="RFC 3339, or an age such as 2h or 7d.")] = None,
    until: Annotated[str | None, typer.Option(help="RFC 3339, or an age such as 2h.")] = None,
    agent: Annotated[str | None, typer.Option(help="Name of the agent.")] = None,
    version: Annotated[str | None, typer.Option(help="Version of the agent.")] = None,
    status: Annotated[str | None, typer.Option(help="ok, error or unknown.")] = None,
    error_type: Annotated[str | None, typer.Option(help="Class of an error in the run.")] = None,
    state: Annotated[str | None, typer.Option(help="open or settled.")] = None,
    key: Annotated[str | None, typer.Option(help="A business key, name:value.")] = None,
    text: Annotated[
        str | None,
        typer.Option(
            "--text", "-q", help="Text in ids, names, business keys, errors, input, output."
        ),
    ] = None,
    as_json: Json = False,
    url: Url = None,
) -> None:
    """List runs, newest first. With --json one object a line."""
    with api(url) as client:
        listed = client.items(
            "/v1/runs",
            limit=limit,
            since=since,
            until=until,
            agent=agent,
            version=version,
            status=status,
            error_type=error_type,
            state=state,
            key=key,
            q=text,
        )
        if as_json:
            show.as_lines(listed)
            return
        found = list(listed)
        show.table(
            ["run", "started", "status", ">took", "agent", "version", ">steps", ">tokens", ">cost"],
            (
                (
                    run["run_id"],
                    show.when(run["started_at"]),
                    _status(run),
                    show.seconds(run["duration_ns"]),
                    run["agent_name"],
                    run["agent_version"],
                    run["steps"],
                    _tokens(run),
                    show.usd(run["cost_usd"], unpriced=run["unpriced_calls"]),
                )
                for run in found
            ),
            empty="no run fits; nothing sent yet, or the filters leave nothing (try without them)",
        )
        unpriced = sum(1 for run in found if run["unpriced_calls"])
        if unpriced:
            show.notes.print(f"note: in {unpriced} of these runs {_UNPRICED}")


@runs.command("show")
def show_run(
    run_id: RunId,
    bodies: Annotated[bool, typer.Option("--bodies", help="With messages and results.")] = False,
    as_json: Json = False,
    url: Url = None,
) -> None:
    """Show one run with its steps."""
    with api(url) as client:
        run = client.run(run_id)
        path = f"/v1/runs/{segment(run['run_id'])}/steps"
        steps = list(client.items(path, limit=_STEPS, bodies=bodies or None))
    if as_json:
        show.as_json({**run, "step_list": steps})
        return
    limits = run.pop("limits", None) or ()
    show.facts((name, _fact(name, value, run)) for name, value in run.items())
    depth = _depths(steps)
    show.table(
        ["step", "kind", "status", ">took", ">in", ">out", ">cost", "span id"],
        (
            (
                "  " * depth[step["span_id"]] + (step["tool_name"] or step["span_name"]),
                step["kind"] if step["counted"] else f"({step['kind']})",
                step["error_type"] or step["status"],
                show.seconds(step["duration_ns"]),
                step["input_tokens"],
                step["output_tokens"],
                show.usd(step["cost_usd"]),
                step["span_id"],
            )
            for step in steps
        ),
        empty="this run has no steps",
    )
    if run["unpriced_calls"]:
        show.notes.print(f"note: {_UNPRICED}")
    for limit in limits:
        show.notes.print(f"note: {limit}")
    if len(steps) < run["spans"]:
        show.notes.print(f"note: the first {len(steps)} of {run['spans']} spans are listed")


@runs.command("reread")
def reread(
    since: Annotated[str | None, typer.Option(help="RFC 3339, or an age such as 30d.")] = None,
    as_json: Json = False,
    url: Url = None,
) -> None:
    """Read history again under the present mapping and configuration."""
    with api(url) as client:
        answer = client.post("/v1/refold", since=since)
    if as_json:
        show.as_json(answer)
    else:
        show.notes.print(
            f"{answer['traces']} traces will be read again; see `gnomon runs rereading`"
        )


@runs.command("rereading")
def rereading(as_json: Json = False, url: Url = None) -> None:
    """Show how many traces of history are still to be read again."""
    with api(url) as client:
        left = client.get("/v1/refold")
    if as_json:
        show.as_json(left)
    elif left["traces"]:
        show.findings.print(
            f"{left['traces']} traces are still to be read again, until {left['until']}"
        )
    else:
        show.findings.print("no trace of history is still to be read again")


@spans.command("show")
def show_span(trace_id: str, span_id: str, as_json: Json = False, url: Url = None) -> None:
    """Show one span as it came."""
    with api(url) as client:
        span = client.get(f"/v1/spans/{quote(trace_id, safe='')}/{quote(span_id, safe='')}")
    if as_json:
        show.as_json(span)
        return
    show.facts(
        (name, value) for name, value in span.items() if name not in ("attributes", "resource")
    )
    for part in ("resource", "attributes"):
        show.table([part, "value"], sorted(span[part].items()), empty=f"no {part}")


@spans.command("explain")
def explain(trace_id: str, span_id: str, as_json: Json = False, url: Url = None) -> None:
    """Show which rule filled which field of a span, and from which attribute."""
    with api(url) as client:
        answer = client.get(
            f"/v1/spans/{quote(trace_id, safe='')}/{quote(span_id, safe='')}/explain"
        )
    if as_json:
        show.as_json(answer)
        return
    show.table(
        ["field", "value", "rule", "from"],
        ((i["field"], i["value"], i["rule"], i["key"]) for i in answer["items"]),
        empty="no rule applied to this span",
    )


def ledger(
    since: Annotated[str, typer.Option(help="RFC 3339, or an age such as 24h.")] = "24h",
    as_json: Json = False,
    url: Url = None,
) -> None:
    """Show received = stored + rejected + pending, by source and hour. Exit 1 if unbalanced."""
    with api(url) as client:
        answer = client.get("/v1/ledger", since=since)
    if as_json:
        show.as_json(answer)
    else:
        show.table(
            ["hour", "source", ">received", ">stored", ">rejected", ">pending", "reasons"],
            (
                (
                    show.when(row["hour"]),
                    row["source"],
                    row["received"],
                    row["stored"],
                    sum(row["rejected"].values()),
                    row["pending"],
                    row["rejected"],
                )
                for row in answer["items"]
            ),
            empty="nothing arrived in this time",
        )
        show.notes.print("balanced" if answer["balanced"] else "NOT BALANCED: please report this")
        if answer["unread_traces"]:
            show.notes.print(
                f"{answer['unread_traces']} stored traces cannot be read into runs: gnomon doctor"
            )
    if not answer["balanced"]:
        raise typer.Exit(1)


@letters.command("list")
def list_letters(limit: Limit = 50, as_json: Json = False, url: Url = None) -> None:
    """List dead letters, oldest first."""
    with api(url) as client:
        found = client.items("/v1/dead-letters", limit=limit)
        if as_json:
            show.as_lines(found)
            return
        show.table(
            [">id", "buried", "source", ">items", ">bytes", "reason", "detail"],
            (
                (
                    letter["id"],
                    show.when(letter["buried_at"]),
                    letter["source"],
                    letter["items"],
                    letter["size"],
                    letter["reason"],
                    letter["detail"],
                )
                for letter in found
            ),
            empty="no dead letters",
        )


@letters.command("show")
def show_letter(letter: int, as_json: Json = False, url: Url = None) -> None:
    """Show one dead letter with what is inside."""
    with api(url) as client:
        answer = client.get(f"/v1/dead-letters/{letter}")
    if as_json:
        show.as_json(answer)
        return
    inside = answer.pop("summary")
    show.facts([*answer.items(), *inside.items()])


@letters.command("resend")
def resend(letter: int, as_json: Json = False, url: Url = None) -> None:
    """Put a dead letter back into the queue."""
    with api(url) as client:
        answer = client.post(f"/v1/dead-letters/{letter}/resend")
    if as_json:
        show.as_json(answer)
    else:
        show.notes.print(f"dead letter {letter} is pending again")


@letters.command("drop")
def drop(
    letter: int,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
    url: Url = None,
) -> None:
    """Delete a dead letter for good; its items stay counted as rejected."""
    if not yes:
        typer.confirm(f"delete dead letter {letter} for good?", abort=True, err=True)
    with api(url) as client:
        client.delete(f"/v1/dead-letters/{letter}")
    if as_json:
        show.as_json({"id": letter})
    else:
        show.notes.print(f"dead letter {letter} is gone")


def _status(run: JsonValue) -> str:
    status = str(run["error_type"] or run["status"])
    return status if run["state"] == "settled" else f"{status} (open)"


def _tokens(run: JsonValue) -> int | None:
    known = [run[key] for key in ("input_tokens", "output_tokens") if run[key] is not None]
    return sum(known) if known else None


def _fact(name: str, value: JsonValue, run: JsonValue) -> object:
    if name.endswith("_ns"):
        return show.seconds(value)
    if name == "cost_usd" and run["unpriced_calls"]:
        return "unknown" if value is None else show.usd(value, unpriced=run["unpriced_calls"])
    return value


def _depths(steps: list[JsonValue]) -> dict[str, int]:
    """Return how deep each span lies; a span whose parent is missing lies at the top."""
    parents = {step["span_id"]: step["parent_span_id"] for step in steps}
    depths: dict[str, int] = {}
    for span_id in parents:
        path: list[str] = []
        at = span_id
        while at in parents and at not in depths and at not in path:
            path.append(at)
            at = parents[at]
        base = depths.get(at, -1)
        for offset, node in enumerate(reversed(path), start=1):
            depths[node] = base + offset
    return depths
