"""Rules and looks in ClickHouse: which rule was in force when, and what was seen at each look."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter

from gnomon.clock import Nanos
from gnomon.store import Store
from gnomon.store.sql import load
from scoring.stats.gates import Verdict
from scoring.versions.force import Force, Ran
from scoring.versions.looks import Compared, TakenLook


@dataclass(frozen=True, slots=True, kw_only=True)
class ForceRow:
    """One rule that came into force."""

    place: int
    at: Nanos
    digest: str
    rule: str
    text: str
    ran: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LookRow:
    """One look that was taken."""

    digest: str
    agent: str
    environment: str
    origin: str
    base: str
    cand: str
    look: int
    seen_at: Nanos
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLook:
    """A look with the rule under which it was taken, and what it was about."""

    digest: str
    text: str
    compared: Compared
    taken: TakenLook


@lru_cache(maxsize=1)
def _looks() -> TypeAdapter[TakenLook]:
    return TypeAdapter(TakenLook)


@lru_cache(maxsize=1)
def _ran() -> TypeAdapter[Sequence[Ran]]:
    return TypeAdapter(Sequence[Ran])


class RuleBook:
    """Remembers rules and looks. Nothing is ever written over."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sql = load("scoring.versions")

    def log(self) -> Sequence[Force]:
        """Return every rule that came into force, in that order."""
        rows = self._store.read(self._sql["in_force"], tag="scoring.compare_in_force")
        return [
            Force(
                place=int(row["place"]),
                digest=row["digest"],
                at=Nanos(row["at"]),
                text=row["text"],
                rule=row["rule"],
                ran=_ran().validate_json(row["ran"]) if row["place"] else _sighted(row),
            )
            for row in rows
        ]

    def note(self, force: Force) -> None:
        """Remember a rule that came into force."""
        row = ForceRow(
            place=force.place,
            at=force.at,
            digest=force.digest,
            rule=force.rule,
            text=force.text,
            ran=_ran().dump_json(force.ran).decode(),
        )
        self._store.insert(
            "compare_in_force",
            [row],
            token=f"force:{force.place}:{force.at}:{force.digest}",
            tag="scoring.compare_in_force",
        )

    def looks(self, compared: Compared) -> Sequence[StoredLook]:
        """Return every look at two versions of an agent, in whatever order, under any rule."""
        key = _key(compared)
        asked = {name: key[name] for name in ("agent", "base", "cand")}
        rows = self._store.read(self._sql["looks"], tag="scoring.compare_looks", bind=asked)
        return [
            StoredLook(
                digest=row["digest"],
                text=row["text"],
                compared=_compared(row),
                taken=_looks().validate_json(row["result"]),
            )
            for row in rows
        ]

    def progress(self, digest: str) -> Mapping[frozenset[str], tuple[int, bool]]:
        """Return the looks taken under a rule, and whether the last decided, by both versions."""
        rows = self._store.read(
            self._sql["progress"], tag="scoring.compare_progress", digest=digest
        )
        undecided = Verdict.NOT_ENOUGH_DATA.value
        return {
            frozenset(row["versions"]): (int(row["taken"]), row["verdict"] != undecided)
            for row in rows
        }

    def note_look(self, digest: str, compared: Compared, taken: TakenLook) -> None:
        """Remember what was seen at a look."""
        row = LookRow(
            digest=digest,
            look=taken.look,
            seen_at=taken.seen_at,
            result=_looks().dump_json(taken).decode(),
            **_key(compared),
        )
        self._store.insert(
            "compare_looks",
            [row],
            token=f"look:{digest}:{compared}:{taken.look}:{taken.seen_at}",
            tag="scoring.compare_looks",
        )


def _sighted(row: Mapping[str, Any]) -> Sequence[Ran]:
    """Return what had run at the first sight of a rule, where that alone was noted: in its scope."""
    rule = json.loads(row["rule"])
    scope = {"environment": "", "origin": "all", **rule.get("scope", {})}
    origin = "" if scope["origin"] == "all" else scope["origin"]
    return [
        Ran(
            agent=agent,
            version=version,
            environment=scope["environment"],
            origin=origin,
            tasked=rule.get("trials") is not None,
        )
        for agent, version in json.loads(row["ran"])
    ]


def _compared(row: Mapping[str, Any]) -> Compared:
    scope = {name: row[name] or None for name in ("agent", "environment", "origin")}
    return Compared(base=row["base"], cand=row["cand"], **scope)


def _key(compared: Compared) -> Mapping[str, Any]:
    return {field.name: getattr(compared, field.name) or "" for field in fields(compared)}
