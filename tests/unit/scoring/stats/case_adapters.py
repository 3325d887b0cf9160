"""One small adapter per shape of numeric case: from its inputs to our answer in its shape.

An adapter is found by the names of the inputs, so that any other case of the same shape goes
through it too. It holds no number of its own; where a case states one in words, it reads them.
"""

import re
from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Any

from scoring import stats

Case = Mapping[str, Any]
Adapter = Callable[..., Any]
ADAPTERS: dict[frozenset[str], list[tuple[str, Adapter]]] = {}
PARTS = ("units", "halves", "thirds", "quarters", "fifths", "sixths", "sevenths", "eighths")


def answers(names: str, *, when: str = "") -> Callable[[Adapter], Adapter]:
    """Register an adapter for cases with these inputs; `when` is a word of the expected shape.

    A star stands for any lists that are named by a capital letter.
    """

    def register(adapter: Adapter) -> Adapter:
        ADAPTERS.setdefault(frozenset(names.split()), []).append((when, adapter))
        return adapter

    return register


def answer(case: Case) -> Any:
    """Return what the product says to a case, in the shape of its expected value."""
    names = frozenset(case["inputs"])
    lists = {name for name in names if len(name) == 1 and name.isupper()}
    found = ADAPTERS.get(names) or ADAPTERS.get(names - lists | {"*"}, [])
    shape = case["expected"] if isinstance(case["expected"], dict) else ["list"]
    for when, adapter in found:
        if not when or when in shape:
            return adapter(case, **case["inputs"])
    raise LookupError(f"no adapter for a case with the inputs {sorted(case['inputs'])}")


def limits(estimate: Any) -> list[float | None]:
    return [estimate.low, estimate.high]


def triple(estimate: Any) -> list[float | None]:
    return [estimate.value, estimate.low, estimate.high]


def value(estimate: Any) -> Any:
    return None if estimate is None else estimate.value


def se(estimate: Any) -> Any:
    return None if estimate is None else estimate.se


# --- rates ---------------------------------------------------------------------------------


@answers("x n conf")
def proportion(_: Case, x: int, n: int, conf: float) -> Any:
    return {
        "wilson": limits(stats.wilson(x, n, confidence=conf)),
        "clopper_pearson": limits(stats.clopper_pearson(x, n, confidence=conf)),
    }


@answers("x n", when="interval")
def shown_proportion(_: Case, x: int, n: int) -> Any:
    shown = stats.rate(x, n, unit="run")
    return {"estimate": shown.value, "interval": limits(shown)}


@answers("x n")
def nothing_seen(_: Case, x: int, n: int) -> Any:
    return {
        "exact": stats.zero_event_upper(n) if x == 0 else None,
        "rule_of_three": 3 / n,  # the wrong figure, by its name
        "poisson": stats.zero_exposure_upper(n),
    }


@answers("p")
def clean_runs(_: Case, p: list[float]) -> Any:
    return [stats.runs_for_zero(rate) for rate in p]


@answers("x1 n1 x2 n2")
def independent(_: Case, **counts: int) -> Any:
    return triple(stats.newcombe(**counts))


# --- pairs and gates -----------------------------------------------------------------------


@answers("b c n")
def paired(_: Case, b: int, c: int, n: int) -> Any:
    return triple(stats.tango(b, c, n))


@answers("n agent_only_right human_only_right margin")
def gate(_: Case, n: int, agent_only_right: int, human_only_right: int, margin: float) -> Any:
    found = stats.tango(agent_only_right, human_only_right, n)
    decision = stats.non_inferiority(found, margin, stats.Look(n=n, planned=n))
    return {
        "difference": value(found),
        "lower": found.low if found else None,
        "pass": decision.verdict is stats.Verdict.PASS,
    }


def differences(inputs: Mapping[str, Any]) -> tuple[list[int], int]:
    """Return whole differences and the part of a unit that their name tells."""
    (name,) = (key for key in inputs if "differences" in key)
    words = name.split("_")
    (part,) = (place for place, word in enumerate(PARTS, start=1) if word in words)
    return inputs[name], part


@answers("differences_eighths_inch")
@answers("per_bug_differences_in_thirds")
def signs(_: Case, **inputs: Any) -> Any:
    whole, part = differences(inputs)
    mean = stats.paired_mean([d / part for d in whole])
    test = stats.t_test(whole)
    better, worse = sum(d > 0 for d in whole), sum(d < 0 for d in whole)
    return {
        "mean": value(mean),
        "lo": mean.low if mean else None,
        "hi": mean.high if mean else None,
        "t": test.statistic if test else None,
        "p_t": test.p if test else None,
        "p_signflip": stats.sign_flip(whole),
        "p_two_sided": stats.sign_flip(whole),
        "p_sign": stats.sign_test(better, worse),
    }


@answers("per_bug_differences_in_thirds B")
def bootstrapped(_: Case, B: str, **inputs: Any) -> Any:  # noqa: N803
    whole, part = differences(inputs)
    found = stats.bootstrap_interval(
        [d / part for d in whole],
        lambda units: sum(units) / len(units),
        seed=len(whole),
        resamples=int(re.findall(r"\d+", str(B))[0]),
    )
    return limits(found)


@answers("b c")
def mcnemar(_: Case, b: int, c: int) -> Any:
    plain, corrected = stats.mcnemar_chi2(b, c), stats.mcnemar_chi2(b, c, continuity=True)
    return {
        "chi2": plain.statistic if plain else None,
        "chi2_continuity": corrected.statistic if corrected else None,
        "p_exact": stats.sign_test(b, c),
        "exact": stats.sign_test(b, c),
        "midp": stats.mcnemar_midp(b, c),
    }


@answers("wins losses ties")
def wins(_: Case, wins: int, losses: int, ties: int) -> Any:
    found = stats.tango(wins, losses, wins + losses + ties)
    assert found is None or limits(found)[0] < limits(found)[1]
    return {"p": stats.sign_test(wins, losses)}


@answers("p_discordant margin")
def pairs_needed(_: Case, p_discordant: list[float], margin: list[float]) -> Any:
    return [stats.ni_sample_size(p, m) for p, m in zip(p_discordant, margin, strict=True)]


# --- trials --------------------------------------------------------------------------------


def suite(trials: int, successes: list[int]) -> dict[str, tuple[int, int]]:
    return {str(place): (trials, c) for place, c in enumerate(successes)}


@answers("trials successes_per_task", when="pass_hat")
def passes(_: Case, trials: int, successes_per_task: list[int]) -> Any:
    tasks = suite(trials, successes_per_task)
    ks = range(1, trials + 1)
    return {
        "pass_hat": [stats.suite_pass_hat(tasks, k).measure.value for k in ks],
        "pass_at": [stats.suite_pass_at(tasks, k).measure.value for k in ks],
        "plug_in_hat": [  # the wrong figure
            sum((c / trials) ** k for c in successes_per_task) / len(tasks) for k in ks
        ],
        f"histogram_0_to_{trials}": stats.histogram(successes_per_task, trials),
    }


@answers("trials successes_per_task", when="icc")
def correlation(_: Case, trials: int, successes_per_task: list[int]) -> Any:
    found = stats.icc((trials, c) for c in successes_per_task)
    if found is None:
        return {"icc": None, "deff": None, "n_eff": None}
    effect = stats.design_effect(trials, found)
    total = trials * len(successes_per_task)
    return {"icc": found, "deff": effect, "n_eff": total / effect}


@answers("trials successes_per_task", when="list")
def pass_errors(case: Case, trials: int, successes_per_task: list[int]) -> Any:
    errors = []
    for k in map(int, re.findall(r"pass\^(\d+)", case["topic"])):
        mean = stats.paired_mean([stats.pass_hat(trials, c, k) for c in successes_per_task])
        errors.append(se(mean))
    return errors


@answers("cases")
def pass_rows(_: Case, cases: list[list[int]]) -> Any:
    return {
        "pass_at": [stats.pass_at(*row) for row in cases],
        "pass_hat": [stats.pass_hat(*row) for row in cases],
    }


@answers("n p k")
def pass_bias(_: Case, n: int, p: float, k: list[int]) -> Any:
    from scipy.stats import binom

    chance = [float(binom.pmf(c, n, p)) for c in range(n + 1)]
    return {
        "truth": [p**j for j in k],
        "plug_in_expectation": [  # the wrong figure
            sum(w * (c / n) ** j for c, w in enumerate(chance)) for j in k
        ],
        "combinatorial_expectation": [
            sum(w * stats.pass_hat(n, c, j) for c, w in enumerate(chance)) for j in k
        ],
    }


@answers("n c")
def one_task(_: Case, n: int, c: int) -> Any:
    found = stats.task_variance(n, c)
    if found is None:
        return {"p": None, "var_single_trial": None, "var_of_case_mean": None}
    return {
        "p": found.p,
        "var_single_trial": found.single_trial,
        "var_of_case_mean": found.mean,
    }


@answers("cluster_sizes cluster_sums N_clusters")
def clusters(
    _: Case,
    cluster_sizes: list[int],
    cluster_sums: list[float],
    N_clusters: int,  # noqa: N803
) -> Any:
    known = stats.cluster_mean(cluster_sums, cluster_sizes, clusters=N_clusters)
    plain = stats.cluster_mean(cluster_sums, cluster_sizes)
    return {"mean": value(known), "se_fpc": se(known), "se_no_fpc": se(plain)}


# --- looks ---------------------------------------------------------------------------------


@answers("looks")
def constants(_: Case, looks: list[int]) -> Any:
    return [stats.pocock(k) for k in looks]


@answers("s f p0")
def evidence(_: Case, s: int, f: int, p0: float) -> Any:
    return stats.e_greater(s, f, p0)


@answers("s f alpha")
def always_valid(_: Case, s: int, f: int, alpha: float) -> Any:
    return {
        "always_valid": limits(stats.beta_sequence(s, f, alpha)),
        "wilson": limits(stats.wilson(s, s + f, confidence=1 - alpha)),
    }


@answers("x alpha")
def scores(_: Case, x: list[float], alpha: float) -> Any:
    return limits(stats.bernstein_sequence(x, alpha))


@answers("p0 alpha looks")
def peeking(_: Case, p0: float, alpha: float, looks: int) -> Any:
    """The wrong procedure: an exact test after each run, until it rejects."""
    from scipy.stats import binom

    alive, rejected = {0: 1.0}, 0.0
    for n in range(1, looks + 1):
        moved: dict[int, float] = {}
        for c, weight in alive.items():
            moved[c] = moved.get(c, 0.0) + weight * (1 - p0)
            moved[c + 1] = moved.get(c + 1, 0.0) + weight * p0
        out = {c for c in moved if float(binom.sf(c - 1, n, p0)) <= alpha}
        rejected += sum(weight for c, weight in moved.items() if c in out)
        alive = {c: weight for c, weight in moved.items() if c not in out}
    return rejected


# --- agreement -----------------------------------------------------------------------------


@answers("table")
def two_raters(_: Case, table: list[list[int]]) -> Any:
    both = stats.two_raters(table)
    return {
        "agreement": both.raw.value,
        "kappa": value(both.kappa),
        "se": se(both.kappa),
        "kappa_se": se(both.kappa),
        "scott_pi": value(stats.scott_pi(table)),
        "ac1": value(both.ac1),
        "ac1_se": se(both.ac1),
        "brennan_prediger": value(stats.brennan_prediger(table)),
        "pabak": value(stats.brennan_prediger(table)),
    }


@answers("tables")
def several_tables(case: Case, tables: list[list[list[int]]]) -> Any:
    found = [two_raters(case, table) for table in tables]
    return {key: [one[key] for one in found] for key in found[0]}


@answers("distribution")
def many_raters(_: Case, distribution: list[list[int]]) -> Any:
    ac1 = stats.gwet_ac1(counts=distribution)
    units = [[kind for kind, times in enumerate(row) for _ in range(times)] for row in distribution]
    return {
        "fleiss": value(stats.fleiss_kappa(distribution)),
        "ac1": value(ac1),
        "ac1_se": se(ac1),
        "alpha": value(stats.krippendorff(units)),
    }


@answers("ratings")
def missing_ratings(_: Case, ratings: list[list[Any]]) -> Any:
    from scoring.stats.raters import counts_of_ratings

    ac1 = stats.gwet_ac1(counts=counts_of_ratings(ratings))
    levels = ("nominal", "ordinal", "interval", "ratio")
    alphas = {level: value(stats.krippendorff(ratings, level)) for level in levels}
    return {**alphas, "alpha": alphas["nominal"], "ac1": value(ac1), "ac1_se": se(ac1)}


# --- comparison ----------------------------------------------------------------------------


@answers("reference observed")
def modes(_: Case, reference: list[str], observed: list[list[str]]) -> Any:
    found = [stats.list_modes(one, reference) for one in observed]
    return [[mode.strict, mode.subset, mode.superset] for mode in found]


@answers("human agent")
def action_lists(_: Case, human: list[str], agent: list[str]) -> Any:
    return {
        "f1": stats.multiset_f1(agent, human),
        "jaccard": stats.multiset_jaccard(agent, human),
        "lcs": stats.lcs_length(agent, human),
        "lev": stats.edit_distance(agent, human),
    }


@answers("before *")
def orders(_: Case, before: dict[str, list[str]], **lists: list[str]) -> Any:
    return [stats.order_kept(actions, before) for _, actions in sorted(lists.items())]


@answers("pairs abs rel")
def tolerances(_: Case, pairs: list[list[float]], **allowed: float) -> Any:
    return [
        stats.within_tolerance(a, h, absolute=allowed["abs"], relative=allowed["rel"])
        for h, a in pairs
    ]


# --- strata --------------------------------------------------------------------------------


@answers("strata", when="agent_ok")
def adjudicated(_: Case, strata: list[dict[str, int]]) -> Any:
    found = {}
    for side in ("agent", "human"):
        parts = [stats.rate_stratum(s["N"], s["n"], s[f"{side}_ok"]) for s in strata]
        estimate = stats.two_phase(parts)
        found |= {f"{side}_ok": value(estimate), f"{side}_se": se(estimate)}
    return found


@answers("strata", when="mean")
def stratified_mean(_: Case, strata: list[dict[str, float]]) -> Any:
    parts = [
        stats.Stratum(size=int(s["N"]), n=int(s["n"]), mean=s["mean"], variance=s["var"])
        for s in strata
    ]
    found = stats.stratified(parts)
    return {"mean": value(found), "se": se(found), "ci": limits(found) if found else None}


@answers("strata", when="p")
def stratified_rate(_: Case, strata: list[dict[str, int]]) -> Any:
    found = stats.stratified_rate([stats.rate_stratum(s["N"], s["n"], s["x"]) for s in strata])
    return {"p": value(found), "se": se(found), "ci": limits(found) if found else None}


@answers("y pi")
def unequal(_: Case, y: list[float], pi: list[float]) -> Any:
    total, mean = stats.horvitz_thompson(y, pi), stats.hajek(y, pi)
    return {"ht_total": value(total), "hajek_mean": value(mean), "hajek_se": se(mean)}


@answers("margin")
def grades_needed(case: Case, margin: float) -> Any:
    """The topic tells the rest: at p=.5: plain, N=1000, design effect 2, p=.9."""

    def said(pattern: str) -> list[float]:
        return [float(found) for found in re.findall(pattern, case["topic"])]

    p, other = said(r"p=(\d*\.\d+)")
    (frame,), (effect,) = said(r"N=(\d+)"), said(r"design effect (\d+(?:\.\d+)?)")
    return [
        stats.n_for_margin(margin, p),
        stats.n_for_margin(margin, p, int(frame)),
        stats.n_for_margin(margin, p, deff=effect),
        stats.n_for_margin(margin, other),
    ]


@answers("weights")
def kish(_: Case, weights: list[float]) -> Any:
    worth = stats.kish(weights)
    return {"n_eff": worth, "deff": len(weights) / worth if worth else None}


# --- judges --------------------------------------------------------------------------------


@answers("apparent se sp")
def corrected(_: Case, apparent: Any, se: float, sp: Any) -> Any:
    if not isinstance(apparent, list):
        return {"estimate": value(stats.rogan_gladen(apparent, se, sp))}
    each = sp if isinstance(sp, list) else [sp] * len(apparent)
    return [value(stats.rogan_gladen(a, se, s)) for a, s in zip(apparent, each, strict=True)]


@answers("human_judge_table unlabelled")
def powered(case: Case, human_judge_table: dict[str, int], unlabelled: dict[str, int]) -> Any:
    y, f = [], []
    for name, times in human_judge_table.items():
        human, judge = map(int, re.findall(r"\d", name))
        y += [human] * times
        f += [judge] * times
    others = [int(name.removeprefix("f")) for name, n in unlabelled.items() for _ in range(n)]
    told = re.findall(r"lambda = (\d+(?:\.\d+)?)", case["topic"])
    found = stats.ppi(y, f, others, weight=float(told[0]) if told else None)
    assert found is not None
    known = found.estimate
    assert known.value is not None
    assert known.se is not None
    reach = NormalDist().inv_cdf(1 - (1 - 0.95) / 2) * known.se  # the papers' z interval
    return {
        "estimate": known.value,
        "lambda": found.weight,
        "ci": [known.value - reach, known.value + reach],
    }


@answers("n00 n01 n10 n11 unlabelled_positive unlabelled")
def double_sampling(
    _: Case, n00: int, n01: int, n10: int, n11: int, unlabelled_positive: int, unlabelled: int
) -> Any:
    from scoring.stats.calibration import phi_squared

    table = [[n00, n01], [n10, n11]]
    found = stats.tenenbein(table, unlabelled_positive, unlabelled)
    return {"estimate": value(found), "phi2": phi_squared(table), "se": se(found)}


@answers("estimate se")
def effective(_: Case, estimate: float, se: float) -> Any:
    from scoring.stats.effective import at_effective_size, effective_size

    size = effective_size(estimate, se**2)
    found = at_effective_size(estimate, se**2, fallback=1)
    return {"n_eff": size, "ci": limits(found)}
