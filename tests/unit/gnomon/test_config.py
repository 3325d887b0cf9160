from pathlib import Path

import pytest

from gnomon.config import Settings, load
from gnomon.errors import ConfigError

ROOT = Path(__file__).parents[3]


def test_a_name_that_fits_no_branch_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_STROE__URL", "http://db:8123")
    with pytest.raises(ConfigError, match=r"GNOMON_STROE__URL is no setting.*GNOMON_STORE"):
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


@pytest.mark.parametrize(
    ("value", "seconds"), [("1", 1), ("250ms", 0.25), ("1.5m", 90), ("2h", 7200), ("7d", 604800)]
)
def test_a_duration_survives_being_shown(
    monkeypatch: pytest.MonkeyPatch, value: str, seconds: float
) -> None:
    monkeypatch.setenv("GNOMON_QUEUE__FLUSH_AFTER", value)
    found = load()
    assert found.queue.flush_after.total_seconds() == seconds
    shown = found.model_dump(mode="json")["queue"]["flush_after"]
    monkeypatch.setenv("GNOMON_QUEUE__FLUSH_AFTER", shown)
    assert load().queue.flush_after == found.queue.flush_after


def test_a_list_that_is_no_json_is_refused_with_the_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_INGEST__CORS_ORIGINS", "http://a")
    with pytest.raises(ConfigError, match="a list is written as JSON"):
        load()
