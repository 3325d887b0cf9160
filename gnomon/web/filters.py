"""What a list's address asks for, and the addresses that ask for a little more or less."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from collector.views import RunFilter, RunPosition
from gnomon.clock import Nanos, from_nanos, to_nanos
from gnomon.model import Origin, RunState, RunStatus
from gnomon.web.known import none_of, refuse_unknown, wrong
from gnomon.web.timeline import PERIODS, SECOND, Timeline, back_from, timeline
from scoring.metrics.parts import PARTS
from scoring.metrics.reader import VERDICTS, Which

NAMES = {
    "status": "status",
    "state": "state",
    "agent": "agent",
    "version": "version",
    "error": "error",
    "model": "model",
    "tool": "tool",
    "environment": "environment",
    "conversation": "conversation",
    "origin": "origin",
    "part": "which",
    "grader": "grader",
    "verdict": "verdict",
    "rule": "rule",
    "common": "tasks also solved by",
}
JUDGED = ("part", "grader", "verdict", "rule", "common")
"""Conditions that only graders can answer."""
ALL = "all"
DEFAULT_PERIOD = "7d"
_KEY = "key."
_LATEST = 2**63 - 1
_DIGITS = len(str(_LATEST))
"""What a moment may be at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """An active condition and the address without it."""

    name: str
    value: str
    without: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The state of a list, read from its address."""

    period: str = ""
    """A name in PERIODS, `all`, or '' when since and until say it."""
    since: Nanos | None = None
    until: Nanos | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    text: str = ""

    def which(self) -> Which | None:
        """Return what is asked of the graders; None when nothing is."""
        if not any(name in self.values for name in JUDGED):
            return None
        value = self.values.get
        return Which(
            part=value("part", "scoped"),
            grader=value("grader", ""),
            verdict=value("verdict", "any"),
            rule=value("rule", ""),
            common=value("common"),
        )

    def where(self, now: Nanos) -> RunFilter:
        """Return the filter; a period begins with a whole point of its strip.

        What is asked of the graders is not in it: see `which`.
        """
        value = self.values.get
        status, state, origin = value("status"), value("state"), value("origin")
        since = back_from(now, PERIODS[self.period]).since if self.period in PERIODS else self.since
        return RunFilter(
            since=since,
            until=self.until,
            status=RunStatus(status) if status else None,
            state=RunState(state) if state else None,
            agent=value("agent"),
            version=value("version"),
            environment=value("environment"),
            error_type=value("error"),
            model=value("model"),
            tool=value("tool"),
            conversation_id=value("conversation"),
            business_keys=dict(self.keys),
            text=self.text or None,
            origin=None if origin == ALL else Origin(origin) if origin else Origin.PRODUCTION,
        )

    def time(self, now: Nanos, oldest: Nanos | None = None) -> Timeline:
        """Return what the strip covers; without a bound all since the `oldest` run."""
        if self.period in PERIODS:
            return back_from(now, PERIODS[self.period])
        until = self.until or Nanos(now + 1)
        since = self.since or oldest or Nanos(until - PERIODS["24h"].seconds * SECOND)
        return timeline(since, Nanos(max(until, since + 1)), now=now)

    def text_of_url(self) -> str:
        """Return the query string of this state; '' for the state without conditions."""
        pairs: list[tuple[str, str]] = []
        if self.period and self.period != DEFAULT_PERIOD:
            pairs.append(("period", self.period))
        if self.since is not None:
            pairs.append(("since", _written(self.since)))
        if self.until is not None:
            pairs.append(("until", _written(self.until)))
        pairs += [(name, self.values[name]) for name in NAMES if name in self.values]
        pairs += [(_KEY + name, value) for name, value in self.keys.items()]
        if self.text:
            pairs.append(("q", self.text))
        return urlencode(pairs)

    def url(self, path: str = "/runs", **more: str) -> str:
        """Return the address of this state."""
        text = "&".join(part for part in (self.text_of_url(), urlencode(more)) if part)
        return f"{path}?{text}" if text else path

    def having(self, **values: str | None) -> "Query":
        """Return this state with some conditions set, or with None dropped."""
        kept = {**self.values, **values}
        return replace(self, values={name: value for name, value in kept.items() if value})

    def within(self, since: int, until: int) -> "Query":
        """Return this state inside another time."""
        return replace(self, period="", since=Nanos(since), until=Nanos(until))

    def lasting(self, period: str) -> "Query":
        """Return this state over a named period."""
        return replace(self, period=period, since=None, until=None)

    def chips(self) -> Sequence[Chip]:
        """Return the active conditions, each with the address without it."""
        found = [
            Chip(
                name=NAMES[name], value=self.values[name], without=self.having(**{name: None}).url()
            )
            for name in NAMES
            if name in self.values
        ]
        for name, value in self.keys.items():
            rest = {other: kept for other, kept in self.keys.items() if other != name}
            found.append(Chip(name=name, value=value, without=replace(self, keys=rest).url()))
        if self.text:
            found.append(Chip(name="text", value=self.text, without=replace(self, text="").url()))
        if not self.period:
            shown = [
                "" if moment is None else f"{from_nanos(moment):%-d %b %Y %H:%M}"
                for moment in (self.since, self.until)
            ]
            without = self.lasting(DEFAULT_PERIOD).url()
            found.append(Chip(name="started", value=" – ".join(shown), without=without))
        return found


def parse(params: QueryParams, *more: str) -> Query:
    """Read a list's address; raises InputError that names the field and the mend.

    `more`: what else may stand in it.
    """
    named = [name for name in params if not (name.startswith(_KEY) and len(name) > len(_KEY))]
    refuse_unknown(named, (*NAMES, "period", "since", "until", "q", "key.NAME", *more))
    values = {name: params[name] for name in NAMES if params.get(name)}
    for name, kind in (("status", RunStatus), ("state", RunState)):
        known = [str(member) for member in kind]
        if values.get(name) and values[name] not in known:
            raise none_of(name, values[name], known)
    origins = [*(str(member) for member in Origin), ALL]
    if values.get("origin") and values["origin"] not in origins:
        raise none_of("origin", values["origin"], origins)
    _refuse_unknown_part(values)
    since, until = _moment("since", params.get("since")), _moment("until", params.get("until"))
    if since is not None and until is not None and since >= until:
        raise wrong("until", params.get("until", ""), "must lie after since")
    period = params.get("period") or ""
    if period:
        since = until = None  # a period chosen in the form replaces the range it had
    elif since is None and until is None:
        period = DEFAULT_PERIOD
    if period and period != ALL and period not in PERIODS:
        raise none_of("period", period, [*PERIODS, ALL])
    keys = {
        name.removeprefix(_KEY): value
        for name, value in params.items()
        if name.startswith(_KEY) and len(name) > len(_KEY) and value
    }
    return Query(
        period=period,
        since=since,
        until=until,
        values=values,
        keys=keys,
        text=params.get("q", "").strip(),
    )


def _refuse_unknown_part(values: Mapping[str, str]) -> None:
    for name, known in (("part", sorted(PARTS)), ("verdict", VERDICTS)):
        if values.get(name) and values[name] not in known:
            raise none_of(name, values[name], known)
    if values.get("verdict") and not values.get("grader"):
        raise wrong(
            "verdict",
            values["verdict"],
            "is that of one grader, so name the grader, too; runs that are verified wrong are"
            " found by part=failed, right ones by part=verified",
        )


def packed(position: RunPosition) -> str:
    """Return a position in a list as it stands in an address."""
    return f"{position.started_at}.{position.run_id}"


def unpacked(name: str, text: str | None) -> RunPosition | None:
    """Read a position in a list."""
    if not text:
        return None
    started, _, run_id = text.partition(".")
    digits = started.isascii() and started.isdecimal() and len(started) <= _DIGITS
    if not digits or int(started) > _LATEST or not run_id:
        raise wrong(name, text, "is no position in the list; go back to its first page")
    return RunPosition(Nanos(int(started)), run_id)


def _written(moment: Nanos) -> str:
    when = from_nanos(moment)
    return (
        f"{when:%Y-%m-%dT%H:%MZ}" if moment % (60 * SECOND) == 0 else f"{when:%Y-%m-%dT%H:%M:%SZ}"
    )


def _moment(name: str, text: str | None) -> Nanos | None:
    if not text:
        return None
    try:
        when = dt.datetime.fromisoformat(text)
        aware = when if when.tzinfo is not None else when.replace(tzinfo=dt.UTC)
        return to_nanos(aware.astimezone(dt.UTC))
    except (ValueError, OverflowError) as error:
        raise wrong(name, text, "is no time; write 2026-10-21T14:30Z") from error
