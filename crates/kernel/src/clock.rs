//! Clocks: wall time, which people read and somebody may set, and steady time, which durations are measured in.

use std::sync::OnceLock;
use std::time::Duration;

use adjourn_core::{Boot, Timestamp};

/// How far apart the two steady times around a reading of the wall clock may be. A process that is stopped in between would
/// otherwise take the pause for a step of the clock.
const READING_MAX_MS: i64 = 50;

/// How often a reading is tried. On a machine where all of these take too long, the last one is used.
const READINGS_MAX: u32 = 10;

/// A moment of a clock that nobody can set and that counts the sleep of the machine: milliseconds since a fixed moment of
/// the boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Steady(i64);

impl Steady {
    /// The moment that many milliseconds after the fixed one.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the fixed moment.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// The moment `seconds` later, or the last one there is.
    pub(crate) const fn plus_seconds(self, seconds: u32) -> Self {
        Self(self.0.saturating_add(seconds as i64 * 1000))
    }
}

/// What the clocks say at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Wall time, as it is.
    pub wall: Timestamp,
    /// Steady time.
    pub steady: Steady,
    /// Tells this boot of the machine from others: steady times of two boots have nothing to do with each other.
    pub boot_id: u64,
}

impl Now {
    /// The boot of the machine, as the wall clock has it.
    pub fn boot(&self) -> Boot {
        Boot { id: self.boot_id, at: self.wall.plus_millis(self.steady.millis().saturating_neg()) }
    }

    /// How long until `at`; nothing where that has passed.
    pub(crate) fn until_wall(&self, at: Timestamp) -> Duration {
        duration(at.millis_since(self.wall))
    }

    /// How long until `at`; nothing where that has passed.
    pub(crate) fn until_steady(&self, at: Steady) -> Duration {
        duration(at.0.saturating_sub(self.steady.0))
    }
}

fn duration(millis: i64) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

/// Says what time it is.
pub trait Clock: Send + Sync + 'static {
    /// Wall time.
    fn now(&self) -> Timestamp;

    /// Steady time.
    fn steady(&self) -> Steady;

    /// Tells this boot of the machine from others.
    fn boot_id(&self) -> u64;

    /// Both times at one moment.
    fn look(&self) -> Now {
        let mut steady = self.steady();
        for _ in 1..READINGS_MAX {
            let wall = self.now();
            let after = self.steady();
            if after.0.saturating_sub(steady.0) <= READING_MAX_MS {
                return Now { wall, steady, boot_id: self.boot_id() };
            }
            steady = after;
        }
        Now { wall: self.now(), steady, boot_id: self.boot_id() }
    }
}

/// The clocks of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since_epoch =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }

    fn steady(&self) -> Steady {
        // Apple's monotonic clock counts sleep. Linux has another one that does.
        #[cfg(target_os = "linux")]
        const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Boottime;
        #[cfg(not(target_os = "linux"))]
        const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
        let time = rustix::time::clock_gettime(CLOCK);
        Steady(time.tv_sec.saturating_mul(1000).saturating_add(time.tv_nsec / 1_000_000))
    }

    fn boot_id(&self) -> u64 {
        static BOOT_ID: OnceLock<u64> = OnceLock::new();
        *BOOT_ID.get_or_init(read_boot_id)
    }
}

/// The id that the kernel gives each boot. Where there is none, each process counts as a boot of its own: then a clock that
/// is set while no process runs is not noticed.
fn read_boot_id() -> u64 {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    let id = id.and_then(|text| uuid::Uuid::parse_str(text.trim()).ok()).unwrap_or_else(uuid::Uuid::now_v7);
    let (high, low) = id.as_u64_pair();
    // Some readers of JSON know whole numbers up to 2^53 only.
    (high ^ low) >> 11
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use adjourn_core::Timestamp;

    use super::{Clock, Now, Steady, SystemClock};

    #[test]
    fn the_clocks_of_the_machine_put_its_boot_at_one_time() {
        let (first, second) = (SystemClock.look(), SystemClock.look());
        assert!(second.steady >= first.steady);
        assert_eq!(second.boot().clock_set_since(first.boot()), None);
    }

    /// Clocks of a process that is stopped for an hour after it read the steady time for the first time.
    struct Stopped(AtomicI64);

    impl Clock for Stopped {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(3_600_000)
        }

        fn steady(&self) -> Steady {
            Steady::from_millis(if self.0.fetch_add(1, Ordering::SeqCst) == 0 { 0 } else { 3_600_000 })
        }

        fn boot_id(&self) -> u64 {
            1
        }
    }

    #[test]
    fn a_process_that_is_stopped_between_two_clocks_sees_no_step() {
        let now = Stopped(AtomicI64::new(0)).look();
        let wall = Timestamp::from_millis(3_600_000);
        assert_eq!(now, Now { wall, steady: Steady::from_millis(3_600_000), boot_id: 1 });
    }
}
