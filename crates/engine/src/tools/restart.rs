//! How long a server that died is left alone.

use std::time::Duration;

use tokio::time::Instant;

/// The delay before the second start in a row; twice as long before each further one.
const FIRST_DELAY: Duration = Duration::from_millis(250);

/// The longest delay. A server that does not start is a matter of minutes for a person, so half of one loses nothing.
const DELAY_MAX: Duration = Duration::from_secs(30);

/// A server that lived as long as this has not died of its start.
const STABLE_AFTER: Duration = Duration::from_secs(60);

/// The starts of a server.
#[derive(Debug, Default)]
pub(super) struct Starts {
    /// How many in a row ended soon.
    failures: u32,
    /// When the last one began.
    began: Option<Instant>,
    /// When the server is left alone until.
    not_before: Option<Instant>,
}

impl Starts {
    /// When the next one may begin; none if at once.
    pub(super) fn not_before(&self) -> Option<Instant> {
        self.not_before
    }

    /// One begins.
    pub(super) fn begin(&mut self, now: Instant) {
        self.began = Some(now);
    }

    /// The last one failed, or the server died.
    ///
    /// The first death in a row costs no delay: whoever uses the server next should not wait for one mishap.
    pub(super) fn ended(&mut self, now: Instant) {
        let lived = self.began.map_or(Duration::ZERO, |began| now.duration_since(began));
        self.failures = if lived >= STABLE_AFTER { 1 } else { self.failures.saturating_add(1) };
        self.not_before = match self.failures {
            0 | 1 => None,
            failures => {
                let doubled = FIRST_DELAY.saturating_mul(1 << (failures - 2).min(16));
                Some(now + doubled.min(DELAY_MAX))
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{STABLE_AFTER, Starts};

    #[test]
    fn a_server_that_keeps_dying_is_left_alone_for_longer_and_longer() {
        let now = Instant::now();
        let mut starts = Starts::default();
        let delays: Vec<_> = (0..12)
            .map(|_| {
                starts.begin(now);
                starts.ended(now);
                starts.not_before().map_or(0, |until| until.duration_since(now).as_millis())
            })
            .collect();
        assert_eq!(delays, [0, 250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000]);
        starts.begin(now);
        starts.ended(now + STABLE_AFTER);
        assert_eq!(starts.not_before(), None, "one that lived for long is forgiven");
        starts.begin(now);
        starts.ended(now + Duration::from_secs(1));
        assert!(starts.not_before().is_some());
    }
}
