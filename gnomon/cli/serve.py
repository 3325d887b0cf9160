"""`gnomon serve` and `gnomon demo`: one process that does everything."""

import asyncio
import contextlib
import json
import logging
import signal
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli import show
from gnomon.cli.options import Config, Data, StoreUrl, as_path
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.cli.demo import Audit, Progress
    from gnomon.cli.process import Process
    from gnomon.config import Settings

Announce = Annotated[
    bool, typer.Option("--json", help="Print the addresses as one line of JSON when ready.")
]


def serve(
    data: Data = None,
    store: StoreUrl = None,
    config_file: Config = None,
    as_json: Announce = False,
) -> None:
    """Receive traces, read them, show them: one process, until it is told to stop."""
    from gnomon.cli.process import settings_of

    settings = settings_of(data=data, store=store, config_file=config_file)
    sys.exit(_run(settings, as_json=as_json))


def demo(
    speed: Annotated[
        float, typer.Option(min=0.01, max=1000, help="1 is a request every six seconds or so.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="The same seed makes the same runs.")] = 7,
    runs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Stop sending after so many runs, the 400 of the history included; the 160 of the"
            " rehearsal, which Compare shows, come before them.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            parser=as_path,
            metavar="PATH",
            help="Keep the data here; default: a fresh folder.",
        ),
    ] = None,
    as_json: Announce = False,
) -> None:
    """Run the refund desk: a toy agent at work, sent through the real receiver."""
    from gnomon.cli.demo import Audit
    from gnomon.cli.demo.files import furnished
    from gnomon.cli.process import settings_of

    with contextlib.ExitStack() as stack:
        place = data or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="gnomon-demo-"))
        )
        audit = Audit()
        stack.callback(audit.stop, 5.0)
        config_file = furnished(place, audit.url)
        settings = settings_of(data=place, config_file=config_file)
        desk = _Desk(audit, speed=speed, seed=seed, runs=runs)
        sys.exit(_run(settings, as_json=as_json, desk=desk))


class _Desk:
    """The demo's traffic, on a thread of its own beside the process it sends to."""

    def __init__(self, audit: "Audit", *, speed: float, seed: int, runs: int | None) -> None:
        self._audit = audit
        self._speed = speed
        self._seed = seed
        self._runs = runs
        self._stop = threading.Event()
        self._told = False
        self._thread: threading.Thread | None = None

    def open(self, addresses: dict[str, str]) -> None:
        """Start sending to the process that has just become ready."""
        self._audit.start()
        self._thread = threading.Thread(
            target=self._work, args=(addresses,), name="desk", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop sending and wait for the last export."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(10.0)
        self._audit.stop(5.0)

    def _work(self, addresses: dict[str, str]) -> None:
        from gnomon.cli.demo import run_traffic
        from gnomon.clock import utc_now

        try:
            totals = run_traffic(
                addresses["otlp_http"],
                seed=self._seed,
                runs=self._runs,
                speed=self._speed,
                start=utc_now(),
                clock=utc_now,
                stop=self._stop,
                on_progress=self._tell,
                grpc_address=addresses["otlp_grpc"],
                on_truth=self._audit.note,
            )
        except GnomonError as error:
            show.notes.print(f"the desk stopped: {error.detail}")
            return
        show.notes.print(f"the desk sent {totals.runs} runs, {totals.spans} spans")

    def _tell(self, progress: "Progress") -> None:
        if progress.phase == "live" and not self._told:
            self._told = True
            show.notes.print(
                f"  the desk sent its history ({progress.history_runs} runs) and is now at work"
            )


def _run(settings: "Settings", *, as_json: bool, desk: _Desk | None = None) -> int:
    """Serve until a signal comes; return the exit code."""
    import uvicorn

    import gnomon
    from gnomon.cli.process import opened
    from gnomon.service import answer_first
    from gnomon.telemetry import set_up_logging
    from gnomon.tracing import tracing

    answer_first()
    set_up_logging(settings.log.level, settings.log.format)
    with tracing(settings.trace_self, gnomon.__version__), opened(settings) as process:

        def ready() -> None:
            _announce(process, settings, as_json=as_json)
            if desk is not None:
                desk.open(process.addresses())

        # A start that fails is told once, by the error of the part that failed.
        uvicorn_log = logging.getLogger("uvicorn.error")
        uvicorn_log.setLevel(logging.CRITICAL)
        # uvicorn raises the signal again when it has shut down; leave in good order then, too.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

        class Server(uvicorn.Server):
            """Says so once the doors are open; uvicorn owns the signals."""

            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                if self.started:
                    uvicorn_log.setLevel(logging.ERROR)
                    ready()

            async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
                if desk is not None:
                    await asyncio.to_thread(desk.close)
                await super().shutdown(sockets)

        server = Server(
            uvicorn.Config(
                process.app,
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=5,
                server_header=False,
            )
        )
        with contextlib.suppress(KeyboardInterrupt):
            try:
                asyncio.run(server.serve(sockets=[process.listener]))
            except SystemExit as end:  # what uvicorn makes of a start that failed, without a reason
                raise process.life.failure or end from None
        if process.life.failure is not None:
            raise process.life.failure
        return 0 if server.started else 4


def _announce(process: "Process", settings: "Settings", *, as_json: bool) -> None:
    addresses = process.addresses()
    store = "a ClickHouse server" if settings.store.url else f"{settings.data} (embedded)"
    if as_json:
        sys.stdout.write(json.dumps(addresses) + "\n")
        sys.stdout.flush()
        return
    show.notes.print("Gnomon is ready.")
    show.notes.print(f"  pages and API  {addresses['web']}")
    show.notes.print(f"  OTLP/HTTP      {addresses['otlp_http']}   (protobuf and JSON)")
    show.notes.print(f"  OTLP/gRPC      {addresses['otlp_grpc']}")
    show.notes.print(f"  data           {store}")
    show.notes.print(
        f"  your own agent: OTEL_EXPORTER_OTLP_ENDPOINT={addresses['otlp_http']}   stop: Ctrl+C"
    )
