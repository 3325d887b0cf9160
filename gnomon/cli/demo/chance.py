"""Chance is a hash: the same seed and the same question get the same answer, in any order."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

_SPACE = 2**64
_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass(frozen=True, slots=True)
class Chance:
    """A place to ask questions from; places below it give answers of their own."""

    path: str
    salt: str = ""
    """Tells names of one day from those of another; what happens does not depend on it."""

    def below(self, *parts: object) -> "Chance":
        """Return the place for one part of the story."""
        return Chance("/".join([self.path, *map(str, parts)]), self.salt)

    def bits(self, question: str) -> bytes:
        """Return 32 bytes."""
        return hashlib.sha256(f"{self.path}?{question}".encode()).digest()

    def name_bits(self, question: str) -> bytes:
        """Return 32 bytes for a name: another salt gives other names to the same story."""
        return self.bits(f"{self.salt}|{question}")

    def share(self, question: str) -> float:
        """Return a number in [0, 1)."""
        return (int.from_bytes(self.bits(question)[:8], "big") >> 11) / (_SPACE >> 11)

    def happens(self, question: str, rate: float) -> bool:
        """Say yes in `rate` of all cases."""
        return self.share(question) < rate

    def whole(self, question: str, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        return low + int(self.share(question) * (high - low + 1))

    def pick(self, question: str, among: Sequence[T]) -> T:
        """Return one of several, each as likely as the others."""
        return among[int(self.share(question) * len(among))]

    def code(self, question: str, length: int = 6) -> str:
        """Return letters and digits that read well in an order number."""
        return "".join(_LETTERS[byte % 32] for byte in self.name_bits(question)[:length])
