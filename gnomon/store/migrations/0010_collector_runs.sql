-- One row for each version of a run; the last fold wins. Lists go by time, so that is the order; a run
-- whose start moves gets a row with is_deleted = 1 at its old place. The projection finds the places
-- of a run by its id (without FINAL, which knows no projections). Readers of rows say FINAL; the
-- indexes serve the look for candidates before that. `search` is all text that a person looks for.
CREATE TABLE IF NOT EXISTS runs {{on_cluster}}
(
    run_id String,
    trace_ids Array(String),
    root_span_id Nullable(String),
    agent_name LowCardinality(Nullable(String)),
    agent_version LowCardinality(Nullable(String)),
    workflow_name LowCardinality(Nullable(String)),
    service_name LowCardinality(String),
    conversation_id Nullable(String),
    user_id Nullable(String),
    environment LowCardinality(String),
    business_keys Map(LowCardinality(String), String),
    started_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    ended_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    duration_ns UInt64,
    active_ns UInt64,
    state Enum8('open' = 1, 'settled' = 2),
    settled_at Nullable(DateTime64(9, 'UTC')),
    revision UInt32,
    complete Bool,
    status Enum8('ok' = 1, 'error' = 2, 'unknown' = 3),
    error_type LowCardinality(Nullable(String)),
    error_types Array(LowCardinality(String)),
    input Nullable(String),
    output Nullable(String),
    steps UInt32,
    spans UInt32,
    llm_calls UInt32,
    llm_errors UInt32,
    embedding_calls UInt32,
    tool_calls UInt32,
    tool_errors UInt32,
    retrievals UInt32,
    handoffs UInt32,
    guardrail_trips UInt32,
    human_actions UInt32,
    input_tokens Nullable(UInt64),
    output_tokens Nullable(UInt64),
    cached_tokens Nullable(UInt64),
    cache_write_tokens Nullable(UInt64),
    reasoning_tokens Nullable(UInt64),
    usage_source LowCardinality(Nullable(String)),
    cost_usd Nullable(Float64),
    cost_reported_usd Nullable(Float64),
    unpriced_calls UInt32,
    models Array(LowCardinality(String)),
    tools Array(LowCardinality(String)),
    agents Array(LowCardinality(String)),
    dialects Array(LowCardinality(String)),
    origin Enum8('production' = 1, 'shadow' = 2, 'replay' = 3),
    manifest Map(LowCardinality(String), String),
    manifest_hash String,
    flags Array(LowCardinality(String)),
    duplicates UInt32,
    orphans UInt32,
    dropped_attributes UInt64,
    dropped_events UInt64,
    dropped_links UInt64,
    last_received_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    content_digest String,
    reading String,
    folded_at UInt64,
    is_deleted UInt8,
    search String MATERIALIZED lowerUTF8(arrayStringConcat(arrayConcat(
        [
            run_id, ifNull(agent_name, ''), ifNull(workflow_name, ''), service_name,
            ifNull(conversation_id, ''), ifNull(error_type, ''), ifNull(input, ''),
            ifNull(output, '')
        ],
        trace_ids, mapValues(business_keys), error_types
    ), '\n')) CODEC(ZSTD(1)),
    INDEX by_conversation conversation_id TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX by_key mapValues(business_keys) TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX by_text search TYPE ngrambf_v1(3, 8192, 2, 0) GRANULARITY 1,
    PROJECTION by_run
    (
        SELECT run_id, started_at, trace_ids, state, settled_at, revision, last_received_at,
            content_digest, reading, folded_at, is_deleted
        ORDER BY run_id
    )
)
ENGINE = {{replicated}}ReplacingMergeTree(folded_at, is_deleted)
ORDER BY (started_at, run_id)
SETTINGS index_granularity = 1024, deduplicate_merge_projection_mode = 'rebuild'
