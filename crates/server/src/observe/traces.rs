//! OTLP traces: one for each run and each roundtable that ended.
//!
//! A trace is made from the journal when it has ended, so a run that was interrupted by ten restarts has one that is
//! whole. Its id is that of the run. Traces leave by a thread of their own; a collector that is slow or gone costs a
//! bounded number of ids, and the traces of runs that ended when there were more.

mod roundtable_spans;
mod spans;

use std::env;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use adjourn_core::StreamId;
use adjourn_runtime::Journal;
use futures::executor::block_on;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanExporter as _;
use tracing::{debug, warn};

use crate::observe::journal_log::StreamEndListener;

/// Runs whose traces wait to be sent: 16 bytes each, and some seconds of the busiest server there is.
const WAITING_MAX: usize = 8192;

/// Runs whose traces are sent together. A trace of a run that paused once has three spans.
const AT_ONCE: usize = 64;

/// Where collectors are named; the second is for traces alone.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/// What a server is called in its traces unless this says otherwise.
const NAME: &str = "OTEL_SERVICE_NAME";

/// Where ended runs are told to, and the thread that sends their traces.
type Begun = (Arc<dyn StreamEndListener>, JoinHandle<()>);

/// Where ended runs are handed in.
pub(crate) struct Traces(SyncSender<StreamId>);

impl Traces {
    /// Begins to send traces, if the environment names a collector. The thread ends when the last handle is gone and
    /// everything was sent.
    pub(crate) fn begin(journal: Journal) -> std::io::Result<Option<Begun>> {
        let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        if !ENDPOINTS.into_iter().any(is_set) {
            return Ok(None);
        }
        let (traces, waiting) = sync_channel(WAITING_MAX);
        let thread = std::thread::Builder::new()
            .name("adjourn-traces".to_owned())
            .spawn(move || send(&journal, &waiting))?;
        Ok(Some((Arc::new(Self(traces)), thread)))
    }
}

impl StreamEndListener for Traces {
    fn stream_ended(&self, stream: StreamId) {
        match self.0.try_send(stream) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                debug!(%stream, "no trace is sent: {WAITING_MAX} others wait to be");
            }
            Err(TrySendError::Disconnected(_)) => debug!(%stream, "no trace is sent: there is no exporter"),
        }
    }
}

/// Sends what comes until nobody can hand in more.
fn send(journal: &Journal, waiting: &Receiver<StreamId>) {
    let mut exporter = match SpanExporter::builder().with_http().build() {
        Ok(exporter) => exporter,
        Err(error) => return warn!(%error, "no traces are sent"),
    };
    let mut resource = Resource::builder();
    if env::var_os(NAME).is_none() {
        resource = resource.with_service_name("adjourn");
    }
    exporter.set_resource(&resource.build());
    while let Ok(first) = waiting.recv() {
        let ended: Vec<_> = std::iter::once(first).chain(waiting.try_iter().take(AT_ONCE - 1)).collect();
        let mut batch = Vec::new();
        for stream in &ended {
            let spans = match stream {
                StreamId::Run(id) => spans::of(journal, *id),
                StreamId::Roundtable(id) => roundtable_spans::of(journal, *id),
            };
            match spans {
                Ok(spans) => batch.extend(spans),
                Err(error) => warn!(%stream, %error, "its trace cannot be made"),
            }
        }
        if let Err(error) = block_on(exporter.export(batch)) {
            warn!(%error, traces = ended.len(), "traces were lost: the collector did not take them");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use adjourn_core::{RunId, StreamId};

    use super::Traces;
    use crate::observe::journal_log::StreamEndListener;

    #[test]
    fn a_collector_that_takes_nothing_stops_nobody_and_costs_no_more_than_what_may_wait() {
        let (sender, waiting) = sync_channel(2);
        let traces = Traces(sender);
        for run in 0..1000 {
            traces.stream_ended(RunId::from_bits(run).into());
        }
        let left: Vec<_> = waiting.try_iter().collect();
        assert_eq!(left, [RunId::from_bits(0), RunId::from_bits(1)].map(StreamId::from));
        drop(waiting);
        traces.stream_ended(RunId::from_bits(7).into());
    }
}
