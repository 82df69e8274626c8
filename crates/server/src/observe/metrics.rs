//! Metrics of the server, for Prometheus.
//!
//! What is counted where it happens is in [`Metrics`], and in the [`Stats`](adjourn_runtime::Stats) of the runtime;
//! everything that can be looked up is looked up when somebody asks. Labels have few values, all known beforehand:
//! never an id, a path that a client made up, or a name that somebody else chose.

mod histogram;
mod process;
mod requests;

use std::fmt;

use adjourn_core::RunStatus;
use adjourn_core::machines::RoundtableStatus;
use adjourn_kernel::{DiskSpace, EngineSlots, SlotUse, Tally};
use adjourn_runtime::Service;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use histogram::Histogram;
use requests::Requests;
pub(crate) use requests::count;

/// What is counted where it happens. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Metrics {
    requests: Requests,
    streams: Gauge,
}

/// A stream that is open, for as long as this is there.
#[derive(Debug)]
pub(crate) struct OpenStream(Gauge);

impl Metrics {
    /// One more stream.
    pub(crate) fn stream(&self) -> OpenStream {
        self.streams.inc();
        OpenStream(self.streams.clone())
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// All metrics of the server, as the text that Prometheus reads.
    pub(crate) fn encode(
        &self,
        service: &Service,
        slots: &SlotUse,
        runs: &[(RunStatus, u64)],
        roundtables: &[(RoundtableStatus, u64)],
    ) -> Result<String, fmt::Error> {
        let mut registry = Registry::default();
        let adjourn = registry.sub_registry_with_prefix("adjourn");
        register_slots(adjourn, slots);
        let runs = runs.iter().map(|(status, count)| (status.name(), *count));
        register_counts(adjourn, "runs", "Runs that there are, by status", runs);
        let roundtables = roundtables.iter().map(|(status, count)| (status.name(), *count));
        register_counts(adjourn, "roundtables", "Roundtables that there are, by status", roundtables);
        register_disk(adjourn, service.disk_space());
        register_times(adjourn, service);
        self.register(adjourn);
        process::register(&mut registry);
        let mut text = String::new();
        encode(&mut text, &registry)?;
        Ok(text)
    }

    fn register(&self, registry: &mut Registry) {
        self.requests.register(registry);
        registry.register("event_streams_open", "Event streams that are open", self.streams.clone());
    }
}

type ByEngine = Family<[(&'static str, String); 1], Gauge>;

fn register_slots(registry: &mut Registry, slots: &SlotUse) {
    let (held, free, queued) = (ByEngine::default(), ByEngine::default(), ByEngine::default());
    for (name, EngineSlots { held: held_now, waiting, .. }) in &slots.engine {
        let engine = [("engine", name.clone())];
        held.get_or_create(&engine).set(count_of(*held_now));
        queued.get_or_create(&engine).set(count_of(*waiting));
    }
    let limited = slots.engine.iter().filter_map(|(name, slots)| Some((name, slots.free()?)));
    for (name, free_now) in limited {
        free.get_or_create(&[("engine", name.clone())]).set(count_of(free_now));
    }
    let all = &slots.total;
    registry.register("queue_length", "Runs that wait for a slot", gauge(all.waiting));
    registry.register("queue_length_max", "How many new runs may wait for a slot", gauge(slots.queue_max));
    registry.register("slots_held", "Slots that are held by a run", gauge(all.held));
    registry.register("slots_free", "Slots that nobody holds", gauge(all.free().unwrap_or_default()));
    registry.register("engine_queue_length", "Runs that wait for a slot, by engine", queued);
    registry.register("engine_slots_held", "Slots that are held by a run, by engine", held);
    let help = "Slots that nobody holds, of engines with a limit of their own";
    registry.register("engine_slots_free", help, free);
}

fn register_disk(registry: &mut Registry, space: DiskSpace) {
    let bytes = |bytes: u64| gauge(usize::try_from(bytes).unwrap_or(usize::MAX));
    registry.register(
        "disk_free_bytes",
        "What is free on the disk with the data directory",
        bytes(space.free_bytes),
    );
    registry.register(
        "disk_reserve_bytes",
        "What has to be free for turns to begin and runs to be created",
        bytes(space.reserve_bytes),
    );
}

fn register_counts(
    registry: &mut Registry,
    name: &str,
    help: &str,
    counts: impl Iterator<Item = (&'static str, u64)>,
) {
    let family = Family::<[(&'static str, &'static str); 1], Gauge>::default();
    for (status, count) in counts {
        family.get_or_create(&[("status", status)]).set(i64::try_from(count).unwrap_or(i64::MAX));
    }
    registry.register(name, help, family);
}

fn register_times(registry: &mut Registry, service: &Service) {
    let (stats, committed) = (service.stats(), service.committed());
    let turn = |(engine, tally): (_, std::sync::Arc<Tally>)| {
        (engine, Histogram::new(tally.read(), histogram::Unit::Milliseconds))
    };
    let turns = histogram::ByEngine(stats.turn_ms().into_iter().map(turn).collect());
    registry.register_with_unit("turn_duration", "How long turns took", Unit::Seconds, turns);
    let replies = Histogram::new(stats.reply_to_running_ms().read(), histogram::Unit::Milliseconds);
    let help = "From a reply to the turn that it leads to";
    registry.register_with_unit("reply_to_running", help, Unit::Seconds, replies);
    let sizes = Histogram::new(committed.sizes().read(), histogram::Unit::Plain);
    let help = "Changes of runs that were made durable by one commit";
    registry.register("commit_batch_size", help, sizes);
    let times = Histogram::new(committed.times_ns().read(), histogram::Unit::Nanoseconds);
    let help = "How long a commit took, from its first statement to the end of its sync";
    registry.register_with_unit("commit_duration", help, Unit::Seconds, times);
}

fn gauge(value: usize) -> Gauge {
    let gauge = Gauge::default();
    gauge.set(count_of(value));
    gauge
}

fn count_of(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
