-- One judgment: a run, a grader, its version, a revision of the run. passed is NULL where the grader
-- could not decide and still saw something worth keeping (a claim nobody could verify).
CREATE TABLE IF NOT EXISTS labels {{on_cluster}}
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
    passed Nullable(Bool),
    score Nullable(Float64),
    claimed Nullable(Bool),
    explanation String,
    evidence Array(String),
    at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = {{replicated}}ReplacingMergeTree(at)
ORDER BY (started_at, run_id, grader, grader_version, revision)
SETTINGS index_granularity = 1024
