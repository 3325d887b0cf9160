"""The whole of Gnomon in one process: settings and gnomon.yaml in, an application out."""

import errno
import ipaddress
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

import gnomon
from collector import watched as collector_watched
from collector.watched import Watched
from gnomon import watch as watching
from gnomon.cli.edge import Edge
from gnomon.clock import Clock, utc_now
from gnomon.config import Settings, load
from gnomon.errors import ConfigError
from gnomon.model import JsonValue
from gnomon.service import Life, health_router, lifespan
from gnomon.telemetry import Metrics
from gnomon.watch import Watch
from scoring import watched as scoring_watched
from scoring.metrics import watched as metrics_watched

if TYPE_CHECKING:
    from collector.service import Collector
    from gnomon.web.port import Judging


_BACKLOG = 2048


def settings_of(
    *,
    data: Path | None = None,
    store: str | None = None,
    config_file: Path | None = None,
    **others: object,
) -> Settings:
    """Return the settings with the options of a command laid over the environment."""
    url = {"url": store} if store is not None else None
    return load(data=data, config=config_file, store=url, **others)


def watch_of(settings: Settings) -> tuple[Watch, Watched]:
    """Return gnomon.yaml and the collector's reading of it; raises ConfigError."""
    path = settings.config
    if path is None and Path("gnomon.yaml").exists():
        path = Path("gnomon.yaml")
    watch = watching.read(path) if path is not None else Watch()
    watch.refuse_unknown(
        collector_watched.SECTIONS | scoring_watched.SECTIONS | metrics_watched.SECTIONS
    )
    # Read here too, so that every mistake stops the start and `gnomon config check`.
    scoring_watched.watched(watch)
    metrics_watched.watched(watch)
    return watch, collector_watched.watched(watch)


def described(settings: Settings, watch: Watch, watched: Watched) -> JsonValue:
    """Return what is configured, without secrets, as JSON values."""
    tree = settings.model_dump(mode="json")
    # Whoever asks may stand elsewhere.
    tree["data"] = str(settings.data.absolute())
    if tree["store"]["url"]:
        tree["store"]["url"] = _without_password(tree["store"]["url"])
    return {
        "version": gnomon.__version__,
        "settings": tree,
        "file": watch.name,
        "hash": watch.digest,
        "watched": watched.model_dump(mode="json"),
    }


def _without_password(url: str) -> str:
    head, at, tail = url.rpartition("@")
    scheme, separator, account = head.partition("://")
    return f"{scheme}{separator}{account.partition(':')[0]}:…@{tail}" if at else url


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One application and what is open beside it."""

    app: FastAPI
    life: Life
    listener: socket.socket
    addresses: Callable[[], dict[str, str]]
    """Where each door is, after the start."""


def refuse_open_network(settings: Settings) -> None:
    """Raise unless only this machine can reach the ports, or somebody said that others may."""
    if settings.open_network or is_loopback(settings.host):
        return
    raise ConfigError(
        f"GNOMON_HOST={settings.host} would let anyone who reaches this machine read and send; "
        "bind to 127.0.0.1 behind a proxy that checks who asks, "
        "or say GNOMON_OPEN_NETWORK=true where the network itself is closed"
    )


def refuse_contradictions(settings: Settings) -> None:
    """Raise for settings that are right one by one and cannot hold together."""
    refuse_open_network(settings)
    refuse_shared_ports(settings)
    ingest = settings.ingest
    if ingest.max_inflight < ingest.max_body:
        raise ConfigError(
            "GNOMON_INGEST__MAX_INFLIGHT is smaller than GNOMON_INGEST__MAX_BODY, so that the"
            " largest request could never be taken; raise the first or lower the second"
        )


def refuse_shared_ports(settings: Settings) -> None:
    """Raise when two doors are to stand at one port."""
    named = {
        "GNOMON_WEB_PORT": settings.web_port,
        "GNOMON_OTLP_HTTP_PORT": settings.otlp_http_port,
        "GNOMON_OTLP_GRPC_PORT": settings.otlp_grpc_port,
    }
    for name, port in named.items():
        for other, same in named.items():
            if name < other and port and port == same:
                raise ConfigError(f"{name} and {other} are both {port}; give each its own")


def is_loopback(host: str) -> bool:
    """Return whether an address can only be reached from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """Bind a port; raises ConfigError that names it and the mend."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named since asyncio sets TCP_NODELAY only where it is; without it an answer
    # in two pieces waits 40 ms for the other side.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"port {port} on {host} can not be bound ({error.strerror}); {_mend(error)}"
        ) from error
    return listener


def _mend(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            "is another Gnomon running? A second one beside it takes free ports with "
            "GNOMON_WEB_PORT=0 GNOMON_OTLP_HTTP_PORT=0 GNOMON_OTLP_GRPC_PORT=0"
        )
    if error.errno == errno.EACCES:
        return "ports below 1024 need more rights; choose another with GNOMON_WEB_PORT"
    return "GNOMON_HOST must be an address of this machine"


@contextmanager
def opened(settings: Settings, *, clock: Clock = utc_now) -> Iterator[Process]:
    """Open store and queue and put everything together; the parts start with the application."""
    from collector import service as collecting
    from gnomon.http import install_problems
    from gnomon.web.port import Judging
    from scoring import metrics_router
    from scoring import service as judging

    refuse_contradictions(settings)
    watch, watched = watch_of(settings)
    metrics = Metrics(CollectorRegistry())
    metrics.config_loaded.labels(watch.digest).set(clock().timestamp())
    with ExitStack() as stack:
        listener = stack.enter_context(listen(settings.host, settings.web_port))
        collector = stack.enter_context(
            collecting.opened(settings, watched, clock=clock, metrics=metrics)
        )

        scoring = judging.build(
            settings,
            watch,
            store=collector.store,
            reader=collector.reader,
            watermark=collector.rollup.watermark,
            clock=clock,
            metrics=metrics,
        )
        scoring.compare.remember()
        parts = (*collector.parts, *scoring.parts)

        def addresses() -> dict[str, str]:
            host = f"[{settings.host}]" if ":" in settings.host else settings.host
            port = listener.getsockname()[1]
            return {"web": f"http://{host}:{port}", **collector.addresses()}

        life = Life()
        app = FastAPI(
            title="Gnomon",
            version=gnomon.__version__,
            lifespan=lifespan(parts, life),
            docs_url=None,
            redoc_url=None,
            openapi_url="/v1/openapi.json",
        )
        install_problems(app)
        app.add_middleware(
            Edge, metrics=metrics, host=None if settings.open_network else settings.host
        )
        app.include_router(
            health_router((*collector.healthy, *scoring.parts), life, metrics.registry)
        )
        # Scoring first: its `/v1/runs/{run_id}/judgments` is more precise than the collector's own.
        app.include_router(scoring.router)
        app.include_router(
            metrics_router.build_router(scoring.metrics, scoring.compare, clock=clock)
        )
        app.include_router(collector.router)

        @app.get("/v1/config", operation_id="show_config", tags=["config"])
        def config() -> JsonValue:
            """Show settings and gnomon.yaml as this process read them, without secrets."""
            return {**described(settings, watch, watched), "addresses": addresses()}

        judged = Judging(
            configured=bool(scoring.graders),
            judgments=scoring.reader,
            metrics=scoring.metrics,
            compare=scoring.compare,
            policies=scoring.watched.policies,
            jobs=scoring.jobs,
            backfills=scoring.backfills,
        )
        # Not mounted: a mount answers for every path, so `POST /v1/runs` would be a missing page.
        app.router.default = _pages(collector, settings, clock, addresses, judged)
        yield Process(app=app, life=life, listener=listener, addresses=addresses)


def _pages(
    collector: "Collector",
    settings: Settings,
    clock: Clock,
    addresses: Callable[[], dict[str, str]],
    judged: "Judging",
) -> FastAPI:
    from collector.explain import Filled, explain
    from collector.spans import LogRecord, Span
    from gnomon.web.app import build_web

    def explained(span: Span, logs: Sequence[LogRecord], /) -> Sequence[Filled]:
        return explain(span, logs, collector.watched).filled

    return build_web(
        collector.reader,
        collector.books,
        collector.touched,
        collector.watched,
        settings,
        clock,
        judging=judged,
        explain=explained,
        addresses=addresses,
        unread=collector.rollup.set_aside,
    )
