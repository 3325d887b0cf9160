"""A ledger and dead letters in memory."""

from collections.abc import Sequence

from collector.queue.port import DeadLetter, LedgerRow
from gnomon.clock import Nanos
from gnomon.errors import NotFound


class MemoryBooks:
    def __init__(
        self, rows: Sequence[LedgerRow] = (), letters: Sequence[tuple[DeadLetter, bytes]] = ()
    ) -> None:
        self.rows = list(rows)
        self.letters = {letter.id: (letter, payload) for letter, payload in letters}
        self.resent: list[int] = []

    def ledger(self, since: Nanos, until: Nanos) -> Sequence[LedgerRow]:
        found = [row for row in self.rows if since <= row.hour < until]
        return sorted(found, key=lambda row: (-row.hour, row.source))

    def oldest_pending(self) -> Nanos | None:
        return None

    def dead_letters(self, *, after: int = 0, limit: int = 50) -> Sequence[DeadLetter]:
        found = [self.letters[number][0] for number in sorted(self.letters) if number > after]
        return found[:limit]

    def dead_letter(self, letter: int) -> tuple[DeadLetter, bytes]:
        if letter not in self.letters:
            raise NotFound(f"there is no dead letter {letter}")
        return self.letters[letter]

    def resend(self, letter: int) -> None:
        self.dead_letter(letter)
        self.resent.append(letter)

    def drop(self, letter: int) -> None:
        self.dead_letter(letter)
        del self.letters[letter]
