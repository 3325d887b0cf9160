"""What the driver says went wrong, as errors of the house. Decided by numeric codes, once."""

import errno
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from clickhouse_connect.driver import exceptions as driver

from gnomon.errors import (
    ConfigError,
    DiskFull,
    GnomonError,
    StoreDamaged,
    StoreRefused,
    StoreUnavailable,
)
from gnomon.store.held import REFUSALS, mend_of_file

UNKNOWN_TABLE = 60
UNKNOWN_DATABASE = 81

_LATER = frozenset(
    {
        159,  # TIMEOUT_EXCEEDED
        160,  # TOO_SLOW
        202,  # TOO_MANY_SIMULTANEOUS_QUERIES
        203,  # NO_FREE_CONNECTION
        209,  # SOCKET_TIMEOUT
        210,  # NETWORK_ERROR
        225,  # NO_ZOOKEEPER
        236,  # ABORTED
        241,  # MEMORY_LIMIT_EXCEEDED
        242,  # TABLE_IS_READ_ONLY
        252,  # TOO_MANY_PARTS
        279,  # ALL_CONNECTION_TRIES_FAILED
        285,  # TOO_FEW_LIVE_REPLICAS
        319,  # UNKNOWN_STATUS_OF_INSERT
        394,  # QUERY_WAS_CANCELLED
        439,  # CANNOT_SCHEDULE_TASK
        999,  # KEEPER_EXCEPTION
    }
)
RAN_TOO_LONG = frozenset({159, 160})
"""TIMEOUT_EXCEEDED, TOO_SLOW: a statement reached the limit that it was given."""

_OUR_CALL = (driver.ProgrammingError, driver.DataError, driver.NotSupportedError)
_CREDENTIALS = frozenset({192, 193, 194, 516})
_RIGHTS = frozenset({164, 291, 497})
_NO_SPACE = 243
_FULL = (errno.ENOSPC, errno.EDQUOT)
_OS = re.compile(r"\berrno: (?P<number>\d+), strerror: ")
"""How ClickHouse says, inside any code, that the operating system refused it a file."""

_CODE = re.compile(r"server response: Code: (?P<code>\d+)\b")
_SPACE = re.compile(r"\bENOSPC\b|^Code: 1001\b.*filesystem error: .*No space left on device")

_DAMAGED = frozenset(
    {
        40,  # CHECKSUM_DOESNT_MATCH
        74,  # CANNOT_READ_FROM_FILE_DESCRIPTOR
        226,  # NO_FILE_IN_DATA_PART
        227,  # UNEXPECTED_FILE_IN_DATA_PART
        228,  # BAD_SIZE_OF_FILE_IN_DATA_PART
        231,  # TOO_MANY_UNEXPECTED_DATA_PARTS
        246,  # CORRUPTED_DATA
    }
)
_PART = re.compile(r"while reading (from )?part", re.IGNORECASE)
_READABLE = frozenset(
    {
        6,  # CANNOT_PARSE_TEXT
        27,  # CANNOT_PARSE_INPUT_ASSERTION_FAILED
        38,  # CANNOT_PARSE_DATE
        41,  # CANNOT_PARSE_DATETIME
        43,  # ILLEGAL_TYPE_OF_ARGUMENT
        53,  # TYPE_MISMATCH
        69,  # ARGUMENT_OUT_OF_BOUND
        70,  # CANNOT_CONVERT_TYPE
        72,  # CANNOT_PARSE_NUMBER
        349,  # CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
        395,  # FUNCTION_THROW_IF_VALUE_IS_NON_ZERO
    }
)
"""What a condition of ours can raise while a sound part is read; anything else means its bytes are
not what they were: damage shows as an unknown codec, a size beyond reason, a type that is none."""

_SHORT = frozenset({32, 33})
"""ATTEMPT_TO_READ_AFTER_EOF, CANNOT_READ_ALL_DATA: in a read the files are damaged; in an insert
the data handed in are."""


_MENDS: Mapping[type[GnomonError], str] = {
    DiskFull: "there is too little room where the data lie (128 MiB must stay free): free some",
    StoreDamaged: (
        "files of the store are damaged: restore them from a backup,"
        " or move the directory away to start empty"
    ),
    StoreUnavailable: "ClickHouse did not answer in time: is it up, and is GNOMON_STORE__URL right?",
    StoreRefused: "ClickHouse refused a statement of ours: please report it",
}


@contextmanager
def translated(*, tag: str, writing: bool = False) -> Iterator[None]:
    """Turn an error of the driver into one of the house; `tag` names the query."""
    try:
        yield
    except driver.ClickHouseError as error:
        raise fault(error, tag=tag, writing=writing) from error


def fault(error: Exception, *, tag: str, writing: bool = False) -> GnomonError:
    """Return the error of the house for one of the driver."""
    text = str(error)
    code = code_of(error)
    number = _refused_by_system(text)
    kind = _kind(error, code, number, writing)
    said = f"{tag}: {first_line(text)}"
    mend = _MENDS.get(kind)
    if kind is StoreUnavailable and number is not None:
        mend = f"ClickHouse was refused a file: {mend_of_file(number)}"
    elif kind is StoreUnavailable and _way(text):
        mend = "ClickHouse cannot be reached: is it up, and is GNOMON_STORE__URL right?"
    return kind(f"{mend} ({said})" if mend else said, code=code, tag=tag)


def code_of(error: Exception) -> int | None:
    """Return ClickHouse's number of an error; from its text where a proxy dropped the header."""
    code = getattr(error, "code", None)
    said = _CODE.search(str(error)) if code is None else None
    return int(said["code"]) if said is not None else code


def _refused_by_system(text: str) -> int | None:
    """Return the number with which the operating system refused a file, if that is what happened."""
    said = _OS.search(text)
    if said is not None and int(said["number"]) in REFUSALS:
        return int(said["number"])
    return errno.ENOSPC if _SPACE.search(text) else None


def _kind(
    error: Exception, code: int | None, number: int | None, writing: bool
) -> type[GnomonError]:
    if code == _NO_SPACE or number in _FULL:
        return DiskFull
    if number is not None and code not in _DAMAGED:
        return StoreUnavailable  # the machine's fault, never that of the statement or its data
    if code is None:  # no engine has spoken: it is the way to it, or our own call
        return StoreRefused if isinstance(error, _OUR_CALL) else StoreUnavailable
    if not writing and _PART.search(str(error)) and code not in _LATER | _READABLE:
        return StoreDamaged
    return _by_code(code, writing)


def _by_code(code: int, writing: bool) -> type[GnomonError]:
    if code in _LATER:
        return StoreUnavailable
    if code in _DAMAGED or (code in _SHORT and not writing):
        return StoreDamaged
    if code in _CREDENTIALS or code in _RIGHTS or code in (UNKNOWN_TABLE, UNKNOWN_DATABASE):
        return ConfigError
    return StoreRefused


_WAY = re.compile(
    r"Error HTTPS?ConnectionPool\(.*\[Errno -?\d+\] (?P<why>[^\[\]()\"']+)", re.DOTALL
)
"""How the HTTP library tells what the system told it, inside the texts of four errors of its own."""


def _way(text: str) -> str:
    said = _WAY.match(text)
    return said["why"].strip() if said is not None else ""


def first_line(text: str) -> str:
    """Return what ClickHouse, or the way to it, says without stack traces, at most 500 characters."""
    if why := _way(text):
        return why
    return text.partition(", Stack trace")[0].partition("\n")[0].strip()[:500] or "no answer"
