-- What all graders together say of a run at one revision, and what its steps did: one lean row, so
-- that metrics are sums over a narrow table. Written after the judgments it is made of, and made anew
-- from them whenever one is added; the job `verdicts` makes those of runs that were judged before this
-- table was there (100,000 runs take a few minutes, numbers fill up meanwhile).
CREATE TABLE IF NOT EXISTS verdicts {{on_cluster}}
(
    started_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    run_id String,
    revision UInt32,
    verified Int8,
    claimed Bool,
    claim_held Int8,
    people_judged Bool,
    people_passed Bool,
    rules_judged Bool,
    policies_judged Bool,
    budgets_judged Bool,
    rule_broken Bool,
    hard Bool,
    budget_hit Bool,
    checks_missed Bool,
    gates_broken Bool,
    doubled Bool,
    graders Array(LowCardinality(String)),
    grader_versions Array(LowCardinality(String)),
    surfaces Array(LowCardinality(String)),
    kinds Array(LowCardinality(String)),
    states Array(LowCardinality(String)),
    passes Array(Int8),
    policies Array(LowCardinality(String)),
    rules Array(LowCardinality(String)),
    severities Array(LowCardinality(String)),
    model_steps UInt32,
    steps_without_usage UInt32,
    told_calls UInt32,
    repeats UInt32,
    people_steps UInt32,
    interventions UInt32,
    approvals UInt32,
    auto_approvals UInt32,
    decisions UInt32,
    overrides UInt32,
    waiting_ns UInt64,
    decision_ns Array(UInt64),
    call_tokens Array(UInt64),
    judged_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = {{replicated}}ReplacingMergeTree(at)
ORDER BY (started_at, run_id, revision)
SETTINGS index_granularity = 1024
