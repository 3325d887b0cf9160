"""The whole work on one lot, bytes in and bytes out: read, fold, compare with what is stored, write.

It knows no store and no clock, so that it runs as well in a process of its own.
"""

import traceback
from collections.abc import Iterator, Mapping

import orjson

from collector import encoded
from collector.encoded import Rows
from collector.folding import messages
from collector.folding.fold import Folded, Previous, fold_traces
from collector.folding.messages import Lot, Outcome, Pieces, Quiet
from collector.reading import rows
from collector.reading.rows import Place, newest
from collector.watched import Watched
from gnomon.clock import Nanos
from gnomon.errors import GnomonError
from gnomon.model import Run, RunId


class Work:
    """Folds lots under one gnomon.yaml. Remembers nothing between them."""

    def __init__(self, hello: bytes) -> None:
        self._watched, self._reading = messages.understood(hello)

    def __call__(self, pieces: Pieces) -> Pieces:
        """Answer one message with another; raises nothing."""
        try:
            return self._outcome(Lot.read(pieces)).pieces()
        except Exception as error:  # noqa: BLE001 - told, and the trace is looked for
            kind = error.code if isinstance(error, GnomonError) else type(error).__name__
            return messages.failure(kind, error, traceback.format_exc())

    def _outcome(self, lot: Lot) -> Outcome:
        stored = newest(lot.places)
        folded = _folded(lot, stored, self._watched)
        alone = _alone(lot, folded)
        news = [run for run in folded.runs if not self._is_stored(run, stored.get(run.run_id))]
        written = {run.run_id: run for run in (*news, *alone.values())}
        heads = dict(
            zip(written, encoded.heads(list(written.values()), reading=self._reading), strict=True)
        )
        lines = [encoded.row(heads[run.run_id], run, folded_at=lot.folded_at) for run in news]
        return Outcome(
            run_ids=[run.run_id for run in folded.runs],
            again=folded.again,
            rows=[
                *self._steps(lot, folded, stored),
                *encoded.runs(lines),
                *encoded.gone_runs(_stale(lot, folded), folded_at=lot.folded_at),
            ],
            quiet=[
                Quiet(
                    trace_id=trace_id,
                    due=folded.again[trace_id],
                    row=encoded.settling(heads[run.run_id], folded.again[trace_id]),
                )
                for trace_id, run in alone.items()
            ],
        )

    def _steps(self, lot: Lot, folded: Folded, stored: Mapping[RunId, Place]) -> Iterator[Rows]:
        """Yield the steps of the traces that changed, and those that are to be taken back."""
        changed = {
            trace_id
            for run in folded.runs
            for trace_id in run.trace_ids
            if not self._has_same_steps(run, stored.get(run.run_id))
        }
        steps = [step for step in folded.steps if step.trace_id in changed]
        yield from encoded.steps(steps, folded_at=lot.folded_at)
        if changed and lot.step_keys:
            named = {(step.trace_id, step.span_id) for step in folded.steps}
            known = map(orjson.loads, lot.step_keys.splitlines())
            stale = [key for key in known if (key[0], key[1]) not in named]
            yield from encoded.gone_steps(stale, folded_at=lot.folded_at)

    def _has_same_steps(self, run: Run, place: Place | None) -> bool:
        return (
            place is not None
            and place.content_digest == run.content_digest
            and place.reading == self._reading
        )

    def _is_stored(self, run: Run, place: Place | None) -> bool:
        return (
            place is not None
            and self._has_same_steps(run, place)
            and place.started_at == run.started_at
            and place.state is run.state
            and place.settled_at == run.settled_at
            and place.revision == run.revision
            and place.last_received_at == run.last_received_at
        )


def _folded(lot: Lot, stored: Mapping[RunId, Place], watched: Watched) -> Folded:
    received: dict[str, Nanos] = {}
    for place in lot.places:
        for trace in place.trace_ids:
            received[trace] = max(place.last_received_at, received.get(trace, Nanos(0)))
    received.update(lot.received)
    return fold_traces(
        [rows.unread_span(orjson.loads(line)) for line in lot.spans.splitlines()],
        [rows.log_line(orjson.loads(line)) for line in lot.logs.splitlines()],
        watched=watched,
        previous={run_id: _previous(place) for run_id, place in stored.items()},
        received=received,
        now=lot.now,
    )


def _alone(lot: Lot, folded: Folded) -> dict[str, Run]:
    """Return by touched trace the open runs that share no trace and lie in one trace."""
    runs: dict[str, list[Run]] = {}
    for run in folded.runs:
        for trace_id in run.trace_ids:
            runs.setdefault(trace_id, []).append(run)
    return {
        trace_id: own[0]
        for trace_id in lot.received
        if trace_id in folded.again
        and len(own := runs.get(trace_id, [])) == 1
        and len(own[0].trace_ids) == 1
    }


def _stale(lot: Lot, folded: Folded) -> list[Place]:
    """Return the places at which a run stands no more."""
    stand = {run.run_id: run.started_at for run in folded.runs}
    here = set(lot.traces)
    return [
        place
        for place in lot.places
        if stand.get(place.run_id) != place.started_at
        # A run that was only partly in reach is not gone because it was not folded.
        and (place.run_id in stand or here.issuperset(place.trace_ids))
    ]


def _previous(place: Place) -> Previous:
    return Previous(
        run_id=place.run_id,
        state=place.state,
        revision=place.revision,
        settled_at=place.settled_at,
        content_digest=place.content_digest,
        trace_ids=place.trace_ids,
        started_at=place.started_at,
    )
