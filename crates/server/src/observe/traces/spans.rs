//! The spans of a run: the run itself, its attempts, and its contracts inside of these.
//!
//! Ids follow from those of the run and its contracts, so a trace that is made again is the same trace.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use adjourn_core::{
    ContractAction, ContractSpec, ContractStatus, Entry, Event, ExecutionId, Record, RunId, RunStatus,
    Timestamp,
};
use adjourn_runtime::Journal;
use adjourn_store::{After, Error};
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

/// Entries of the journal that are read at once.
const PAGE_ENTRIES: usize = 256;

/// Changes of the status that are events of the run's span: as many as the SDKs of OpenTelemetry keep.
const CHANGES_MAX: usize = 128;

/// An odd number with its bits spread: ids of attempts that follow each other look nothing like it.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The spans of a run that has ended.
pub(super) fn of(journal: &Journal, run_id: RunId) -> Result<Vec<SpanData>, Error> {
    let mut trace = Trace::new(run_id);
    let mut after = 0;
    loop {
        let entries = journal.entries(run_id.into(), After::Seq(after), PAGE_ENTRIES)?;
        for entry in &entries {
            trace.add(entry)?;
            after = entry.seq;
        }
        if entries.len() < PAGE_ENTRIES {
            return Ok(trace.into_spans());
        }
    }
}

/// A run as far as it was read.
struct Trace {
    run_id: RunId,
    attempt: u32,
    run: Part,
    attempts: BTreeMap<u32, Part>,
    contracts: BTreeMap<ExecutionId, (u32, Part)>,
    changes: SpanEvents,
}

/// What will be a span.
pub(super) struct Part {
    pub(super) name: String,
    pub(super) began: Timestamp,
    pub(super) ended: Timestamp,
    pub(super) attributes: Vec<KeyValue>,
    pub(super) status: Status,
}

impl Part {
    pub(super) fn new(name: String, began: Timestamp, attributes: Vec<KeyValue>) -> Self {
        Self { name, began, ended: began, attributes, status: Status::Unset }
    }
}

impl Trace {
    fn new(run_id: RunId) -> Self {
        let run = Part::new("run".to_owned(), Timestamp::default(), Vec::new());
        let (attempts, contracts, changes) = (BTreeMap::new(), BTreeMap::new(), SpanEvents::default());
        Self { run_id, attempt: 0, run, attempts, contracts, changes }
    }

    fn add(&mut self, entry: &Entry) -> Result<(), Error> {
        // One that cannot be read is left out: a trace with a hole is better than none.
        let Ok(record) = Record::of(entry) else { return Ok(()) };
        for event in &record.events {
            self.event(entry.at, event);
        }
        // What is said after the end, about a call that was in doubt, is not part of the run's time.
        let is_over = record.events.iter().all(|event| matches!(event, Event::ContractSettled { .. }));
        if !is_over {
            self.run.ended = entry.at;
        }
        Ok(())
    }

    fn event(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::Created(spec) => {
                let skill = spec.skill.clone();
                let name = skill.as_ref().map_or_else(|| "run".to_owned(), |skill| format!("run {skill}"));
                self.run = Part::new(
                    name,
                    at,
                    vec![
                        KeyValue::new("adjourn.run_id", self.run_id.to_string()),
                        KeyValue::new("adjourn.skill", skill.unwrap_or_default()),
                        KeyValue::new("adjourn.engine", spec.engine.clone()),
                        KeyValue::new("adjourn.execution_mode", spec.execution_mode.to_string()),
                    ],
                );
            }
            Event::TurnStarted { attempt, reason, .. } => {
                self.attempt = *attempt;
                let attributes = || {
                    vec![
                        KeyValue::new("adjourn.attempt", i64::from(*attempt)),
                        KeyValue::new("adjourn.reason", reason.to_string()),
                    ]
                };
                let new = || Part::new(format!("attempt {attempt}"), at, attributes());
                self.attempts.entry(*attempt).or_insert_with(new);
            }
            Event::StatusChanged { from, to, trigger, error } => {
                let error = error.as_ref().map(|error| error.code.to_string());
                let status = error.map_or(Status::Unset, Status::error);
                if *from == RunStatus::Running
                    && let Some(attempt) = self.attempts.get_mut(&self.attempt)
                {
                    attempt.ended = at;
                    attempt.status = status.clone();
                }
                if to.is_terminal() {
                    self.run.attributes.push(KeyValue::new("adjourn.status", to.to_string()));
                    self.run.attributes.push(KeyValue::new("adjourn.attempts", i64::from(self.attempt)));
                    self.run.status = status;
                }
                let change = vec![
                    KeyValue::new("from", from.to_string()),
                    KeyValue::new("to", to.to_string()),
                    KeyValue::new("trigger", trigger.to_string()),
                ];
                self.change(opentelemetry::trace::Event::new("status changed", time(at), change, 0));
            }
            Event::ContractCreated(spec) => {
                let part = Part::new(named(spec), at, attributes(spec));
                self.contracts.insert(spec.execution_id, (self.attempt, part));
            }
            Event::ContractChanged { id, to, .. } => {
                if let Some((_, contract)) = self.contracts.get_mut(id) {
                    contract.ended = at;
                    contract.status = match to {
                        ContractStatus::Failed => Status::error(to.to_string()),
                        ContractStatus::Pending
                        | ContractStatus::Running
                        | ContractStatus::Waiting
                        | ContractStatus::Completed
                        | ContractStatus::Rejected
                        | ContractStatus::Cancelled => Status::Unset,
                    };
                }
            }
            Event::Observed(_)
            | Event::RepairStarted { .. }
            | Event::Warned(_)
            | Event::InteractionOpened { .. }
            | Event::InteractionAnswered { .. }
            | Event::InteractionExpired { .. }
            | Event::InteractionWithdrawn { .. }
            | Event::DeadlineMoved { .. }
            | Event::ContractSettled { .. }
            | Event::SetAside(_)
            | Event::CallRefused(_)
            | Event::ToolsListed(_)
            | Event::ToolChanged { .. }
            | Event::ProcessLost
            | Event::EndRequested(_)
            | Event::TurnOver
            | Event::ResultRecorded(_) => {}
        }
    }

    fn change(&mut self, change: opentelemetry::trace::Event) {
        if self.changes.events.len() < CHANGES_MAX {
            self.changes.events.push(change);
        } else {
            self.changes.dropped_count += 1;
        }
    }

    fn into_spans(self) -> Vec<SpanData> {
        let trace_id = TraceId::from(self.run_id.bits());
        let root = span_id(self.run_id.bits(), 0);
        let attempt_id = |attempt: u32| span_id(self.run_id.bits(), attempt);
        let mut run = self.run.into_span(trace_id, root, SpanId::INVALID);
        run.events = self.changes;
        let attempts =
            self.attempts.into_iter().map(|(n, part)| part.into_span(trace_id, attempt_id(n), root));
        let contracts = self.contracts.into_iter().map(|(id, (attempt, part))| {
            part.into_span(trace_id, span_id(id.bits(), 0), attempt_id(attempt))
        });
        std::iter::once(run).chain(attempts).chain(contracts).collect()
    }
}

impl Part {
    pub(super) fn into_span(self, trace_id: TraceId, id: SpanId, parent: SpanId) -> SpanData {
        let flags = TraceFlags::SAMPLED;
        SpanData {
            span_context: SpanContext::new(trace_id, id, flags, false, TraceState::default()),
            parent_span_id: parent,
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: self.name.into(),
            start_time: time(self.began),
            end_time: time(self.ended),
            attributes: self.attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: self.status,
            instrumentation_scope: InstrumentationScope::builder("adjourn").build(),
        }
    }
}

/// The second half of an id is random; with a number, that of something in it.
pub(super) fn span_id(bits: u128, number: u32) -> SpanId {
    let half = u64::try_from(bits & u128::from(u64::MAX)).unwrap_or_default();
    // No span has the id 0.
    SpanId::from((half ^ SPREAD.wrapping_mul(u64::from(number))).max(1))
}

fn named(spec: &ContractSpec) -> String {
    match &spec.action {
        ContractAction::ToolCall(call) => format!("{}.{}", call.service, call.method),
        ContractAction::EcsRequest(_) => "question".to_owned(),
    }
}

/// What kind of contract it is, and not what it was called with.
fn attributes(spec: &ContractSpec) -> Vec<KeyValue> {
    vec![
        KeyValue::new("adjourn.execution_id", spec.execution_id.to_string()),
        KeyValue::new("adjourn.action_type", spec.action.kind().to_string()),
        KeyValue::new("adjourn.irreversible", spec.irreversible),
    ]
}

fn time(at: Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(at.millis()).unwrap_or_default())
}
