"""What `gnomon doctor` says of one thing it looked at."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    subject: str
    verdict: Literal["ok", "warning", "bad"]
    found: str
    mend: str = ""
