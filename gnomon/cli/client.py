"""The API as the command line calls it: answers as JSON values, problems as the errors they name."""

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Self

import httpx2

from gnomon import errors
from gnomon.model import JsonValue
from gnomon.segment import segment

_PAGE = 500

_FEW = 10
"""Runs that are named when the beginning of an id is not enough."""


class Api:
    """A thin client; one connection, closed by the `with` block."""

    def __init__(self, url: str, *, timeout: float = 60.0) -> None:
        self._url = url
        self._http = httpx2.Client(base_url=url, timeout=timeout, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.close()

    def get(self, path: str, **params: object) -> JsonValue:
        """GET a path; parameters that are None are left out."""
        return self._send("GET", path, params)

    def run(self, run_id: str) -> JsonValue:
        """Return the run with this id, else the only one whose id begins so."""
        if not run_id.strip():
            raise errors.InputError(
                "an empty text names no run; `gnomon runs list` prints their ids"
            )
        try:
            return self.get(f"/v1/runs/{segment(run_id)}")
        except errors.NotFound:
            found = list(self.items("/v1/runs", limit=_FEW + 1, id_prefix=run_id, origin="all"))
            if not found:
                raise
        if len(found) == 1:
            return self.get(f"/v1/runs/{segment(found[0]['run_id'])}")
        named = ", ".join(run["run_id"] for run in found[:_FEW])
        more = " and more" if len(found) > _FEW else ""
        raise errors.InputError(f"several runs begin with {run_id}: {named}{more}")

    def post(self, path: str, **params: object) -> JsonValue:
        """POST to a path."""
        return self._send("POST", path, params)

    def send(self, path: str, body: JsonValue) -> JsonValue:
        """POST a JSON body to a path."""
        return self._send("POST", path, {}, body)

    def delete(self, path: str) -> JsonValue:
        """DELETE a path."""
        return self._send("DELETE", path, {})

    def health(self) -> JsonValue:
        """Return what `/readyz` complains of; empty when the process is ready."""
        try:
            return self._http.get("/readyz").json()
        except (httpx2.TransportError, ValueError) as error:
            raise errors.Unavailable(f"{self._url}/readyz did not answer: {error}") from error

    def items(self, path: str, *, limit: int, **params: object) -> Iterator[JsonValue]:
        """Yield up to `limit` items of a list, page after page."""
        cursor: str | None = None
        while limit > 0:
            page = self.get(path, **{**params, "limit": min(limit, _PAGE), "cursor": cursor})
            yield from page["items"]
            limit -= len(page["items"])
            cursor = page["next"]
            if cursor is None:
                return

    def _send(
        self, method: str, path: str, params: Mapping[str, object], body: JsonValue = None
    ) -> JsonValue:
        given = {name: _text(value) for name, value in params.items() if value is not None}
        try:
            answer = self._http.request(method, path, params=given, json=body)
        except httpx2.TransportError as error:
            raise errors.Unavailable(
                f"no Gnomon answers at {self._url} ({error}); "
                "start `gnomon serve`, or say where it is with GNOMON_URL"
            ) from error
        if answer.is_success:
            return answer.json() if answer.content else None
        raise _problem(answer)


def _text(value: object) -> str | list[str]:
    if isinstance(value, list | tuple):
        return [str(item) for item in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _problem(answer: httpx2.Response) -> errors.GnomonError:
    """Return the error of the tree that a problem document names."""
    try:
        body = answer.json()
        detail, code = str(body["detail"]), str(body["type"]).rpartition(":")[2]
    except (ValueError, KeyError, TypeError):
        return errors.Unavailable(f"HTTP {answer.status_code} from {answer.url}: not a Gnomon")
    for known in _tree(errors.GnomonError):
        if known.code == code:
            return known(detail)
    return errors.InputError(detail) if answer.is_client_error else errors.Unavailable(detail)


def _tree(root: type[errors.GnomonError]) -> Iterator[type[errors.GnomonError]]:
    yield root
    for branch in root.__subclasses__():
        yield from _tree(branch)
