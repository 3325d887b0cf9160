"""The page docs/commands.md, made from the commands themselves: `python -m tests.command_table`."""

import sys
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from gnomon.cli.app import app

HEAD = """# Commands

Made from the commands' own help. Data go to stdout, everything else to stderr; every command has `--help` and
`--json`. They speak to the API of `gnomon serve` at `--url`, `GNOMON_URL` or this machine.
Exit codes: 0 yes · 1 no · 2 usage or configuration · 3 not enough data · 4 infrastructure.

| command | what it does | options |
|---|---|---|
"""


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, one in inner.items():
        yield from leaves(one, (*path, name))


def commands() -> list[tuple[tuple[str, ...], Any]]:
    return list(leaves(get_command(app)))


def page() -> str:
    return HEAD + "".join(_row(path, command) for path, command in commands())


def _row(path: tuple[str, ...], command: Any) -> str:
    arguments = [
        f" {one.name.upper()}" if one.required else f" [{one.name.upper()}]"
        for one in command.params
        if one.param_type_name == "argument"
    ]
    options = [one.opts[0] for one in command.params if one.param_type_name == "option"]
    said = " ".join((command.help or "").split())
    shown = " ".join(f"`{option}`" for option in options if option != "--help")
    return f"| `gnomon {' '.join(path)}{''.join(arguments)}` | {said} | {shown} |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
