//! What operators see of the server: metrics, traces, the log of what was committed, and a watchdog.

pub(crate) mod journal_log;
pub(crate) mod metrics;
pub(crate) mod traces;
pub(crate) mod watchdog;
