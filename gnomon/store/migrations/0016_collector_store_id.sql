-- Which store this is: each queue remembers it, so that a lost or exchanged store is noticed. One
-- row; two where two processes began at the same moment, and both are right.
CREATE TABLE IF NOT EXISTS store_id {{on_cluster}}
(
    id String,
    created_at DateTime64(9, 'UTC')
)
ENGINE = {{replicated}}ReplacingMergeTree(created_at)
ORDER BY id
