"""From export requests to what ClickHouse reads: cut at the top level, joined, never decoded."""

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import NamedTuple

from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import ResourceLogs
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

from collector.queue.port import Signal

Block = bytes | memoryview
"""One ResourceSpans or ResourceLogs with its length in front: one row of the wire table."""

_BLOCK_FIELD = 1
_RESOURCE_FIELD = 1
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10

_SMALLEST_ITEM = 40
"""Bytes of a span that has little more than its ids."""

_EXPANSION = 32
"""ClickHouse repeats the resource and the scope for each item. A body may grow to so many times
its limit by that; an INSERT takes two or three times as much memory."""


class Malformed(ValueError):
    """The bytes are not protobuf."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """How the messages of one signal are called."""

    table: str
    request: type[Message]
    block: type[Message]
    scopes: str
    items: str


_SHAPES: Mapping[Signal, _Shape] = {
    "traces": _Shape(
        table="spans_wire",
        request=ExportTraceServiceRequest,
        block=ResourceSpans,
        scopes="scope_spans",
        items="spans",
    ),
    "logs": _Shape(
        table="logs_wire",
        request=ExportLogsServiceRequest,
        block=ResourceLogs,
        scopes="scope_logs",
        items="log_records",
    ),
}


def statement(signal: Signal) -> str:
    """Return the INSERT that takes blocks of this signal."""
    return f"INSERT INTO {_SHAPES[signal].table} FORMAT Protobuf"


def settings(signal: Signal) -> dict[str, str | int]:
    """Return what ClickHouse must be told to read them."""
    return {
        "format_schema_source": "string",
        "format_schema": _schema(),
        "format_schema_message_name": _SHAPES[signal].block.DESCRIPTOR.name,
        "output_format_json_escape_forward_slashes": 0,
        "async_insert": 0,
        "max_threads": 1,
        "max_insert_threads": 1,
        "deduplicate_blocks_in_dependent_materialized_views": 1,
    }


@functools.cache
def _schema() -> str:
    return resources.files(__package__ or "").joinpath("otlp.proto").read_text(encoding="utf-8")


def blocks(payload: bytes) -> Iterator[memoryview]:
    """Yield the blocks of a request as slices of it; other fields are skipped."""
    view = memoryview(payload)
    at = 0
    while at < len(payload):
        tag, at = _varint(payload, at)
        start = at
        at = _end(payload, tag & 7, at)
        if at > len(payload):
            raise Malformed("the request ends inside a field")
        if tag >> 3 == _BLOCK_FIELD and tag & 7 == _BYTES:
            yield view[start:at]


def bodies(signal: Signal, payloads: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Join the blocks of requests into bodies for INSERT of about `limit` bytes.

    A block that is larger, or would become much larger in ClickHouse, is decoded and divided.
    """
    part: list[Block] = []
    size = weight = 0
    for piece in _pieces(signal, payloads, limit):
        if part and (size + len(piece.block) > limit or weight + piece.weight > limit * _EXPANSION):
            yield b"".join(part)
            part, size, weight = [], 0, 0
        part.append(piece.block)
        size += len(piece.block)
        weight += piece.weight
    if part:
        yield b"".join(part)


def sanitised(signal: Signal, payload: bytes) -> bytes:
    """Return a request rebuilt from the fields OTLP knows; raises Malformed."""
    message = _parsed(_SHAPES[signal].request, payload)
    message.DiscardUnknownFields()
    return message.SerializeToString()


class _Piece(NamedTuple):
    """A block, and how many bytes it grows by when resource and scope are repeated."""

    block: Block
    weight: int


def _pieces(signal: Signal, payloads: Iterable[bytes], limit: int) -> Iterator[_Piece]:
    for payload in payloads:
        for block in blocks(payload):
            weight = _weight(block)
            if len(block) <= limit and weight <= limit * _EXPANSION:
                yield _Piece(block, weight)
            else:
                yield from _divided(_SHAPES[signal], block, limit)


def _weight(block: memoryview) -> int:
    """Return the most that a block can grow by, judged by the size of its resource."""
    resource = 0
    _, at = _varint(block, 0)
    while at < len(block):
        tag, at = _varint(block, at)
        start = at
        at = _end(block, tag & 7, at)
        if tag >> 3 == _RESOURCE_FIELD:
            resource += at - start
    return resource * (len(block) // _SMALLEST_ITEM)


def _divided(shape: _Shape, block: memoryview, limit: int) -> Iterator[_Piece]:
    """Spread the items of a block over blocks of about `limit` bytes."""
    _, start = _varint(block, 0)
    whole = _parsed(shape.block, bytes(block[start:]))
    for scoped in getattr(whole, shape.scopes):
        items = list(getattr(scoped, shape.items))
        scoped.ClearField(shape.items)
        bare = shape.block()
        bare.MergeFrom(whole)
        bare.ClearField(shape.scopes)
        getattr(bare, shape.scopes).add().MergeFrom(scoped)
        repeated = bare.ByteSize()
        most = max(1, limit * _EXPANSION // (repeated + 1))
        for some in _runs(items, limit, most):
            part = shape.block()
            part.CopyFrom(bare)
            getattr(getattr(part, shape.scopes)[0], shape.items).extend(some)
            yield _Piece(_framed(part.SerializeToString()), repeated * len(some))


def _runs(items: Sequence[Message], limit: int, most: int) -> Iterator[list[Message]]:
    """Cut a list into runs of at most `most` items and about `limit` bytes; one is always taken."""
    some: list[Message] = []
    size = 0
    for item in items:
        if some and (len(some) == most or size + item.ByteSize() > limit):
            yield some
            some, size = [], 0
        some.append(item)
        size += item.ByteSize()
    if some:
        yield some


def _parsed(kind: type[Message], data: bytes) -> Message:
    try:
        return kind.FromString(data)
    except DecodeError as error:
        raise Malformed(str(error)) from error


def _framed(data: bytes) -> bytes:
    length = len(data)
    prefix = bytearray()
    while length > 0x7F:
        prefix.append(length & 0x7F | 0x80)
        length >>= 7
    prefix.append(length)
    return bytes(prefix) + data


def _end(data: Block, wire_type: int, at: int) -> int:
    """Return where the field whose value begins at `at` ends."""
    if wire_type == _BYTES:
        length, at = _varint(data, at)
        return at + length
    if wire_type == _VARINT:
        return _varint(data, at)[1]
    if wire_type == _FIXED64:
        return at + 8
    if wire_type == _FIXED32:
        return at + 4
    raise Malformed(f"wire type {wire_type} is not read")


def _varint(data: Block, at: int) -> tuple[int, int]:
    """Return the number at `at` and where it ends."""
    value = shift = 0
    for place in range(at, min(at + _LONGEST_VARINT, len(data))):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place + 1
        shift += 7
    raise Malformed("a number has no end")
