-- name: create_migrations
CREATE TABLE IF NOT EXISTS migrations {{on_cluster}}
(
    number UInt32,
    name String,
    checksum String,
    applied_at DateTime64(9, 'UTC')
)
ENGINE = {{replicated}}ReplacingMergeTree(applied_at)
ORDER BY number;

-- name: migrations_exist
SELECT name FROM system.tables WHERE database = currentDatabase() AND name = 'migrations';

-- name: applied_migrations
SELECT number, checksum FROM migrations FINAL ORDER BY number;

-- name: broken_parts
SELECT table, name, path
FROM system.detached_parts
WHERE database = currentDatabase() AND startsWith(reason, 'broken')
ORDER BY table, name
LIMIT 20;
