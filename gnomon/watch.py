"""gnomon.yaml: what is watched. Read with its line numbers; each room brings its own section."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from gnomon.config import mend_of
from gnomon.errors import ConfigError
from gnomon.model import JsonValue

M = TypeVar("M", bound=BaseModel)


LARGEST = 1024**2
"""Bytes of a file that people write; more is another file, given by mistake."""


class _Loader(yaml.SafeLoader):
    """Reads dates as the text they are; the model of the field says what a date must be."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}

_MERGE = "tag:yaml.org,2002:merge"


@dataclass(frozen=True, slots=True)
class Watch:
    """The parsed file: plain data, where each part of it stands, and a hash of the text."""

    name: str = "built-in defaults"
    data: Mapping[str, JsonValue] = field(default_factory=dict)
    digest: str = "none"
    node: yaml.Node | None = None

    def validate(self, data: JsonValue, model: type[M]) -> M:
        """Return a part of the file as the model its room brings; errors name line and mend."""
        try:
            return model.model_validate(data)
        except ValidationError as error:
            lines = [
                self.complaint(issue["loc"], self._mend(issue))
                for issue in error.errors(include_url=False, include_input=False)
            ]
            raise ConfigError("\n".join(lines)) from error

    def _mend(self, issue: Mapping[str, Any]) -> str:
        node = _at(self.node, issue["loc"])[1]
        if issue["type"] == "string_type" and isinstance(node, yaml.ScalarNode):
            return f'text is expected and YAML reads this as something else; write "{node.value}"'
        return mend_of(issue)

    def complaint(self, path: tuple[int | str, ...], message: str) -> str:
        """Return `file:line: path: message`; what is said of the whole file has no path."""
        line = _at(self.node, path)[0]
        place = f"{'.'.join(str(part) for part in path)}: " if path else ""
        return f"{self.name}:{line}: {place}{message}"

    def refuse_unknown(self, known: frozenset[str]) -> None:
        """Raise for a top-level section nobody reads, naming the nearest one that exists."""
        for key in self.data:
            if key not in known:
                mend = f"known sections: {', '.join(sorted(known))}"
                raise ConfigError(self.complaint((key,), f"unknown section; {mend}"))


def read(path: Path) -> Watch:
    """Read a gnomon.yaml; raises ConfigError that names the line."""
    try:
        if path.is_dir():
            raise ConfigError(f"{path} is a directory; give the path of a file in it")
        with path.open("rb") as file:
            body = file.read(LARGEST + 1)
        if len(body) > LARGEST:
            raise ConfigError(
                f"{path}: larger than {LARGEST} bytes (1 MiB); split it or shorten it"
            )
        text = body.decode("utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; give --config FILE or remove it") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 at byte {error.start}") from error
    return parse(text, name=str(path))


def parse(text: str, *, name: str = "gnomon.yaml") -> Watch:
    """Parse the text of a gnomon.yaml; equal keys and non-text keys are refused."""
    try:
        node = yaml.compose(text, Loader=_Loader)
        _refuse_double_keys(node, name)
        data = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader without dates
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{name}:{line}: {error.problem or 'not YAML'}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{name}:1: not YAML: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"{name}:1: nested too deep to be meant") from error
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise ConfigError(f"{name}:1: a mapping of sections is expected")
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return Watch(name=name, data=data, digest=digest, node=node)


def _refuse_double_keys(node: yaml.Node | None, name: str) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.tag != "tag:yaml.org,2002:str" and key.tag != _MERGE:
                hint = "quote it (YAML reads no, on and 1.10 as other things)"
                raise ConfigError(f"{name}:{line}: {key.value}: a key must be text; {hint}")
            if key.value in seen:
                raise ConfigError(f"{name}:{line}: {key.value}: this key stands twice")
            seen.add(key.value)
            _refuse_double_keys(value, name)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_double_keys(item, name)


def _at(node: yaml.Node | None, path: tuple[int | str, ...]) -> tuple[int, yaml.Node | None]:
    """Return line and node of the deepest part of the path that the file holds."""
    line = node.start_mark.line + 1 if node is not None else 1
    for part in path:
        if isinstance(node, yaml.MappingNode):
            found = [(k, v) for k, v in node.value if k.value == str(part)]
            if not found:
                break
            line, node = found[0][0].start_mark.line + 1, found[0][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            if part >= len(node.value):
                break
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line, node
