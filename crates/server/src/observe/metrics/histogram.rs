//! Tallies as Prometheus wants them.

use std::fmt;

use adjourn_kernel::Tallied;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

/// What one of our units is in the one that is shown.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    /// Shown as it is.
    Plain,
    /// Shown in seconds.
    Milliseconds,
    /// Shown in seconds.
    Nanoseconds,
}

/// What a tally held.
#[derive(Debug)]
pub(super) struct Histogram {
    tallied: Tallied,
    unit: Unit,
}

/// What several tallies held, one for each engine.
#[derive(Debug)]
pub(super) struct ByEngine(pub(super) Vec<(String, Histogram)>);

impl Unit {
    fn shown(self, number: u64) -> f64 {
        let number = number as f64;
        match self {
            Self::Plain => number,
            Self::Milliseconds => number / 1e3,
            Self::Nanoseconds => number / 1e9,
        }
    }
}

impl Histogram {
    pub(super) fn new(tallied: Tallied, unit: Unit) -> Self {
        Self { tallied, unit }
    }

    fn write(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let Tallied { classes, sum } = &self.tallied;
        // The encoder knows the last bucket by this bound, and adds the buckets up itself.
        let bound = |bound: Option<u64>| bound.map_or(f64::MAX, |bound| self.unit.shown(bound));
        let buckets: Vec<_> = classes.iter().map(|(upto, count)| (bound(*upto), *count)).collect();
        let count = classes.iter().map(|(_, count)| count).sum();
        encoder.encode_histogram::<NoLabelSet>(self.unit.shown(*sum), count, &buckets, None)
    }
}

impl EncodeMetric for Histogram {
    fn encode(&self, encoder: MetricEncoder<'_>) -> fmt::Result {
        self.write(encoder)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

impl EncodeMetric for ByEngine {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        for (engine, histogram) in &self.0 {
            let labels = [("engine", engine.as_str())];
            histogram.write(encoder.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}
