"""Twins of the OTLP messages: same wire, other types, so that the C decoder does the looking.

*Strict*: text must be UTF-8, an attribute list is a map, and a value that ClickHouse could not read
as it is (a map, bytes, a list in a list) is a message that lacks a required field. Bytes that parse
and serialise again to the same length therefore hold no such value, no key twice, no bad text and
no odd encoding.

*Loose*: text is bytes and nested values are bytes, so that bad UTF-8 and any depth can be read,
mended and serialised again.

*Bare*: nothing but the structure, and every list is one message. Each entry is merged into the one
before, so that a body full of empty entries takes no memory, and what is missing when it is
serialised again is what the entries cost on the wire: at least two bytes each.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import TypeVar, cast

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.resource.v1 import resource_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

_FILES: tuple[ModuleType, ...] = (
    common_pb2,
    resource_pb2,
    trace_pb2,
    logs_pb2,
    trace_service_pb2,
    logs_service_pb2,
)
_COMMON = ".opentelemetry.proto.common.v1."
_POISON = "gnomon/poison.proto"
_LEGACY_FIELD = 1000
"""Where OTLP 0.15 to 0.19 kept `instrumentation_library_spans` and `…_logs`."""

_Request = TypeVar("_Request", bound=Message)
Field = FieldDescriptorProto


@dataclass(frozen=True, slots=True, kw_only=True)
class Twins:
    """The request types of one family. Typed as the real ones, whose shape they share."""

    traces: type[trace_service_pb2.ExportTraceServiceRequest]
    logs: type[logs_service_pb2.ExportLogsServiceRequest]
    text_fields: dict[str, tuple[str, ...]]
    """Names of the text fields by full name of the message."""


def _messages(file: FileDescriptorProto) -> Iterable[tuple[str, DescriptorProto]]:
    """Yield every message of a file with its full name, maps' entries left out."""
    waiting = [(f".{file.package}.{message.name}", message) for message in file.message_type]
    while waiting:
        name, message = waiting.pop()
        yield name, message
        waiting += [
            (f"{name}.{nested.name}", nested)
            for nested in message.nested_type
            if not nested.options.map_entry
        ]


def _add_legacy(message: DescriptorProto) -> None:
    """Give `ResourceSpans` and `ResourceLogs` the old field, so that its spans can be counted."""
    if message.name not in {"ResourceSpans", "ResourceLogs"}:
        return
    del message.reserved_range[:]
    legacy = message.nested_type.add(name="Legacy")
    legacy.field.add(name="items", number=2, type=Field.TYPE_BYTES, label=Field.LABEL_REPEATED)
    message.field.add(
        name="legacy",
        number=_LEGACY_FIELD,
        type=Field.TYPE_MESSAGE,
        type_name="Legacy",
        label=Field.LABEL_REPEATED,
    )


def _loosen(file: FileDescriptorProto) -> None:
    for name, message in list(_messages(file)):
        for field in message.field:
            if field.type == Field.TYPE_STRING or (
                name == f"{_COMMON}AnyValue" and field.type == Field.TYPE_MESSAGE
            ):
                field.type = Field.TYPE_BYTES
                field.ClearField("type_name")
        _add_legacy(message)


def _tighten(file: FileDescriptorProto) -> None:
    file.dependency.append(_POISON)
    if file.package == common_pb2.DESCRIPTOR.package:
        _poison_values(file)
    for name, message in list(_messages(file)):
        for field in message.field:
            if field.name == "attributes":
                _make_map(message, name, field)
        _add_legacy(message)


def _poison_values(common: FileDescriptorProto) -> None:
    """Let a list hold scalars only, and nothing hold bytes or maps."""
    by_name = {message.name: message for message in common.message_type}
    scalar = common.message_type.add()
    scalar.CopyFrom(by_name["AnyValue"])
    scalar.name = "Scalar"
    by_name["ArrayValue"].field[0].type_name = f"{_COMMON}Scalar"
    for message, refused in (
        (by_name["AnyValue"], {"kvlist_value", "bytes_value"}),
        (scalar, {"kvlist_value", "bytes_value", "array_value"}),
    ):
        for field in message.field:
            if field.name in refused:
                field.type = Field.TYPE_MESSAGE
                field.type_name = ".gnomon.Poison"


def _make_map(message: DescriptorProto, name: str, field: FieldDescriptorProto) -> None:
    """Declare a list of `KeyValue` as the map it is: the wire is the same."""
    entry = message.nested_type.add(name="AttributesEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=Field.TYPE_STRING, label=Field.LABEL_OPTIONAL)
    entry.field.add(
        name="value",
        number=2,
        type=Field.TYPE_MESSAGE,
        type_name=f"{_COMMON}AnyValue",
        label=Field.LABEL_OPTIONAL,
    )
    field.type_name = f"{name}.AttributesEntry"


def _strip(file: FileDescriptorProto) -> None:
    """Leave the structure down to the entries of a list or map, without recursion."""
    for name, message in list(_messages(file)):
        kept = [field for field in message.field if field.type == Field.TYPE_MESSAGE]
        bare = [Field.FromString(field.SerializeToString()) for field in kept]
        message.ClearField("field")
        message.ClearField("oneof_decl")
        for field in bare:
            field.label = Field.LABEL_OPTIONAL
            field.ClearField("oneof_index")
            if name in {f"{_COMMON}ArrayValue", f"{_COMMON}KeyValueList"}:
                field.type_name = f"{_COMMON}Leaf"
        message.field.extend(bare)
    if file.package == common_pb2.DESCRIPTOR.package:
        file.message_type.add(name="Leaf")


def _poison() -> FileDescriptorProto:
    file = FileDescriptorProto(name=_POISON, package="gnomon", syntax="proto2")
    file.message_type.add(name="Poison").field.add(
        name="never", number=536_870_911, type=Field.TYPE_UINT32, label=Field.LABEL_REQUIRED
    )
    return file


def _build(change: Callable[[FileDescriptorProto], None]) -> Twins:
    pool = DescriptorPool()
    pool.AddSerializedFile(_poison().SerializeToString())
    text: dict[str, tuple[str, ...]] = {}
    for module in _FILES:
        file = FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        for name, message in _messages(file):
            text[name.removeprefix(".")] = tuple(
                field.name for field in message.field if field.type == Field.TYPE_STRING
            )
        change(file)
        pool.AddSerializedFile(file.SerializeToString())

    def twin(real: type[_Request]) -> type[_Request]:
        found = pool.FindMessageTypeByName(real.DESCRIPTOR.full_name)
        return cast("type[_Request]", GetMessageClass(found))

    return Twins(
        traces=twin(trace_service_pb2.ExportTraceServiceRequest),
        logs=twin(logs_service_pb2.ExportLogsServiceRequest),
        text_fields=text,
    )


def strict() -> Twins:
    """Return the family that refuses whatever must be mended."""
    return _build(_tighten)


def loose() -> Twins:
    """Return the family that can read what the real one cannot."""
    return _build(_loosen)


def bare() -> Twins:
    """Return the family that measures how many entries a body has."""
    return _build(_strip)
