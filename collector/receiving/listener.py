"""An HTTP server with an event loop and a thread of its own, as a part."""

import socket
import threading

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gnomon.errors import ConfigError, Unavailable

KEEP_ALIVE_SECONDS = 75
"""Longer than exporters wait between two batches, so that we never close as they begin to send."""
MAX_HEAD = 64 * 1024
"""Bytes of request line and headers; the parser itself would keep any number."""
_START_SECONDS = 10.0
_BACKLOG = 2048
_HEAD_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


class _Protocol(HttpToolsProtocol):
    """HTTP/1.1 that ends a connection whose headers do not end."""

    _head: int | None = None
    """Bytes of the head so far; None between heads."""

    def on_message_begin(self) -> None:
        self._head = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head = None
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head is not None:
            self._head += len(data)
            if self._head > MAX_HEAD and not self.transport.is_closing():
                self.transport.write(_HEAD_TOO_LARGE)
                self.transport.close()


class HttpListener:
    """Serves an application on one port."""

    def __init__(self, app: ASGIApp, *, name: str, host: str, port: int, setting: str) -> None:
        self.name = name
        self.port = port
        """The port asked for; once started, the port that was bound."""
        self._host = host
        self._setting = setting
        self._server = _Server(
            uvicorn.Config(
                app,
                http=_Protocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
            )
        )
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Bind and serve; raises ConfigError when the port is taken."""
        bound = self._bound()
        self.port = bound.getsockname()[1]
        self._thread = threading.Thread(
            target=self._server.run, args=([bound],), name=self.name, daemon=True
        )
        self._thread.start()
        if not self._server.ready.wait(_START_SECONDS):
            self.stop(1.0)
            raise Unavailable(f"The server {self.name} did not start.")

    def stop(self, timeout: float) -> None:
        """Answer what has begun, then close."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._server.config.timeout_graceful_shutdown = max(1, int(timeout) - 1)
        self._server.should_exit = True
        thread.join(timeout)

    def problem(self) -> str | None:
        """Say when the server's thread is gone."""
        if self._thread is None or not self._thread.is_alive():
            return f"nothing listens on port {self.port}"
        return None

    def _bound(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        # asyncio sets TCP_NODELAY only on sockets that name their protocol.
        bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((self._host, self.port))
            bound.listen(_BACKLOG)
        except OSError as error:
            bound.close()
            raise ConfigError(
                f"can not listen on {self._host}:{self.port} ({error.strerror});"
                f" stop what listens there, or set {self._setting}"
            ) from error
        return bound


class _Server(uvicorn.Server):
    """A server that says when it is ready."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()
