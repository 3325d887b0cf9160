"""Whether a large body holds more entries than memory can bear.

A decoder makes 60 to 180 bytes of two: a body of 64 MiB that holds nothing but empty spans would
take 6 GB. So what the entries of a large body cost on the wire is measured before it is decoded
(collector.receiving.twins, bare): 0.2 s and no memory for the worst of them.
"""

from google.protobuf.message import DecodeError

from collector.queue.port import Signal
from collector.receiving import twins
from collector.receiving.refusals import Refused

LARGE = 4 * 1024**2
MAX_OVERHEAD: dict[Signal, int] = {"traces": 6 * 1024**2, "logs": 12 * 1024**2}
"""Bytes that tags and lengths of entries may take: at most half as many entries. In 64 MiB of the
recorded requests they take 2.7 MiB (traces) and 6 MiB (logs, which nest their bodies)."""
MAX_JSON_ENTRIES = 2_000_000
"""Objects and lists in a JSON body; 64 MiB of the recorded requests hold 0.9 million."""
MAX_JSON_COMMAS = 8_000_000
"""Commas in a JSON body, so that it is no list of millions of numbers."""


class Scales:
    """Weighs bodies. Holds the twins, and nothing of any body."""

    def __init__(self) -> None:
        self._bare = twins.bare()

    def refuse_dense(self, signal: Signal, body: bytes, *, is_json: bool) -> None:
        """Raise Refused when a large body holds too many entries, or is no protobuf at all."""
        if len(body) < LARGE:
            return
        if is_json:
            dense = (
                body.count(b"{") + body.count(b"[") > MAX_JSON_ENTRIES
                or body.count(b",") > MAX_JSON_COMMAS
            )
        else:
            dense = self.overhead(signal, body) > MAX_OVERHEAD[signal]
        if dense:
            raise Refused(
                "too_large",
                "the body holds millions of entries (spans, events, attributes, values);"
                " send smaller batches",
            )

    def overhead(self, signal: Signal, body: bytes) -> int:
        """Return the bytes that tags and lengths of entries take, down to the values in a list."""
        family = self._bare.traces if signal == "traces" else self._bare.logs
        try:
            return len(body) - family.FromString(body).ByteSize()
        except DecodeError as error:
            raise Refused("undecodable", "the body is no OTLP protobuf") from error
