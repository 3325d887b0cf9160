"""Places as a setting names them: hosts, URLs, origins, directories; what cannot be one is refused."""

import re
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

STORE_SHAPE = (
    "write http://user:password@host:8123/database; ClickHouse's HTTP port (8123, or 8443 with"
    " https) is meant, and a database's name has letters, digits and _"
)
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.%\w]*")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def host(text: str) -> str:
    """Return a name or an IP address to bind to."""
    found = text.strip()
    if _HOST.fullmatch(found) is None:
        raise ValueError("write an address of this machine such as 127.0.0.1, ::1 or localhost")
    return found


def base_url(text: str) -> str:
    """Return a URL without a path that the command line can call."""
    _split(text, "write a URL such as http://127.0.0.1:8000")
    return text.strip().rstrip("/")


def traces_url(text: str) -> str:
    """Return where spans are posted: OTLP's own path where only a host is named."""
    parts = _split(text, "write a URL such as http://127.0.0.1:4318")
    path = parts.path if parts.path.strip("/") else "/v1/traces"
    return parts._replace(path=path).geturl()


def origin(text: str) -> str:
    """Return what a browser says in `Origin`, or `*`."""
    shape = 'write an origin such as https://app.example.org, or "*" for any'
    if text == "*":
        return text
    parts = _split(text, shape)
    if parts.path.strip("/") or parts.query or parts.username:
        raise ValueError(shape)
    return text.strip().rstrip("/")


def store_url(text: str) -> SplitResult:
    """Return the parts of a ClickHouse server's address."""
    parts = _split(text, STORE_SHAPE)
    database = parts.path.strip("/")
    if database and _NAME.fullmatch(database) is None:
        raise ValueError(STORE_SHAPE)
    return parts


def path(text: str | Path) -> Path:
    """Return a path; `~` is the home of whoever runs this."""
    if not str(text).strip() or "\0" in str(text):
        raise ValueError("write a path, or leave it out for the default")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError("write the whole path; ~ is unknown here") from error


def _split(text: str, shape: str) -> SplitResult:
    try:
        parts = urlsplit(text.strip())
        named = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError as error:  # a port that is none, an open bracket
        raise ValueError(shape) from error
    if not named or re.search(r"\s", text.strip()):
        raise ValueError(shape)
    return parts
