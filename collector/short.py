"""Names and ids of bounded length: what is longer is cut and ends in a digest of the whole.

Different ones so stay different, and whoever looks for one cuts what he looks for the same way.
"""

import hashlib
from typing import Final

NAME: Final = 256
ID: Final = 512
"""Characters of a name and of an id."""

_DIGITS: Final = 16


def short(text: str, most: int) -> str:
    """Return a text of at most so many characters; the same for the same text, and itself if it fits."""
    if len(text) <= most:
        return text
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]
    return f"{text[: most - _DIGITS - 1]}~{digest}"
