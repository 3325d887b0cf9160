"""A queue in memory with the promises of the real one, and switches to break them."""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future

from collector.queue.port import Queued, Request


class MemoryQueue:
    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.letters: list[tuple[Request, bytes, str]] = []
        self.refuses: Exception | None = None
        """Raised by `put`."""
        self.fails: Exception | None = None
        """Given through the future."""
        self.stalls = False
        """Whether futures stay open."""
        self.open: list[Future[bool]] = []
        self._digests: set[bytes] = set()

    def put(self, request: Request) -> "Future[bool]":
        if self.refuses is not None:
            raise self.refuses
        future: Future[bool] = Future()
        if self.stalls:
            self.open.append(future)
        elif self.fails is not None:
            future.set_exception(self.fails)
        else:
            future.set_result(self._keep(request))
        return future

    def _keep(self, request: Request) -> bool:
        if request.digest in self._digests:
            return False
        self._digests.add(request.digest)
        self.requests.append(request)
        return True

    def take(self, max_bytes: int, wait: float) -> Sequence[Queued]:
        return []

    def stored(self, batch: Sequence[Queued]) -> None:
        pass

    def bury(self, queued: Queued, *, reason: str, detail: str) -> None:
        pass

    def bury_raw(self, request: Request, body: bytes, *, detail: str) -> "Future[bool]":
        if self.refuses is not None:
            raise self.refuses
        self.letters.append((request, body, detail))
        future: Future[bool] = Future()
        future.set_result(True)
        return future

    @property
    def received(self) -> int:
        return sum(request.received for request in self.requests)

    @property
    def rejected(self) -> dict[str, int]:
        """Refusals by reason, as the ledger sums them."""
        sums: Counter[str] = Counter()
        for request in self.requests:
            sums.update(request.rejected)
        return dict(sums)

    @property
    def accepted(self) -> int:
        return self.received - sum(self.rejected.values())
