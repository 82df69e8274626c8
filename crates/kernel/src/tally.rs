//! How often numbers of which size came: what a histogram is made of.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts numbers by their size. Adding one is a few atomic instructions, so that it can be done where time is short.
#[derive(Debug)]
pub struct Tally {
    /// The largest number of each class but the last, which has no limit.
    bounds: &'static [u64],
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

/// What a [`Tally`] held at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tallied {
    /// How many numbers there were up to each bound and above the one before it; the last class has none.
    pub classes: Vec<(Option<u64>, u64)>,
    /// What all of them add up to.
    pub sum: u64,
}

impl Tally {
    /// Nothing yet, in classes that end with these numbers.
    pub fn new(bounds: &'static [u64]) -> Self {
        assert!(bounds.is_sorted(), "the classes of a tally come in order");
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, counts, sum: AtomicU64::new(0) }
    }

    /// One more number.
    pub fn add(&self, number: u64) {
        let class = self.bounds.partition_point(|bound| *bound < number);
        self.counts[class].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(number, Ordering::Relaxed);
    }

    /// How many numbers there were.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// What they add up to.
    pub fn sum(&self) -> u64 {
        self.sum.load(Ordering::Relaxed)
    }

    /// What is there now.
    pub fn read(&self) -> Tallied {
        let bounds = self.bounds.iter().copied().map(Some).chain([None]);
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed));
        Tallied { classes: bounds.zip(counts).collect(), sum: self.sum() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Tallied, Tally};

    #[test]
    fn a_number_counts_in_the_first_class_that_holds_it() {
        let tally = Tally::new(&[1, 10]);
        for number in [0, 1, 2, 10, 11, 1000] {
            tally.add(number);
        }
        let classes = vec![(Some(1), 2), (Some(10), 2), (None, 2)];
        assert_eq!(tally.read(), Tallied { classes, sum: 1024 });
        assert_eq!(tally.count(), 6);
    }
}
