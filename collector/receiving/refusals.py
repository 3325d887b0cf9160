"""Why spans and requests are refused: the reasons of the ledger, and the sentence a sender reads."""

import re
from typing import Literal

from gnomon.errors import InputError

ItemReason = Literal["invalid_trace_id", "invalid_span_id", "invalid_time", "legacy_library_spans"]
"""Why one span or log record is refused while its neighbours are kept."""

RequestReason = Literal[
    "unsupported_media_type",
    "unsupported_encoding",
    "undecodable",
    "too_large",
    "unauthenticated",
    "forbidden",
    "internal",
]
"""Why a request is refused as a whole."""

NOT_HEX = b"not hexadecimal: "
"""Stands before an id of OTLP/JSON that is no hex, in the bytes of the id: 17 bytes, so that such
an id has the wrong length whatever follows, and the sender is shown what was sent."""

_HINTS: dict[ItemReason, str] = {
    "invalid_trace_id": "a trace id has 16 bytes, in JSON 32 hex digits, and is not all zero; hex expected, not base64",
    "invalid_span_id": "a span id has 8 bytes, in JSON 16 hex digits, and is not all zero; hex expected, not base64",
    "invalid_time": "start and end are both 0",
    "legacy_library_spans": "instrumentationLibrarySpans and instrumentationLibraryLogs are not read; send scopeSpans and scopeLogs (OTLP 0.20 or newer)",
}
_SHOWN = 48
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*")


class Refused(InputError):
    """The request is refused as a whole."""

    def __init__(self, reason: RequestReason, detail: str, *, field: str | None = None) -> None:
        super().__init__(detail, reason=reason, field=field)
        self.reason = reason
        self.field = field
        """Where in the request, as `resourceSpans[0].scopeSpans[2]…`."""


class Tally:
    """Counts the refused items of one request, and remembers one example of each reason."""

    def __init__(self) -> None:
        self.rejected: dict[str, int] = {}
        self._parts: dict[ItemReason, str] = {}

    def add(self, reason: ItemReason, example: bytes = b"", count: int = 1) -> None:
        """Note `count` refused items; the first example is shown to the sender."""
        self.rejected[reason] = self.rejected.get(reason, 0) + count
        if reason not in self._parts:
            such = f"for example {_shown(example)}: " if example else ""
            self._parts[reason] = f"({such}{_HINTS[reason]})"

    @property
    def total(self) -> int:
        """How many items are refused."""
        return sum(self.rejected.values())

    def sentence(self, received: int, noun: str) -> str:
        """Return what the sender reads, or '' when nothing is refused."""
        if not self._parts:
            return ""
        parts = "; ".join(f"{self.rejected[r]} {r} {why}" for r, why in self._parts.items())
        return f"{self.total} of {received} {noun} rejected: {parts}"


def id_bytes(text: str) -> bytes:
    """Return the bytes of an id in hex digits; other text becomes an id of the wrong length."""
    if _HEX.fullmatch(text):
        return bytes.fromhex(text)
    # Not `fromhex` alone: it passes over blanks, so that an id gets a second name.
    return NOT_HEX + text[:_SHOWN].encode(errors="surrogatepass")


def _shown(example: bytes) -> str:
    if example.startswith(NOT_HEX):
        text = example.removeprefix(NOT_HEX).decode(errors="replace")
        return repr(text[:_SHOWN])
    return example.hex()[:_SHOWN]
