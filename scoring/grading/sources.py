"""Where the true state is asked for: a system of record by HTTP, a table, or a command."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote, urlsplit

from pydantic import Field, field_validator, model_validator

from gnomon.config import Duration
from gnomon.errors import GnomonError
from gnomon.model import JsonValue, Run
from gnomon.store import Store
from scoring.grading.port import CheckFailed, key_of
from scoring.grading.spec import Means, Said

LARGEST = 1024**2
"""Bytes of an answer; a longer one is a failed check."""

_HOLE = re.compile(r"\{(\w+)\}")
_PARAM = re.compile(r"\{(\w+):[^{}]+\}")
_SELECT = re.compile(r"\s*(SELECT|WITH)\b", re.IGNORECASE)


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
        return value

    def asks(self, timeout: timedelta, means: Means) -> Asked:
        """Return what asks for one run."""
        from scoring.grading.http_check import ask

        del means

        def asked(run: Run) -> JsonValue | Unknown:
            url = filled(self.url, run, url_part)
            if isinstance(url, Unknown):
                return url
            given = {**self.headers, **_secrets(self.secret_headers)}
            return ask(url, given, timeout, null_if_missing=self.missing == "null")

        return asked


class SqlSource(Said):
    """SELECT one row from the store; the answer is the row by column name."""

    query: str = Field(description="With typed parameters, `{order_id:String}`.")

    @field_validator("query")
    @classmethod
    def _reads(cls, value: str) -> str:
        if _SELECT.match(value) is None or ";" in value.strip().removesuffix(";"):
            raise ValueError("write one SELECT")
        return value.strip().removesuffix(";")

    def asks(self, timeout: timedelta, means: Means) -> Asked:
        """Return what asks for one run."""
        names = sorted(set(_PARAM.findall(self.query)))

        def asked(run: Run) -> JsonValue | Unknown:
            given = {name: key_of(run, name) for name in names}
            lacking = [name for name, value in given.items() if value is None]
            if lacking:
                return Unknown(reason=f"the run has no {', '.join(lacking)}")
            return _row(means.store, self.query, given, timeout)

        return asked


class CommandSource(Said):
    """Run a program without a shell; it gets the run as JSON and answers with JSON."""

    argv: Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        description="Program (whole path) and arguments; `{business_key}` may be in arguments."
    )
    env: dict[str, str] = {}
    directory: Path | None = None

    @field_validator("argv")
    @classmethod
    def _fixed_program(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if "{" in value[0]:
            raise ValueError("the program must be fixed; business keys belong into its arguments")
        return value

    def asks(self, timeout: timedelta, means: Means) -> Asked:
        """Return what asks for one run."""
        from scoring.grading.command_check import ask

        del means

        def asked(run: Run) -> JsonValue | Unknown:
            words = [filled(word, run, _argument) for word in self.argv]
            unknown = next((word for word in words if isinstance(word, Unknown)), None)
            if unknown is not None:
                return unknown
            said = json.dumps(facts_of(run)).encode()
            argv = [str(word) for word in words]
            return ask(argv, said, timeout, env=self.env, directory=self.directory)

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
        source = self.http or self.sql or self.command
        assert source is not None
        return source.asks(self.timeout, means)


def filled(text: str, run: Run, write: Callable[[str], str | None]) -> str | Unknown:
    """Return a template with the run's keys in its holes, or why that can not be done."""
    values: dict[str, str] = {}
    for name in _HOLE.findall(text):
        value = key_of(run, name)
        if value is None:
            return Unknown(reason=f"the run has no {name}")
        written = write(value)
        if written is None:
            return Unknown(reason=f"the run's {name} can not be written into the check")
        values[name] = written
    return _HOLE.sub(lambda hole: values[hole[1]], text)


def url_part(value: str) -> str | None:
    """Return a value as part of an address; one that would climb in the path is refused."""
    return None if value in ("", ".", "..") else quote(value, safe="")


def _argument(value: str) -> str | None:
    """Return a value as (part of) an argument; one that would be an option is refused."""
    return None if value.startswith("-") or "\0" in value else value


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


def _secrets(files: Mapping[str, Path]) -> dict[str, str]:
    try:
        return {name: path.read_text(encoding="utf-8").strip() for name, path in files.items()}
    except OSError as error:
        raise CheckFailed(f"{error.filename}: {error.strerror}") from error


def _row(
    store: Store | None, query: str, given: Mapping[str, str | None], timeout: timedelta
) -> JsonValue | Unknown:
    if store is None:
        raise CheckFailed("there is no store here to ask")
    limits = {"max_execution_time": max(1, round(timeout.total_seconds())), "max_result_rows": 100}
    try:
        rows = store.read(query, tag="scoring.outcome_check", settings=limits, bind=given)
    except GnomonError as error:
        raise CheckFailed(f"the query failed: {error.detail}") from error
    return rows[0] if rows else Unknown(reason="the query found no row")
