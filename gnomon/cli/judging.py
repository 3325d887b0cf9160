"""`gnomon policy`, `graders`, `labels` and `jobs`: how runs are judged, and by what."""

from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from gnomon.cli import show
from gnomon.cli.options import Json, RunId, Url, api
from gnomon.model import JsonValue
from gnomon.segment import segment

policy = typer.Typer(help="Policies: rules that must hold in every run.", no_args_is_help=True)
graders = typer.Typer(help="Graders and policies, and what they found.", no_args_is_help=True)
labels = typer.Typer(help="What was judged of a run, and what was not.", no_args_is_help=True)
jobs = typer.Typer(help="What is done for every window of time, once.", no_args_is_help=True)

_BROKEN, _NOTHING = 1, 3


@policy.command("check")
def check(
    file: Annotated[Path, typer.Argument(help="A policy file.")],
    run: Annotated[
        str | None,
        typer.Option(help="Try it on this run; the first characters of its id are enough, too."),
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Try it on runs since RFC 3339, or an age such as 7d.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Only runs of this agent.")] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=5_000, help="Runs looked at, newest first.")
    ] = 1_000,
    as_json: Json = False,
    url: Url = None,
) -> None:
    """Check a policy file; with --run or --since also try it on stored runs.

    Exit 0: right, and kept by the runs. 1: broken by a run. 2: the file is wrong; line and mend
    are named. 3: no run could be judged, or none made a call that a rule is about.
    """
    from gnomon.errors import ConfigError, InputError
    from gnomon.watch import read
    from scoring.policies.language import policy_of

    if run is not None and since is not None:
        raise InputError("say --run or --since, not both")
    if not file.exists():
        raise ConfigError(f"{file}: there is no such file; give the path of a policy file")
    source = read(file)
    found = policy_of(source, default_name=file.stem)
    if run is None and since is None:
        _lint(file, found.policy, found.version, sorted(found.tools), as_json=as_json)
        return
    body = {"policy": {"policy": file.stem, **source.data}, "agent": agent, "limit": limit}
    with api(url) as client:
        whole = None if run is None else client.run(run)["run_id"]
        answer = client.send("/v1/policies/check", {**body, "run": whole, "since": since})
    if as_json:
        show.as_json(answer)
    else:
        _findings(answer)
    counts = answer["counts"]
    if counts.get("broken"):
        raise typer.Exit(_BROKEN)
    if counts.get("kept", 0) <= answer["vacuous"]:
        raise typer.Exit(_NOTHING)


def _lint(file: Path, name: str, version: str, tools: list[str], *, as_json: bool) -> None:
    if as_json:
        show.as_json({"file": str(file), "policy": name, "version": version, "tools": tools})
        return
    show.notes.print(f"{file} is a policy; it speaks of {', '.join(tools) or 'budgets only'}")


def _findings(answer: JsonValue) -> None:
    show.table(
        ["run", "version", "outcome", "rule", "what", "steps"],
        (
            (
                item["run_id"],
                item["agent_version"],
                item["outcome"],
                finding["rule"],
                finding.get("message", finding.get("reason")),
                finding["steps"],
            )
            for item in answer["items"]
            for finding in [*item["violations"], *item["not_evaluable"]]
        ),
        empty="no breach",
    )
    told = ", ".join(f"{n} {what.replace('_', ' ')}" for what, n in answer["counts"].items())
    show.notes.print(f"{answer['runs']} runs: {told or 'none'}")
    if answer["vacuous"]:
        show.notes.print(f"{answer['vacuous']} of those kept made no call that a rule is about")
    for tool in answer["never_called"]:
        show.notes.print(f"no run called {tool}: misspelt?")
    if answer["more"]:
        show.notes.print("there are more runs in this time; raise --limit")
    if answer["left_out"]:
        show.notes.print(f"{answer['left_out']} more runs with findings are not shown")


@jobs.command("list")
def list_jobs(as_json: Json = False, url: Url = None) -> None:
    """List jobs: what each did last, what is due. Exit 1 when a window does not finish."""
    with api(url) as client:
        items = client.get("/v1/jobs")["items"]
    if as_json:
        show.as_lines(items)
    else:
        show.table(
            ["job", "last finished", "window until", ">rows", ">due", ">behind", "failing"],
            (_job(item) for item in items),
            empty="no jobs run in this process",
        )
    if any(item["failing"] for item in items):
        raise typer.Exit(_BROKEN)


@jobs.command("run")
def run_job(name: str, as_json: Json = False, url: Url = None) -> None:
    """Run what is due of a job now. Exit 1 when a window does not finish."""
    with api(url) as client:
        answer = client.post(f"/v1/jobs/{quote(name, safe='')}/run")
    if as_json:
        show.as_json(answer)
    elif answer["was_working"]:
        show.notes.print(f"{name} is at work already")
    else:
        show.notes.print(f"{answer['windows']} windows finished, {answer['job']['due']} due")
    if answer["job"]["failing"]:
        show.notes.print(f"failing: {answer['job']['failing']}")
        raise typer.Exit(_BROKEN)


def _job(item: JsonValue) -> tuple[object, ...]:
    last = item["last"] or {}
    lag = item["lag_seconds"]
    return (
        item["name"],
        show.when(last.get("finished_at")),
        show.when(last.get("window_end")),
        last.get("rows"),
        item["due"],
        None if lag is None else f"{lag:.0f} s",
        item["failing"],
    )


@graders.command("list")
def list_graders(
    since: Annotated[str, typer.Option(help="Runs since RFC 3339, or an age such as 7d.")] = "7d",
    as_json: Json = False,
    url: Url = None,
) -> None:
    """List graders and policies with what became of the runs, and how far backfills are."""
    with api(url) as client:
        items = client.get("/v1/graders", since=since)["items"]
    if as_json:
        show.as_lines(items)
        return
    states = ("graded", "abstained", "failed", "not_applicable")
    show.table(
        ["grader", "version", "surface", *(f">{state}" for state in states), ">broken", "backfill"],
        (
            (
                item["name"],
                item["version"] if item["configured"] else f"{item['version']} (set up no more)",
                item["surface"],
                *(item["counts"].get(state, 0) for state in states),
                item["broken"],
                _backfill(item["backfill"]),
            )
            for item in items
        ),
        empty="no grader; add `policies` or `graders` to gnomon.yaml",
    )


@graders.command("backfill")
def backfill(
    name: str,
    since: Annotated[
        str | None, typer.Option(help="Runs since RFC 3339, or an age such as 30d; default all.")
    ] = None,
    which: Annotated[
        str, typer.Option(help="missing, failed (those it broke on, too) or all.")
    ] = "missing",
    wait: Annotated[bool, typer.Option("--wait", help="Stay until it is done.")] = False,
    as_json: Json = False,
    url: Url = None,
) -> None:
    """Judge history by a grader that is new or changed. Asking again goes on where it ended.

    Exit 1 when --wait was given and it ended early.
    """
    with api(url) as client:
        answer = client.post(
            f"/v1/graders/{quote(name, safe='')}/backfill", since=since, which=which
        )
        while wait and answer["finished_at"] is None:
            answer = _awaited(client.get("/v1/graders"), name)
    if as_json:
        show.as_json(answer)
    else:
        show.notes.print(f"{name} {answer['grader_version']}: {_backfill(answer)}")
    if answer["failing"]:
        raise typer.Exit(_BROKEN)


def _awaited(listed: JsonValue, name: str) -> JsonValue:
    import time

    time.sleep(0.5)
    return next(i["backfill"] for i in listed["items"] if i["name"] == name and i["configured"])


def _backfill(progress: JsonValue) -> str | None:
    if progress is None:
        return None
    total = "…" if progress["total"] is None else progress["total"]
    done = f"{progress['runs']} of {total} runs, {progress['judged']} judged"
    if progress["failing"]:
        return f"{done}; ended: {progress['failing']}"
    return done if progress["finished_at"] is None else f"{done}; done"


@labels.command("list")
def list_labels(run_id: RunId, as_json: Json = False, url: Url = None) -> None:
    """Show what every grader made of a run: ran, waiting, not applicable, failed, and why."""
    with api(url) as client:
        run = client.run(run_id)
        answer = client.get(f"/v1/runs/{segment(run['run_id'])}/judgments")
    if as_json:
        show.as_json(answer)
        return
    found = {(row["grader"], row["grader_version"]): row for row in answer["labels"]}
    show.table(
        ["grader", "version", "surface", "state", "passed", ">score", "why"],
        (
            (
                row["grader"],
                row["grader_version"],
                row["surface"],
                row["state"],
                label.get("passed"),
                label.get("score"),
                row["why"] or label.get("explanation"),
            )
            for row in answer["statuses"]
            for label in [found.get((row["grader"], row["grader_version"]), {})]
        ),
        empty="no grader; add `policies` or `graders` to gnomon.yaml",
    )
    if answer["violations"]:
        show.table(
            ["policy", "rule", "what", "steps"],
            (
                (row["policy"], row["rule"], row["message"], row["steps"])
                for row in answer["violations"]
            ),
            empty="",
        )
