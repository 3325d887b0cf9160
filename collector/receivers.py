"""Both ways in, sharing one bound on the bytes in work."""

from collector.intake import CountRefused, Intake, count_nothing
from collector.listener import HttpListener
from collector.queue.port import Queue
from collector.receive_grpc import GrpcReceiver
from collector.receive_http import http_listener
from gnomon.clock import Clock
from gnomon.config import Settings


def build_receivers(
    queue: Queue, settings: Settings, clock: Clock, count_refused: CountRefused = count_nothing
) -> tuple[GrpcReceiver, HttpListener]:
    """Return the two parts that take OTLP into the queue, not started."""
    intake = Intake(queue, settings, clock, count_refused)
    return GrpcReceiver(intake, settings), http_listener(intake, settings)
