-- The journal, format 1.
--
-- Ids are the 16 bytes of a UUID, most significant first, so that they sort like their written form and like the time
-- they were made. A stream is one byte for its kind (0 run, 1 roundtable) and its id. Times are milliseconds since
-- 1970. Statuses are small numbers, because each is in three places per run; src/sqlite/codec.rs says which is which.

-- One row for everything one command added to one stream: with one row per event, a run that pauses once would have ten
-- rows and not four. The key is the position of the last event, so that new rows go to the end of the last page.
CREATE TABLE entries (
    position INTEGER PRIMARY KEY,
    stream   BLOB    NOT NULL,
    seq      INTEGER NOT NULL, -- of the last event
    frame    INTEGER NOT NULL, -- the last one the stream renders to up to here
    events   INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    payload  BLOB    NOT NULL
) STRICT;

-- Finds where a stream ends (the compare-and-swap of a commit), and both of its cursors, without touching the table.
CREATE INDEX entries_by_stream ON entries (stream, seq, frame);

CREATE TABLE runs (
    id         BLOB    NOT NULL PRIMARY KEY,
    status     INTEGER NOT NULL,
    skill      TEXT,
    engine     TEXT    NOT NULL,
    attempt    INTEGER NOT NULL,
    priority   INTEGER NOT NULL,
    error_code TEXT,
    frame      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    labels     TEXT -- a JSON object, NULL when there are none
) STRICT, WITHOUT ROWID;

-- The newest of one status, and the newest of one skill and status. One skill in any status is a merge of the latter.
CREATE INDEX runs_by_status ON runs (status, id);
CREATE INDEX runs_by_skill ON runs (skill, status, id) WHERE skill IS NOT NULL;

CREATE TABLE labels (
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    run   BLOB NOT NULL,
    PRIMARY KEY (key, value, run)
) STRICT, WITHOUT ROWID;

-- Only the open ones: a question that is closed is in the journal.
CREATE TABLE open_interactions (
    run         BLOB    NOT NULL,
    interaction INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    deadline_at INTEGER,
    question    TEXT    NOT NULL, -- JSON
    PRIMARY KEY (run, interaction)
) STRICT, WITHOUT ROWID;

CREATE INDEX open_interactions_by_age ON open_interactions (created_at, run, interaction);
CREATE INDEX open_interactions_by_deadline ON open_interactions (deadline_at, run, interaction)
    WHERE deadline_at IS NOT NULL;

CREATE TABLE contracts (
    id      BLOB    NOT NULL PRIMARY KEY,
    run     BLOB    NOT NULL,
    status  INTEGER NOT NULL,
    unknown INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE claims (
    scope     TEXT NOT NULL,
    key       TEXT NOT NULL,
    run       BLOB NOT NULL,
    execution BLOB,
    digest    TEXT,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
