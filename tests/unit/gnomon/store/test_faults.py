"""What the operating system refuses is the machine's fault; what ClickHouse refuses is ours."""

import pytest
from clickhouse_connect.driver import exceptions as driver

from gnomon.errors import DiskFull, GnomonError, StoreDamaged, StoreRefused, StoreUnavailable
from gnomon.store.faults import fault

OPEN = "Code: 76. DB::ErrnoException: Cannot open file /d/x: , errno: {}, strerror: {}. (CANNOT_OPEN_FILE)"


@pytest.mark.parametrize(
    ("number", "words", "expected", "mend"),
    [
        (24, "Too many open files", StoreUnavailable, "ulimit -n"),
        (30, "Read-only file system", StoreUnavailable, "mount it writable"),
        (13, "Permission denied", StoreUnavailable, "mend its rights"),
        (28, "No space left on device", DiskFull, "free some"),
        (122, "Disk quota exceeded", DiskFull, "free some"),
    ],
)
def test_a_refused_file_is_named_with_the_mend_whatever_the_code(
    number: int, words: str, expected: type[GnomonError], mend: str
) -> None:
    error = driver.DatabaseError(OPEN.format(number, words))
    error.code = 76
    found = fault(error, tag="t", writing=True)
    assert type(found) is expected
    assert mend in found.detail
    assert words in found.detail


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        (27, "Code: 27. DB::Exception: Cannot parse 'errno: 24 in my log'", StoreRefused),
        (27, "Code: 27. DB::Exception: no, errno: 0, strerror: Success", StoreRefused),
        (1001, "Code: 1001. std::exception: filesystem error: No space left on device", DiskFull),
        (1001, "Code: 1001. std::exception: something else", StoreRefused),
        (40, "Code: 40. DB::Exception: Checksum doesn't match", StoreDamaged),
    ],
)
def test_words_inside_the_data_decide_nothing(
    code: int, text: str, expected: type[GnomonError]
) -> None:
    error = driver.DatabaseError(text)
    error.code = code
    assert type(fault(error, tag="t", writing=True)) is expected


@pytest.mark.parametrize(
    ("code", "writing", "expected"),
    [
        (432, False, StoreDamaged),
        (241, False, StoreUnavailable),
        (53, False, StoreRefused),
        (432, True, StoreRefused),
    ],
)
def test_what_breaks_while_a_part_is_read_is_damage_unless_a_condition_can_raise_it(
    code: int, writing: bool, expected: type[GnomonError]
) -> None:
    error = driver.DatabaseError(
        f"Code: {code}. DB::Exception: Unknown codec family code: 7: (while reading column name):"
        " (while reading from part /d/store/1/ in table things)"
    )
    error.code = code
    assert type(fault(error, tag="t", writing=writing)) is expected


AWAY = (
    "Error HTTPConnectionPool(host='store', port=8123): Max retries exceeded with url: /?query_id=1"
    " (Caused by NewConnectionError(\"HTTPConnection(host='store', port=8123): Failed to establish a"
    ' new connection: [Errno 111] Connection refused")) executing HTTP request attempt 1 (http://s)'
)


def test_a_server_that_can_not_be_reached_did_not_fail_to_answer_in_time() -> None:
    found = fault(driver.OperationalError(AWAY), tag="t")
    assert type(found) is StoreUnavailable
    assert found.detail == (
        "ClickHouse cannot be reached: is it up, and is GNOMON_STORE__URL right?"
        " (t: Connection refused)"
    )
    late = fault(driver.OperationalError("Read timed out"), tag="t")
    assert "did not answer in time" in late.detail
