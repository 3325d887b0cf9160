-- One row for each run, grader, version and revision: whether the grader ran, and why not. It is
-- written after labels and violations, so that it says they are there. Readers take the rows of the
-- run's present revision and say FINAL.
CREATE TABLE IF NOT EXISTS grader_status {{on_cluster}}
(
    started_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    run_id String,
    revision UInt32,
    agent_name LowCardinality(Nullable(String)),
    agent_version LowCardinality(Nullable(String)),
    environment LowCardinality(String),
    origin Enum8('production' = 1, 'shadow' = 2, 'replay' = 3),
    grader LowCardinality(String),
    grader_version LowCardinality(String),
    surface LowCardinality(String),
    kind Enum8('code' = 1, 'model' = 2, 'human' = 3),
    state Enum8('graded' = 1, 'abstained' = 2, 'failed' = 3, 'not_applicable' = 4, 'waiting' = 5),
    why String,
    violations UInt32,
    at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = {{replicated}}ReplacingMergeTree(at)
ORDER BY (started_at, run_id, grader, grader_version, revision)
SETTINGS index_granularity = 1024
