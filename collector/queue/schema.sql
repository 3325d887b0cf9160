-- The spool: what waits, what is known, what was counted. One file, one process, one thread writes.
-- Times are nanoseconds since 1970, hours are the nanosecond at which they begin.

-- Digests of requests that were acknowledged: a retry is recognised while its row is here.
CREATE TABLE IF NOT EXISTS seen (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest BLOB NOT NULL UNIQUE,
    at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS seen_at ON seen (at);

-- Requests that ClickHouse does not have yet; a row is deleted when it does. `items` is what the
-- body holds. `traces` is 16 bytes a trace. The body comes last: its pages are not read for sums.
CREATE TABLE IF NOT EXISTS queue (
    id INTEGER PRIMARY KEY,
    signal TEXT NOT NULL,
    source TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    items INTEGER NOT NULL,
    size INTEGER NOT NULL,
    traces BLOB NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS queue_by_signal ON queue (signal, id);

-- Requests that ClickHouse refused, until a person decides. Same ids as in `seen`.
CREATE TABLE IF NOT EXISTS dead_letters (
    id INTEGER PRIMARY KEY,
    signal TEXT NOT NULL,
    source TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    buried_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    items INTEGER NOT NULL,
    size INTEGER NOT NULL,
    traces BLOB NOT NULL,
    body BLOB NOT NULL
);

-- received = stored + pending + the sum of `refusals`; changed in the transaction that changes
-- the rows above, and in no other way.
CREATE TABLE IF NOT EXISTS ledger (
    source TEXT NOT NULL,
    hour INTEGER NOT NULL,
    received INTEGER NOT NULL DEFAULT 0,
    stored INTEGER NOT NULL DEFAULT 0,
    pending INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (source, hour)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ledger_by_hour ON ledger (hour);

CREATE TABLE IF NOT EXISTS refusals (
    source TEXT NOT NULL,
    hour INTEGER NOT NULL,
    reason TEXT NOT NULL,
    items INTEGER NOT NULL,
    PRIMARY KEY (source, hour, reason)
) WITHOUT ROWID;

-- Traces that changed and are not folded for good. `due`: when to fold. `first_received`: nothing
-- of the trace came earlier, unless the trace was forgotten here before.
CREATE TABLE IF NOT EXISTS touched (
    trace_id BLOB PRIMARY KEY,
    generation INTEGER NOT NULL,
    first_received INTEGER NOT NULL,
    last_received INTEGER NOT NULL,
    due INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS touched_due ON touched (due);

-- The last generation handed out to a touched trace.
CREATE TABLE IF NOT EXISTS generations (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    last INTEGER NOT NULL
);
INSERT OR IGNORE INTO generations (one, last) VALUES (1, 0);

-- The store that this queue feeds.
CREATE TABLE IF NOT EXISTS paired (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    store_id TEXT NOT NULL
);
