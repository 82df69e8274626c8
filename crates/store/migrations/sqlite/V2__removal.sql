-- Runs can be removed, format 2.

-- The newest event may be among what is removed, and its position must not be given out again: whoever reads
-- everything would take the next event for one it has seen. So the head is remembered when something is removed.
CREATE TABLE removed (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    head     INTEGER NOT NULL
) STRICT;
INSERT INTO removed (only_row, head) VALUES (1, 0);

-- Written only with contracts and keys, which most runs have none of; without them a removal would read all there are.
CREATE INDEX contracts_by_run ON contracts (run);
CREATE INDEX claims_by_run ON claims (run);
