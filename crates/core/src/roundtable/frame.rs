//! The stream: what clients see of a roundtable, rendered from its journal as that of a run is.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::artifact::ArtifactChange;
use super::event::{Closing, Event};
use super::spec::{DoneWhen, RoundtableSpec, TopicSpec};
use crate::fcmp::{Meta, PROTOCOL_VERSION, Version, known_version};
use crate::machines::{
    ArtifactStatus, ConflictStatus, QuestionStatus, RoundStep, RoundTrigger, RoundtableStatus,
};
use crate::names::named;
use crate::{Place, RawRef, RoundtableId, Timestamp};

named! {
    /// What a frame tells.
    pub enum FrameType {
        /// The roundtable was opened.
        Opened = "roundtable.opened",
        /// A round began.
        RoundStarted = "round.started",
        /// A round got on.
        StepChanged = "round.step.changed",
        /// A participant answered.
        Answered = "participant.answered",
        /// A participant said nothing.
        Missing = "participant.missing",
        /// A result is new or changed.
        ArtifactChanged = "artifact.changed",
        /// A topic got on.
        TopicChanged = "topic.changed",
        /// A conflict came up or was settled.
        ConflictChanged = "conflict.changed",
        /// A question came up or was answered.
        QuestionChanged = "question.changed",
        /// It was decided what comes next.
        NextDecided = "next.decided",
        /// The table needs a person.
        EscalationRaised = "escalation.raised",
        /// A person is asked.
        InputRequired = "user.input.required",
        /// An answer was accepted.
        ReplyAccepted = "interaction.reply.accepted",
        /// An agent could not take up its conversation and began anew.
        ResumeFallback = "agent.resume_fallback",
        /// The roundtable ended.
        Closed = "roundtable.closed",
    }
}

/// One message of the stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = RoundtableFrame))]
pub struct Frame {
    /// Always [`PROTOCOL_VERSION`].
    #[serde(deserialize_with = "known_version")]
    pub protocol_version: Version,
    /// The roundtable.
    pub roundtable_id: RoundtableId,
    /// Its place in the stream: counted from 1, without gaps.
    pub seq: u64,
    /// When it happened.
    #[serde(with = "crate::time::wire")]
    pub ts: Timestamp,
    /// The engine that plays the facilitator.
    pub engine: String,
    /// What it tells.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "openapi", schema(inline))]
    pub kind: FrameType,
    /// All there is to tell.
    pub data: Value,
    /// Where it stands: the round takes the place of a run's attempt.
    pub meta: Meta,
    /// Nothing: what agents print is in the streams of their runs.
    pub raw_ref: Option<RawRef>,
}

/// How many frames an event renders to.
pub(crate) fn frames(event: &Event) -> u64 {
    u64::from(kind(event).is_some())
}

/// The frames of `events`, which were decided together at `ts` after the frames that `place` counts.
pub fn render(
    roundtable_id: RoundtableId,
    engine: &str,
    place: Place,
    ts: Timestamp,
    events: &[Event],
) -> Vec<Frame> {
    let Place { mut frame, attempt: mut round, mut local } = place;
    let mut rendered = Vec::new();
    for event in events {
        if let Event::RoundOpened { number, .. } = event {
            (round, local) = (*number, 0);
        }
        let Some(kind) = kind(event) else { continue };
        frame += 1;
        local += 1;
        rendered.push(Frame {
            protocol_version: PROTOCOL_VERSION,
            roundtable_id,
            seq: frame,
            ts,
            engine: engine.to_owned(),
            kind,
            data: data(event, round),
            meta: Meta { attempt: round, local_seq: local },
            raw_ref: None,
        });
    }
    rendered
}

/// What an event tells, if it tells anything.
fn kind(event: &Event) -> Option<FrameType> {
    match event {
        Event::Opened(_) => Some(FrameType::Opened),
        Event::RoundOpened { .. } => Some(FrameType::RoundStarted),
        Event::ResumeFellBack { .. } => Some(FrameType::ResumeFallback),
        Event::FocusRecorded { .. }
        | Event::ResponsesCollected
        | Event::SynthesisRecorded { .. }
        | Event::RoundRecorded { .. } => Some(FrameType::StepChanged),
        Event::AnswerRecorded { .. } => Some(FrameType::Answered),
        Event::ParticipantMissing { .. } => Some(FrameType::Missing),
        Event::ArtifactCreated(_) | Event::ArtifactChanged { .. } => Some(FrameType::ArtifactChanged),
        Event::ConflictOpened(_) | Event::ConflictResolved { .. } => Some(FrameType::ConflictChanged),
        Event::QuestionOpened(_) | Event::QuestionResolved { .. } => Some(FrameType::QuestionChanged),
        Event::TopicChanged { .. } => Some(FrameType::TopicChanged),
        Event::NextDecided(_) => Some(FrameType::NextDecided),
        Event::EscalationRaised(_) => Some(FrameType::EscalationRaised),
        Event::InteractionOpened { .. } => Some(FrameType::InputRequired),
        Event::InteractionAnswered { .. } => Some(FrameType::ReplyAccepted),
        Event::Closed(_) => Some(FrameType::Closed),
        Event::ActivationStarted { .. }
        | Event::FacilitatorLost { .. }
        | Event::EscalationRequested(_)
        | Event::SetAside(_)
        | Event::InteractionWithdrawn { .. } => None,
    }
}

fn data(event: &Event, round: u32) -> Value {
    match event {
        Event::Opened(spec) => opened(spec),
        Event::RoundOpened { number, phase, speakers } => {
            json!({ "round": number, "phase": phase, "speakers": speakers })
        }
        Event::ResumeFellBack { role, lost, reason } => {
            json!({ "round": round, "role": role, "run_id": lost, "reason": reason })
        }
        Event::FocusRecorded { asked, .. } => step(round, RoundTrigger::Ask, json!(asked)),
        Event::ResponsesCollected => step(round, RoundTrigger::Collect, json!({})),
        Event::SynthesisRecorded { synthesis, .. } => {
            step(round, RoundTrigger::Synthesize, json!({ "synthesis": synthesis.summary }))
        }
        Event::RoundRecorded { refused } => {
            step(round, RoundTrigger::Record, json!({ "proposals_refused": refused }))
        }
        Event::AnswerRecorded { role, run_id, said } => {
            merged(json!({ "round": round, "role": role, "run_id": run_id }), json!(said))
        }
        Event::ParticipantMissing { run_id, missing } => {
            merged(json!({ "round": round, "run_id": run_id }), json!(missing))
        }
        Event::ArtifactCreated(new) => {
            let head = json!({
                "round": round, "change": "created", "status": ArtifactStatus::Active,
                "kind": new.artifact_id.kind,
            });
            merged(head, json!(new))
        }
        Event::ArtifactChanged { id, change, person } => {
            let mut head = json!({ "round": round, "artifact_id": id });
            if let Some(person) = person {
                head["person"] = json!(person.by);
            }
            merged(head, artifact_change(change))
        }
        Event::ConflictOpened(about) => {
            merged(json!({ "round": round, "status": ConflictStatus::Open }), json!(about))
        }
        Event::ConflictResolved { id, resolution, by } => json!({
            "round": round, "conflict_id": id, "status": ConflictStatus::Resolved,
            "resolution": resolution, "by": by,
        }),
        Event::QuestionOpened(about) => {
            merged(json!({ "round": round, "status": QuestionStatus::Open }), json!(about))
        }
        Event::QuestionResolved { id, resolution, by } => json!({
            "round": round, "question_id": id, "status": QuestionStatus::Resolved,
            "resolution": resolution, "by": by,
        }),
        Event::TopicChanged { topic_id, from, to, trigger } => {
            json!({ "round": round, "topic_id": topic_id, "from": from, "to": to, "trigger": trigger })
        }
        Event::NextDecided(decision) => json!({
            "round": round, "proposed_next": decision.proposed, "next": decision.next,
            "rule": decision.rule, "triggers": decision.triggers,
        }),
        Event::EscalationRaised(escalation) => json!(escalation),
        Event::InteractionOpened { id, matter, question } => {
            let head = json!({
                "interaction_id": id, "source": matter.source(), "deadline_at": null, "round": round,
            });
            merged(head, json!(question))
        }
        Event::InteractionAnswered { id, word, text, by, .. } => json!({
            "interaction_id": id, "response": { "decision": word, "text": text }, "resolved_by": by,
        }),
        Event::Closed(closing) => closed(closing),
        Event::ActivationStarted { .. }
        | Event::FacilitatorLost { .. }
        | Event::EscalationRequested(_)
        | Event::SetAside(_)
        | Event::InteractionWithdrawn { .. } => Value::Null,
    }
}

fn opened(spec: &RoundtableSpec) -> Value {
    let RoundtableSpec { subject, workflow, strategy, limits, agenda, facilitator, participants, .. } = spec;
    let agenda: Vec<_> = agenda.iter().map(topic).collect();
    json!({
        "subject": subject, "workflow": workflow, "strategy": strategy, "limits": limits, "agenda": agenda,
        "facilitator": facilitator, "participants": participants,
    })
}

/// A topic, under the names of the interface, which are not all those of the journal.
fn topic(topic: &TopicSpec) -> Value {
    let TopicSpec { topic_id, title, critical, done_when } = topic;
    let DoneWhen { criteria, min_requirements, min_artifacts } = done_when;
    json!({
        "topic_id": topic_id, "title": title, "critical": critical,
        "done_when": {
            "criteria": criteria, "min_requirements": min_requirements, "min_artifacts": min_artifacts,
        },
    })
}

/// A step and what came with it.
fn step(round: u32, trigger: RoundTrigger, detail: Value) -> Value {
    let (from, to) = match trigger {
        RoundTrigger::Ask => (RoundStep::Question, RoundStep::Responses),
        RoundTrigger::Collect => (RoundStep::Responses, RoundStep::Synthesis),
        RoundTrigger::Synthesize => (RoundStep::Synthesis, RoundStep::Artifacts),
        RoundTrigger::Record => (RoundStep::Artifacts, RoundStep::Recorded),
    };
    merged(json!({ "round": round, "from": from, "to": to, "trigger": trigger }), detail)
}

fn artifact_change(change: &ArtifactChange) -> Value {
    match change {
        ArtifactChange::Edited { version } => {
            merged(json!({ "change": "edited", "status": ArtifactStatus::Active }), json!(version))
        }
        ArtifactChange::Amended { version, reason, by } => {
            let head = json!({
                "change": "amended", "status": ArtifactStatus::Amended, "reason": reason, "by": by,
            });
            merged(head, json!(version))
        }
        ArtifactChange::Reverted { reason, by } => {
            json!({ "change": "reverted", "status": ArtifactStatus::Active, "reason": reason, "by": by })
        }
        ArtifactChange::Superseded { by, reason } => json!({
            "change": "superseded", "status": ArtifactStatus::Superseded, "superseded_by": by, "reason": reason,
        }),
        ArtifactChange::Withdrawn { reason } => {
            json!({ "change": "withdrawn", "status": ArtifactStatus::Withdrawn, "reason": reason })
        }
    }
}

fn closed(closing: &Closing) -> Value {
    let Closing { reason, by, problem, unsettled } = closing;
    json!({
        "from": RoundtableStatus::Active, "to": RoundtableStatus::Closed, "trigger": reason, "by": by,
        "unsettled": unsettled,
        "terminal": { "status": RoundtableStatus::Closed, "close_reason": reason, "problem": problem },
    })
}

/// The fields of both.
fn merged(mut head: Value, rest: Value) -> Value {
    if let (Some(head), Value::Object(rest)) = (head.as_object_mut(), rest) {
        head.extend(rest);
    }
    head
}
