"""Mending what must be mended in a request: values ClickHouse cannot read, sizes, text, clocks.

Works on messages of the loose twin (collector.receiving.twins), where text and nested values are bytes.
Every method returns the flags a span earns by it, and notes in `changed` that the bytes received
can not be passed on.
"""

import base64
from collections.abc import Iterable
from typing import Protocol, cast

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer
from google.protobuf.message import Message
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.dialects import worth
from collector.receiving.nested import Renderer
from collector.spans import FLAGS_ATTRIBUTE, SENT_FLAGS_ATTRIBUTE

MAX_ATTRIBUTES = 1024
MAX_EVENTS = 10_000
MAX_TIME = 2**63 - 1
"""The last nanosecond that ClickHouse can hold, in the year 2262."""
_MAX_COUNT = 2**32 - 1
_NO_SPAN_ID = bytes(8)
_FLAGS_KEY = FLAGS_ATTRIBUTE.encode()
_SENT_KEY = SENT_FLAGS_ATTRIBUTE.encode()


class Carrier(Protocol):
    """A message that carries attributes."""

    dropped_attributes_count: int

    @property
    def attributes(self) -> RepeatedCompositeFieldContainer[KeyValue]:
        """The attributes, in the order sent."""


class Mender:
    """Mends the parts of one request."""

    def __init__(
        self,
        *,
        max_value: int,
        horizon: int,
        text_fields: dict[str, tuple[str, ...]],
        repair: bool,
        flags_are_ours: bool = False,
    ) -> None:
        self._max_value = max_value
        self._horizon = horizon
        """Nanoseconds since 1970; a later time is a clock that is wrong."""
        self._text_fields = text_fields
        self._repair = repair
        """Whether there is bad UTF-8 somewhere in the request."""
        self._flags_are_ours = flags_are_ours
        """Whether flags that stand there already were set by the reader of JSON."""
        self.changed = False

    def surroundings(self, block: Message, carrier: Message) -> set[str]:
        """Mend a resource or a scope, and the schema address beside it."""
        flags = self._own_text(block)
        if self._needs_tidying(carrier):
            flags |= self._tidy(carrier)
        return flags | self._attributes(cast("Carrier", carrier))

    def span(self, span: Span, shared: set[str]) -> None:
        """Mend a span and mark it, also with what was mended around it."""
        flags = set(shared)
        if self._needs_tidying(span):
            flags |= self._tidy(span)
        self._rename_flags(span.attributes)
        flags |= self._parent(span)
        flags |= self._clock(span)
        if len(span.events) > MAX_EVENTS:
            span.dropped_events_count = min(
                span.dropped_events_count + len(span.events) - MAX_EVENTS, _MAX_COUNT
            )
            del span.events[MAX_EVENTS:]
            flags.add("truncated")
        flags |= self._attributes(span)
        for event in span.events:
            flags |= self._attributes(event)
            if event.time_unix_nano > MAX_TIME:
                event.time_unix_nano = MAX_TIME
                flags.add("bad_clock")
        for link in span.links:
            flags |= self._attributes(link)
        self._mark(span.attributes, flags)

    def log_record(self, record: LogRecord, shared: set[str], now: int) -> None:
        """Mend a log record and mark it; one without any time gets the time of its arrival."""
        flags = set(shared)
        if self._needs_tidying(record):
            flags |= self._tidy(record)
        self._rename_flags(record.attributes)
        flags |= self._attributes(record)
        flags |= self._value(record.body)
        if record.trace_id and not any(record.trace_id):
            record.trace_id = b""
            self.changed = True
        if record.span_id and not any(record.span_id):
            record.span_id = b""
            self.changed = True
        if not record.time_unix_nano and not record.observed_time_unix_nano:
            record.observed_time_unix_nano = now
            self.changed = True
        for name in ("time_unix_nano", "observed_time_unix_nano"):
            if getattr(record, name) > MAX_TIME:
                setattr(record, name, MAX_TIME)
                flags.add("bad_clock")
        self._mark(record.attributes, flags)

    def _parent(self, span: Span) -> set[str]:
        parent = span.parent_span_id
        if not parent or (len(parent) == len(_NO_SPAN_ID) and parent != _NO_SPAN_ID):
            return set()
        span.parent_span_id = b""
        self.changed = True
        return set() if parent == _NO_SPAN_ID else {"orphan"}

    def _clock(self, span: Span) -> set[str]:
        start, end = span.start_time_unix_nano, span.end_time_unix_nano
        if start and max(start, end) <= self._horizon:
            return set()
        span.start_time_unix_nano = min(start or end, MAX_TIME)
        span.end_time_unix_nano = min(end, MAX_TIME)
        return {"bad_clock"}

    def _attributes(self, carrier: Carrier) -> set[str]:
        pairs = carrier.attributes
        flags: set[str] = set()
        keys = [pair.key for pair in pairs]
        if len(set(keys)) != len(keys):
            last = {key: place for place, key in enumerate(keys)}
            _leave(pairs, sorted(last.values()))
            self.changed = True
        if len(pairs) > MAX_ATTRIBUTES:
            kept = worth.kept([_name(pair) for pair in pairs], MAX_ATTRIBUTES)
            carrier.dropped_attributes_count = min(
                carrier.dropped_attributes_count + len(pairs) - len(kept), _MAX_COUNT
            )
            _leave(pairs, kept)
            flags.add("truncated")
        for pair in pairs:
            flags |= self._value(pair.value)
        return flags

    def _value(self, value: AnyValue) -> set[str]:
        kind = value.WhichOneof("value")
        if kind == "array_value":
            return self._list(value)
        if kind == "kvlist_value":
            renderer = Renderer(max_bytes=self._max_value)
            text = renderer.map_text(cast("bytes", value.kvlist_value))
            return renderer.flags | self._put_text(value, text)
        if kind == "bytes_value":
            return self._put_text(value, base64.b64encode(value.bytes_value))
        return set()

    def _list(self, value: AnyValue) -> set[str]:
        raw = cast("bytes", value.array_value)
        renderer = Renderer(max_bytes=self._max_value)
        found = renderer.list_or_text(raw)
        if isinstance(found, bytes):
            return renderer.flags | self._put_text(value, found)
        if found.ByteSize() != len(raw):
            _set(value, "array_value", found.SerializeToString())
            self.changed = True
        return set()

    def _put_text(self, value: AnyValue, text: bytes) -> set[str]:
        self.changed = True
        kept = cut(text, self._max_value)
        _set(value, "string_value", kept)
        return set() if kept == text else {"truncated"}

    def _needs_tidying(self, message: Message) -> bool:
        return self._repair or message.ByteSize() > self._max_value

    def _tidy(self, message: Message) -> set[str]:
        """Mend every text in a message and in the messages inside it."""
        flags = self._own_text(message)
        for field, content in message.ListFields():
            if field.message_type is not None:
                inside: Iterable[Message] = content if field.is_repeated else (content,)
                for part in inside:
                    flags |= self._tidy(part)
        return flags

    def _own_text(self, message: Message) -> set[str]:
        flags: set[str] = set()
        for name in self._text_fields[message.DESCRIPTOR.full_name]:
            content = getattr(message, name)
            if isinstance(content, bytes):
                mended = self._text(content, flags)
                if mended != content:
                    setattr(message, name, mended)
            elif content:
                content[:] = [self._text(text, flags) for text in content]
        self.changed |= bool(flags)
        return flags

    def _text(self, text: bytes, flags: set[str]) -> bytes:
        """Return a text that is UTF-8 and not too long, and note what it took."""
        if self._repair:
            repaired = text.decode(errors="replace").encode()
            if repaired != text:
                flags.add("repaired_utf8")
                text = repaired
        kept = cut(text, self._max_value)
        if kept != text:
            flags.add("truncated")
        return kept

    def _rename_flags(self, pairs: RepeatedCompositeFieldContainer[KeyValue]) -> None:
        """Set aside what a sender wrote under the key of our flags: only we set them."""
        if self._flags_are_ours:
            return
        for pair in pairs:
            if cast("bytes", pair.key) == _FLAGS_KEY:
                _set(pair, "key", _SENT_KEY)
                self.changed = True

    def _mark(self, pairs: RepeatedCompositeFieldContainer[KeyValue], flags: set[str]) -> None:
        """Write the flags into the attribute kept for them, beside those already there."""
        if not flags:
            return
        self.changed = True
        for pair in pairs:
            if cast("bytes", pair.key) == _FLAGS_KEY:
                known = cast("bytes", pair.value.string_value).decode(errors="replace")
                flags = flags | set(filter(None, known.split(",")))
                break
        else:
            pair = pairs.add()
            _set(pair, "key", _FLAGS_KEY)
        _set(pair.value, "string_value", ",".join(sorted(flags)).encode())


def _name(pair: KeyValue) -> str:
    return cast("bytes", pair.key).decode(errors="replace")


def _leave(pairs: RepeatedCompositeFieldContainer[KeyValue], places: Iterable[int]) -> None:
    """Leave only what stands at some places."""
    kept = [pairs[place] for place in places]
    del pairs[:]
    pairs.extend(kept)


def cut(text: bytes, size: int) -> bytes:
    """Return at most `size` bytes of a text, cut at a character."""
    return text if len(text) <= size else text[:size].decode(errors="ignore").encode()


def _set(message: Message, field: str, text: bytes) -> None:
    """Set a field that is bytes in the loose twin and something else in the type it is typed as."""
    setattr(message, field, text)
