-- Planned looks that were taken, and what was seen then. A look is taken once: of two, the earlier counts.
CREATE TABLE IF NOT EXISTS compare_looks {{on_cluster}}
(
    digest String,
    agent String,
    environment String,
    origin String,
    base String,
    cand String,
    look UInt8,
    seen_at DateTime64(9, 'UTC'),
    result String
)
ENGINE = {{replicated}}ReplacingMergeTree
ORDER BY (agent, environment, origin, base, cand, digest, look, seen_at)
