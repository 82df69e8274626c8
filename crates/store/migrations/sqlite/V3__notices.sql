-- Somebody can be told, format 3.

-- What is to be told, until it was heard. Of each run only the oldest is due; the others have no time yet, so that what
-- waits behind a receiver that is down is not looked at again and again.
CREATE TABLE notices (
    run      BLOB    NOT NULL,
    seq      INTEGER NOT NULL, -- the frame with the same news
    at       INTEGER NOT NULL,
    due_at   INTEGER,
    attempts INTEGER NOT NULL,
    body     TEXT    NOT NULL, -- JSON
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX notices_by_due ON notices (due_at, run, seq) WHERE due_at IS NOT NULL;
