"""OTLP/JSON read by hand into protobuf: hex ids, 64-bit numbers as text or number, null as unset.

`google.protobuf.json_format` is wrong here: it takes ids for base64 and says nothing.
"""

import codecs
import json
from collections.abc import Mapping
from dataclasses import dataclass

import orjson
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.internal.containers import RepeatedCompositeFieldContainer
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from collector.queue.port import Signal
from collector.receiving.json_values import ValueReader, Wrong, whole_number
from collector.receiving.refusals import Refused, id_bytes
from collector.spans import FLAGS_ATTRIBUTE, SENT_FLAGS_ATTRIBUTE
from gnomon.shallow import shallow

_Fields = Mapping[str, FieldDescriptor]

_DEEPEST = 200
"""Lists and objects within each other that are read: 10 down to a value, 3 for each level of it."""

_MENDED_UP_TO = 4 * 1024**2
"""Characters of a request that is nested too deep for its readers and is read all the same."""

_IDS = frozenset({"trace_id", "span_id", "parent_span_id"})
_ITEMS = frozenset({"Span", "LogRecord"})
_BLOCKS = frozenset({"ResourceSpans", "ScopeSpans", "ResourceLogs", "ScopeLogs"})
_CHILDREN = frozenset({"scope_spans", "scope_logs", "spans", "log_records"})
_LEGACY = frozenset(
    {
        "instrumentationLibrarySpans",
        "instrumentation_library_spans",
        "instrumentationLibraryLogs",
        "instrumentation_library_logs",
    }
)
_LEGACY_ITEMS = ("spans", "logRecords", "log_records", "logs")


@dataclass(frozen=True, slots=True, kw_only=True)
class FromJson:
    """A request of OTLP/JSON as protobuf."""

    body: bytes
    legacy: int
    """Spans or log records in the fields of old OTLP: counted, not read."""


class JsonReader:
    """Reads OTLP/JSON. Holds tables made from the descriptors, and nothing of any request."""

    def __init__(self) -> None:
        self._tables: dict[str, _Fields] = {}
        for root in (ExportTraceServiceRequest, ExportLogsServiceRequest):
            self._learn(root.DESCRIPTOR)

    def _learn(self, message: Descriptor) -> None:
        if message.full_name in self._tables:
            return
        table: dict[str, FieldDescriptor] = {}
        self._tables[message.full_name] = table
        for field in message.fields:
            table[field.name] = table[field.camelcase_name] = field
            if field.message_type is not None:
                self._learn(field.message_type)

    def read(self, signal: Signal, body: bytes) -> FromJson:
        """Return a request as protobuf; raises Refused with the path of what is wrong."""
        request = ExportTraceServiceRequest() if signal == "traces" else ExportLogsServiceRequest()
        content, suspicious = _parsed(body)
        walk = _Walk(self._tables, ValueReader(suspicious=suspicious))
        try:
            walk.message(request, content)
        except Wrong as wrong:
            raise Refused("undecodable", str(wrong), field=wrong.path) from wrong
        return FromJson(body=request.SerializeToString(), legacy=walk.legacy)


def _parsed(body: bytes) -> tuple[object, bool]:
    """Return the JSON and whether texts in it may hold what is no Unicode.

    Some editors and shells put a byte order mark before it, which RFC 8259, 8.1 lets us pass over.
    """
    body = body.removeprefix(codecs.BOM_UTF8)
    try:
        return orjson.loads(body), False
    except orjson.JSONDecodeError as error:
        if not body.strip():
            raise Refused("undecodable", "the body is empty; an empty request is {}") from error
    # Slower and more forgiving: NaN, half characters (\ud83d alone), bytes that are no UTF-8.
    text = body.decode(errors="surrogateescape")
    try:
        try:
            return json.loads(text), True
        except RecursionError:
            if len(text) > _MENDED_UP_TO:
                raise
            # No field lies as deep; what a value holds there is left out of it anyway.
            return json.loads(shallow(text, deepest=_DEEPEST, instead="null")), True
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise Refused("undecodable", f"no JSON: {error.msg} at {where}", field=where) from error
    except RecursionError as error:
        raise Refused("undecodable", "the JSON is nested too deeply for its size") from error
    except ValueError as error:  # Python's own bound of digits, told in words for a sender
        raise Refused("undecodable", "the JSON holds a number of too many digits") from error


class _Walk:
    """One walk through one request."""

    def __init__(self, tables: Mapping[str, _Fields], values: ValueReader) -> None:
        self._tables = tables
        self._values = values
        self.legacy = 0

    def message(self, message: Message, content: object) -> None:
        """Fill a message from an object; the children of a resource or scope come last."""
        if not isinstance(content, dict):
            raise Wrong.type_of(content, "an object")
        table = self._tables[message.DESCRIPTOR.full_name]
        children = []
        for key, given in content.items():
            if given is None:
                continue
            known = table.get(key)
            if known is None:
                if key in _LEGACY:
                    self._count_legacy(given)
            elif known.name in _CHILDREN:
                children.append((key, known, given))
            else:
                self._field(message, key, known, given)
        for key, field, given in children:
            self._field(message, key, field, given)

    def _field(self, message: Message, key: str, field: FieldDescriptor, given: object) -> None:
        try:
            if field.is_repeated:
                self._list(message, field, given)
            elif field.message_type is None:
                setattr(message, field.name, self._scalar(field, given))
            elif field.message_type.name == "AnyValue":
                self._values.fill(getattr(message, field.name), given)
            else:
                inside = getattr(message, field.name)
                inside.SetInParent()
                self.message(inside, given)
        except Wrong as wrong:
            wrong.within(key)
            raise
        except (TypeError, ValueError) as error:
            raise Wrong(f"out of range for {field.name}").within(key) from error

    def _list(self, message: Message, field: FieldDescriptor, given: object) -> None:
        if not isinstance(given, list):
            raise Wrong.type_of(given, "a list")
        target = getattr(message, field.name)
        if field.message_type is None:
            target.extend(self._values.text(item) for item in given)
        elif field.message_type.name == "KeyValue":
            self._values.fill_pairs(target, given)
        else:
            self._messages(target, field.message_type.name, given)

    def _messages(
        self, target: RepeatedCompositeFieldContainer[Message], name: str, given: list[object]
    ) -> None:
        """Fill a list of messages; what is mended inside a block or an item stays its own."""
        own = name in _BLOCKS or name in _ITEMS
        for place, item in enumerate(given):
            outer = self._values.flags
            if own:
                self._values.flags = set(outer)
            message = target.add()
            try:
                self.message(message, item)
            except Wrong as wrong:
                wrong.within(place)
                raise
            if own:
                if name in _ITEMS:
                    _mark(message, self._values.flags)
                self._values.flags = outer

    def _scalar(self, field: FieldDescriptor, given: object) -> object:
        if field.name in _IDS:
            return _id(given)
        if field.type == FieldDescriptor.TYPE_STRING:
            return self._values.text(given)
        if field.enum_type is not None and isinstance(given, str) and not given.isdigit():
            known = field.enum_type.values_by_name.get(given)
            return 0 if known is None else known.number
        return whole_number(given)

    def _count_legacy(self, given: object) -> None:
        libraries = given if isinstance(given, list) else []
        for library in libraries:
            if isinstance(library, dict):
                found = [library[key] for key in _LEGACY_ITEMS if key in library]
                self.legacy += sum(len(items) for items in found if isinstance(items, list))


def _id(given: object) -> bytes:
    """Return the bytes of a hex id; other text becomes an id of the wrong length."""
    if not isinstance(given, str):
        raise Wrong.type_of(given, "hex text")
    return id_bytes(given)


def _mark(item: Message, flags: set[str]) -> None:
    """Note what was mended; what the sender wrote under that key is set aside."""
    pairs: RepeatedCompositeFieldContainer[KeyValue] = getattr(item, "attributes")  # noqa: B009
    for pair in pairs:
        if pair.key == FLAGS_ATTRIBUTE:
            pair.key = SENT_FLAGS_ATTRIBUTE
    if not flags:
        return
    pair = pairs.add()
    pair.key = FLAGS_ATTRIBUTE
    pair.value.string_value = ",".join(sorted(flags))
