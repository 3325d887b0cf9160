"""The two engines behind one face: chdb in this process, or a server by HTTP."""

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol
from urllib.parse import SplitResult, unquote

from clickhouse_connect import get_client
from clickhouse_connect.driver import exceptions as driver
from clickhouse_connect.driver.client import Client

from gnomon.addresses import store_url
from gnomon.config import StoreSettings
from gnomon.errors import (
    ConfigError,
    DiskFull,
    GnomonError,
    StoreDamaged,
    StoreHeld,
    StoreRefused,
    StoreUnavailable,
)
from gnomon.store.faults import UNKNOWN_DATABASE, code_of, fault, first_line
from gnomon.store.held import Hold, engine_holder, file_fault, held

DATABASE = "gnomon"
"""Where the tables lie unless the URL names another database."""

Settings = Mapping[str, str | int]

CONNECT_SECONDS = 5

OLDEST = (25, 6)
"""The first version of the server that knows every setting we send, with a query or an insert."""

ROOM = 128 * 1024**2
"""Bytes that must be left on the disk for an insert. A part whose last small files meet a full disk
is acknowledged by the engine and unreadable after a restart, so it must never come to that."""

SESSION: Mapping[str, str | int] = {
    "session_timezone": "UTC",
    # Conditions on the sort key before FINAL: without it FINAL reads every column of every row
    # that shares a granule with a wanted one (5 times the CPU for the spans of a batch of traces).
    "optimize_move_to_prewhere_if_final": 1,
    # As everywhere else: WHERE means the column, not an expression of the same name beside it.
    "prefer_column_name_to_alias": 1,
    # Machine code for a statement pays over billions of rows: here making it costs more than all
    # else, once in each process and for each statement.
    "compile_expressions": 0,
    "compile_aggregate_expressions": 0,
    "compile_sort_description": 0,
    "output_format_json_quote_64bit_integers": 0,
    "output_format_json_quote_denormals": 0,
    "output_format_json_escape_forward_slashes": 0,
    "output_format_json_named_tuples_as_objects": 1,
    "output_format_json_validate_utf8": 1,
    "input_format_json_named_tuples_as_objects": 1,
    "input_format_skip_unknown_fields": 0,
    "input_format_null_as_default": 0,
    "min_free_disk_bytes_to_perform_insert": ROOM,
}
"""Set once for each handle, so that both engines write and read the same text."""


class Engine(Protocol):
    """Opens handles and knows how an insert is handed over. Errors are the driver's own."""

    database: str

    def handle(self) -> Client:
        """Open one more handle; only one thread at a time may use it."""

    def insert(self, handle: Client, insert: "Insert") -> None:
        """Run one INSERT with its data."""

    def close(self) -> None:
        """Let go of what the engine holds, after all handles are closed."""


class Insert:
    """One INSERT: `INTO table (columns) … FORMAT format` and its data."""

    def __init__(self, target: str, format_: str, body: bytes, settings: Settings) -> None:
        self.target = target
        self.format = format_
        self.body = body
        self.settings = settings


class Embedded:
    """The engine inside this process, on a directory that only this process may open."""

    def __init__(self, data: Path, settings: StoreSettings) -> None:
        self.database = DATABASE
        self.directory = directory_of(data)
        self._data = data
        self._session = _session(settings)
        self._hold = Hold(data)
        self._scratch = data / "store-scratch"
        try:
            self._empty_scratch()
            self._create_database()
        except BaseException:
            self._hold.release()
            raise

    def handle(self) -> Client:
        """Open one more handle on the directory."""
        return self._client(self.database)

    def _client(self, database: str | None) -> Client:
        try:
            return get_client(
                interface="chdb",
                path=str(self.directory),
                database=database,
                settings=dict(self._session),
            )
        except driver.ProgrammingError as error:
            raise self._not_opened(error) from error

    def insert(self, handle: Client, insert: Insert) -> None:
        """Hand the data over in a file of our own; what a crash leaves is removed at start."""
        with self._file(insert.body) as name:
            settings = settings_clause(insert.settings)
            handle.command(
                f"INSERT INTO {insert.target} FROM INFILE {quoted(name)}{settings}"
                f" FORMAT {insert.format}"
            )

    @contextmanager
    def _file(self, body: bytes) -> Iterator[str]:
        """Lend the name of a file that holds these bytes."""
        try:
            file = tempfile.NamedTemporaryFile(  # noqa: SIM115 - closed below, on every way
                dir=self._scratch, suffix=".insert", delete=False
            )
        except OSError as error:
            raise file_fault(error, self._scratch) from error
        try:
            try:
                with file:
                    file.write(body)
            except OSError as error:
                raise file_fault(error, self._scratch) from error
            yield file.name
        finally:
            with suppress(OSError):  # it is removed at the next start
                Path(file.name).unlink()

    def close(self) -> None:
        """Let another process have the directory."""
        self._hold.release()

    def _create_database(self) -> None:
        try:
            self.directory.mkdir(exist_ok=True)
        except OSError as error:
            raise file_fault(error, self.directory) from error
        client = self._client(None)
        try:
            client.command(f"CREATE DATABASE IF NOT EXISTS {self.database}", use_database=False)
        except driver.ClickHouseError as error:
            raise fault(error, tag="store.create_database") from error
        finally:
            client.close()

    def _empty_scratch(self) -> None:
        try:
            self._scratch.mkdir(exist_ok=True)
            for left in self._scratch.glob("*.insert"):
                left.unlink()
        except OSError as error:
            raise file_fault(error, self._scratch) from error

    def _not_opened(self, error: Exception) -> GnomonError:
        holder = engine_holder(self.directory)
        if holder is not None and holder != os.getpid():
            return held(self._data, holder)
        if isinstance(fault(error, tag="store.open"), DiskFull):
            return DiskFull(f"{self.directory}: no space left on the device")
        if not os.access(self.directory, os.R_OK | os.W_OK | os.X_OK):
            return ConfigError(f"{self.directory} cannot be written; mend its rights or --data")
        text = str(error).partition(", Stack trace")[0].replace("\n", " ")[:600]
        if _other_directory_open(self.directory):
            return StoreHeld(
                f"this process has another embedded directory open; close it before {self._data}",
                pid=os.getpid(),
            )
        return StoreDamaged(
            f"{self.directory} cannot be opened: {text}. Restore it from a backup, or move it away"
            " to start empty; what the queue still holds is stored again."
        )


def directory_of(data: Path) -> Path:
    """Return where the embedded engine keeps its files."""
    return data / "clickhouse"


class Server:
    """A ClickHouse server or cluster over HTTP."""

    def __init__(self, settings: StoreSettings, url: str, *, create: bool = True) -> None:
        self._url = _checked(url)
        self._where = f"{self._url.scheme}://{self._url.hostname}:{_port(self._url)}"
        self._timeout = int(settings.timeout.total_seconds())
        self._session = _session(settings)
        self._cluster = settings.cluster
        self.database = unquote(self._url.path.strip("/")) or DATABASE
        self._refuse_old()
        if create:
            self._ensure_database()

    def handle(self) -> Client:
        """Open one more client of the server."""
        return self._client(self.database)

    def insert(self, handle: Client, insert: Insert) -> None:
        """Send the data as the body of the request."""
        settings = settings_clause(insert.settings)
        head = f"INSERT INTO {insert.target}{settings} FORMAT {insert.format}\n"
        handle.raw_insert("", insert_block=head.encode() + insert.body)

    def close(self) -> None:
        """Hold nothing."""

    def _client(self, database: str | None, settings: Settings | None = None) -> Client:
        try:
            return get_client(
                interface=self._url.scheme,
                host=self._url.hostname,
                port=_port(self._url),
                username=unquote(self._url.username or "default"),
                password=unquote(self._url.password or ""),
                database=database,
                connect_timeout=CONNECT_SECONDS,
                # The server gives up first and says why.
                send_receive_timeout=self._timeout * 10 + 30,
                autogenerate_session_id=False,
                form_encode_query_params=True,
                settings=dict(self._session if settings is None else settings),
            )
        except driver.ClickHouseError as error:
            if code_of(error) == UNKNOWN_DATABASE:
                raise
            translated = fault(error, tag="store.open")
            if isinstance(translated, StoreUnavailable) and code_of(error) is None:
                raise StoreUnavailable(
                    f"ClickHouse at {self._where} is unreachable: is it up, and is"
                    f" GNOMON_STORE__URL right? ({first_line(str(error))})",
                    **translated.context,
                ) from error
            raise type(translated)(
                f"ClickHouse at {self._where} did not let us in: {translated.detail}."
                f"{_mend(translated)}",
                **translated.context,
            ) from error

    def has_database(self) -> bool:
        """Tell whether the database is there; nothing is created."""
        try:
            self._client(self.database).close()
        except driver.ClickHouseError:  # only that it is unknown; the rest is translated
            return False
        return True

    def _refuse_old(self) -> None:
        """Raise before the first of our settings would be called unknown."""
        client = self._client(None, {})
        version = client.server_version or ""
        client.close()
        numbers = re.match(r"(\d+)\.(\d+)", version)
        if numbers and (int(numbers[1]), int(numbers[2])) < OLDEST:
            raise ConfigError(
                f"ClickHouse at {self._where} is version {version}; Gnomon needs"
                f" {'.'.join(map(str, OLDEST))} or newer: update it, or name another in"
                " GNOMON_STORE__URL"
            )

    def _ensure_database(self) -> None:
        try:
            self._client(self.database).close()
        except driver.ClickHouseError:
            client = self._client(None)
            on = f" ON CLUSTER {quoted(self._cluster)}" if self._cluster else ""
            try:
                client.command(
                    f"CREATE DATABASE IF NOT EXISTS {identifier(self.database)}{on}",
                    use_database=False,
                )
            except driver.ClickHouseError as error:
                raise ConfigError(
                    f"{self._where} has no database {self.database}, and creating it failed:"
                    f" {fault(error, tag='store.create_database').detail}"
                ) from error
            finally:
                client.close()


def settings_clause(settings: Settings) -> str:
    """Return ` SETTINGS a = 1, b = 'x'`, or nothing."""
    if not settings:
        return ""
    pairs = (
        f"{identifier(name)} = {value if isinstance(value, int) else quoted(value)}"
        for name, value in settings.items()
    )
    return f" SETTINGS {', '.join(pairs)}"


def quoted(text: str) -> str:
    """Return text as an SQL literal."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def identifier(name: str) -> str:
    """Return a name that needs no quotes; anything else is refused."""
    if not (name.isascii() and name.replace("_", "a").isalnum() and not name[0].isdigit()):
        raise ConfigError(f"{name!r} cannot be a name; use letters, digits and _")
    return name


def _session(settings: StoreSettings) -> dict[str, str | int]:
    return {
        **SESSION,
        "max_execution_time": max(1, int(settings.timeout.total_seconds())),
        "max_memory_usage": int(settings.memory),
    }


def _checked(url: str) -> SplitResult:
    try:
        return store_url(url)
    except ValueError as error:
        raise ConfigError(f"GNOMON_STORE__URL: {error}") from error


def _port(url: SplitResult) -> int:
    return url.port or (8443 if url.scheme == "https" else 8123)


def _mend(error: GnomonError) -> str:
    if isinstance(error, StoreRefused):
        return f" Gnomon needs ClickHouse {'.'.join(map(str, OLDEST))} or newer"
    if isinstance(error, ConfigError):
        return " Check user, password and rights in GNOMON_STORE__URL"
    return " Check that it runs and that GNOMON_STORE__URL names its HTTP port"


def _other_directory_open(directory: Path) -> bool:
    """Tell whether this process holds the engine's lock of a directory that is not this one."""
    mine = str(directory.resolve() / "status")
    for descriptor in Path("/proc/self/fd").glob("*"):
        try:
            target = str(descriptor.readlink())
        except OSError:
            continue
        if target.endswith("/status") and target != mine and not target.startswith("/proc"):
            return True
    return False
