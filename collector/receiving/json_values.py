"""Attribute values of OTLP/JSON: what stands in `{"intValue": "25"}` and its relatives."""

import base64
import binascii
import math
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple, Unpack

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from collector.receiving.nested import MAX_DEPTH, json_text

_Given = TypeVarTuple("_Given")
_Read = TypeVar("_Read")

_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_NAMES: dict[object, str] = {
    "stringValue": "string",
    "string_value": "string",
    "boolValue": "bool",
    "bool_value": "bool",
    "intValue": "int",
    "int_value": "int",
    "doubleValue": "double",
    "double_value": "double",
    "arrayValue": "array",
    "array_value": "array",
    "kvlistValue": "kvlist",
    "kvlist_value": "kvlist",
    "bytesValue": "bytes",
    "bytes_value": "bytes",
}
_KINDS = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list"}


class Wrong(Exception):
    """A value of the wrong type; collects its path on the way out."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self._what = what
        self._steps: list[str] = []

    @classmethod
    def type_of(cls, found: object, expected: str) -> "Wrong":
        """Say what was expected and what kind of thing was found, never its content."""
        kind = "null" if found is None else _KINDS.get(type(found), "an object")
        return cls(f"{expected} expected, found {kind}")

    def within(self, step: str | int) -> "Wrong":
        """Add the key or the place in a list that holds the value."""
        self._steps.append(f"[{step}]" if isinstance(step, int) else f".{step}")
        return self

    @property
    def path(self) -> str:
        """Where the value stands, as `resourceSpans[0].scopeSpans[0]…`."""
        return "".join(reversed(self._steps)).removeprefix(".")

    def __str__(self) -> str:
        return f"{self.path}: {self._what}" if self._steps else self._what


def whole_number(given: object) -> int:
    """Read a 64-bit number: text or number, never by way of a float that has lost digits."""
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    if isinstance(given, str) and given.isascii() and given.removeprefix("-").isdigit():
        return int(given)
    if isinstance(given, float) and given.is_integer() and abs(given) < 2**53:
        return int(given)
    raise Wrong.type_of(given, "a whole number")


def signed_number(given: object) -> int:
    """Read a whole number of 64 bits with sign."""
    number = whole_number(given)
    if not _fits(number):
        raise Wrong("a number of at most 64 bits expected")
    return number


def real_number(given: object) -> float:
    """Read a double; `NaN` and the infinities come as text."""
    if isinstance(given, str):
        if given in _SPECIAL:
            return _SPECIAL[given]
        try:
            return float(given)
        except ValueError:
            raise Wrong.type_of(given, "a number") from None
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise Wrong.type_of(given, "a number")
    try:
        return float(given)
    except OverflowError:
        raise Wrong("a number of at most 64 bits expected") from None


def truth(given: object) -> bool:
    """Read a boolean; old clients send it as text."""
    if isinstance(given, bool):
        return given
    if given in ("true", "false"):
        return given == "true"
    raise Wrong.type_of(given, "true or false")


def base64_text(given: object) -> str:
    """Read base64 of either alphabet, padded or not, and return it in the standard form."""
    if not isinstance(given, str):
        raise Wrong.type_of(given, "base64 text")
    padded = given.translate({ord("-"): "+", ord("_"): "/"}).rstrip("=")
    try:
        raw = binascii.a2b_base64(padded + "=" * (-len(padded) % 4), strict_mode=True)
    except ValueError:
        raise Wrong("base64 text expected, found other text") from None
    return base64.b64encode(raw).decode()


class ValueReader:
    """Reads values into protobuf and notes in `flags` what had to be mended."""

    def __init__(self, *, suspicious: bool) -> None:
        self._suspicious = suspicious
        """Whether texts may hold lone surrogates."""
        self.flags: set[str] = set()

    def text(self, given: object) -> str:
        """Return text that is Unicode."""
        if not isinstance(given, str):
            raise Wrong.type_of(given, "text")
        if not self._suspicious or given.isascii():
            return given
        mended = given.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if mended != given:
            self.flags.add("repaired_utf8")
        return mended

    def fill_pairs(
        self, pairs: RepeatedCompositeFieldContainer[KeyValue], given: list[object]
    ) -> None:
        """Fill a list of attributes."""
        for place, item in enumerate(given):
            if self._suspicious or not _filled_plain(pairs, item):
                _at(place, self._fill_pair, pairs, item)

    def _fill_pair(self, pairs: RepeatedCompositeFieldContainer[KeyValue], item: object) -> None:
        key, value = self._pair(item)
        pair = pairs.add()
        pair.key = key
        if value is not None:
            _at("value", self.fill, pair.value, value)

    def _pair(self, item: object) -> tuple[str, object]:
        if not isinstance(item, dict):
            raise Wrong.type_of(item, "an object")
        key = item.get("key")
        return "" if key is None else _at("key", self.text, key), item.get("value")

    def fill(self, value: AnyValue, given: object) -> None:
        """Fill one value; maps and lists of lists become JSON text at once."""
        value.SetInParent()
        kind, content = self._kind(given)
        if kind:
            _at(f"{kind}Value", self._fill, value, kind, content)

    def _fill(self, value: AnyValue, kind: str, content: object) -> None:
        match kind:
            case "string":
                value.string_value = self.text(content)
            case "int":
                value.int_value = signed_number(content)
            case "bool":
                value.bool_value = truth(content)
            case "double":
                value.double_value = real_number(content)
            case "bytes":
                value.string_value = base64_text(content)
            case "array":
                self._fill_list(value, _items(content))
            case "kvlist":
                value.string_value = json_text(self._map(content, MAX_DEPTH - 1)).decode()
            case _:
                raise AssertionError(kind)

    def _kind(self, given: object) -> tuple[str, object]:
        """Return which member is set, and to what; '' for an empty value."""
        if not isinstance(given, dict):
            raise Wrong.type_of(given, "an object such as {'stringValue': …}")
        found: tuple[str, object] = ("", None)
        for key, content in given.items():
            if content is not None and key in _NAMES:
                found = (_NAMES[key], content)
        return found

    def _fill_list(self, value: AnyValue, items: list[object]) -> None:
        kinds = {_at(place, self._kind, item)[0] for place, item in enumerate(items)}
        if kinds & {"array", "kvlist", "bytes"}:
            value.string_value = json_text(self._list(items, MAX_DEPTH - 1)).decode()
            return
        value.array_value.SetInParent()
        for place, item in enumerate(items):
            _at(f"values[{place}]", self.fill, value.array_value.values.add(), item)

    def _plain(self, given: object, room: int) -> object:
        """Return a nested value as JSON holds it; `room` levels may follow."""
        kind, content = self._kind(given)
        return _at(f"{kind}Value", self._plain_of, kind, content, room) if kind else None

    def _plain_of(self, kind: str, content: object, room: int) -> object:
        read = _SCALARS.get(kind)
        if read is not None:
            return read(content)
        if kind == "string":
            return self.text(content)
        if room == 0:
            self.flags.add("truncated")
            return None
        if kind == "kvlist":
            return self._map(content, room - 1)
        return self._list(_items(content), room - 1)

    def _list(self, items: list[object], room: int) -> list[object]:
        return [_at(f"values[{at}]", self._plain, item, room) for at, item in enumerate(items)]

    def _map(self, given: object, room: int) -> dict[str, object]:
        found: dict[str, object] = {}
        for place, item in enumerate(_items(given)):
            key, value = _at(f"values[{place}]", self._pair, item)
            if value is not None:
                value = _at(f"values[{place}].value", self._plain, value, room)
            found[key] = value
        return found


def _at(step: str | int, read: Callable[[Unpack[_Given]], _Read], *given: *_Given) -> _Read:
    """Read something inside, and add where it stands to what is wrong with it."""
    try:
        return read(*given)
    except Wrong as wrong:
        wrong.within(step)
        raise


def _filled_plain(pairs: RepeatedCompositeFieldContainer[KeyValue], item: object) -> bool:
    """Add the plain case, a key with a scalar, in the fewest steps; False: it is another case."""
    try:
        key = item["key"]  # type: ignore[index]
        ((kind, content),) = item["value"].items()  # type: ignore[index]
    except (AttributeError, KeyError, TypeError, ValueError):
        return False
    field = _PLAIN.get((kind, type(content)))
    if field is None or type(key) is not str or (field == "int_value" and not _fits(content)):
        return False
    pair = pairs.add()
    pair.key = key
    setattr(pair.value, field, content)
    return True


def _fits(number: int) -> bool:
    return -(2**63) <= number < 2**63


_PLAIN = {
    ("stringValue", str): "string_value",
    ("intValue", int): "int_value",
    ("doubleValue", float): "double_value",
    ("boolValue", bool): "bool_value",
}
_SCALARS: dict[str, Callable[[object], object]] = {
    "int": signed_number,
    "bool": truth,
    "double": real_number,
    "bytes": base64_text,
}


def _items(given: object) -> list[object]:
    """Return the list inside `{"values": […]}`; absent is empty."""
    if not isinstance(given, dict):
        raise Wrong.type_of(given, "an object with 'values'")
    items = given.get("values")
    if items is None:
        return []
    if not isinstance(items, list):
        raise Wrong.type_of(items, "a list").within("values")
    return items
