"""Two lists of actions side by side: sets, order, what had to come first, best matching."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scoring.stats.arguments import finite, number


@dataclass(frozen=True, slots=True, kw_only=True)
class ListModes:
    """The three ways in which foreign suites compare lists. None is a verdict."""

    strict: bool
    """The same sequence."""
    subset: bool
    """Only names of the reference; order and repetition do not count."""
    superset: bool
    """All names of the reference; order and repetition do not count."""


def list_modes(observed: Sequence[str], reference: Sequence[str]) -> ListModes:
    """Return whether an observed list equals, stays within, or covers a reference.

    observed, reference: names in order. Two empty lists match in every way. No error.
    Source: comparison of sequences and of sets.
    """
    seen, wanted = set(observed), set(reference)
    return ListModes(
        strict=list(observed) == list(reference), subset=seen <= wanted, superset=seen >= wanted
    )


def multiset_f1(a: Iterable[str], b: Iterable[str]) -> float:
    """Return 2 sum(min) / (sum a + sum b) of two multisets of actions.

    a, b: names. Result: fraction; both empty 1 (agreeing to do nothing), one empty 0. Two
    refunds against one: 2/3. No error. Source: Dice 1945 on multisets.
    """
    first, second = Counter(a), Counter(b)
    everything = first.total() + second.total()
    return 2 * (first & second).total() / everything if everything else 1.0


def multiset_jaccard(a: Iterable[str], b: Iterable[str]) -> float:
    """Return sum(min) / sum(max) of two multisets of actions.

    a, b: names. Result: fraction; both empty 1, one empty 0. No error.
    Source: Jaccard 1901 on multisets.
    """
    first, second = Counter(a), Counter(b)
    union = (first | second).total()
    return (first & second).total() / union if union else 1.0


def lcs_length(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the length of the longest common subsequence: actions both have in one order.

    a, b: names in order. Result: a count. No error. Source: Wagner & Fischer 1974.
    """
    row = [0] * (len(b) + 1)
    for left in a:
        before = row[:]
        for place, right in enumerate(b, start=1):
            row[place] = before[place - 1] + 1 if left == right else max(row[place - 1], row[place])
    return row[-1]


def edit_distance(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the least number of insertions, deletions and replacements between two lists.

    a, b: names in order. Result: a count; divide by the longer list for a share. No error.
    Source: Levenshtein 1966.
    """
    row = list(range(len(b) + 1))
    for height, left in enumerate(a, start=1):
        before, row = row, [height]
        for place, right in enumerate(b, start=1):
            kept = before[place - 1] + (left != right)
            row.append(min(kept, before[place] + 1, row[place - 1] + 1))
    return row[-1]


def edit_share(a: Sequence[str], b: Sequence[str]) -> float:
    """Return the edit distance as a share of the longer list; two empty lists give 0.

    a, b: names in order. Result: fraction. No error. Source: Levenshtein 1966.
    """
    longer = max(len(a), len(b))
    return edit_distance(a, b) / longer if longer else 0.0


def order_kept(
    actions: Sequence[str], before: Mapping[str, Iterable[str]], once: Iterable[str] = ()
) -> bool:
    """Return whether every action was preceded by all that had to come first.

    actions: names in order; before: action to the names that must have occurred earlier; once:
    names that must not be repeated. What never happens breaks nothing. No error.
    Source: partial order; each occurrence is checked against what came before it.
    """
    seen: Counter[str] = Counter()
    for action in actions:
        if any(seen[earlier] == 0 for earlier in before.get(action, ())):
            return False
        seen[action] += 1
    return all(seen[name] <= 1 for name in once)


def within_tolerance(agent: float, human: float, *, absolute: float, relative: float) -> bool:
    """Return whether two amounts are equal enough: |a - h| <= max(absolute, relative |h|).

    agent, human, absolute: in one unit; relative: a fraction; both tolerances >= 0. A relative
    tolerance alone rejects everything near h = 0.
    Raises ValueError if a number is not finite or a tolerance negative.
    Source: closeness with a floor.
    """
    a, h = finite("amounts", (agent, human))
    allowed = max(number("absolute", absolute), number("relative", relative) * abs(h))
    if absolute < 0 or relative < 0:
        raise ValueError("absolute and relative must not be negative")
    return abs(a - h) <= allowed


def best_matching(cost: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return which repeated action of one side belongs to which of the other, cheapest overall.

    cost: rows of one side, columns of the other, any finite cost. Result: (row, column) pairs,
    as many as the shorter side has. An empty side gives no pair.
    Raises ValueError if rows differ in length or a cost is not finite.
    Source: Kuhn 1955; scipy.optimize.linear_sum_assignment.
    """
    rows = [finite(f"cost[{place}]", row) for place, row in enumerate(cost)]
    if any(len(a) != len(b) for a, b in pairwise(rows)):
        raise ValueError("cost must have the same columns in every row")
    if not rows or not rows[0]:
        return []
    import numpy as np
    from scipy import optimize

    first, second = optimize.linear_sum_assignment(np.array(rows))
    return [(int(i), int(j)) for i, j in zip(first, second, strict=True)]
