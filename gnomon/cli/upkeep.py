"""`gnomon doctor`, `migrate` and `config`: what a person asks before and after an incident."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli import show
from gnomon.cli.options import Config, Data, Json, StoreUrl, Url, api
from gnomon.config import load
from gnomon.model import JsonValue

if TYPE_CHECKING:
    from gnomon.store.migrate import Migration

_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "bad": ("✕", "red")}

config = typer.Typer(help="Settings and gnomon.yaml.", no_args_is_help=True)


def doctor(
    data: Data = None,
    store: StoreUrl = None,
    config_file: Config = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Say what works here, what does not, and the mend. Exit 1 when something must be mended."""
    from gnomon.cli.doctor import examine
    from gnomon.cli.finding import Finding

    found: list[Finding] = []
    # Where findings are shown as they come they say themselves that work goes on.
    with show.notes.status("looking") if as_json else nullcontext():
        for finding in examine(data=data, store=store, config_file=config_file, url=url):
            found.append(finding)
            if not as_json:
                mark, style = _MARKS[finding.verdict]
                show.findings.print(f"{finding.subject}: {finding.found}", mark=mark, style=style)
                if finding.mend:
                    show.findings.print(f"    mend: {finding.mend}")
    if as_json:
        show.as_json(
            [
                {
                    "subject": finding.subject,
                    "verdict": finding.verdict,
                    "found": finding.found,
                    "mend": finding.mend,
                }
                for finding in found
            ]
        )
    if any(finding.verdict == "bad" for finding in found):
        raise typer.Exit(1)


def migrate(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List, change nothing.")] = False,
    data: Data = None,
    store: StoreUrl = None,
    as_json: Json = False,
) -> None:
    """Bring the store's tables up to this version; refused when history was rewritten."""
    from gnomon.cli.process import settings_of
    from gnomon.store import is_there, open_store
    from gnomon.store.migrate import apply, pending, shipped

    settings = settings_of(data=data, store=store)
    if dry_run and not is_there(settings):  # opening would create it
        _told(shipped(), dry_run=True, as_json=as_json)
        return
    client = open_store(settings)
    try:
        missing = pending(client)
        if not dry_run:
            for migration in missing:
                apply(client, [migration])
                if not as_json:
                    show.notes.print(f"applied {migration.name}")
    finally:
        client.close()
    _told(missing, dry_run=dry_run, as_json=as_json)


def _told(missing: "Sequence[Migration]", *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        show.as_json({"dry_run": dry_run, "migrations": [item.name for item in missing]})
    elif not missing:
        show.notes.print("nothing to do; the store is up to date")
    elif dry_run:
        for migration in missing:
            show.notes.print(f"would apply {migration.name}")


@config.command("check")
def check(
    file: Annotated[Path | None, typer.Argument(help="gnomon.yaml to check.")] = None,
    config_file: Config = None,
    as_json: Json = False,
) -> None:
    """Check settings and gnomon.yaml; errors name file, line and mend. Exit 2 when wrong."""
    from gnomon.cli.process import refuse_contradictions, watch_of

    settings = load(config=file or config_file)
    refuse_contradictions(settings)
    watch, _ = watch_of(settings)
    if as_json:
        show.as_json({"file": watch.name, "hash": watch.digest, "sections": sorted(watch.data)})
    else:
        show.notes.print(f"{watch.name} is valid; hash {watch.digest}")


@config.command("show")
def show_config(
    config_file: Config = None,
    url: Url = None,
    running: Annotated[
        bool, typer.Option("--running", help="As the process at --url does.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show settings and gnomon.yaml as they are read here, or by a running process (--running)."""
    if running:
        with api(url) as client:
            answer = client.get("/v1/config")
    else:
        from gnomon.cli.process import described, settings_of, watch_of

        settings = settings_of(config_file=config_file)
        watch, watched = watch_of(settings)
        answer = described(settings, watch, watched)
    if as_json:
        show.as_json(answer)
        return
    show.facts((f"GNOMON_{name}", str(value)) for name, value in _flat(answer["settings"]))
    show.notes.print(f"{answer['file']}, hash {answer['hash']}")
    show.as_json(answer["watched"])


def _flat(tree: Mapping[str, JsonValue], path: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Yield every setting by the name that sets it."""
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}{name.upper()}__")
        elif value is not None:
            yield f"{path}{name.upper()}", value
