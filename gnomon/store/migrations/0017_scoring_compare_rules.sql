-- Decision rules of comparisons, each with the moment it was first seen and the versions that had run by
-- then. Of several sightings the earliest counts, so each is a row of its own.
CREATE TABLE IF NOT EXISTS compare_rules {{on_cluster}}
(
    digest String,
    first_seen_at DateTime64(9, 'UTC'),
    rule String,
    text String,
    versions String
)
ENGINE = {{replicated}}ReplacingMergeTree
ORDER BY (digest, first_seen_at)
