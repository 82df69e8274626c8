//! `[server]`: what the server lets clients do.

use adjourn_api::read::within;
use serde::Deserialize;

use super::check::Check;

/// More than this is no limit: it is what a machine does at most.
const RATE_MAX: u32 = 1_000_000;

/// A petabyte: no disk keeps more than that free.
const RESERVE_MB_MAX: u32 = 1_000_000_000;

/// What the server lets clients do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerConfig {
    /// How often each client may write; where it is not set, the server decides by where the client comes from.
    pub writes: Option<WriteRate>,
    /// What has to be free on the disk with the data directory for new work, in megabytes; where it is not set, 256, or a
    /// twentieth of a disk where that is less.
    pub disk_reserve_mb: Option<u32>,
}

/// How often a client may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteRate {
    /// In the long run.
    pub per_second: u32,
    /// At once, after a rest.
    pub burst: u32,
}

/// `[server]` as it is written.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ServerTable {
    #[serde(deserialize_with = "within::<1, RATE_MAX, _, _>")]
    writes_per_second: Option<u32>,
    #[serde(deserialize_with = "within::<1, RATE_MAX, _, _>")]
    burst: Option<u32>,
    #[serde(deserialize_with = "within::<0, RESERVE_MB_MAX, _, _>")]
    disk_reserve_mb: Option<u32>,
}

impl ServerTable {
    pub(super) fn server(self, check: &mut Check<'_>) -> ServerConfig {
        let Self { writes_per_second, burst, disk_reserve_mb } = self;
        if burst.is_some() {
            check.missing(&["server", "writes_per_second"], "a burst needs a rate to come back by");
        }
        let writes = writes_per_second.map(|per_second| {
            // Two seconds' worth, so that a script that writes in spurts is not slowed down by a rate it keeps.
            WriteRate { per_second, burst: burst.unwrap_or(per_second.saturating_mul(2)) }
        });
        ServerConfig { writes, disk_reserve_mb }
    }
}
