import datetime as dt
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from textwrap import dedent

import pytest

from collector import wire
from gnomon.clock import Nanos
from gnomon.config import Settings, StoreSettings
from gnomon.errors import (
    ConfigError,
    DiskFull,
    StoreDamaged,
    StoreHeld,
    StoreRefused,
    StoreUnavailable,
)
from gnomon.store import Store, engines, open_store
from gnomon.store.held import LOCK
from tests.stores import BOTH, fresh_store, settings_for

NASTY = 'it\'s \\ "quoted"\n\t\0 é 😀 {x:String} \\N'


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    name: str
    at: Nanos
    ended: Nanos | None = None
    size: int | None = None
    share: float | None = None
    done: bool | None = None
    words: Sequence[str] = ()
    pairs: Mapping[str, str] = field(default_factory=dict)


CREATE = """
CREATE TABLE things (name String, at DateTime64(9, 'UTC'), ended Nullable(DateTime64(9, 'UTC')),
    size Nullable(UInt64), share Nullable(Float64), done Nullable(Bool), words Array(String),
    pairs Map(String, String), folded_at UInt64)
ENGINE = ReplacingMergeTree(folded_at) ORDER BY name
"""
READ = """
SELECT name, toUnixTimestamp64Nano(at) AS at, toUnixTimestamp64Nano(ended) AS ended, size, share,
    done, words, pairs, folded_at
FROM things FINAL WHERE name = {name:String}
"""


@pytest.fixture(params=BOTH)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with fresh_store(request.param, tmp_path) as opened:
        opened.command(CREATE, tag="tests.create")
        yield opened


def test_what_is_written_is_read_back_exactly(store: Store) -> None:
    thing = Thing(
        name=NASTY,
        at=Nanos(1_764_556_789_123_456_789),
        ended=Nanos(5),
        size=2**64 - 1,
        share=0.1 + 0.2,
        done=False,
        words=("", NASTY),
        pairs={NASTY: "", "": "x"},
    )
    store.insert("things", [thing], folded_at=7)
    (row,) = store.read(READ, tag="tests.read", name=NASTY)
    assert row.pop("folded_at") == 7
    assert Thing(**{**row, "words": tuple(row["words"])}) == thing


def test_nothing_stays_nothing_and_zero_stays_zero(store: Store) -> None:
    store.insert(
        "things", [Thing(name="none", at=Nanos(0)), Thing(name="zero", at=Nanos(0), size=0)]
    )
    (none,) = store.read(READ, tag="tests.read", name="none")
    (zero,) = store.read(READ, tag="tests.read", name="zero")
    assert (none["size"], none["ended"], none["done"], none["share"]) == (None, None, None, None)
    assert zero["size"] == 0


@pytest.mark.parametrize("value", [NASTY, "", "\\", "'", "`", "%", "\r", "\b", "null"])
def test_a_parameter_arrives_as_it_was_given(store: Store, value: str) -> None:
    (row,) = store.read(
        "SELECT {one:String} AS one, {many:Array(String)} AS many",
        tag="t",
        one=value,
        many=[value, "z"],
    )
    assert row == {"one": value, "many": [value, "z"]}


def test_parameters_have_types(store: Store) -> None:
    moment = dt.datetime(2025, 12, 1, 12, 0, 0, 250_000, tzinfo=dt.timezone(dt.timedelta(hours=1)))
    (row,) = store.read(
        "SELECT {i:Int64} AS i, {b:Bool} AS b, {f:Float64} AS f, {n:Nullable(String)} AS n,"
        " toUnixTimestamp64Nano(toDateTime64({m:DateTime64(6, 'UTC')}, 9, 'UTC')) AS m,"
        " {e:Array(String)} AS e",
        tag="t", i=-(2**63), b=True, f=0.1, n=None, m=moment, e=[],
    )  # fmt: skip
    assert row == {"i": -(2**63), "b": True, "f": 0.1, "n": None, "m": 1764586800250000000, "e": []}


def test_a_query_carries_its_tag(store: Store) -> None:
    sql = "SELECT value FROM system.settings WHERE name = 'log_comment'"
    assert store.read(sql, tag="collector.tagged") == [{"value": "collector.tagged"}]
    with pytest.raises(ValueError, match="tag"):
        store.read("SELECT 1", tag="no spaces, please")


def test_a_column_wins_over_an_expression_of_the_same_name(store: Store) -> None:
    store.insert("things", [Thing(name="a", at=Nanos(7))])
    sql = "SELECT toUnixTimestamp64Nano(at) AS at FROM things WHERE at = fromUnixTimestamp64Nano({t:Int64}, 'UTC')"
    assert store.read(sql, tag="t", t=7) == [{"at": 7}]


def test_raw_bytes_go_in_as_they_are(store: Store) -> None:
    store.insert_raw(
        "INSERT INTO things (name, at) FORMAT TSV", b"a\t1970-01-01 00:00:01", tag="raw"
    )
    assert store.read(READ, tag="t", name="a")[0]["at"] == 1_000_000_000
    with pytest.raises(ValueError, match="INSERT INTO"):
        store.insert_raw("DELETE FROM things", b"", tag="raw")


def test_a_large_insert_goes_in_parts_and_arrives_whole(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon.rows.PART_BYTES", 1000)
    store.insert("things", [Thing(name=str(n), at=Nanos(n)) for n in range(100)])
    assert store.read(
        "SELECT count() AS n, sum(toUnixTimestamp64Nano(at)) AS s FROM things", tag="t"
    ) == [{"n": 100, "s": 4950}]


def test_calls_from_many_threads_answer_each_its_own(store: Store) -> None:
    wrong: list[object] = []

    def ask(me: int) -> None:
        for turn in range(20):
            mine = me * 1000 + turn
            rows = store.read("SELECT {n:Int64} AS n, sleep(0.001) AS z", tag="t", n=mine)
            if rows != [{"n": mine, "z": 0}]:
                wrong.append(rows)
            store.insert("things", [Thing(name=f"{mine}", at=Nanos(1))])

    threads = [threading.Thread(target=ask, args=(me,)) for me in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert store.read("SELECT count() AS n FROM things FINAL", tag="t") == [{"n": 160}]


@pytest.mark.parametrize(
    ("sql", "expected", "code"),
    [
        ("SELECT * FROM nowhere", ConfigError, 60),
        ("SELECT 1 +", StoreRefused, 62),
        ("SELECT throwIf(1)", StoreRefused, 395),
        ("SELECT sleep(3)", StoreUnavailable, 159),
    ],
)
def test_errors_are_told_apart_by_number(
    store: Store, sql: str, expected: type[Exception], code: int
) -> None:
    with pytest.raises(expected) as caught:
        store.read(sql, tag="tests.bad", settings={"max_execution_time": 1})
    assert caught.value.context["code"] == code  # type: ignore[attr-defined]
    assert "Stack trace" not in str(caught.value)
    assert store.read("SELECT 1 AS one", tag="t") == [{"one": 1}], "the handle is still good"


def test_data_that_cannot_be_read_are_refused_and_nothing_is_written(store: Store) -> None:
    with pytest.raises(StoreRefused):
        store.insert_raw(
            "INSERT INTO things (name) FORMAT JSONEachRow", b'{"name":"a"}\n{"na', tag="t"
        )
    assert store.read("SELECT count() AS n FROM things", tag="t") == [{"n": 0}]


def test_none_in_a_column_that_needs_a_value_is_refused(store: Store) -> None:
    with pytest.raises(StoreRefused):
        store.insert("things", [Thing(name=None, at=Nanos(1))])  # type: ignore[arg-type]


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = open_store(Settings(data=tmp_path))
    store.close()
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.read("SELECT 1", tag="t")


def test_the_data_survive_closing_and_opening(tmp_path: Path) -> None:
    for turn in range(3):
        store = open_store(Settings(data=tmp_path))
        store.command(CREATE.replace("TABLE things", "TABLE IF NOT EXISTS things"), tag="t")
        store.insert("things", [Thing(name=str(turn), at=Nanos(turn))])
        assert store.read("SELECT count() AS n FROM things", tag="t") == [{"n": turn + 1}]
        store.close()


HOLDER = """
    import sys, pathlib
    from gnomon.config import Settings
    from gnomon.store import open_store
    store = open_store(Settings(data=pathlib.Path(sys.argv[1])))
    print("open", flush=True)
    sys.stdin.read()
"""


def _holder(data: Path, script: str = HOLDER) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", dedent(script), str(data)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "open"
    return process


def _kill(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_directory_held_by_another_process_names_it_and_the_mend(tmp_path: Path) -> None:
    holder = _holder(tmp_path)
    try:
        with pytest.raises(StoreHeld) as caught:
            open_store(Settings(data=tmp_path))
    finally:
        _kill(holder)
    assert caught.value.context["pid"] == holder.pid
    assert str(holder.pid) in str(caught.value)
    assert Path(sys.executable).name in str(caught.value), "the command of the holder"
    assert "--data" in str(caught.value)
    open_store(Settings(data=tmp_path)).close()  # the lock of a dead process is no lock


def test_a_directory_held_by_a_stranger_to_our_lock_is_named_too(tmp_path: Path) -> None:
    script = """
        import sys, chdb
        connection = chdb.connect(sys.argv[1] + "/clickhouse")
        print("open", flush=True)
        sys.stdin.read()
    """
    holder = _holder(tmp_path, script)
    try:
        with pytest.raises(StoreHeld, match=str(holder.pid)):
            open_store(Settings(data=tmp_path))
    finally:
        _kill(holder)


def test_opening_twice_in_one_process_says_so(tmp_path: Path) -> None:
    store = open_store(Settings(data=tmp_path))
    try:
        with pytest.raises(StoreHeld, match="already open in this process"):
            open_store(Settings(data=tmp_path))
        with pytest.raises(StoreHeld, match="another embedded directory open"):
            open_store(Settings(data=tmp_path / "second"))
    finally:
        store.close()


def test_a_child_after_a_fork_is_told_to_open_its_own(tmp_path: Path) -> None:
    store = open_store(Settings(data=tmp_path))
    store._pid = os.getpid() + 1
    with pytest.raises(StoreUnavailable, match="fork"):
        store.read("SELECT 1", tag="t")
    store.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_cannot_be_written_is_the_operators_business(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ConfigError, match="--data"):
        open_store(Settings(data=tmp_path / "data"))


def test_a_file_in_the_place_of_the_directory_is_the_operators_business(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(ConfigError, match="--data"):
        open_store(Settings(data=tmp_path / "data"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with 160 MB; needs the right to mount one."""
    command = ["mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", str(tmp_path)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small file system")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_full_disk_refuses_in_time_and_loses_nothing_it_took(small_disk: Path) -> None:
    store = open_store(Settings(data=small_disk))
    store.command("CREATE TABLE blobs (a String) ENGINE = MergeTree ORDER BY tuple()", tag="t")
    taken = 0

    def fill() -> None:
        nonlocal taken
        for _ in range(160):
            store.insert_raw("INSERT INTO blobs FORMAT RawBLOB", os.urandom(10**6), tag="t")
            taken += 1

    with pytest.raises(DiskFull):
        fill()
    assert taken > 0
    assert store.read("SELECT count() AS n FROM blobs", tag="t") == [{"n": taken}]
    store.close()
    store = open_store(Settings(data=small_disk))
    assert store.read("SELECT count() AS n FROM blobs", tag="t") == [{"n": taken}]
    store.close()


BLOBS = "CREATE TABLE blobs (a String) ENGINE = MergeTree ORDER BY tuple()"
BLOB = "INSERT INTO blobs FORMAT RawBLOB"


def test_a_directory_removed_meanwhile_is_named_with_the_mend(tmp_path: Path) -> None:
    store = open_store(Settings(data=tmp_path))
    store.command(BLOBS, tag="t")
    scratch = tmp_path / "store-scratch"
    scratch.rmdir()
    with pytest.raises(ConfigError, match=r"store-scratch: .*put it back and restart"):
        store.insert_raw(BLOB, b"x", tag="t")
    scratch.mkdir()
    store.insert_raw(BLOB, b"x", tag="t")
    store.close()


@pytest.mark.parametrize(
    ("options", "expected", "says"),
    [("ro", ConfigError, "mount it writable again"), ("nr_inodes=1", DiskFull, "free some")],
)
def test_a_file_system_that_takes_no_file_is_told_apart_and_forgotten_when_mended(
    tmp_path: Path, options: str, expected: type[Exception], says: str
) -> None:
    store = open_store(Settings(data=tmp_path))
    store.command(BLOBS, tag="t")
    scratch = str(tmp_path / "store-scratch")
    command = ["mount", "-t", "tmpfs", "-o", f"size=1m,{options}", "tmpfs", scratch]
    try:
        if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("needs the right to mount a small file system")
        try:
            with pytest.raises(expected, match=says):
                store.insert_raw(BLOB, b"x", tag="t")
        finally:
            subprocess.run(["umount", scratch], check=True)
        store.insert_raw(BLOB, b"x", tag="t")
        assert store.read("SELECT a FROM blobs", tag="t") == [{"a": "x"}]
    finally:
        store.close()


def test_too_many_open_files_are_the_machines_fault_and_not_that_of_the_data(
    tmp_path: Path,
) -> None:
    store = open_store(Settings(data=tmp_path))
    store.command(BLOBS, tag="t")
    store.insert_raw(BLOB, b"x", tag="t")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    refused = 0
    for spare in range(6):  # each refuses another file
        used = {int(entry.name) for entry in Path("/proc/self/fd").iterdir()}
        number = sorted(set(range(len(used) + 10)) - used)[spare]
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, before[1]))
        try:
            store.insert_raw(BLOB, b"x", tag="t")
        except (StoreUnavailable, ConfigError) as error:
            refused += 1
            assert "ulimit -n" in str(error)  # noqa: PT017 - some are let through
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
    store.close()
    assert refused


def test_a_disk_full_to_the_last_byte_is_called_so_at_the_start(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    (tmp_path / LOCK).symlink_to("/dev/full")
    with pytest.raises((DiskFull, ConfigError)):
        open_store(Settings(data=tmp_path))


def _with_rows(data: Path) -> None:
    store = open_store(Settings(data=data))
    store.command(CREATE, tag="t")
    store.insert("things", [Thing(name=str(n), at=Nanos(n)) for n in range(1000)])
    store.close()


def _part(data: Path) -> Path:
    (part,) = {found.resolve() for found in (data / "clickhouse").rglob("data.bin")}
    return part


def test_damaged_metadata_stop_the_start_with_the_mend(tmp_path: Path) -> None:
    _with_rows(tmp_path)
    (tmp_path / "clickhouse" / "metadata" / "gnomon.sql").write_bytes(b"\0\1 garbage")
    with pytest.raises(StoreDamaged, match="backup"):
        open_store(Settings(data=tmp_path))


def test_a_part_that_was_cut_off_is_not_lost_in_silence(tmp_path: Path) -> None:
    _with_rows(tmp_path)
    part = _part(tmp_path)
    with part.open("r+b") as file:
        file.truncate(10)
    for _ in range(2):
        with pytest.raises(StoreDamaged, match=r"things: .*broken") as caught:
            open_store(Settings(data=tmp_path))
        assert "backup" in str(caught.value)


@pytest.mark.parametrize("place", [0, 15, 16, 17, 20, 25, 40, 200])
def test_a_flipped_byte_is_damage_wherever_it_lies(tmp_path: Path, place: int) -> None:
    _with_rows(tmp_path)
    part = _part(tmp_path)
    content = bytearray(part.read_bytes())
    content[place] ^= 0xFF
    part.write_bytes(content)
    with pytest.raises(StoreDamaged):
        _read_all(tmp_path)


def test_a_part_overwritten_with_noise_is_damage(tmp_path: Path) -> None:
    _with_rows(tmp_path)
    part = _part(tmp_path)
    part.write_bytes(random.Random(7).randbytes(part.stat().st_size))
    with pytest.raises(StoreDamaged):
        _read_all(tmp_path)


def _read_all(data: Path) -> None:
    store = open_store(Settings(data=data))
    try:
        store.read("SELECT * FROM things", tag="t")
    finally:
        store.close()


def test_what_a_killed_insert_left_behind_is_removed(tmp_path: Path) -> None:
    scratch = tmp_path / "store-scratch"
    scratch.mkdir()
    (scratch / "x.insert").write_bytes(b"half")
    open_store(Settings(data=tmp_path)).close()
    assert list(scratch.iterdir()) == []


def test_the_oldest_server_knows_every_setting_we_send(tmp_path: Path) -> None:
    names = [*engines.SESSION, *wire.settings("traces"), *wire.settings("logs")]
    store = open_store(Settings(data=tmp_path))
    try:
        rows = store.read(
            "SELECT version FROM system.settings_changes ARRAY JOIN changes AS change"
            " WHERE change.name IN {names:Array(String)} AND change.reason ILIKE 'new setting%'",
            tag="t",
            names=names,
        )
    finally:
        store.close()
    came = [tuple(int(part) for part in row["version"].split(".")[:2]) for row in rows]
    assert max(came) == engines.OLDEST


def test_an_unreachable_server_is_named_with_the_mend_and_without_the_password() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        url = f"http://someone:sesame@127.0.0.1:{port}/gnomon"
        with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{port}") as caught:
            open_store(Settings(store=StoreSettings(url=url)))
    assert "GNOMON_STORE__URL" in str(caught.value)
    assert "sesame" not in str(caught.value)


def test_a_server_that_is_too_old_is_told_its_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(engines, "OLDEST", (99, 1))
    with pytest.raises(ConfigError, match=r"is version 2\d\.\S+; Gnomon needs 99\.1 or newer"):
        open_store(settings_for("server", tmp_path))


@pytest.mark.parametrize(
    ("code", "name", "expected"),
    [
        (516, "AUTHENTICATION_FAILED", ConfigError),
        (243, "NOT_ENOUGH_SPACE", DiskFull),
        (241, "MEMORY_LIMIT_EXCEEDED", StoreUnavailable),
        (202, "TOO_MANY_SIMULTANEOUS_QUERIES", StoreUnavailable),
    ],
)
@pytest.mark.parametrize("header", [True, False], ids=["header", "proxy"])
def test_what_a_server_answers_is_told_apart_by_number(
    code: int, name: str, expected: type[Exception], header: bool
) -> None:
    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name http.server looks for
            body = f"Code: {code}. DB::Exception: no. ({name})".encode()
            self.send_response(500)
            if header:
                self.send_header("X-ClickHouse-Exception-Code", str(code))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with pytest.raises(expected):
                open_store(
                    Settings(store=StoreSettings(url=f"http://u:p@127.0.0.1:{server.server_port}"))
                )
        finally:
            server.shutdown()
            thread.join()


def test_the_lock_file_says_who_holds_it(tmp_path: Path) -> None:
    store = open_store(Settings(data=tmp_path))
    try:
        assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()
    finally:
        store.close()
