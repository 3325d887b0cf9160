"""How often a grader is asked again that got no answer for now, and when for the last time."""

from gnomon.clock import Nanos

_MINUTE = 60_000_000_000

DELAYS = (_MINUTE, 5 * _MINUTE, 15 * _MINUTE, 40 * _MINUTE)
"""How long to wait after each try at a world that does not answer for now."""

TRIES = len(DELAYS) + 1

MADE_UP_FOR = 24 * 60 * _MINUTE
"""How long after its time a try is still made up for, when the process stood still."""

LEFT = tuple(sum(DELAYS[made:]) for made in range(1, TRIES))
"""From the next try to the last one, by the tries that were made: 1, 2, …"""


def next_try(at: Nanos, tries: int) -> Nanos | None:
    """Return when a grader is asked again that failed at `at` after `tries` others; None: never."""
    return Nanos(at + DELAYS[tries]) if tries < len(DELAYS) else None
