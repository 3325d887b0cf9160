"""The history of the schema: numbered files, forward only, each applied once and never changed."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

from gnomon.clock import Clock, Nanos, to_nanos, utc_now
from gnomon.errors import ConfigError, HistoryRewritten
from gnomon.store.client import Store
from gnomon.store.engines import quoted
from gnomon.store.sql import load

_FILE = re.compile(r"(?P<number>\d{4})_(?P<owner>[a-z]+)_(?P<what>[a-z0-9_]+)\.sql")
_REWRITES = re.compile(
    r"\b(MODIFY\s+COLUMN|MATERIALIZE\s+(COLUMN|INDEX|PROJECTION|TTL)|UPDATE\s|DELETE\s)",
    re.IGNORECASE,
)
_OWN = "gnomon.store"


@dataclass(frozen=True)
class Migration:
    """One file: one statement."""

    number: int
    name: str
    text: str

    @cached_property
    def checksum(self) -> str:
        """The sha256 of the file as shipped."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def cluster_only(self) -> bool:
        """Whether the file has a meaning on a cluster only."""
        return self.text.startswith("-- only: cluster\n")

    @property
    def statement(self) -> str:
        """The statement without comments and its final semicolon."""
        lines = (line for line in self.text.splitlines() if not line.lstrip().startswith("--"))
        return "\n".join(lines).strip().removesuffix(";")

    @property
    def unannounced_rewrite(self) -> bool:
        """Whether it rewrites a whole column and does not say how long that takes."""
        return bool(_REWRITES.search(self.statement)) and "-- rewrites: " not in self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """One row of the table `migrations`."""

    number: int
    name: str
    checksum: str
    applied_at: Nanos


def shipped() -> list[Migration]:
    """Return the migrations of this version, oldest first."""
    folder = resources.files(_OWN).joinpath("migrations")
    texts = {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".sql")
    }
    return history(texts)


def history(texts: Mapping[str, str]) -> list[Migration]:
    """Order files by number; refuse bad names and gaps."""
    found: list[Migration] = []
    for name in sorted(texts):
        match = _FILE.fullmatch(name)
        if match is None:
            raise HistoryRewritten(f"{name}: a migration is called NNNN_owner_what.sql")
        if int(match["number"]) != len(found) + 1:
            raise HistoryRewritten(f"{name}: number {len(found) + 1:04} is missing or stands twice")
        found.append(Migration(number=len(found) + 1, name=name, text=texts[name]))
    return found


def applied(store: Store) -> Mapping[int, str]:
    """Return the checksum of each applied migration; nothing where the table is absent."""
    sql = load(_OWN)
    if not store.read(sql["migrations_exist"], tag="store.migrations_exist"):
        return {}
    rows = store.read(sql["applied_migrations"], tag="store.applied_migrations")
    return {row["number"]: row["checksum"] for row in rows}


def missing(done: Mapping[int, str], migrations: Sequence[Migration]) -> list[Migration]:
    """Return what is not applied; refuse a rewritten history and a newer schema."""
    newest = max(done, default=0)
    if newest > len(migrations):
        raise ConfigError(
            f"the database has migration {newest:04}, this version of Gnomon ends at"
            f" {len(migrations):04}: install a newer version, or restore an older backup"
        )
    for migration in migrations:
        if done.get(migration.number, migration.checksum) != migration.checksum:
            raise HistoryRewritten(
                f"{migration.name} changed after it was applied: put the old text back and write"
                " the change as a new migration"
            )
    return [migration for migration in migrations if migration.number not in done]


def pending(store: Store, migrations: Sequence[Migration] | None = None) -> list[Migration]:
    """Return the shipped migrations that this store lacks, oldest first."""
    lacking = missing(applied(store), shipped() if migrations is None else migrations)
    return [m for m in lacking if store.cluster or not m.cluster_only]


def apply(store: Store, migrations: Sequence[Migration], *, clock: Clock = utc_now) -> None:
    """Run them in order and remember each. Interrupted, the last runs again: no harm."""
    if not migrations:
        return
    settings = {"max_execution_time": 0}
    create = fill(load(_OWN)["create_migrations"], store.cluster)
    store.command(create, tag="migrate.create", settings=settings)
    for migration in migrations:
        statement = fill(migration.statement, store.cluster)
        store.command(statement, tag=f"migrate.{migration.number:04}", settings=settings)
        row = Applied(
            number=migration.number,
            name=migration.name,
            checksum=migration.checksum,
            applied_at=to_nanos(clock()),
        )
        store.insert("migrations", [row])


def bring_up_to_date(store: Store, *, clock: Clock = utc_now) -> list[Migration]:
    """Apply what is missing where this process owns the store; elsewhere refuse to start."""
    lacking = pending(store)
    if lacking and not store.embedded:
        names = ", ".join(migration.name for migration in lacking)
        raise ConfigError(f"the schema lacks {names}: run `gnomon migrate` first")
    apply(store, lacking, clock=clock)
    return lacking


def fill(text: str, cluster: str) -> str:
    """Fill in the two words of the settings: `{{on_cluster}}` and `{{replicated}}`."""
    on_cluster = f"ON CLUSTER {quoted(cluster)}" if cluster else ""
    replicated = "Replicated" if cluster else ""
    return text.replace("{{on_cluster}}", on_cluster).replace("{{replicated}}", replicated)
