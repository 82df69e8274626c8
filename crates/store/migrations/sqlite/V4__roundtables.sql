-- Roundtables can be looked up, format 4.

CREATE TABLE roundtables (
    id           BLOB    NOT NULL PRIMARY KEY,
    status       INTEGER NOT NULL,
    subject      TEXT    NOT NULL,
    workflow     TEXT    NOT NULL,
    strategy     TEXT    NOT NULL,
    rounds       INTEGER NOT NULL,
    close_reason TEXT,
    frame        INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    labels       TEXT -- a JSON object, NULL when there are none
) STRICT, WITHOUT ROWID;

-- The newest of one status, and after a restart those that have to go on.
CREATE INDEX roundtables_by_status ON roundtables (status, id);

-- Not only runs ask people and hold keys: both name the stream now, which is a run's id with the byte of its kind in
-- front. Their order among runs stays what it was.
ALTER TABLE open_interactions RENAME COLUMN run TO stream;
UPDATE open_interactions SET stream = unhex('00' || hex(stream));
ALTER TABLE claims RENAME COLUMN run TO stream;
UPDATE claims SET stream = unhex('00' || hex(stream));
