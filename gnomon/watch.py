"""gnomon.yaml: what is watched. Read with its line numbers; each room brings its own section."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
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

_NOT_DECIMAL = re.compile(r"[-+]?(?:0[0-9_]*[0-7]|[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?)")
"""Numbers of YAML 1.1 that nobody means: 0100 is 64 and 1:30 is 90."""

_TEXT, _MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
_NUMBERS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})

MOST_NODES = 100_000
"""What a file of the largest size can hold without aliases, and far less than would hurt."""


@dataclass(frozen=True, slots=True)
class Watch:
    """The parsed file: plain data, where each part of it stands, and a hash of the text."""

    name: str = "built-in defaults"
    data: Mapping[str, JsonValue] = field(default_factory=dict)
    digest: str = "none"
    node: yaml.Node | None = None

    def validate(self, data: JsonValue, model: type[M], *, at: tuple[int | str, ...] = ()) -> M:
        """Return a part of the file as the model its room brings; errors name line and mend.

        `at`: where the part stands in the file.
        """
        try:
            read = model.model_validate(data)
        except ValidationError as error:
            lines = [
                self.complaint((*at, *issue["loc"]), self._mend(issue, at, model))
                for issue in error.errors(include_url=False, include_input=False)
            ]
            raise ConfigError("\n".join(lines)) from error
        lines = [
            self.complaint((*at, *place), "YAML reads this as true or false; write a number")
            for place in _taken_for_numbers(data, read)
        ]
        if lines:
            raise ConfigError("\n".join(lines))
        return read

    def _mend(
        self, issue: Mapping[str, Any], at: tuple[int | str, ...], model: type[BaseModel]
    ) -> str:
        node = _at(self.node, (*at, *issue["loc"]))[1]
        if issue["type"] == "string_type" and isinstance(node, yaml.ScalarNode):
            return f'text is expected and YAML reads this as something else; write "{node.value}"'
        return mend_of(issue, model)

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


def _taken_for_numbers(said: JsonValue, read: object) -> Iterator[tuple[int | str, ...]]:
    """Yield where `yes` or `no` was written and a model took it for 1 or 0, as Python does."""
    if isinstance(said, bool):
        if isinstance(read, int | float | Decimal) and not isinstance(read, bool):
            yield ()
        return
    for part, inner in _parts(said):
        for place in _taken_for_numbers(inner, _part(read, part)):
            yield (part, *place)


def _parts(said: JsonValue) -> Iterable[tuple[int | str, JsonValue]]:
    if isinstance(said, Mapping):
        return said.items()
    return enumerate(said) if isinstance(said, list) else ()


def _part(read: object, part: int | str) -> object:
    """Return what a model made of one part of what was written; None where it made something else."""
    if isinstance(read, BaseModel):
        fields = type(read).model_fields
        names = (name for name, field in fields.items() if part in (name, field.alias))
        return getattr(read, next(names, ""), None)
    if isinstance(read, Mapping):
        return read.get(part)
    if isinstance(read, list | tuple) and isinstance(part, int) and part < len(read):
        return read[part]
    return None


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
        raise ConfigError(
            f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8 text"
        ) from error
    return parse(text, name=str(path))


def parse(text: str, *, name: str = "gnomon.yaml") -> Watch:
    """Parse the text of a gnomon.yaml; equal keys and non-text keys are refused."""
    try:
        node = yaml.compose(text, Loader=_Loader)
        _Checked(name).size(node)
        data = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader without dates
    except yaml.MarkedYAMLError as error:
        raise ConfigError(f"{name}:{_line(error)}: {_said(error)}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        mend = f"the character U+{error.character:04X} cannot stand in YAML; remove it"
        raise ConfigError(f"{name}:{line}: {mend}") from error
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


def _line(error: yaml.MarkedYAMLError) -> int:
    mark = error.problem_mark or error.context_mark
    return mark.line + 1 if mark else 1


def _said(error: yaml.MarkedYAMLError) -> str:
    """Return what is wrong, where it began, and what usually mends it."""
    parts = [part for part in (error.context, error.problem) if part]
    begun = error.context_mark.line + 1 if error.context_mark else 0
    if error.context and begun not in (0, _line(error)):
        parts[0] += f" that begins in line {begun}"
    mend = "; indent with spaces" if "'\\t'" in (error.problem or "") else ""
    return f"{', '.join(parts) or 'not YAML'}{mend}"


class _Checked:
    """Refuses equal keys, keys that are no text, and files whose aliases multiply without end."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._sizes: dict[int, int] = {}

    def size(self, node: yaml.Node | None) -> int:
        """Return how many nodes a node holds once its aliases are followed; each is looked at once."""
        if node is None:
            return 0
        known = self._sizes.get(id(node))
        if known is None:
            known = self._sizes[id(node)] = 1 + sum(map(self.size, self._inside(node)))
        if known > MOST_NODES:
            raise self._complaint(node, "its aliases multiply without end; write it out instead")
        return known

    def _inside(self, node: yaml.Node) -> Sequence[yaml.Node]:
        if isinstance(node, yaml.SequenceNode):
            return node.value  # type: ignore[no-any-return] # the library has no types for it
        if isinstance(node, yaml.ScalarNode):
            self._decimal(node)
        if not isinstance(node, yaml.MappingNode):
            return ()
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._complaint(key, "a key must be text; write `name: value`")
            if key.tag not in (_TEXT, _MERGE):
                hint = "quote it (YAML reads no, on and 1.10 as other things)"
                raise self._complaint(key, f"{key.value}: a key must be text; {hint}")
            if key.value in seen:
                raise self._complaint(key, f"{key.value}: this key stands twice")
            seen.add(key.value)
        return [value for _, value in node.value]

    def _decimal(self, node: yaml.ScalarNode) -> None:
        if node.tag in _NUMBERS and _NOT_DECIMAL.fullmatch(node.value):
            read = _Loader("").construct_document(node)
            mend = f'write {read}, or "{node.value}" where text is meant'
            raise self._complaint(node, f"YAML reads {node.value} as {read}; {mend}")

    def _complaint(self, node: yaml.Node, message: str) -> ConfigError:
        return ConfigError(f"{self._name}:{node.start_mark.line + 1}: {message}")


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
