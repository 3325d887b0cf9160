-- How often a world was asked that did not answer for now, and when it is asked again.
ALTER TABLE grader_status {{on_cluster}}
    ADD COLUMN IF NOT EXISTS tries UInt8 AFTER violations,
    ADD COLUMN IF NOT EXISTS again_at Nullable(DateTime64(9, 'UTC')) AFTER tries,
    ADD INDEX IF NOT EXISTS again_at again_at TYPE minmax GRANULARITY 1
