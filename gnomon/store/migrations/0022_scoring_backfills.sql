-- What was asked of history, and how far it is, so that it goes on where it ended. The last row of an
-- (grader, version, moment of asking) counts.
CREATE TABLE IF NOT EXISTS backfills {{on_cluster}}
(
    grader LowCardinality(String),
    grader_version LowCardinality(String),
    which LowCardinality(String),
    since Nullable(DateTime64(9, 'UTC')),
    asked_at DateTime64(9, 'UTC'),
    begun_at Nullable(DateTime64(9, 'UTC')),
    runs UInt64,
    total Nullable(UInt64),
    judged UInt64,
    finished_at Nullable(DateTime64(9, 'UTC')),
    failing Nullable(String),
    left_ns Nullable(Int64),
    noted UInt64
)
ENGINE = {{replicated}}ReplacingMergeTree(noted)
ORDER BY (grader, grader_version, asked_at)
