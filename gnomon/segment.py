"""Ids that others chose, as one segment of an address that arrives as it was written.

A percent-encoded `/`, `..` or line break does not survive the way: browsers, clients and proxies
decode it, resolve it or refuse it. So an id that is not plain begins with `~` here, and `~2F`
stands in it where `%2F` would.
"""

import re
from urllib.parse import unquote

_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.:@-]*")
_OTHER = re.compile(rb"[^A-Za-z0-9_:@-]")
_MARK = "~"


def segment(given: str) -> str:
    """Return an id as one segment of a path; it needs no further quoting.

    >>> segment("284b6d4c"), segment("order/17"), segment(".."), segment("~")
    ('284b6d4c', '~order~2F17', '~~2E~2E', '~~7E')
    """
    if _PLAIN.fullmatch(given):
        return given
    raw = given.encode(errors="surrogateescape")
    return _MARK + _OTHER.sub(lambda found: b"~%02X" % ord(found[0]), raw).decode()


def id_of(text: str) -> str:
    """Return the id that a segment stands for; an id that somebody quoted stands for itself.

    >>> id_of("284b6d4c"), id_of("~order~2F17"), id_of("order/17")
    ('284b6d4c', 'order/17', 'order/17')
    """
    if not text.startswith(_MARK):
        return text
    return unquote(text[1:].replace("%", "%25").replace(_MARK, "%"), errors="replace")
