"""Which errors leave open whether a request took effect: its answer was lost, or never sent.

One table for errors, remarks and codes. What never reached anybody has surely not taken effect.
"""

import re
from collections.abc import Sequence

LOST_CODES = frozenset((408, 502, 503, 504, 520, 524))
"""HTTP statuses of a server that waited, or of one between that heard no end from the other."""

_TIMEOUTS = ("timeout", "timedout", "deadlineexceeded")
"""These are found inside words, too: `ReadTimeout`, `ESOCKETTIMEDOUT`."""

_CLOSED = "reset|closed|aborted|lost|dropped|broken|terminated|interrupted"
_BETWEEN = "(?: (?:to|with|by|the|remote|server|host|peer|was|is|has|been|got|unexpectedly|forcibly|prematurely))*"  # fmt: skip
_CODES = "|".join(map(str, sorted(LOST_CODES)))
_SERVER = "server|upstream|service|host|backend|gateway|endpoint|api|peer|remote"

_LOST = (
    "took (?:too long|longer than)",
    "(?:not|didnt|doesnt|never|failed to|stopped) respond(?:ed|ing)?",
    "(?:not|didnt|never) (?:answer|reply|finish|complete)(?:ed)? (?:in time|within)",
    f"(?:no|without|without sending a|before an?) (?:response|reply|answer) (?:from|by) (?:the )?(?:{_SERVER})",
    "no (?:response|reply|answer) (?:was )?(?:received|after|within|in time)",
    f"empty (?:response|reply) from (?:the )?(?:{_SERVER})",
    f"connection(?: error)?{_BETWEEN} (?:{_CLOSED})",
    f"(?:{_CLOSED}) (?:the )?connection",
    f"socket (?:hang up|disconnected|{_CLOSED})",
    f"stream (?:{_CLOSED})",
    "(?:server|remote|peer|client) disconnected",
    "(?:disconnect|reset) before headers",
    "remote protocol error",
    "incomplete read",
    "http(?:x|core) (?:read|write) error",
    "econnreset|econnaborted|epipe|broken pipe",
    "(?:request|operation) was aborted|abort error",
    "network (?:error|failure|connection lost)",
    "eof(?! while parsing)|unexpected end of (?:file|stream)",
    "time out|bad gateway|service unavailable|status code unavailable",
    f"(?:http(?: \\d){{0,2}}|status|error)(?: status)?(?: code)? (?:{_CODES})",
)
_UNSENT = (
    "connection(?: was| is)? refused|refused (?:the )?connection|econnrefused",
    "enotfound|eai again|getaddrinfo|name resolution|name or service not known",
    "resolve (?:the )?(?:host|hostname|name|address)|dns (?:failure|error|lookup failed)",
    "no route to host|host is unreachable|network is unreachable|ehostunreach|enetunreach",
    "(?:failed|unable|could not|cannot|cant|couldnt)(?: to)? connect",
)
_LATE = re.compile(rf"\b(?:{'|'.join(_LOST)})\b")
_NEVER = re.compile(rf"\b(?:{'|'.join(_UNSENT)})\b")


def lost(words: Sequence[str]) -> bool:
    """Return whether what these words tell may have taken effect all the same."""
    squeezed = "".join(words)
    return any(one in squeezed for one in _TIMEOUTS) or bool(_LATE.search(" ".join(words)))


def unsent(words: Sequence[str]) -> bool:
    """Return whether a request never reached anybody."""
    return bool(_NEVER.search(" ".join(words))) and not lost(words)


def lost_code(text: str) -> bool:
    """Return whether a text is such a status, and nothing else."""
    return text.isdecimal() and len(text) == len("408") and int(text) in LOST_CODES
