//! The statements, word for word. The benchmark runs the same ones in a bare loop, so they live in a file of their own.

pub(crate) const STREAM_HEAD: &str =
    "SELECT seq, frame FROM entries WHERE stream = ?1 ORDER BY seq DESC LIMIT 1";

pub(crate) const PUT_ENTRY: &str = "INSERT INTO entries (position, stream, seq, frame, events, at, payload) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

/// For a run that keeps its status: leaves both indexes over `status` alone.
pub(crate) const TOUCH_RUN: &str = "UPDATE runs SET attempt = ?3, error_code = ?4, frame = ?5, updated_at = ?6 \
     WHERE id = ?1 AND status = ?2";

pub(crate) const MOVE_RUN: &str =
    "UPDATE runs SET status = ?2, attempt = ?3, error_code = ?4, frame = ?5, updated_at = ?6 WHERE id = ?1";

pub(crate) const PUT_RUN: &str = "INSERT INTO runs (id, status, attempt, error_code, frame, updated_at, \
     skill, engine, priority, created_at, labels) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

pub(crate) const PUT_LABEL: &str = "INSERT INTO labels (key, value, run) VALUES (?1, ?2, ?3)";

pub(crate) const MOVE_ROUNDTABLE: &str = "UPDATE roundtables SET status = ?2, rounds = ?3, close_reason = ?4, frame = ?5, \
     updated_at = ?6 WHERE id = ?1";

pub(crate) const PUT_ROUNDTABLE: &str = "INSERT INTO roundtables (id, status, rounds, close_reason, frame, updated_at, \
     subject, workflow, strategy, created_at, labels) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

pub(crate) const OPEN_INTERACTION: &str = "INSERT OR REPLACE INTO open_interactions \
     (stream, interaction, created_at, deadline_at, question) VALUES (?1, ?2, ?3, ?4, ?5)";

pub(crate) const CLOSE_INTERACTION: &str =
    "DELETE FROM open_interactions WHERE stream = ?1 AND interaction = ?2";

/// For a stream that is set aside. Seldom, so not kept prepared.
pub(crate) const CLOSE_INTERACTIONS: &str = "DELETE FROM open_interactions WHERE stream = ?1";

/// For a run that is set aside: contracts that were pending (0), running (1) or waiting (2).
pub(crate) const CANCEL_CONTRACTS: &str =
    "UPDATE contracts SET status = ?2 WHERE run = ?1 AND status IN (0, 1, 2)";

pub(crate) const PUT_CONTRACT: &str =
    "INSERT OR REPLACE INTO contracts (id, run, status, unknown) VALUES (?1, ?2, ?3, ?4)";

pub(crate) const HOLDER: &str = "SELECT stream, execution, digest FROM claims WHERE scope = ?1 AND key = ?2";

pub(crate) const PUT_CLAIM: &str =
    "INSERT OR REPLACE INTO claims (scope, key, stream, execution, digest) VALUES (?1, ?2, ?3, ?4, ?5)";

pub(crate) const RELEASE: &str = "DELETE FROM claims WHERE scope = ?1 AND key = ?2";

/// Due at once, unless another notice of the run comes first.
pub(crate) const PUT_NOTICE: &str = "INSERT INTO notices (run, seq, at, due_at, attempts, body) VALUES (?1, ?2, ?3, \
     CASE WHEN EXISTS (SELECT 1 FROM notices WHERE run = ?1) THEN NULL ELSE ?3 END, 0, ?4)";

pub(crate) const REMOVE_NOTICE: &str = "DELETE FROM notices WHERE run = ?1 AND seq = ?2";

pub(crate) const PROMOTE_NOTICE: &str = "UPDATE notices SET due_at = at WHERE run = ?1 AND due_at IS NULL \
     AND seq = (SELECT min(seq) FROM notices WHERE run = ?1)";

pub(crate) const NOTICE_AGAIN: &str =
    "UPDATE notices SET due_at = ?3, attempts = attempts + 1 WHERE run = ?1 AND seq = ?2";
