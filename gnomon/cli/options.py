"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.client import Api
from gnomon.config import load

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Url = Annotated[
    str | None,
    typer.Option("--url", help="Where the API answers; default GNOMON_URL, else this machine."),
]
Data = Annotated[
    Path | None,
    typer.Option("--data", help="Directory of the queue and the embedded store."),
]
StoreUrl = Annotated[
    str | None,
    typer.Option("--store", help="A ClickHouse server, http://user:password@host:8123/database."),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", help="gnomon.yaml; default ./gnomon.yaml when there is one."),
]


def api(url: str | None) -> Api:
    """Return a client for the API that was asked for."""
    return Api(url or load().api_url)
