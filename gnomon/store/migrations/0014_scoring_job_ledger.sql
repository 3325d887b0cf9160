-- Which windows of which job are finished. A window written twice is one row.
CREATE TABLE IF NOT EXISTS job_ledger {{on_cluster}}
(
    job LowCardinality(String),
    window_start DateTime64(9, 'UTC'),
    window_end DateTime64(9, 'UTC'),
    rows UInt64,
    finished_at DateTime64(9, 'UTC')
)
ENGINE = {{replicated}}ReplacingMergeTree(finished_at)
ORDER BY (job, window_start, window_end)
