//! The spans of a roundtable: the roundtable itself, its rounds, and the runs of its agents inside of these.
//!
//! The trace of each of those runs is a trace of its own, and the span here names it.

use std::collections::BTreeMap;

use adjourn_core::roundtable::Event;
use adjourn_core::{Record, RoundtableId, RunId, Timestamp};
use adjourn_runtime::Journal;
use adjourn_store::{After, Error};
use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanId, Status, TraceId};
use opentelemetry_sdk::trace::SpanData;

use super::spans::{Part, span_id};

/// Entries of the journal that are read at once.
const PAGE_ENTRIES: usize = 256;

/// The spans of a roundtable that was closed.
pub(super) fn of(journal: &Journal, id: RoundtableId) -> Result<Vec<SpanData>, Error> {
    let mut trace = Trace::new();
    let mut after = 0;
    loop {
        let entries = journal.entries(id.into(), After::Seq(after), PAGE_ENTRIES)?;
        for entry in &entries {
            after = entry.seq;
            // One that cannot be read is left out: a trace with a hole is better than none.
            let Ok(record) = Record::<Event>::of(entry) else { continue };
            for event in &record.events {
                trace.event(id, entry.at, event);
            }
            trace.roundtable.ended = entry.at;
        }
        if entries.len() < PAGE_ENTRIES {
            return Ok(trace.into_spans(id));
        }
    }
}

/// A roundtable as far as it was read.
struct Trace {
    roundtable: Part,
    round: u32,
    rounds: BTreeMap<u32, Part>,
    agents: BTreeMap<RunId, (u32, Part)>,
}

impl Trace {
    fn new() -> Self {
        let roundtable = Part::new("roundtable".to_owned(), Timestamp::default(), Vec::new());
        Self { roundtable, round: 0, rounds: BTreeMap::new(), agents: BTreeMap::new() }
    }

    fn event(&mut self, id: RoundtableId, at: Timestamp, event: &Event) {
        match event {
            Event::Opened(spec) => {
                let attributes = vec![
                    KeyValue::new("adjourn.roundtable_id", id.to_string()),
                    KeyValue::new("adjourn.workflow", spec.workflow.clone()),
                    KeyValue::new("adjourn.strategy", spec.strategy.clone()),
                ];
                self.roundtable = Part::new(format!("roundtable {}", spec.workflow), at, attributes);
            }
            Event::RoundOpened { number, phase, .. } => {
                self.round = *number;
                let attributes = vec![
                    KeyValue::new("adjourn.round", i64::from(*number)),
                    KeyValue::new("adjourn.phase", phase.clone()),
                ];
                self.rounds.insert(*number, Part::new(format!("round {number}"), at, attributes));
            }
            Event::ActivationStarted { purpose, run_id, .. } => {
                let role = purpose.role().to_string();
                let attributes = vec![
                    KeyValue::new("adjourn.run_id", run_id.to_string()),
                    KeyValue::new("adjourn.role", role.clone()),
                    KeyValue::new("adjourn.step", purpose.step().to_string()),
                ];
                self.agents.insert(*run_id, (self.round, Part::new(role, at, attributes)));
            }
            Event::FocusRecorded { run_id, .. }
            | Event::AnswerRecorded { run_id, .. }
            | Event::SynthesisRecorded { run_id, .. } => self.agent_ended(*run_id, at, Status::Unset),
            Event::FacilitatorLost { run_id, .. } | Event::ParticipantMissing { run_id, .. } => {
                self.agent_ended(*run_id, at, Status::error("lost"));
            }
            Event::RoundRecorded { .. } => {
                if let Some(round) = self.rounds.get_mut(&self.round) {
                    round.ended = at;
                }
            }
            Event::Closed(closing) => {
                self.roundtable.attributes.push(KeyValue::new("adjourn.reason", closing.reason.name()));
                self.roundtable.attributes.push(KeyValue::new("adjourn.rounds", i64::from(self.round)));
                if let Some(problem) = &closing.problem {
                    self.roundtable.status = Status::error(problem.clone());
                }
                // What was cut off ended with it.
                let cut_off = self.rounds.values_mut().chain(self.agents.values_mut().map(|(_, part)| part));
                for part in cut_off.filter(|part| part.ended == part.began) {
                    part.ended = at;
                }
            }
            Event::ResumeFellBack { .. }
            | Event::ResponsesCollected
            | Event::ArtifactCreated(_)
            | Event::ArtifactChanged { .. }
            | Event::ConflictOpened(_)
            | Event::ConflictResolved { .. }
            | Event::QuestionOpened(_)
            | Event::QuestionResolved { .. }
            | Event::TopicChanged { .. }
            | Event::NextDecided(_)
            | Event::EscalationRequested(_)
            | Event::EscalationRaised(_)
            | Event::InteractionOpened { .. }
            | Event::InteractionAnswered { .. }
            | Event::InteractionWithdrawn { .. }
            | Event::SetAside(_) => {}
        }
    }

    fn agent_ended(&mut self, run_id: RunId, at: Timestamp, status: Status) {
        if let Some((_, part)) = self.agents.get_mut(&run_id) {
            part.ended = at;
            part.status = status;
        }
    }

    fn into_spans(self, id: RoundtableId) -> Vec<SpanData> {
        let trace_id = TraceId::from(id.bits());
        let round_id = |round: u32| span_id(id.bits(), round);
        let root = self.roundtable.into_span(trace_id, round_id(0), SpanId::INVALID);
        let rounds = self
            .rounds
            .into_iter()
            .map(|(number, part)| part.into_span(trace_id, round_id(number), round_id(0)));
        let agents = self.agents.into_iter().map(|(run_id, (round, part))| {
            part.into_span(trace_id, span_id(run_id.bits(), 0), round_id(round))
        });
        std::iter::once(root).chain(rounds).chain(agents).collect()
    }
}
