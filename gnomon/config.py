"""Where things run: the `GNOMON_…` settings. The only reader of the environment."""

import datetime as dt
import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ByteSize, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from gnomon.errors import ConfigError

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def duration(value: object) -> object:
    """Read `30s`, `5m`, `1h`, `7d` or `250ms`; leave everything else to pydantic."""
    if isinstance(value, str):
        for unit in sorted(_UNITS, key=len, reverse=True):
            number = value.strip().removesuffix(unit)
            if number != value.strip() and number.replace(".", "", 1).isdigit():
                return dt.timedelta(seconds=float(number) * _UNITS[unit])
    return value


Duration = Annotated[dt.timedelta, BeforeValidator(duration)]
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
            f"GNOMON_{'__'.join(str(part).upper() for part in issue['loc'])}: {issue['msg']}"
            for issue in error.errors(include_url=False, include_input=False)
        ]
        raise ConfigError("; ".join(lines)) from error
