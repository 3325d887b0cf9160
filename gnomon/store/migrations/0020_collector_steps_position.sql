-- What a step was tagged with, which guardrails its model call passed, where it stands in a graph.
ALTER TABLE steps {{on_cluster}}
    ADD COLUMN IF NOT EXISTS tags Array(LowCardinality(String)) AFTER attempts,
    ADD COLUMN IF NOT EXISTS guardrails Array(LowCardinality(String)) AFTER tags,
    ADD COLUMN IF NOT EXISTS graph_node LowCardinality(Nullable(String)) AFTER guardrails,
    ADD COLUMN IF NOT EXISTS graph_parent LowCardinality(Nullable(String)) AFTER graph_node,
    ADD COLUMN IF NOT EXISTS graph_step Nullable(UInt64) AFTER graph_parent
