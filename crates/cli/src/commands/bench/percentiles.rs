//! Durations in order.

use std::time::Duration;

/// Durations in order.
pub(super) struct Percentiles(Vec<Duration>);

impl Percentiles {
    pub(super) fn new(mut durations: Vec<Duration>) -> Self {
        durations.sort_unstable();
        Self(durations)
    }

    /// The one that so many percent are shorter than; zero where there are none.
    pub(super) fn at(&self, percent: usize) -> Duration {
        let index = (self.0.len() * percent / 100).min(self.0.len().saturating_sub(1));
        self.0.get(index).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Percentiles;

    #[test]
    fn percentiles_are_found_in_any_order_and_of_nothing() {
        let all = Percentiles::new((0..100).rev().map(Duration::from_millis).collect());
        assert_eq!([0, 50, 99, 100].map(|percent| all.at(percent).as_millis()), [0, 50, 99, 99]);
        assert_eq!(Percentiles::new(Vec::new()).at(50), Duration::ZERO);
    }
}
