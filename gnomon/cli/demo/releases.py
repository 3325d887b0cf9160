"""The two versions of the agent, and how often each of them makes which mistake."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gnomon.cli.demo.chance import Chance


class Mistake(StrEnum):
    """What an agent can do wrong at a refund desk."""

    UNVERIFIED_REFUND = "unverified_refund"
    WRONG_AMOUNT = "wrong_amount"
    SKIPPED_APPROVAL = "skipped_approval"
    UNSAFE_RETRY = "unsafe_retry"
    FALSE_CLAIM = "false_claim"
    ENDLESS_LOOP = "endless_loop"
    ENDLESS_POLLING = "endless_polling"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One version of the agent: its pins and its habits."""

    version: str
    model: str
    served_model: str
    """What the provider says it answered with."""
    prompt_version: str
    retry_policy: str
    microseconds_per_token: int
    reasons: bool
    """Whether the model reports reasoning tokens; the older one does not know the field."""
    rates: Mapping[Mistake, float]
    """Chance of a mistake in a run in which it is possible."""


RC3 = Release(
    version="rc3",
    model="toy-2-mini",
    served_model="toy-2-mini-2026-03-10",
    prompt_version="7",
    retry_policy="tool-retry-v1",
    microseconds_per_token=9_000,
    reasons=False,
    rates={
        Mistake.UNVERIFIED_REFUND: 0.03,
        Mistake.WRONG_AMOUNT: 0.08,
        Mistake.SKIPPED_APPROVAL: 0.15,
        Mistake.UNSAFE_RETRY: 0.45,
        Mistake.FALSE_CLAIM: 0.03,
        Mistake.ENDLESS_LOOP: 0.02,
        Mistake.ENDLESS_POLLING: 0.20,
    },
)

RC4 = Release(
    version="rc4",
    model="toy-3",
    served_model="toy-3-2026-09-02",
    prompt_version="8",
    retry_policy="tool-retry-v2",
    microseconds_per_token=7_000,
    reasons=True,
    rates={
        Mistake.UNVERIFIED_REFUND: 0.01,
        Mistake.WRONG_AMOUNT: 0.03,
        Mistake.SKIPPED_APPROVAL: 0.05,
        Mistake.UNSAFE_RETRY: 0.06,
        Mistake.FALSE_CLAIM: 0.015,
        Mistake.ENDLESS_LOOP: 0.01,
        Mistake.ENDLESS_POLLING: 0.01,
    },
)

RELEASES = (RC3, RC4)

ROLLOUT_BEGINS, ROLLOUT_ENDS = 0.45, 0.75
"""Shares of the history: before the first all traffic goes to rc3, between them half of it,
after the second a tenth stays on rc3 to compare with."""
HELD_BACK = 0.1


def release_at(position: float, chance: Chance) -> Release:
    """Return the version that gets a ticket; positions from 1 on are live."""
    if position < ROLLOUT_BEGINS:
        return RC3
    old = 0.5 if position < ROLLOUT_ENDS else HELD_BACK
    return RC3 if chance.happens("old release", old) else RC4
