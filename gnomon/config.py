"""Where things run: the `GNOMON_…` settings. The only reader of the environment."""

import datetime as dt
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
)
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from gnomon import addresses
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


def between(low: Any, high: Any, show: Callable[[Any], str]) -> AfterValidator:
    """Return a bound that says itself in the words of the setting."""

    def check(value: Any) -> Any:
        if not low <= value <= high:
            raise ValueError(f"write something from {show(low)} to {show(high)}")
        return value

    return AfterValidator(check)


def _sizes(low: int, high: int) -> AfterValidator:
    return between(low, high, lambda size: ByteSize(size).human_readable())


def _durations(low: float, high: float) -> AfterValidator:
    return between(dt.timedelta(seconds=low), dt.timedelta(seconds=high), written)


def _lowered(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _store_url(text: str) -> str:
    addresses.store_url(text)
    return text.strip()


_KIB, _MIB, _GIB, _TIB = 1024, 1024**2, 1024**3, 1024**4
_HOUR, _DAY = 3_600, 86_400
Place = Annotated[Path, BeforeValidator(addresses.path)]
Host = Annotated[str, AfterValidator(addresses.host)]
BaseUrl = Annotated[str, AfterValidator(addresses.base_url)]
TracesUrl = Annotated[str, AfterValidator(addresses.traces_url)]
Origin = Annotated[str, AfterValidator(addresses.origin)]
StoreUrl = Annotated[str, AfterValidator(_store_url)]


class Section(BaseModel):
    """A branch of the settings tree."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class StoreSettings(Section):
    """Which ClickHouse holds the data."""

    url: StoreUrl | None = Field(
        default=None,
        description="A server, e.g. http://user:password@host:8123/gnomon; unset = embedded.",
    )
    timeout: Annotated[Duration, _durations(1, _DAY)] = Field(
        default=dt.timedelta(seconds=30), description="The longest a query may take."
    )
    cluster: Annotated[str, Field(pattern=r"^\w*$")] = Field(
        default="", description="Name of the cluster for ON CLUSTER; '' = none."
    )
    memory: Annotated[ByteSize, _sizes(64 * _MIB, 64 * _TIB)] = Field(
        default=ByteSize(1536 * 1024**2), description="The most one query may use."
    )


class QueueSettings(Section):
    """Where a request waits until ClickHouse has it."""

    kind: Literal["spool"] = "spool"
    max_bytes: Annotated[ByteSize, _sizes(_KIB, 1024 * _TIB)] = Field(
        default=ByteSize(2 * 1024**3), description="A fuller queue answers 503."
    )
    flush_after: Annotated[Duration, _durations(0, _HOUR)] = Field(
        default=dt.timedelta(seconds=1), description="The longest a request waits for company."
    )
    batch_bytes: Annotated[ByteSize, _sizes(1, _GIB)] = Field(
        default=ByteSize(16 * 1024**2), description="A batch is inserted when it is this large."
    )
    remember: Duration = Field(
        default=dt.timedelta(days=7),
        description="How long the digest of a stored request is known, so that its retry is too.",
    )


class IngestSettings(Section):
    """What the receivers take."""

    max_body: Annotated[ByteSize, _sizes(1, _GIB)] = Field(
        default=ByteSize(64 * 1024**2), description="The largest request, compressed and not."
    )
    max_value: Annotated[ByteSize, _sizes(1, _GIB)] = Field(
        default=ByteSize(1024**2), description="A longer attribute value is cut and marked."
    )
    max_inflight: Annotated[ByteSize, _sizes(1, 64 * _TIB)] = Field(
        default=ByteSize(256 * 1024**2), description="More bytes in work at once answer 503."
    )
    cors_origins: tuple[Origin, ...] = Field(
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

    level: Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(_lowered)] = (
        "info"
    )
    format: Literal["auto", "json", "console"] = Field(
        default="auto", description="auto: colours at a terminal, JSON elsewhere."
    )


MOST_FOLD_PROCESSES = 64
_CORES_A_FOLD_PROCESS = 4


def _fold_processes() -> int:
    """Return one process, and one more for each further four cores this process may use."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        cores = os.cpu_count() or 1
    return min(max(1, cores // _CORES_A_FOLD_PROCESS), MOST_FOLD_PROCESSES)


class Settings(BaseSettings):
    """The whole tree. `GNOMON_STORE__URL=http://db:8123` sets `settings.store.url`."""

    model_config = SettingsConfigDict(
        env_prefix="GNOMON_",
        env_nested_delimiter="__",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
    )

    data: Place = Field(
        default=Path("gnomon-data"), description="Directory of the queue and the embedded store."
    )
    config: Place | None = Field(
        default=None, description="gnomon.yaml; unset = ./gnomon.yaml when there is one."
    )
    host: Host = Field(default="127.0.0.1", description="Address that all three ports bind to.")
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
    fold_processes: Annotated[int, Field(ge=0, le=MOST_FOLD_PROCESSES)] = Field(
        default_factory=_fold_processes,
        description="Processes that make runs of spans; 0 = this one does it. Unset: one, and one"
        " for every four cores above four.",
    )
    url: BaseUrl | None = Field(
        default=None, description="Where the command line finds the API; unset = this machine."
    )
    trace_self: TracesUrl | None = Field(
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
        _refuse_unknown(name)
    given = {key: value for key, value in overrides.items() if value is not None}
    try:
        return Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        lines = [
            f"{_name_of(issue['loc'])}: {mend_of(issue, Settings)}"
            for issue in error.errors(include_url=False, include_input=False)
        ]
        raise ConfigError("; ".join(lines)) from error
    except SettingsError as error:
        branch = re.search(r'field "(\w+)"', str(error))
        names = f"GNOMON_{branch[1].upper()}__…" if branch else "GNOMON_…"
        raise ConfigError(f'{names}: a list is written as JSON, ["one", "two"]') from error


def _refuse_unknown(name: str) -> None:
    if not name.upper().startswith("GNOMON_"):  # in small letters it counts just as well
        return
    branch, _, leaf = name[len("GNOMON_") :].partition("__")
    field = Settings.model_fields.get(branch.lower())
    if field is None:
        known = ", ".join(f"GNOMON_{field.upper()}" for field in Settings.model_fields)
        raise ConfigError(f"{name} is no setting; known: {known}")
    section = field.annotation
    if isinstance(section, type) and issubclass(section, Section) and not leaf:
        known = ", ".join(
            f"GNOMON_{branch.upper()}__{leaf.upper()}" for leaf in section.model_fields
        )
        raise ConfigError(f"{name} is a branch; set one of its leaves: {known}")


def _name_of(place: tuple[int | str, ...]) -> str:
    """Return the setting of a complaint; the item of a list is named by its number."""
    names = "__".join(str(part).upper() for part in place if isinstance(part, str))
    items = "".join(f"[{part}]" for part in place if isinstance(part, int))
    return f"GNOMON_{names}{items}"


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
    "string_type": "write text",
    "finite_number": "write a finite number",
    "byte_size": "write a size such as 512KiB, 64MiB or 2GiB",
    "byte_size_unit": "write a size such as 512KiB, 64MiB or 2GiB",
    "literal_error": "write {expected}",
    "greater_than_equal": "write at least {ge}",
    "less_than_equal": "write at most {le}",
    "greater_than": "write more than {gt}",
    "less_than": "write less than {lt}",
    "string_pattern_mismatch": "write text that matches {pattern}",
}
"""By pydantic's kind of complaint; the braces hold what its context has."""


def mend_of(issue: Mapping[str, Any], model: type[BaseModel]) -> str:
    """Return what to do about one complaint of pydantic on a model, in words of the house."""
    mend = _MENDS.get(issue["type"])
    if mend is None:
        return str(issue["msg"]).removeprefix("Value error, ")
    if issue["type"] == "extra_forbidden":
        known = ", ".join(_fields_at(model, issue["loc"][:-1]))
        return f"{mend}; there are: {known}" if known else mend
    return mend.format_map(issue.get("ctx", {}))


def _fields_at(model: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """Return the fields at a place of a model, as they are written; nothing where it is unknown."""
    for part in place:
        names = {field.alias or name: field for name, field in model.model_fields.items()}
        if part not in names:  # the number of an item or the key of a mapping
            continue
        inner = _model_in(names[str(part)].annotation)
        if inner is None:
            return []
        model = inner
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)
