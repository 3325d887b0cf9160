"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from gnomon.addresses import path
from gnomon.cli.client import Api
from gnomon.config import load

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
RunId = Annotated[str, typer.Argument(help="The id, or as much of its beginning as is unique.")]
Url = Annotated[
    str | None,
    typer.Option("--url", help="Where the API answers; default GNOMON_URL, else this machine."),
]


def as_path(text: str) -> Path:
    """Read an option that names a path; typer's own reading makes `.` of nothing."""
    try:
        return path(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        parser=as_path,
        metavar="PATH",
        help="Directory of the queue and the embedded store.",
    ),
]
StoreUrl = Annotated[
    str | None,
    typer.Option("--store", help="A ClickHouse server, http://user:password@host:8123/database."),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        parser=as_path,
        metavar="PATH",
        help="gnomon.yaml; default ./gnomon.yaml when there is one.",
    ),
]


def api(url: str | None) -> Api:
    """Return a client for the API that was asked for."""
    settings = load() if url is None else load(url=url)
    return Api(settings.api_url)
