"""Where the true state is asked for: a system of record by HTTP, a table, or a command."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from gnomon.config import Duration
from gnomon.errors import GnomonError, Unavailable
from gnomon.model import JsonValue, Run
from gnomon.store import Store
from gnomon.store.faults import RAN_TOO_LONG
from scoring.grading.limit import Bounded, TookTooLong
from scoring.grading.port import CheckFailed, TryAgain, key_of
from scoring.grading.redaction import guarded
from scoring.grading.spec import Means, Said
from scoring.grading.templates import (
    HOLE,
    PARAM,
    filled,
    refuse_wrong_select,
    url_part,
)

_LARGEST_SECRET = 16 * 1024
T = TypeVar("T")

LARGEST = 1024**2
"""Bytes of an answer; a longer one is a failed check."""

_HEADER = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CARRIED = re.compile(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?")
"""What a header can carry: one line of ASCII, without blanks around it."""

_UNFILLED = re.compile(r"(?<!\$)\{(\w+)\}")
"""What looks like the key of a run where none is filled in; `${…}` is a shell's own."""

_FACTS = frozenset(
    {"run_id", "conversation_id", "user_id", "agent_name", "agent_version", "task_id"}
)
"""What every run may have beside the business keys of gnomon.yaml."""

Place = tuple[int | str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """The source answered, and its answer decides nothing."""

    reason: str


Asked = Callable[[Run], JsonValue | Unknown]


class HttpSource(Said):
    """GET a JSON document."""

    url: str = Field(description="With `{business_key}` in path or query, never in the host.")
    headers: dict[str, str] = {}
    secret_headers: dict[str, Path] = Field(
        default={}, description="Header to the file that holds its value."
    )
    missing: Literal["abstain", "null"] = Field(
        default="abstain", description="What 404 means: nothing known, or the answer null."
    )

    @field_validator("url")
    @classmethod
    def _plain(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("give a whole address, such as https://shop.internal/refunds/{order}")
        if "{" in parts.netloc:
            raise ValueError("the host must be fixed; business keys belong into path or query")
        if "@" in parts.netloc:
            raise ValueError(
                "an address is shown on pages and must hold no password; write the header"
                " Authorization into a file and name it in secret_headers"
            )
        return value

    @field_validator("headers")
    @classmethod
    def _sendable(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if text and not _CARRIED.fullmatch(text):
                raise ValueError(f"the value of {name} is not one line of plain ASCII")
        return value

    @field_validator("headers", "secret_headers")
    @classmethod
    def _named(cls, value: dict[str, T]) -> dict[str, T]:
        wrong = next((name for name in value if not _HEADER.fullmatch(name)), None)
        if wrong is not None:
            raise ValueError(f"{wrong[:40]!r} is no name of a header")
        return value

    @property
    def names(self) -> Iterator[tuple[Place, str]]:
        """The keys it is filled with, and where each stands."""
        return ((("url",), name) for name in HOLE.findall(self.url))

    def problems(self, _: Set[str]) -> Iterator[tuple[Place, str]]:
        """Yield what is wrong on this machine, and where it was written."""
        for name, path in self.secret_headers.items():
            try:
                _secret(path)
            except CheckFailed as error:
                yield ("secret_headers", name), str(error)

    def asks(self, timeout: timedelta, means: Means) -> Asked:
        """Return what asks for one run."""
        from scoring.grading.http_check import ask

        bounded = Bounded(limit=timeout, name="http", stop=means.stop)

        def asked(run: Run) -> JsonValue | Unknown:
            url, why = filled(self.url, partial(key_of, run), url_part)
            if why is not None:
                return Unknown(reason=why)
            secrets = {name: _secret(path) for name, path in self.secret_headers.items()}
            given = {**self.headers, **secrets}
            null = self.missing == "null"
            return guarded(lambda: ask(url, given, bounded, null_if_missing=null), given.values())

        return asked


class SqlSource(Said):
    """SELECT one row from the store; the answer is the row by column name."""

    query: str = Field(description="With typed parameters, `{order_id:String}`.")

    @field_validator("query")
    @classmethod
    def _reads(cls, value: str) -> str:
        refuse_wrong_select(value)
        return value.strip().removesuffix(";")

    @property
    def names(self) -> Iterator[tuple[Place, str]]:
        """The keys it is filled with, and where each stands."""
        return ((("query",), name) for name in PARAM.findall(self.query))

    def problems(self, _: Set[str]) -> Iterator[tuple[Place, str]]:
        """Yield nothing: the store is asked later."""
        yield from ()

    def asks(self, timeout: timedelta, means: Means) -> Asked:
        """Return what asks for one run."""
        names = sorted(set(PARAM.findall(self.query)))

        def asked(run: Run) -> JsonValue | Unknown:
            lacking = _lacking(run, names)
            if lacking is not None:
                return lacking
            given = {name: key_of(run, name) or "" for name in names}
            return guarded(lambda: _row(means.store, self.query, given, timeout), given.values())

        return asked


class CommandSource(Said):
    """Run a program without a shell; it gets the run as JSON and answers with JSON.

    Its words are the operator's alone: what an agent or its users wrote reaches it on its input,
    where no shell, interpreter or launcher can take it for code or for an option.
    """

    argv: Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        description="Program (whole path) and arguments, handed over as they stand."
    )
    keys: tuple[str, ...] = Field(
        default=(), description="Business keys it needs; of a run without one nothing is asked."
    )
    env: dict[str, str] = {}
    directory: Path | None = None

    @field_validator("argv")
    @classmethod
    def _whole_path(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not PurePosixPath(value[0]).is_absolute():
            raise ValueError(
                f"{value[0]} is no whole path; write where the program lies,"
                f" such as /usr/bin/{value[0]}"
            )
        return value

    @property
    def names(self) -> Iterator[tuple[Place, str]]:
        """The keys it asks for, and where each stands."""
        return ((("keys", place), name) for place, name in enumerate(self.keys))

    def problems(self, known: Set[str]) -> Iterator[tuple[Place, str]]:
        """Yield what is wrong on this machine, and where it was written."""
        for place, word in enumerate(self.argv):
            for name in sorted(known & set(_UNFILLED.findall(word))):
                yield (
                    ("argv", place),
                    f"{{{name}}} is not filled in here: the program reads the run as JSON from its"
                    f" input; name {name} under keys",
                )
        if self.directory is not None and not self.directory.is_dir():
            yield (
                ("directory",),
                f"there is no directory {self.directory}; make it, or mend the path",
            )

    def asks(self, timeout: timedelta, means: Means) -> Asked:
        """Return what asks for one run."""
        from scoring.grading.command_check import ask

        def asked(run: Run) -> JsonValue | Unknown:
            lacking = _lacking(run, self.keys)
            if lacking is not None:
                return lacking
            said = json.dumps(facts_of(run)).encode()

            def work() -> JsonValue | Unknown:
                return ask(
                    self.argv,
                    said,
                    timeout,
                    env=self.env,
                    directory=self.directory,
                    stop=means.stop,
                )

            return guarded(work, self.env.values())

        return asked


class Sources(Said):
    """Exactly one place to ask."""

    http: HttpSource | None = None
    sql: SqlSource | None = None
    command: CommandSource | None = None
    timeout: Duration = Field(default=timedelta(seconds=5), description="The longest one may take.")

    @model_validator(mode="after")
    def _one(self) -> "Sources":
        if len([s for s in (self.http, self.sql, self.command) if s is not None]) != 1:
            raise ValueError("say exactly one of http, sql, command")
        if not timedelta(0) < self.timeout <= timedelta(minutes=5):
            raise ValueError("timeout must lie above 0 and be at most 5m")
        return self

    def asks(self, means: Means) -> Asked:
        """Return what asks for one run; it raises CheckFailed when the world does not answer."""
        return self._source[1].asks(self.timeout, means)

    @property
    def _source(self) -> tuple[str, HttpSource | SqlSource | CommandSource]:
        for name, source in (("http", self.http), ("sql", self.sql), ("command", self.command)):
            if source is not None:
                return name, source
        raise AssertionError("one of them is there: see _one")

    def problems(self, business_keys: Iterable[str]) -> Iterator[tuple[Place, str]]:
        """Yield what is wrong beyond its form, and where it was written."""
        kind, source = self._source
        known = {*business_keys, *_FACTS}
        for place, name in source.names:
            if name not in known:
                yield (
                    (kind, *place),
                    f"{{{name}}} is no key of a run; there are {', '.join(sorted(known))}:"
                    " correct it, or say under business_keys where it is found",
                )
        for place, why in source.problems(known):
            yield (kind, *place), why


def facts_of(run: Run) -> Mapping[str, JsonValue]:
    """Return what a check may know of a run."""
    return {
        "run_id": run.run_id,
        "revision": run.revision,
        "agent_name": run.agent_name,
        "agent_version": run.agent_version,
        "environment": run.environment,
        "conversation_id": run.conversation_id,
        "user_id": run.user_id,
        "business_keys": dict(run.business_keys),
        "output": run.output,
    }


def _lacking(run: Run, names: Iterable[str]) -> Unknown | None:
    lacking = [name for name in names if key_of(run, name) is None]
    return Unknown(reason=f"the run has no {', '.join(lacking)}") if lacking else None


def _secret(path: Path) -> str:
    """Return what a file holds, without the end of its line; raises CheckFailed, never with it."""
    try:
        with path.open("rb") as file:
            body = file.read(_LARGEST_SECRET + 1)
    except OSError as error:
        raise CheckFailed(
            f"{path}: {error.strerror}; write the value of the header into this file"
        ) from error
    text = body.decode("latin-1").removesuffix("\n").removesuffix("\r")
    if len(body) > _LARGEST_SECRET or not _CARRIED.fullmatch(text):
        raise CheckFailed(
            f"{path}: a header can not carry this; the file must hold its value alone:"
            f" one line of plain ASCII, no blanks around it, at most {_LARGEST_SECRET} bytes"
        )
    return text


def _row(
    store: Store | None, query: str, given: Mapping[str, str], timeout: timedelta
) -> JsonValue | Unknown:
    if store is None:
        raise CheckFailed("there is no store here to ask")
    seconds = max(1, round(timeout.total_seconds()))
    limits = {"max_execution_time": seconds, "max_result_rows": 100}
    try:
        rows = store.read(query, tag="scoring.outcome_check", settings=limits, bind=given)
    except Unavailable as error:
        if error.context.get("code") in RAN_TOO_LONG:
            why = f"the query did not end within {seconds} s, the time that it may take"
            raise TookTooLong(why) from error
        raise TryAgain(f"the query failed: {error.detail}") from error
    except GnomonError as error:
        raise CheckFailed(f"the query failed: {error.detail}") from error
    return rows[0] if rows else Unknown(reason="the query found no row")
