"""From export requests to what ClickHouse reads: cut at the top level, joined, never decoded."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import ResourceLogs
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

from collector.queue.port import Signal

Block = bytes | memoryview
"""One ResourceSpans or ResourceLogs with its length in front: one row of the wire table."""

_BLOCK_FIELD = 1
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10


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

    A single larger block is decoded and divided, since ClickHouse needs many times its size.
    """
    part: list[Block] = []
    size = 0
    for block in _bounded(signal, payloads, limit):
        if part and size + len(block) > limit:
            yield b"".join(part)
            part, size = [], 0
        part.append(block)
        size += len(block)
    if part:
        yield b"".join(part)


def sanitised(signal: Signal, payload: bytes) -> bytes:
    """Return a request rebuilt from the fields OTLP knows; raises Malformed."""
    message = _parsed(_SHAPES[signal].request, payload)
    message.DiscardUnknownFields()
    return message.SerializeToString()


def _bounded(signal: Signal, payloads: Iterable[bytes], limit: int) -> Iterator[Block]:
    for payload in payloads:
        for block in blocks(payload):
            if len(block) <= limit:
                yield block
            else:
                yield from _divided(_SHAPES[signal], block, limit)


def _divided(shape: _Shape, block: memoryview, limit: int) -> Iterator[bytes]:
    """Spread the items of a block over blocks of about `limit` bytes."""
    _, start = _varint(bytes(block[:_LONGEST_VARINT]), 0)
    whole = _parsed(shape.block, bytes(block[start:]))
    for scoped in getattr(whole, shape.scopes):
        items = list(getattr(scoped, shape.items))
        scoped.ClearField(shape.items)
        while items:
            part = shape.block()
            part.MergeFrom(whole)
            part.ClearField(shape.scopes)
            taken = getattr(part, shape.scopes).add()
            taken.MergeFrom(scoped)
            size = part.ByteSize()
            count = 0
            while count < len(items) and (count == 0 or size + items[count].ByteSize() <= limit):
                size += items[count].ByteSize()
                count += 1
            getattr(taken, shape.items).extend(items[:count])
            del items[:count]
            yield _framed(part.SerializeToString())


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


def _end(data: bytes, wire_type: int, at: int) -> int:
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


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at `at` and where it ends."""
    value = shift = 0
    for place in range(at, min(at + _LONGEST_VARINT, len(data))):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place + 1
        shift += 7
    raise Malformed("a number has no end")
