"""Where a request waits, on disk, until ClickHouse has it."""
