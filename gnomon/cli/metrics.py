"""`gnomon metrics` and `gnomon versions`: how good runs are, and what a new version changed."""

from collections.abc import Iterator
from typing import Annotated

import typer

from gnomon.cli import show
from gnomon.cli.options import Json, Url, api
from gnomon.model import JsonValue

metrics = typer.Typer(help="Nine metrics, each with its guard.", no_args_is_help=True)
versions = typer.Typer(help="Two versions of an agent compared.", no_args_is_help=True)

_EXIT = {"PASS": 0, "FAIL": 1, "NOT ENOUGH DATA": 3}

Agent = Annotated[str | None, typer.Option(help="Name of the agent.")]
Environment = Annotated[str | None, typer.Option(help="Such as production.")]
Since = Annotated[str | None, typer.Option(help="RFC 3339, or an age such as 7d.")]
Until = Annotated[str | None, typer.Option(help="RFC 3339, or an age such as 2h.")]


@metrics.command("show")
def show_metrics(
    agent: Agent = None,
    version: Annotated[str | None, typer.Option(help="Version of the agent.")] = None,
    environment: Environment = None,
    slice_: Annotated[
        list[str] | None, typer.Option("--slice", help="name:value of a slice of gnomon.yaml.")
    ] = None,
    since: Since = None,
    until: Until = None,
    by: Annotated[str, typer.Option(help="version, environment, week, day, or slice:<name>.")] = "",
    surfaces: Annotated[
        bool, typer.Option("--surfaces", help="The seven surfaces instead.")
    ] = False,
    as_json: Json = False,
    url: Url = None,
) -> None:
    """Show the nine metrics with their guards, or the seven surfaces side by side."""
    with api(url) as client:
        answer = client.get(
            "/v1/surfaces" if surfaces else "/v1/metrics",
            agent=agent,
            version=version,
            environment=environment,
            slice=slice_,
            since=since,
            until=until,
            by=by or None,
        )
    if as_json:
        show.as_json(answer)
        return
    for group in answer["groups"]:
        show.notes.print(f"{group['group'] or 'all runs'}: {group['runs']} settled runs")
        lines = _surfaces(group) if surfaces else _metrics(group)
        show.table(
            ["metric", ">value", ">low", ">high", ">n", "unit", "what to know"], lines, empty=""
        )
    if not answer["groups"]:
        show.notes.print("no run fits; nothing sent yet, or the filters leave nothing")


def _metrics(group: JsonValue) -> Iterator[list[object]]:
    for name, metric in group["metrics"].items():
        yield _line(name, metric)
        for more, figure in metric["beside"].items():
            yield _line(f"  {more}", figure)
        for guard, figure in metric["guard"].items():
            yield _line(f"  guard: {guard}", figure)
    for name in ("solution_rate", "cost_per_success", "aborted"):
        yield _line(f"three: {name}", group["three"][name])


def _surfaces(group: JsonValue) -> Iterator[list[object]]:
    for name, surface in group["surfaces"].items():
        for figure_name, figure in surface["figures"].items():
            yield _line(f"{name}: {figure_name}", figure)


def _line(name: str, figure: JsonValue) -> list[object]:
    scale = figure["scale"]
    told = [figure["text"], *figure["flags"]]
    if figure["open"]:
        told.append(f"{figure['open']} open")
    told += [f"{count} {reason}" for reason, count in figure["excluded"].items()]
    ends = [figure[end] for end in ("value", "low", "high")]
    known = ends if ends != [None, 0.0, 1.0] else [None, None, None]
    numbers = [_number(end, scale) for end in known]
    if "lower_bound" in figure["flags"] and figure["value"] is not None:
        numbers[0] = f"≥ {numbers[0]}"
    if "not_enough_data" in figure["flags"]:
        numbers[0] = "not enough data"
    return [name, *numbers, figure["n"], figure["unit"], "; ".join(text for text in told if text)]


def _number(value: float | None, scale: str) -> str:
    if value is None:
        return "–"
    match scale:
        case "rate":
            return f"{100 * value:.1f} %"
        case "difference":
            return f"{100 * value:+.1f}"
        case "usd":
            return show.usd(value)
        case _:
            return f"{value:.4g} {scale}"


@versions.command("compare")
def compare(
    base: Annotated[str, typer.Argument(help="The version in use.")],
    cand: Annotated[str, typer.Argument(help="The new version.")],
    on: Annotated[
        str | None,
        typer.Option(
            help="tasks (the same ones) or live (the same weeks); default: that of the rule."
        ),
    ] = None,
    agent: Agent = None,
    environment: Environment = None,
    slice_: Annotated[
        list[str] | None, typer.Option("--slice", help="name:value of a slice of gnomon.yaml.")
    ] = None,
    since: Since = None,
    until: Until = None,
    metric: Annotated[
        str | None, typer.Option(help="completion, clean or finished; default: that of the rule.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
) -> None:
    """Compare two versions under the rule of gnomon.yaml.

    Exit 0: PASS. 1: FAIL. 3: NOT ENOUGH DATA, no rule was written, or it came too late to decide.
    """
    if on not in {None, "tasks", "live"}:
        raise typer.BadParameter("write tasks or live", param_hint="--on")
    asked = {
        "base": base,
        "cand": cand,
        "agent": agent,
        "environment": environment,
        "slice": slice_,
        "since": since,
        "until": until,
        "metric": metric,
    }
    with api(url) as client:
        answer = client.get(f"/v1/compare/{on or 'tasks'}", **asked)
        rule = answer["ruling"]["rule"]
        if on is None and rule is not None and rule["basis"] == "live":
            answer = client.get("/v1/compare/live", **asked)
    if as_json:
        show.as_json(answer)
    else:
        _comparison(answer)
    raise typer.Exit(_EXIT[answer["ruling"]["verdict"]])


def _comparison(answer: JsonValue) -> None:
    ruling, found, inside = answer["ruling"], answer["difference"], ""
    if answer.get("decides") == "mix.adjusted":
        found, inside = answer["mix"]["adjusted"], f" inside {answer['mix']['slice']}"
    for warning in answer["warnings"]:
        show.notes.print(f"warning: {warning}")
    show.facts(
        [
            ("rule", ruling["hash"] or None),
            ("first seen", show.when(ruling["first_seen_at"]) if ruling["first_seen_at"] else None),
            ("written before", ruling["written_before"]),
            ("verdict", ruling["sentence"]),
            *((f"look {look['look']}", _look(look)) for look in ruling["looks"]),
            (f"difference{inside}", _points(found, ruling["missing"])),
            ("in the same weeks", _points(answer["difference"]) if inside else None),
            ("undecided runs", found["open"] or None),
            *((f"p ({name})", value) for name, value in found["p_values"].items()),
            *_any_time(answer),
            ("note", answer["text"]),
        ]
    )
    _guard(answer)
    if answer.get("mix"):
        _mix(answer["mix"])
    if "changed" in answer:
        _changed(answer)


def _look(look: JsonValue) -> str:
    reason = f"{look['verdict']}: {look['reason']}"
    if look["undecided"] is not None:
        reason += f"; {look['undecided']['text']}"
    return (
        f"{reason}, n = {look['n']}, looked at {show.when(look['seen_at'])} by {look['taken_by']}"
    )


def _any_time(answer: JsonValue) -> Iterator[tuple[str, object]]:
    """Tell the running interval where the other one may not be seen, or is no test."""
    found = answer.get("any_time")
    if found is not None and found["n"] and not answer["ruling"]["looks"]:
        first = ", first runs" if "first_trials" in found["flags"] else ""
        yield f"at any time{first}", _points(found)


def _points(found: JsonValue, missing: int = 0) -> str:
    n = f"n = {found['n']} {found['unit']}"
    if "withheld" in found["flags"] and missing:
        return f"withheld until the planned look, {missing} more needed, {n}"
    if "withheld" in found["flags"]:
        return f"withheld: the planned look has its units, and waits as the verdict says, {n}"
    if "same_tasks" in found["flags"]:
        return f"not shown, {n}: compare on tasks"
    told = f"{_interval(found)}, {n}, {found['method']}"
    return f"{told}; a reading aid, not a test" if "exploratory" in found["flags"] else told


_NO_INTERVAL = (
    ("few_clusters", "too few clusters on a side to see how they vary"),
    ("no_spread", "all units are alike, so nothing tells how they vary"),
)


def _interval(found: JsonValue) -> str:
    """Tell the value and its limits; a limit that does not exist is said, never left out."""
    value, low, high = (_number(found[end], "difference") for end in ("value", "low", "high"))
    level = f"{100 * found['confidence']:.4g} %"
    if found["low"] is None and found["high"] is None:
        why = next((f": {words}" for flag, words in _NO_INTERVAL if flag in found["flags"]), "")
        return f"{value} points, no interval{why}"
    return f"{value} points, {level} [{low}, {high}]"


def _guard(answer: JsonValue) -> None:
    guard = answer["guard"]
    rows = [
        (name.replace("_", " "), _beside(sides["base"]), _beside(sides["cand"]))
        for name, sides in guard.items()
        if name != "new_violations"
    ]
    show.table(["guard", answer["base"], answer["cand"]], rows, empty="")
    new = guard["new_violations"]
    show.notes.print(f"violations: {new['text']}")
    if new["items"]:
        show.table(
            ["task", "rule", ">runs", "to read"],
            ((b["task"] or "any", b["rule"], b["runs"], b["run_ids"]) for b in new["items"]),
            empty="",
        )


def _beside(found: JsonValue) -> str:
    if found["value"] is None and not found["open"]:
        return f"– (n = {found['n']})"
    value, low, high = (_number(found[end], found["scale"]) for end in ("value", "low", "high"))
    return f"{value} [{low}, {high}], n = {found['n']}"


def _mix(mix: JsonValue) -> None:
    known = mix["mix"] is not None
    show.facts(
        [
            (f"mix of {mix['slice']}", f"{100 * mix['mix']:+.2f} points" if known else mix["text"]),
            ("rate", f"{100 * mix['rate']:+.2f} points" if known else None),
            ("undecided inside", mix["adjusted"]["open"] or None),
        ]
    )


def _changed(answer: JsonValue) -> None:
    counts = f"fixed {answer['fixed']}, same {answer['same']}, broke {answer['broke']}"
    show.notes.print(counts)
    show.table(
        ["task", "", ">change", "base runs", "new runs"],
        (
            (
                task["task"],
                task["word"],
                f"{100 * task['size']:+.0f}",
                task["base"]["run_ids"],
                task["cand"]["run_ids"],
            )
            for task in answer["changed"]
        ),
        empty="no task changed",
    )
