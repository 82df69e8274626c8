//! `[server]`: what the server lets clients do.

use super::reader::Reader;

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

pub(super) fn read(reader: &Reader<'_>) -> ServerConfig {
    let per_second = reader.number("writes_per_second", 1..=RATE_MAX).map(|found| found.value);
    let burst = reader.number("burst", 1..=RATE_MAX).map(|found| found.value);
    if burst.is_some() {
        reader.missing("writes_per_second", "a burst needs a rate to come back by");
    }
    let disk_reserve_mb = reader.number("disk_reserve_mb", 0..=RESERVE_MB_MAX).map(|found| found.value);
    reader.finish();
    let writes = per_second.map(|per_second| {
        // Two seconds' worth, so that a script that writes in spurts is not slowed down by a rate it keeps.
        WriteRate { per_second, burst: burst.unwrap_or(per_second.saturating_mul(2)) }
    });
    ServerConfig { writes, disk_reserve_mb }
}
