"""Nested attribute values as JSON text: maps, bytes, lists in lists, down to 32 levels."""

import base64
import struct
from collections.abc import Iterator
from typing import TypeVar, cast

import orjson
from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValueList

MAX_DEPTH = 32
"""Maps and lists further inside become `null`, and the span is marked `truncated`."""

MAX_NODES = 200_000
"""Entries read from a value too long to be kept whole; the rest is left out."""

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_Nested = TypeVar("_Nested", ArrayValue, KeyValueList)
_SCALARS = frozenset({None, "string_value", "bool_value", "int_value", "double_value"})


def json_text(plain: object) -> bytes:
    """Return a plain value as compact JSON; NaN and the infinities become null."""
    return orjson.dumps(plain)


class Renderer:
    """Reads nested values and remembers what it had to do to them."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        """A longer value is read by hand, and only so far that memory stays bounded."""
        self._nodes = MAX_NODES
        self.flags: set[str] = set()

    def list_or_text(self, raw: bytes) -> ArrayValue | bytes:
        """Return a list of scalars as it is, any other list and a longer one as JSON text."""
        found = self._decoded(ArrayValue, raw)
        if found is None:
            return json_text(self._wire_list(raw, MAX_DEPTH - 1))
        if found.values and all(item.WhichOneof("value") in _SCALARS for item in found.values):
            return found
        return json_text([self._plain(item, MAX_DEPTH - 1) for item in found.values])

    def map_text(self, raw: bytes) -> bytes:
        """Return a map as JSON text."""
        found = self._decoded(KeyValueList, raw)
        if found is None:
            return json_text(self._wire_map(raw, MAX_DEPTH - 1))
        return json_text(
            {pair.key: self._plain(pair.value, MAX_DEPTH - 1) for pair in found.values}
        )

    def _decoded(self, kind: type[_Nested], raw: bytes) -> _Nested | None:
        """Decode a value; None when the decoder can not, or should not."""
        if len(raw) > self._max_bytes:
            return None
        try:
            return kind.FromString(raw)
        except DecodeError:
            return None

    def _plain(self, value: AnyValue, room: int) -> object:
        match value.WhichOneof("value"):
            case "array_value":
                if not self._descends(room):
                    return None
                return [self._plain(item, room - 1) for item in value.array_value.values]
            case "kvlist_value":
                if not self._descends(room):
                    return None
                pairs = value.kvlist_value.values
                return {pair.key: self._plain(pair.value, room - 1) for pair in pairs}
            case "bytes_value":
                return base64.b64encode(value.bytes_value).decode()
            case "string_value" | "bool_value" | "int_value" | "double_value" as name:
                return cast("object", getattr(value, name))
            case _:
                return None

    def _descends(self, room: int) -> bool:
        if room == 0:
            self.flags.add("truncated")
        return room > 0

    # What the C decoder refuses (bad UTF-8, too many levels) is read from the wire by hand. It
    # descends at most MAX_DEPTH levels, so recursion is safe.

    def _wire_list(self, raw: bytes, room: int) -> list[object]:
        return [self._wire_value(item, room) for item in self._entries(raw)]

    def _wire_map(self, raw: bytes, room: int) -> dict[str, object]:
        found = {}
        for pair in self._entries(raw):
            fields = dict(_chunks(pair))
            found[self._text(fields.get(1, b""))] = self._wire_value(fields.get(2, b""), room)
        return found

    def _entries(self, raw: bytes) -> Iterator[bytes]:
        """Yield the entries of a list or map, until too many were read."""
        for number, entry in _chunks(raw):
            if number == 1:
                if self._nodes == 0:
                    self.flags.add("truncated")
                    return
                self._nodes -= 1
                yield entry

    def _wire_value(self, raw: bytes, room: int) -> object:
        found: object = None
        for number, kind, item in _fields(raw):
            match number, kind, item:
                case (1, 2, bytes()):
                    found = self._text(item)
                case (2, 0, int()):
                    found = bool(item)
                case (3, 0, int()):
                    found = item - (1 << 64) if item >> 63 else item
                case (4, 1, bytes()):
                    (found,) = struct.unpack("<d", item)
                case (7, 2, bytes()):
                    found = base64.b64encode(item).decode()
                case (5 | 6, 2, bytes()) if not self._descends(room):
                    found = None
                case (5, 2, bytes()):
                    found = self._wire_list(item, room - 1)
                case (6, 2, bytes()):
                    found = self._wire_map(item, room - 1)
                case _:
                    pass
        return found

    def _text(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.flags.add("repaired_utf8")
            return raw.decode(errors="replace")


def _chunks(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the fields that have a length, such as texts and messages."""
    for number, kind, item in _fields(raw):
        if kind == _LENGTH and isinstance(item, bytes):
            yield number, item


def _fields(raw: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Yield number, wire type and content of every field; raises DecodeError."""
    at = 0
    while at < len(raw):
        tag, at = _varint(raw, at)
        kind = tag & 7
        if kind == _VARINT:
            number, at = _varint(raw, at)
            yield tag >> 3, kind, number
            continue
        if kind == _LENGTH:
            size, at = _varint(raw, at)
        elif kind in {_FIXED64, _FIXED32}:
            size = 8 if kind == _FIXED64 else 4
        else:
            raise DecodeError(f"wire type {kind} in a nested value")
        if at + size > len(raw):
            raise DecodeError("a nested value ends too early")
        yield tag >> 3, kind, raw[at : at + size]
        at += size


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        if at >= len(raw):
            raise DecodeError("a nested value ends too early")
        byte = raw[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & 0xFFFF_FFFF_FFFF_FFFF, at
    raise DecodeError("a number in a nested value is too long")
