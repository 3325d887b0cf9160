-- One row for each log record that arrived. Log records have no id: the hash of the content is one,
-- so that the same record sent twice is one row. Readers say FINAL.
CREATE TABLE IF NOT EXISTS logs {{on_cluster}}
(
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    observed DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    event_name LowCardinality(String),
    severity Int32 CODEC(ZSTD(1)),
    severity_text LowCardinality(String),
    body String CODEC(ZSTD(1)),
    resource Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    resource_schema_url LowCardinality(String),
    attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    scope_name LowCardinality(String),
    scope_version LowCardinality(String),
    scope_attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    scope_schema_url LowCardinality(String),
    flags UInt32 CODEC(ZSTD(1)),
    dropped_attributes UInt32 CODEC(ZSTD(1)),
    digest UInt64 MATERIALIZED cityHash64(
        observed, event_name, severity, severity_text, body, resource, resource_schema_url,
        attributes, scope_name, scope_version, scope_attributes, scope_schema_url, flags,
        dropped_attributes
    ) CODEC(ZSTD(1)),
    stored_at DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {{replicated}}ReplacingMergeTree
PARTITION BY toYYYYMM(stored_at)
ORDER BY (trace_id, span_id, time, digest)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1, fsync_part_directory = 1
