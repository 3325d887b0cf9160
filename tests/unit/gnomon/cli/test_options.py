"""Options that can not be meant stop the command with the mend, before anything is opened."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from gnomon.cli.app import app
from gnomon.cli.demo.files import furnished
from gnomon.errors import ConfigError


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", ["serve", "demo", "migrate", "doctor"])
def test_a_directory_without_a_name_is_not_the_present_one(command: str, tmp_path: Path) -> None:
    found = CliRunner().invoke(app, [command, "--data", ""])
    assert found.exit_code == 2
    assert "write a path" in found.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["serve", "--store", ""], "GNOMON_STORE__URL: write http://user:password@host:8123/"),
        (
            ["config", "show", "--config", "no.yaml"],
            "no.yaml: No such file or directory; give --config",
        ),
        (["runs", "list", "--url", "localhost"], "GNOMON_URL: write a URL such as http://"),
        (["config", "check", "."], "is a directory; give the path of a file in it"),
    ],
)
def test_an_option_that_can_not_be_meant_is_named_with_what_to_write(
    given: list[str], says: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        CliRunner().invoke(app, given, catch_exceptions=False)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"HOST": "0.0.0.0"}, "GNOMON_OPEN_NETWORK=true"),
        ({"WEB_PORT": "4317"}, "are both 4317"),
        ({"INGEST__MAX_INFLIGHT": "1MiB"}, "smaller than GNOMON_INGEST__MAX_BODY"),
    ],
)
def test_settings_that_can_not_hold_together_are_found_by_the_check(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], says: str
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"GNOMON_{name}", value)
    with pytest.raises(ConfigError, match=says):
        CliRunner().invoke(app, ["config", "check"], catch_exceptions=False)


def test_the_demo_never_writes_over_files_of_somebody_else(tmp_path: Path) -> None:
    mine = tmp_path / "gnomon.yaml"
    mine.write_text("# mine\nruns: {quiet_period: 1m}\n")
    with pytest.raises(ConfigError, match="would be overwritten; choose another directory"):
        furnished(tmp_path, "http://127.0.0.1:1")
    assert mine.read_text().startswith("# mine")
    assert not (tmp_path / "trajectory.yaml").exists()
    mine.unlink()
    for address in ("http://127.0.0.1:1", "http://127.0.0.1:2"):
        assert address in furnished(tmp_path, address).read_text()


def test_a_demo_without_a_place_to_write_says_so() -> None:
    with pytest.raises(ConfigError, match="choose a directory that can be written with --data"):
        furnished(Path("/dev/null/demo"), "http://127.0.0.1:1")
