"""What `gnomon doctor` looks at: each finding says what is so and, if it is wrong, the mend."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli.client import Api
from gnomon.cli.doctor_running import LOOKS, readiness
from gnomon.cli.finding import Finding
from gnomon.cli.process import refuse_contradictions, settings_of, watch_of
from gnomon.config import Settings
from gnomon.errors import GnomonError, StoreHeld

if TYPE_CHECKING:
    from collector.queue.database import Resting

_ROOM = 2 * 1024**3
_SAID = "the finding says it"


def examine(
    *, data: Path | None, store: str | None, config_file: Path | None, url: str | None
) -> Iterator[Finding]:
    """Yield findings while they are made: configuration, disk, store, then a span there and back."""
    try:
        settings = settings_of(data=data, store=store, config_file=config_file)
        refuse_contradictions(settings)
    except GnomonError as error:
        yield Finding(
            subject="settings",
            verdict="bad",
            found=error.detail,
            mend="write it so, or unset it (docs/configuration.md)",
        )
        return
    yield Finding(
        subject="settings", verdict="ok", found="every GNOMON_ name and value can be meant"
    )
    with Api(url or settings.api_url, timeout=10.0) as client:
        try:
            problems = readiness(client)
            running = client.get("/v1/config")
        except GnomonError as error:
            yield _disk(settings.data)
            yield _watch(settings)
            yield Finding(
                subject="process",
                verdict="warning",
                found="no Gnomon is running here",
                mend=error.detail,
            )
            yield _queue(settings)
            yield _store(settings)
            return
        yield from problems
        yield _disk_of_running(Path(running["settings"]["data"]))
        yield _prices(running["file"], running["hash"], priced=bool(running["watched"]["prices"]))
        for subject, look in LOOKS.items():
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


def _disk_of_running(data: Path) -> Finding:
    """Look at the directory of the process that answers, not at the one this shell would use."""
    if data.exists():
        return _disk(data)
    return Finding(subject="data", verdict="ok", found=f"{data}, on the machine it runs on")


def _disk(data: Path) -> Finding:
    try:
        place = data.absolute()
        while not place.exists():
            place = place.parent
        free = shutil.disk_usage(place).free
    except OSError as error:
        return _unusable(data, error.strerror or str(error))
    if not place.is_dir():
        return _unusable(data, f"{place} is no directory")
    if not os.access(place, os.W_OK):
        return Finding(
            subject="data",
            verdict="bad",
            found=f"{data} can not be written",
            mend=f"chown it to uid {os.getuid()}, or choose another with GNOMON_DATA",
        )
    found = f"{data}, {free / 1024**3:.1f} GiB free"
    if free < _ROOM:
        return Finding(
            subject="data", verdict="bad", found=found, mend="free some space or move GNOMON_DATA"
        )
    return Finding(subject="data", verdict="ok", found=found)


def _unusable(data: Path, why: str) -> Finding:
    return Finding(
        subject="data",
        verdict="bad",
        found=f"{str(data)[:200]} can not be used: {why}",
        mend="choose a directory with --data or GNOMON_DATA",
    )


def _queue(settings: Settings) -> Finding:
    """Look into the file of the queue, which no process of ours has open."""
    from collector.queue.database import FILE, at_rest

    path = settings.data / FILE
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        return Finding(subject="queue", verdict="ok", found="empty, made at the first start")
    try:
        resting = at_rest(path)
    except GnomonError as error:
        return Finding(subject="queue", verdict="bad", found=error.detail, mend=_SAID)
    found = f"{path}, {resting.waiting} spans and log records wait for the store"
    if resting.dead_letters:
        return Finding(
            subject="queue",
            verdict="warning",
            found=f"{found}, {resting.dead_letters} dead letters",
            mend="start Gnomon, then `gnomon dead-letters list`",
        )
    return Finding(subject="queue", verdict="ok", found=found)


def _resting(settings: Settings) -> "Resting":
    """Return what the queue remembers; nothing where it is absent, or cannot be read as is told."""
    from collector.queue.database import FILE, Resting, at_rest

    try:
        return at_rest(settings.data / FILE)
    except GnomonError:
        return Resting(waiting=0, dead_letters=0)


def _store(settings: Settings) -> Finding:
    """Open the store when no process of ours holds it."""
    from collector.identity import mismatch
    from gnomon.store import open_store
    from gnomon.store.migrate import applied, pending

    where = (settings.store.url and "server") or "embedded"
    queue = _resting(settings)
    if where == "embedded" and not (settings.data / "clickhouse").exists():
        if complaint := mismatch(None, queue.store_id, queue.stored):
            return Finding(subject="store", verdict="bad", found=complaint, mend=_SAID)
        return Finding(subject="store", verdict="ok", found="embedded, made at the first start")
    try:
        client = open_store(settings)
        try:
            missing = pending(client)
            # Where no migration has run yet there is no table to look into, and nothing in it.
            held = client if applied(client) else None
            looked = not missing or held is None
            if looked and (complaint := mismatch(held, queue.store_id, queue.stored)):
                return Finding(subject="store", verdict="bad", found=complaint, mend=_SAID)
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
        return Finding(subject="store", verdict="bad", found=error.detail, mend=_SAID)
    if missing:
        return Finding(
            subject="store",
            verdict="warning",
            found=f"{where}, {len(missing)} migrations to apply",
            mend="gnomon migrate (`gnomon serve` does it on an embedded store)",
        )
    return Finding(subject="store", verdict="ok", found=f"{where}, up to date")
