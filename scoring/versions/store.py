"""Rules and looks in ClickHouse: when a rule was first seen, and what was seen at each look."""

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
from scoring.versions.looks import Compared, TakenLook
from scoring.versions.rule import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """One sighting of a rule."""

    digest: str
    first_seen_at: Nanos
    rule: str
    """Its canonical JSON: what the digest is of."""
    text: str
    versions: str
    """JSON: agent and version of all that had run by then."""

    @classmethod
    def of(cls, plan: Plan, seen: "SeenRule") -> "RuleRow":
        """Return the row of a rule that is seen for the first time."""
        return cls(
            digest=plan.digest,
            first_seen_at=seen.first_seen_at,
            rule=plan.rule.canonical(),
            text=plan.text,
            versions=json.dumps(seen.versions),
        )


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
class SeenRule:
    """When a rule was first seen, and which versions had run by then."""

    first_seen_at: Nanos
    versions: Sequence[tuple[str, str]]
    """Agent and version."""

    def ran(self, agent: str | None) -> frozenset[str]:
        """Return the versions of an agent, or of all, that had run by then."""
        return frozenset(version for name, version in self.versions if agent in (None, name))


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


class RuleBook:
    """Remembers rules and looks. Nothing is ever written over."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sql = load("scoring.versions")

    def rule(self, digest: str) -> SeenRule | None:
        """Return the earliest sighting of a rule."""
        rows = self._store.read(self._sql["rule"], tag="scoring.compare_rule", digest=digest)
        for row in rows:
            return SeenRule(
                first_seen_at=Nanos(row["first_seen_at"]),
                versions=tuple((agent, version) for agent, version in json.loads(row["versions"])),
            )
        return None

    def note_rule(self, row: RuleRow) -> None:
        """Remember a rule that was seen."""
        self._store.insert(
            "compare_rules",
            [row],
            token=f"rule:{row.digest}:{row.first_seen_at}",
            tag="scoring.compare_rules",
        )

    def known(self) -> Sequence[str]:
        """Return the digest of every rule that was ever seen."""
        rows = self._store.read(self._sql["known"], tag="scoring.compare_known")
        return [row["digest"] for row in rows]

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

    def looked_otherwise(self, digest: str) -> Sequence[Compared]:
        """Return what was looked at under another rule while this one was known already."""
        rows = self._store.read(
            self._sql["looked_otherwise"], tag="scoring.compare_otherwise", digest=digest
        )
        return [_compared(row) for row in rows]

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


def _compared(row: Mapping[str, Any]) -> Compared:
    scope = {name: row[name] or None for name in ("agent", "environment", "origin")}
    return Compared(base=row["base"], cand=row["cand"], **scope)


def _key(compared: Compared) -> Mapping[str, Any]:
    return {field.name: getattr(compared, field.name) or "" for field in fields(compared)}
