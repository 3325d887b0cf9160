"""Both ways in, sharing one bound on the bytes in work."""

from collector.queue.port import Queue
from collector.receiving.grpc import GrpcReceiver
from collector.receiving.http import http_listener
from collector.receiving.intake import CountRefused, Intake, count_nothing
from collector.receiving.listener import HttpListener
from gnomon.clock import Clock
from gnomon.config import Settings


def build_receivers(
    queue: Queue, settings: Settings, clock: Clock, count_refused: CountRefused = count_nothing
) -> tuple[GrpcReceiver, HttpListener]:
    """Return the two parts that take OTLP into the queue, not started."""
    intake = Intake(queue, settings, clock, count_refused)
    return GrpcReceiver(intake, settings), http_listener(intake, settings)
