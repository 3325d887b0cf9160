from pathlib import Path

import pytest

from gnomon.config import Settings, load
from gnomon.errors import ConfigError

ROOT = Path(__file__).parents[3]


def test_a_name_that_fits_no_branch_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_STROE__URL", "http://db:8123")
    with pytest.raises(ConfigError, match=r"GNOMON_STROE__URL is no setting.*GNOMON_STORE"):
        load()


def test_a_setting_in_small_letters_counts_and_a_wrong_one_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("gnomon_web_port", "8123")
    assert load().web_port == 8123
    monkeypatch.setenv("gnomon_wep_port", "8124")
    with pytest.raises(ConfigError, match=r"gnomon_wep_port is no setting.*GNOMON_WEB_PORT"):
        load()
    monkeypatch.delenv("gnomon_wep_port")
    monkeypatch.setenv("Gnomon_Store", "x")
    with pytest.raises(ConfigError, match=r"Gnomon_Store is a branch.*GNOMON_STORE__URL"):
        load()


def test_a_name_that_fits_no_leaf_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_STORE__HOTS", "db")
    with pytest.raises(ConfigError, match="GNOMON_STORE__HOTS"):
        load()


def test_a_wrong_value_names_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_WEB_PORT", "80000")
    with pytest.raises(ConfigError, match="GNOMON_WEB_PORT"):
        load()


def test_sizes_and_durations_are_written_as_people_write_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GNOMON_QUEUE__MAX_BYTES", "512MiB")
    monkeypatch.setenv("GNOMON_QUEUE__FLUSH_AFTER", "250ms")
    settings = load()
    assert settings.queue.max_bytes == 512 * 1024**2
    assert settings.queue.flush_after.total_seconds() == 0.25


def test_an_option_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_WEB_PORT", "9000")
    assert load(web_port=9001).web_port == 9001
    assert load(web_port=None).web_port == 9000


def leaves(model: type, prefix: str) -> list[str]:
    names = []
    for name, field in model.model_fields.items():  # type: ignore[attr-defined]
        full = f"{prefix}{name.upper()}"
        inner = field.annotation
        if isinstance(inner, type) and hasattr(inner, "model_fields"):
            names += leaves(inner, f"{full}__")
        else:
            names.append(full)
    return names


def test_every_setting_stands_in_the_example_and_in_the_docs() -> None:
    example = (ROOT / "deploy" / "gnomon.env.example").read_text()
    docs = (ROOT / "docs" / "configuration.md").read_text()
    for name in leaves(Settings, "GNOMON_"):
        assert f"{name}=" in example, f"{name} is missing in deploy/gnomon.env.example"
        assert f"`{name}`" in docs, f"{name} is missing in docs/configuration.md"


def test_every_line_of_the_example_is_a_setting_with_its_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bare = load()
    for line in (ROOT / "deploy" / "gnomon.env.example").read_text().splitlines()[1:]:
        name, _, value = line.partition("=")
        monkeypatch.setenv(name, value)
    assert load() == bare


@pytest.mark.parametrize(
    ("value", "seconds"), [("1", 1), ("250ms", 0.25), ("1.5m", 90), ("2h", 7200), ("7d", 604800)]
)
def test_a_duration_survives_being_shown(
    monkeypatch: pytest.MonkeyPatch, value: str, seconds: float
) -> None:
    monkeypatch.setenv("GNOMON_QUEUE__REMEMBER", value)
    found = load()
    assert found.queue.remember.total_seconds() == seconds
    shown = found.model_dump(mode="json")["queue"]["remember"]
    monkeypatch.setenv("GNOMON_QUEUE__REMEMBER", shown)
    assert load().queue.remember == found.queue.remember


def test_a_list_that_is_no_json_is_refused_with_the_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_INGEST__CORS_ORIGINS", "http://a")
    with pytest.raises(ConfigError, match="a list is written as JSON"):
        load()


SIZE, SPAN = "write a size such as 512KiB, 64MiB or 2GiB", "write a duration such as 250ms"
WEB, STORE = "write a URL such as http://127.0.0.1:8000", "write http://user:password@host:8123/"


@pytest.mark.parametrize(
    ("name", "value", "mend"),
    [
        ("DATA", "  ", "write a path"),
        ("HOST", "http://127.0.0.1", "write an address of this machine"),
        ("HOST", "a b", "write an address of this machine"),
        ("OPEN_NETWORK", "maybe", "write true or false"),
        ("OTLP_GRPC_PORT", "-1", "write at least 0"),
        ("OTLP_HTTP_PORT", "65536", "write at most 65535"),
        ("WEB_PORT", "0x10", "write a whole number"),
        ("INGEST_METRICS", "accept", "write 'refuse' or 'discard'"),
        ("URL", "localhost:8000", WEB),
        ("URL", "http://[::1", WEB),
        ("TRACE_SELF", "collector:4318", "write a URL such as http://127.0.0.1:4318"),
        ("STORE__URL", "clickhouse://db", STORE),
        ("STORE__URL", "db:8123", STORE),
        ("STORE__URL", "http://", STORE),
        ("STORE__URL", "http://db:99999", STORE),
        ("STORE__URL", "http://db/a/b", STORE),
        ("STORE__URL", "http://db/1a", STORE),
        ("STORE__TIMEOUT", "0", "write something from 1s to 1d"),
        ("STORE__TIMEOUT", "1y", SPAN),
        ("STORE__CLUSTER", "a'b", "write text that matches"),
        ("STORE__MEMORY", "1", "write something from 64.0MiB to"),
        ("STORE__MEMORY", "lots", SIZE),
        ("STORE__MEMORY", "1XB", SIZE),
        ("QUEUE__KIND", "kafka", "write 'spool'"),
        ("QUEUE__MAX_BYTES", "0", "write something from 1.0KiB"),
        ("QUEUE__FLUSH_AFTER", "-1s", SPAN),
        ("QUEUE__FLUSH_AFTER", "1000d", "write something from 0ms to 1h"),
        ("QUEUE__BATCH_BYTES", "0", "write something from 1B to 1.0GiB"),
        ("INGEST__MAX_BODY", "10GiB", "write something from 1B to 1.0GiB"),
        ("LOG__LEVEL", "loud", "write 'debug', 'info', 'warning' or 'error'"),
    ],
)
def test_a_value_that_can_not_be_meant_is_named_with_what_to_write(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, mend: str
) -> None:
    monkeypatch.setenv(f"GNOMON_{name}", value)
    with pytest.raises(ConfigError) as caught:
        load()
    assert str(caught.value).startswith(f"GNOMON_{name}: {mend}")


def test_the_item_of_a_list_is_named_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_INGEST__CORS_ORIGINS", '["https://a.example", "b.example/x"]')
    with pytest.raises(ConfigError, match=r"GNOMON_INGEST__CORS_ORIGINS\[1\]: write an origin"):
        load()


def test_a_branch_names_its_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_LOG", "debug")
    with pytest.raises(ConfigError, match=r"set one of its leaves: GNOMON_LOG__LEVEL"):
        load()


def test_values_are_read_as_they_are_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "DATA": "~/here", "HOST": " ::1 ", "URL": "http://gnomon.internal:8000/",
        "TRACE_SELF": "http://127.0.0.1:4318", "LOG__LEVEL": "WARNING", "WEB_PORT": "",
    }  # fmt: skip
    for name, value in given.items():
        monkeypatch.setenv(f"GNOMON_{name}", value)
    found = load()
    assert found.data == Path.home() / "here"
    assert (found.host, found.api_url) == ("::1", "http://gnomon.internal:8000")
    assert found.trace_self == "http://127.0.0.1:4318/v1/traces"
    assert (found.log.level, found.web_port) == ("warning", 8000)
