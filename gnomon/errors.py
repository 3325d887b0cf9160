"""The error tree: whose move it is when something fails, and the public code that says so.

GnomonError
├── ConfigError              the operator must change something     exit 2
│   ├── HistoryRewritten     a migration changed after it was applied
│   ├── StoreMismatch        the store is not the one that the queue fed
│   └── StoreHeld            another process owns the embedded directory
├── InputError               the caller sent something unusable     HTTP 400
│   ├── Forbidden                                                   HTTP 403
│   ├── NotFound                                                    HTTP 404
│   ├── Conflict                                                    HTTP 409
│   ├── TooLarge                                                    HTTP 413
│   └── OverQuota                                                   HTTP 429
├── StoreRefused             ClickHouse cannot take this statement   HTTP 500
└── Unavailable              a dependency did not answer            HTTP 503, exit 4
    ├── StoreUnavailable
    ├── StoreDamaged
    ├── DiskFull
    └── QueueFull
"""

from typing import ClassVar


class GnomonError(Exception):
    """Something went wrong in Gnomon itself."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 4

    def __init__(self, detail: str | None = None, **context: object) -> None:
        self.detail = detail or (type(self).__doc__ or "").strip()
        self.context = context
        super().__init__(self.detail)


class ConfigError(GnomonError):
    """The configuration must be changed."""

    code = "config"
    exit_code = 2


class HistoryRewritten(ConfigError):
    """A migration was changed after it had been applied."""

    code = "history_rewritten"


class StoreMismatch(ConfigError):
    """The store is not the one that this data directory's queue fed."""

    code = "store_mismatch"


class StoreHeld(ConfigError):
    """Another process owns this data directory."""

    code = "store_held"
    exit_code = 4


class InputError(GnomonError):
    """The request cannot be used."""

    code = "bad_input"
    status = 400
    exit_code = 2


class Forbidden(InputError):
    """The sender may not do this."""

    code = "forbidden"
    status = 403


class NotFound(InputError):
    """There is no such thing."""

    code = "not_found"
    status = 404
    exit_code = 1


class Conflict(InputError):
    """The request contradicts what is stored."""

    code = "conflict"
    status = 409


class TooLarge(InputError):
    """The request is larger than the limit."""

    code = "too_large"
    status = 413


class OverQuota(InputError):
    """This sender is over its quota."""

    code = "over_quota"
    status = 429


class StoreRefused(GnomonError):
    """ClickHouse refused the statement or the data in it; the same again would fail again."""

    code = "store_refused"


class Unavailable(GnomonError):
    """Something Gnomon depends on did not answer; try again later."""

    code = "unavailable"
    status = 503


class StoreUnavailable(Unavailable):
    """ClickHouse did not answer."""

    code = "store_unavailable"


class StoreDamaged(Unavailable):
    """The data directory cannot be read."""

    code = "store_damaged"


class DiskFull(Unavailable):
    """There is no space left where the data lie."""

    code = "disk_full"


class QueueFull(Unavailable):
    """The queue is full; the store is behind."""

    code = "queue_full"
