"""Business keys written into addresses, arguments and statements: where they may stand, and how."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from urllib.parse import quote

HOLE = re.compile(r"\{(\w+)\}")
PARAM = re.compile(r"\{\s*(\w+)\s*:[^{}]+\}")

_WHOLE = re.compile(r"(--[\w.\-]+=)?\{\w+\}")
_SHELLS = r"(?:ba|da|z|k|a|c|tc|mk|fi|pw)?sh|busybox"
_LANGUAGES = (
    r"python[\d.]*|pypy[\d.]*|perl[\d.]*|ruby[\d.]*|node|nodejs|deno|bun|php[\d.]*|lua[\d.]*"
)
_INTERPRETER = re.compile(rf"(?:{_SHELLS}|{_LANGUAGES}|[gmn]?awk|sed|osascript)")
_LAUNCHER = re.compile(
    r"env|nice|ionice|nohup|timeout|setsid|stdbuf|sudo|doas|su|xargs|chroot|unshare|nsenter|time"
)
"""Programs that start another one, named in their arguments."""
_CODE = re.compile(r"-[A-Za-z]*[cepErS]|--(?:eval|exec|command|print|run|split-string)(?:=.*)?")
"""Options behind which code stands, of any of these."""
_MEND = (
    "hand it over as an argument of its own, behind the code: `sh -c 'check \"$1\"' check {key}`"
)

_QUOTED = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|--[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL
)
_SELECT = re.compile(r"\s*(SELECT|WITH)\b", re.IGNORECASE)
_WRITES = re.compile(
    r"\b(INSERT\s+INTO|INTO\s+OUTFILE|(?:DELETE|UPDATE|DROP|ALTER|CREATE|TRUNCATE|RENAME|GRANT|REVOKE"
    r"|ATTACH|DETACH|OPTIMIZE|SYSTEM|KILL|EXCHANGE)\s+\w+)",
    re.IGNORECASE,
)
_UNTYPED = re.compile(r"\{\s*(\w*)\s*\}")


def filled(
    text: str, value_of: Callable[[str], str | None], write: Callable[[str], str | None]
) -> tuple[str, str | None]:
    """Return a template with keys in its holes, and why that can not be done, or None."""
    values: dict[str, str] = {}
    for name in HOLE.findall(text):
        value = value_of(name)
        if value is None:
            return "", f"the run has no {name}"
        written = write(value)
        if written is None:
            return "", f"the run's {name} can not be written into the check"
        values[name] = written
    return HOLE.sub(lambda hole: values[hole[1]], text), None


def url_part(value: str) -> str | None:
    """Return a value as part of an address; one that would climb in the path is refused."""
    return None if value in ("", ".", "..") else quote(value, safe="")


def argument(value: str) -> str | None:
    """Return a value as (part of) an argument; one that would be an option is refused."""
    return None if value.startswith("-") or "\0" in value else value


def refuse_wrong_words(argv: Sequence[str]) -> None:
    """Raise ValueError for a program that is not fixed, or a key where it would be read as code."""
    if HOLE.search(argv[0]):
        raise ValueError("the program must be fixed; business keys belong into its arguments")
    if not PurePosixPath(argv[0]).is_absolute():
        raise ValueError(
            f"{argv[0]} is no whole path; write where the program lies, such as /usr/bin/{argv[0]}"
        )
    for word in _code(argv):
        if HOLE.search(word):
            raise ValueError(f"a business key must not stand in code ({word[:60]!r}): {_MEND}")
    for word in argv[1:]:
        if HOLE.search(word) and not _WHOLE.fullmatch(word):
            raise ValueError(
                f"a business key must be a whole argument, or all behind `--option=`, not a part"
                f" of one ({word[:60]!r}): {_MEND}"
            )


def _code(argv: Sequence[str]) -> Iterator[str]:
    """Yield the words that an interpreter would run: behind its option, or the file it is given."""
    if _LAUNCHER.fullmatch(PurePosixPath(argv[0]).name):
        yield from _split_by_env(argv)
        names = (PurePosixPath(word).name for word in argv)
        start = next((n for n, name in enumerate(names) if _INTERPRETER.fullmatch(name)), None)
    else:
        start = 0 if _INTERPRETER.fullmatch(PurePosixPath(argv[0]).name) else None
    if start is None:
        return
    for before, word in pairwise(argv[start:]):
        if _CODE.fullmatch(word) and "=" in word:
            yield word
        elif _CODE.fullmatch(before) or not word.startswith("-"):
            yield word
            return


def _split_by_env(argv: Sequence[str]) -> Iterator[str]:
    """Yield what `env -S` splits into a program and its arguments."""
    for before, word in pairwise(argv):
        if before in ("-S", "--split-string") or word.startswith(("-S", "--split-string=")):
            yield word


def refuse_wrong_select(query: str) -> None:
    """Raise ValueError for what is not one reading statement with typed parameters."""
    bare = _QUOTED.sub(" ", query)
    if _SELECT.match(bare) is None or ";" in bare.strip().removesuffix(";"):
        raise ValueError("write one SELECT")
    wrote = _WRITES.search(bare)
    if wrote is not None:
        raise ValueError(
            f"a check only reads: write one SELECT, without {' '.join(wrote[0].split())}"
        )
    untyped = _UNTYPED.search(query)
    if untyped is not None:
        name = untyped[1] or "key"
        raise ValueError(f"{untyped[0]} has no type: write {{{name}:String}}")
