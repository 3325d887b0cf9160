"""Counting what is not kept: data points and profiles, for senders told to be left in peace."""

from collections.abc import Iterator

import orjson
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.profiles.v1development.profiles_service_pb2 import (
    ExportProfilesServiceRequest,
)

from collector.receiving.answers import Answer, Sent
from collector.receiving.refusals import Refused

_LISTS = frozenset({"dataPoints", "data_points", "profiles"})


def discarded(sent: Sent, body: bytes, *, is_json: bool) -> Answer:
    """Return the answer that rejects every item; raises Refused when they can not be counted."""
    try:
        if is_json:
            count = sum(_json_counts(orjson.loads(body)))
        elif sent == "metrics":
            count = sum(_data_points(ExportMetricsServiceRequest.FromString(body)))
        else:
            count = sum(_profiles(ExportProfilesServiceRequest.FromString(body)))
    except (DecodeError, orjson.JSONDecodeError) as error:
        raise Refused("undecodable", f"the body can not be read: {error}") from error
    return Answer(rejected=count, message=f"Gnomon keeps no {sent}: all were discarded")


def refused(sent: str) -> str:
    """Return what the sender of an unused signal reads."""
    return (
        f"Gnomon keeps traces and logs, no {sent}. Switch their export off (for metrics:"
        " OTEL_METRICS_EXPORTER=none), or set GNOMON_INGEST_METRICS=discard here"
    )


def _data_points(request: ExportMetricsServiceRequest) -> Iterator[int]:
    for block in request.resource_metrics:
        for scoped in block.scope_metrics:
            for metric in scoped.metrics:
                kind = metric.WhichOneof("data")
                if kind is not None:
                    yield len(getattr(metric, kind).data_points)


def _profiles(request: ExportProfilesServiceRequest) -> Iterator[int]:
    for block in request.resource_profiles:
        for scoped in block.scope_profiles:
            yield len(scoped.profiles)


def _json_counts(content: object) -> Iterator[int]:
    """Yield the length of every list of items, however deep it lies."""
    waiting = [content]
    while waiting:
        found = waiting.pop()
        if isinstance(found, list):
            waiting += found
        elif isinstance(found, dict):
            for key, value in found.items():
                if key in _LISTS and isinstance(value, list):
                    yield len(value)
                else:
                    waiting.append(value)
