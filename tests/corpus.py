"""A thousand traces made of the recorded ones, and what a hostile network makes of them."""

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests import samples


@dataclass(frozen=True)
class Piece:
    """One span or log record with what surrounds it."""

    path: str
    resource: Any
    scope: Any
    item: Any


def pieces(traces: int) -> list[Piece]:
    """Return the spans and logs of so many traces; copies get ids of their own."""
    found: list[Piece] = []
    seen: set[bytes] = set()
    for copy in range(1_000):
        for name in samples.names():
            for piece in _pieces_of(name, copy):
                trace_id = piece.item.trace_id
                if trace_id in seen or len(seen) < traces:
                    seen.add(trace_id)
                    found.append(piece)
        if len(seen) >= traces:
            return found
    return found


def _pieces_of(name: str, copy: int) -> Iterator[Piece]:
    for block in samples.trace_request(name).resource_spans:
        for scoped in block.scope_spans:
            for span in scoped.spans:
                _renamed(span, copy)
                for link in span.links:
                    _renamed(link, copy)
                yield Piece("/v1/traces", block.resource, scoped.scope, span)
    records = samples.logs_request(name)
    for block in records.resource_logs if records is not None else ():
        for scoped in block.scope_logs:
            for record in scoped.log_records:
                if record.trace_id:
                    _renamed(record, copy)
                    yield Piece("/v1/logs", block.resource, scoped.scope, record)


def _renamed(item: Any, copy: int) -> None:
    if copy and item.trace_id:
        item.trace_id = hashlib.sha256(item.trace_id + copy.to_bytes(4, "big")).digest()[:16]


def request_of(group: Sequence[Piece]) -> bytes:
    """Return one export request that holds these pieces, in this order."""
    if group[0].path == "/v1/traces":
        traces = ExportTraceServiceRequest()
        for piece in group:
            block = traces.resource_spans.add(resource=piece.resource)
            block.scope_spans.add(scope=piece.scope, spans=[piece.item])
        return traces.SerializeToString()
    logs = ExportLogsServiceRequest()
    for piece in group:
        records = logs.resource_logs.add(resource=piece.resource)
        records.scope_logs.add(scope=piece.scope, log_records=[piece.item])
    return logs.SerializeToString()


def in_order(found: Sequence[Piece], size: int = 200) -> list[tuple[str, bytes]]:
    """Return requests as a well-behaved exporter would send them."""
    requests: list[tuple[str, bytes]] = []
    for path in ("/v1/traces", "/v1/logs"):
        own = [piece for piece in found if piece.path == path]
        requests += [(path, request_of(own[at : at + size])) for at in range(0, len(own), size)]
    return requests


def in_disorder(found: Sequence[Piece], seed: int) -> list[tuple[str, bytes]]:
    """Return the same content shuffled over requests of any size, some sent up to three times."""
    chance = random.Random(seed)
    requests: list[tuple[str, bytes]] = []
    for path in ("/v1/traces", "/v1/logs"):
        own = [piece for piece in found if piece.path == path]
        chance.shuffle(own)
        while own:
            size = chance.choice((1, 3, 20, 150, 700))
            request = (path, request_of(own[:size]))
            own = own[size:]
            requests += [request] * chance.choice((1, 1, 1, 2, 3))
    chance.shuffle(requests)
    return requests
