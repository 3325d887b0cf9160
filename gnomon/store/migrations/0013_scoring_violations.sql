-- One breach of one rule by one run, with the steps that show it. `place` numbers the breaches of a
-- judgment; grader_status.violations says how many of them count.
CREATE TABLE IF NOT EXISTS violations {{on_cluster}}
(
    started_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    run_id String,
    revision UInt32,
    agent_name LowCardinality(Nullable(String)),
    agent_version LowCardinality(Nullable(String)),
    environment LowCardinality(String),
    origin Enum8('production' = 1, 'shadow' = 2, 'replay' = 3),
    policy LowCardinality(String),
    policy_version LowCardinality(String),
    place UInt32,
    rule LowCardinality(String),
    message String,
    severity Enum8('hard' = 1, 'soft' = 2),
    steps Array(String),
    at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = {{replicated}}ReplacingMergeTree(at)
ORDER BY (started_at, run_id, policy, policy_version, revision, place)
SETTINGS index_granularity = 1024
