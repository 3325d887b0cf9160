"""ClickHouse's HTTP interface over the embedded engine: `python -m tests.clickhouse_http DIR`.

Enough of it for the driver: proves the way to a server where there is none. One query at a time.
"""

import re
import sys
import threading
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import NamedTemporaryFile
from urllib.parse import parse_qs, urlsplit

import chdb

NO_SETTINGS = {"query", "database", "query_id", "client_protocol_version", "session_id"}
TRANSPORT = re.compile(r"wait_end_of_query|send_progress|http_headers|enable_http|compress|buffer")
INSERT = re.compile(
    rb"\s*(INSERT INTO .*?) (SETTINGS .*?)?\s*FORMAT (\w+)\n(.*)", re.DOTALL | re.IGNORECASE
)


class Handler(BaseHTTPRequestHandler):
    directory: Path
    lock = threading.Lock()
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        given = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        kind = self.headers.get("Content-Type", "")
        if kind.startswith("multipart/form-data"):
            head = f"Content-Type: {kind}\r\n\r\n".encode()
            for part in BytesParser(policy=HTTP).parsebytes(head + body).iter_parts():
                name = part.get_param("name", header="content-disposition")
                given[str(name)] = part.get_payload(decode=True).decode().removesuffix("\r\n")
            body = b""
        if "query" in given:
            body = given["query"].encode() + (b"\n" + body if body else b"")
        try:
            with self.lock:
                self._answer(200, self._run(body, given))
        except Exception as error:  # noqa: BLE001 - a server answers whatever happens
            text = str(error)
            code = re.search(r"Code: (\d+)", text)
            self._answer(500, text.encode(), code[1] if code else "1002")

    do_GET = do_POST  # noqa: N815

    def _run(self, body: bytes, given: dict[str, str]) -> bytes:
        connection = chdb.connect(str(self.directory))
        try:
            for name, value in given.items():
                if name in NO_SETTINGS or name.startswith("param_") or TRANSPORT.match(name):
                    continue
                connection.query(f"SET {name} = '{value}'")
            if "database" in given:
                connection.query(f"USE `{given['database']}`")
            params = {n[6:]: v for n, v in given.items() if n.startswith("param_")}
            insert = INSERT.fullmatch(body)
            if insert is None:
                text = body.decode()
                # FORMAT may stand at the end; else the driver's header says Native.
                form = self.headers.get("X-ClickHouse-Format") or "TabSeparated"
                return connection.query(text, form, params=params).bytes() or b""
            with NamedTemporaryFile() as file:
                file.write(insert[4])
                file.flush()
                settings = (insert[2] or b"").decode()
                connection.query(
                    f"{insert[1].decode()} FROM INFILE '{file.name}' {settings}"
                    f" FORMAT {insert[3].decode()}"
                )
            return b""
        finally:
            connection.close()

    def _answer(self, status: int, body: bytes, code: str | None = None) -> None:
        self.send_response(status)
        if code is not None:
            self.send_header("X-ClickHouse-Exception-Code", code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        pass


if __name__ == "__main__":
    Handler.directory = Path(sys.argv[1])
    keep = chdb.connect(str(Handler.directory))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
