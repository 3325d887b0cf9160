"""The desk's books as a system of record: what was really paid for a ticket, over HTTP."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gnomon.cli.demo.truth import Truth

_REMEMBERED = 20_000


class Audit:
    """Answers `GET /tickets/{ticket}` on a port of its own; 404 until the case is closed."""

    name = "audit"

    def __init__(self) -> None:
        self._closed: dict[str, dict[str, Any]] = {}
        books = self

        class Desk(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = books.ticket(self.path.removeprefix("/tickets/"))
                body = json.dumps(found or {"error": "no such closed ticket"}).encode()
                self.send_response(404 if found is None else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Desk)
        self._server.daemon_threads = True
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where the books can be asked; known before the start."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def note(self, truth: Truth) -> None:
        """Close a ticket: this is what really happened."""
        self._closed[truth.ticket] = {
            "ticket": truth.ticket,
            "order": truth.order,
            "state": truth.outcome,
            "right": truth.state_right,
            "due": truth.due,
            "refunds": [refund.amount for refund in truth.refunds],
        }
        if len(self._closed) > _REMEMBERED:
            del self._closed[next(iter(self._closed))]

    def ticket(self, ticket: str) -> dict[str, Any] | None:
        """Return what is known of a closed ticket."""
        return self._closed.get(ticket)

    def start(self) -> None:
        """Begin to answer."""
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name=self.name, daemon=True
        )
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Answer no more."""
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join(timeout)
        self._server.server_close()

    def problem(self) -> str | None:
        """Return why nobody is answered, or None."""
        return None
