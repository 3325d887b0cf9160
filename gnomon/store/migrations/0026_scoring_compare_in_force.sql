-- Which decision rule was in force from when on, in the order of `place`, each with what had run by then;
-- '' is no rule. The rows of compare_rules, which are written no more, stand before all of it.
CREATE TABLE IF NOT EXISTS compare_in_force {{on_cluster}}
(
    place UInt32,
    at DateTime64(9, 'UTC'),
    digest String,
    rule String,
    text String,
    ran String
)
ENGINE = {{replicated}}ReplacingMergeTree
ORDER BY (place, at, digest)
