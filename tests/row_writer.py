"""Steps and runs put into a store as they are, for tests of what reads them."""

from collections.abc import Iterable, Sequence

import orjson

from collector import encoded
from collector.encoded import Rows
from collector.reading.rows import Place
from collector.store import Writer
from gnomon.model import Run, Step


class RowWriter(Writer):
    """A writer that takes dataclasses."""

    def steps(self, steps: Sequence[Step], *, folded_at: int) -> None:
        self._all(encoded.steps(steps, folded_at=folded_at))

    def runs(self, runs: Sequence[Run], *, reading: str, folded_at: int | Sequence[int]) -> None:
        """`folded_at`: of all of them, or of each."""
        heads = encoded.heads(runs, reading=reading)
        moments = [folded_at] * len(runs) if isinstance(folded_at, int) else folded_at
        named = zip(heads, runs, moments, strict=True)
        lines = [encoded.row(head, run, folded_at=moment) for head, run, moment in named]
        self._all(encoded.runs(lines))

    def forget_steps(self, keys: bytes, *, folded_at: int) -> None:
        """`keys` as `Reader.step_key_lines` gives them."""
        found = map(orjson.loads, keys.splitlines())
        self._all(encoded.gone_steps(found, folded_at=folded_at))

    def forget_runs(self, places: Sequence[Place], *, folded_at: int) -> None:
        self._all(encoded.gone_runs(places, folded_at=folded_at))

    def _all(self, written: Iterable[Rows]) -> None:
        for rows in written:
            self.write(rows)
