"""Where things run: the `GNOMON_…` settings. The only reader of the environment."""

import datetime as dt
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
)
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from gnomon.errors import ConfigError

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?")


def age(text: str) -> dt.timedelta | None:
    """Read `250ms`, `30s`, `5m`, `1h` or `7d`; None for anything else."""
    said = _DURATION.fullmatch(text.strip())
    if said is None or said[2] is None:
        return None
    try:
        return dt.timedelta(seconds=float(said[1]) * _UNITS[said[2]])
    except OverflowError:
        return dt.timedelta.max


def duration(value: object) -> object:
    """Read a duration as a setting has it; a bare number is seconds."""
    if not isinstance(value, str):
        return value
    found = age(value if not value.strip().replace(".", "", 1).isdigit() else f"{value.strip()}s")
    if found is None:
        raise ValueError("write a duration such as 250ms, 30s, 5m, 1h or 7d")
    return found


def written(value: dt.timedelta) -> str:
    """Return a duration as it would be written in a setting."""
    seconds = value.total_seconds()
    for unit in ("d", "h", "m", "s"):
        if seconds and seconds % _UNITS[unit] == 0:
            return f"{seconds / _UNITS[unit]:.0f}{unit}"
    return f"{seconds * 1000:g}ms"


Duration = Annotated[
    dt.timedelta,
    BeforeValidator(duration),
    Field(ge=dt.timedelta(0)),
    PlainSerializer(written, when_used="json"),
]
Port = Annotated[int, Field(ge=0, le=65535)]


class Section(BaseModel):
    """A branch of the settings tree."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class StoreSettings(Section):
    """Which ClickHouse holds the data."""

    url: str | None = Field(
        default=None,
        description="A server, e.g. http://user:password@host:8123/gnomon; unset = embedded.",
    )
    timeout: Duration = Field(
        default=dt.timedelta(seconds=30), description="The longest a query may take."
    )
    cluster: str = Field(default="", description="Name of the cluster for ON CLUSTER; '' = none.")
    memory: ByteSize = Field(
        default=ByteSize(1536 * 1024**2), description="The most one query may use."
    )


class QueueSettings(Section):
    """Where a request waits until ClickHouse has it."""

    kind: Literal["spool"] = "spool"
    max_bytes: ByteSize = Field(
        default=ByteSize(2 * 1024**3), description="A fuller queue answers 503."
    )
    flush_after: Duration = Field(
        default=dt.timedelta(seconds=1), description="The longest a request waits for company."
    )
    batch_bytes: ByteSize = Field(
        default=ByteSize(16 * 1024**2), description="A batch is inserted when it is this large."
    )
    remember: Duration = Field(
        default=dt.timedelta(days=7),
        description="How long the digest of a stored request is known, so that its retry is too.",
    )


class IngestSettings(Section):
    """What the receivers take."""

    max_body: ByteSize = Field(
        default=ByteSize(64 * 1024**2), description="The largest request, compressed and not."
    )
    max_value: ByteSize = Field(
        default=ByteSize(1024**2), description="A longer attribute value is cut and marked."
    )
    max_inflight: ByteSize = Field(
        default=ByteSize(256 * 1024**2), description="More bytes in work at once answer 503."
    )
    cors_origins: tuple[str, ...] = Field(
        default=(), description="Origins a browser may send from."
    )


TableName = Annotated[str, Field(pattern=r"^\w+(\.\w+)?$")]


class SourceSettings(Section):
    """Tables of the OpenTelemetry Collector's ClickHouse exporter in the store that are read."""

    traces: TableName | None = Field(
        default=None, description="Table of spans, database.table; unset = none is read."
    )
    logs: TableName | None = Field(
        default=None, description="Table of log records, database.table; unset = none is read."
    )
    services: tuple[str, ...] = Field(
        default=(), description="Only rows of these services; none named = of all."
    )
    every: Duration = Field(
        default=dt.timedelta(seconds=10), description="How often the tables are looked at."
    )
    lookback: Duration = Field(
        default=dt.timedelta(days=1), description="How old a row may be when it is written."
    )


class LogSettings(Section):
    """How Gnomon tells about itself."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "json", "console"] = Field(
        default="auto", description="auto: colours at a terminal, JSON elsewhere."
    )


class Settings(BaseSettings):
    """The whole tree. `GNOMON_STORE__URL=http://db:8123` sets `settings.store.url`."""

    model_config = SettingsConfigDict(
        env_prefix="GNOMON_",
        env_nested_delimiter="__",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
    )

    data: Path = Field(
        default=Path("gnomon-data"), description="Directory of the queue and the embedded store."
    )
    config: Path | None = Field(
        default=None, description="gnomon.yaml; unset = ./gnomon.yaml when there is one."
    )
    host: str = Field(default="127.0.0.1", description="Address that all three ports bind to.")
    open_network: bool = Field(
        default=False,
        description="Allow GNOMON_HOST to be reachable from elsewhere although nobody is checked.",
    )
    otlp_grpc_port: Port = Field(default=4317, description="OTLP/gRPC; 0 = any free port.")
    otlp_http_port: Port = Field(default=4318, description="OTLP/HTTP; 0 = any free port.")
    web_port: Port = Field(default=8000, description="Pages and API; 0 = any free port.")
    ingest_metrics: Literal["refuse", "discard"] = Field(
        default="refuse", description="refuse: 404 for OTLP metrics; discard: 200, all rejected."
    )
    url: str | None = Field(
        default=None, description="Where the command line finds the API; unset = this machine."
    )
    trace_self: str | None = Field(
        default=None, description="OTLP/HTTP endpoint for Gnomon's own traces; unset = off."
    )
    store: StoreSettings = StoreSettings()
    queue: QueueSettings = QueueSettings()
    ingest: IngestSettings = IngestSettings()
    source: SourceSettings = SourceSettings()
    log: LogSettings = LogSettings()

    @property
    def api_url(self) -> str:
        """Where this machine's API answers, unless told otherwise."""
        return self.url or f"http://127.0.0.1:{self.web_port}"


def load(**overrides: object) -> Settings:
    """Read the tree; a name that fits no branch stops the start. Overrides come from options."""
    for name in os.environ:
        branch = name.removeprefix("GNOMON_").partition("__")[0].lower()
        if name.startswith("GNOMON_") and branch not in Settings.model_fields:
            known = ", ".join(f"GNOMON_{field.upper()}" for field in Settings.model_fields)
            raise ConfigError(f"{name} is no setting; known: {known}")
    given = {key: value for key, value in overrides.items() if value is not None}
    try:
        return Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        lines = [
            f"GNOMON_{'__'.join(str(part).upper() for part in issue['loc'])}: {mend_of(issue)}"
            for issue in error.errors(include_url=False, include_input=False)
        ]
        raise ConfigError("; ".join(lines)) from error
    except SettingsError as error:
        mend = 'a list is written as JSON, ["one", "two"]'
        raise ConfigError(f"{error} of GNOMON_…: {mend}") from error


_MENDS = {
    "extra_forbidden": "there is no such field here",
    "missing": "this field is missing",
    "model_type": "write a mapping, `name: value`",
    "model_attributes_type": "write a mapping, `name: value`",
    "dict_type": "write a mapping, `name: value`",
    "tuple_type": "write a list, `[one, two]`",
    "list_type": "write a list, `[one, two]`",
    "time_delta_parsing": "write a duration such as 250ms, 30s, 5m, 1h or 7d",
    "time_delta_type": "write a duration such as 250ms, 30s, 5m, 1h or 7d",
    "date_from_datetime_parsing": "write a date such as 2026-01-31",
    "date_parsing": "write a date such as 2026-01-31",
    "date_type": "write a date such as 2026-01-31",
    "bool_parsing": "write true or false",
    "bool_type": "write true or false",
    "int_parsing": "write a whole number",
    "float_parsing": "write a number",
}


def mend_of(issue: Mapping[str, Any]) -> str:
    """Return what to do about one complaint of pydantic, in words of the house."""
    return _MENDS.get(issue["type"], str(issue["msg"]).removeprefix("Value error, "))
