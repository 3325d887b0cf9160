"""Every command keeps what the README promises of all."""

from typing import Any

import pytest
from typer.testing import CliRunner

from gnomon.cli.app import app
from tests.command_table import commands

COMMANDS = commands()


@pytest.mark.parametrize("path", [path for path, _ in COMMANDS], ids=" ".join)
def test_every_command_has_help(path: tuple[str, ...]) -> None:
    found = CliRunner().invoke(app, [*path, "--help"])
    assert found.exit_code == 0
    assert found.stdout.startswith("Usage: ")


@pytest.mark.parametrize(
    ("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS]
)
def test_every_command_has_json_and_says_what_each_option_means(
    path: tuple[str, ...], command: Any
) -> None:
    options = {name: one for one in command.params for name in one.opts}
    assert "--json" in options
    assert all(getattr(one, "help", "") for name, one in options.items() if name.startswith("-"))
