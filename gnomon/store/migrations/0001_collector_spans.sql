-- One row for each version of a span that arrived. A span is (trace_id, span_id); of its versions
-- the one that ends later wins, then the one with more attributes, then the larger hash of its
-- content: never the order of arrival. Readers say FINAL.
-- Partitions follow the month of arrival, so that one INSERT always makes one part, whatever the
-- times in the spans say, and a bound on stored_at leaves out whole parts.
CREATE TABLE IF NOT EXISTS spans {{on_cluster}}
(
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    parent_span_id String CODEC(ZSTD(1)),
    trace_state String CODEC(ZSTD(1)),
    name LowCardinality(String),
    kind LowCardinality(String),
    start DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    end DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    status_code LowCardinality(String),
    status_message String CODEC(ZSTD(1)),
    resource Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    scope_name LowCardinality(String),
    scope_version LowCardinality(String),
    scope_attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    events Nested(
        time DateTime64(9, 'UTC'),
        name LowCardinality(String),
        attributes Map(LowCardinality(String), String)
    ) CODEC(ZSTD(1)),
    links Nested(
        trace_id String,
        span_id String,
        trace_state String,
        attributes Map(LowCardinality(String), String)
    ) CODEC(ZSTD(1)),
    dropped_attributes UInt32 CODEC(ZSTD(1)),
    dropped_events UInt32 CODEC(ZSTD(1)),
    dropped_links UInt32 CODEC(ZSTD(1)),
    version UInt128 MATERIALIZED
        bitShiftLeft(toUInt128(toUnixTimestamp64Nano(end)), 64)
        + bitShiftLeft(toUInt128(least(length(attributes), 65535)), 48)
        + bitShiftRight(
            cityHash64(
                parent_span_id, trace_state, name, kind, start, status_code, status_message,
                resource, attributes, scope_name, scope_version, scope_attributes,
                `events.time`, `events.name`, `events.attributes`, `links.trace_id`,
                `links.span_id`, `links.trace_state`, `links.attributes`,
                dropped_attributes, dropped_events, dropped_links
            ),
            16
        ) CODEC(ZSTD(1)),
    stored_at DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {{replicated}}ReplacingMergeTree(version)
PARTITION BY toYYYYMM(stored_at)
ORDER BY (trace_id, span_id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1, fsync_part_directory = 1
