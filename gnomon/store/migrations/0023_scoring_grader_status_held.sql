-- Against how many calls of the run rules of which kind were held, and what became of it: numbers of
-- breaches are read against these. Judgments of before tell nothing of it until they are made again.
ALTER TABLE grader_status {{on_cluster}}
    ADD COLUMN IF NOT EXISTS held_kinds Array(LowCardinality(String)) AFTER violations,
    ADD COLUMN IF NOT EXISTS held_kept Array(UInt32) AFTER held_kinds,
    ADD COLUMN IF NOT EXISTS held_broken Array(UInt32) AFTER held_kept,
    ADD COLUMN IF NOT EXISTS held_unknown Array(UInt32) AFTER held_broken
