//! The stream: what clients see of a run, rendered from its journal.
//!
//! An event renders to no frame or to one. How many is known from the event alone, and an entry of the journal
//! remembers where its first frame stands, so any part of a stream can be rendered without the part before it.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::interaction::{By, ByKind, Subject};
use crate::names::named;
use crate::run::{ContractDetail, Event, Observation, RawRef};
use crate::{
    ContractAction, ContractSpec, InteractionId, Question, RunError, RunId, RunStatus, RunTrigger, Timestamp,
    WarningCode,
};

/// The version that every frame names.
pub const PROTOCOL_VERSION: &str = "fcmp/1.0";

named! {
    /// What a frame tells.
    pub enum FrameType {
        /// The run's status changed.
        StateChanged = "conversation.state.changed",
        /// A person is asked.
        InputRequired = "user.input.required",
        /// An answer was accepted.
        ReplyAccepted = "interaction.reply.accepted",
        /// A question was decided without a person.
        AutoDecided = "interaction.auto_decide.timeout",
        /// The agent said something.
        MessageFinal = "assistant.message.final",
        /// What the agent said last no longer counts.
        MessageSuperseded = "assistant.message.superseded",
        /// The agent thought something.
        Reasoning = "assistant.reasoning",
        /// The agent's own process ran a tool.
        ToolCall = "assistant.tool_call",
        /// The agent's own process executed a command.
        CommandExecution = "assistant.command_execution",
        /// An effect was recorded before it happens.
        ContractCreated = "execution.contract.created",
        /// A contract's status changed.
        ContractChanged = "execution.contract.changed",
        /// Something worth telling, that stopped nothing.
        Warning = "diagnostic.warning",
    }
}

/// One message of the stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Frame {
    /// Always [`PROTOCOL_VERSION`].
    #[serde(deserialize_with = "known_version")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub protocol_version: Version,
    /// The run.
    pub run_id: RunId,
    /// Its place in the stream: counted from 1, without gaps.
    pub seq: u64,
    /// When it happened.
    #[serde(with = "crate::time::wire")]
    pub ts: Timestamp,
    /// The engine that executes the run.
    pub engine: String,
    /// What it tells.
    #[serde(rename = "type")]
    pub kind: FrameType,
    /// All there is to tell.
    pub data: Value,
    /// Where it stands.
    pub meta: Meta,
    /// Where it stands in the raw output of the engine.
    pub raw_ref: Option<RawRef>,
}

/// Under another name, because serde would borrow what is written as `&'static str` from the text that it reads.
pub(crate) type Version = &'static str;

/// Reads the one version that there is.
pub(crate) fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
    let given = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
    if given == PROTOCOL_VERSION {
        return Ok(PROTOCOL_VERSION);
    }
    Err(serde::de::Error::custom(format!("the stream is `{given}`, and only `{PROTOCOL_VERSION}` is known")))
}

/// Where a frame stands in its attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Meta {
    /// The attempt; 0 before the first.
    pub attempt: u32,
    /// Its place among the frames of the attempt, counted from 1.
    pub local_seq: u64,
}

/// The frames before an entry of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// The number of the last frame.
    pub frame: u64,
    /// The attempt it belongs to.
    pub attempt: u32,
    /// How many frames of that attempt there were.
    pub local: u64,
}

/// What all frames of a run have in common.
#[derive(Debug, Clone, Copy)]
pub struct Header<'a> {
    /// The run.
    pub run_id: RunId,
    /// The engine that executes it.
    pub engine: &'a str,
}

/// How many frames an event renders to.
pub(crate) fn frames(event: &Event) -> u64 {
    u64::from(kind(event).is_some())
}

/// The frames of `events`, which were decided together at `ts` after the frames that `place` counts.
pub fn render(header: Header<'_>, place: Place, ts: Timestamp, events: &[Event]) -> Vec<Frame> {
    let Place { mut frame, mut attempt, mut local } = place;
    let mut rendered = Vec::new();
    for event in events {
        if let Event::TurnStarted { attempt: next, .. } = event
            && *next != attempt
        {
            attempt = *next;
            local = 0;
        }
        let Some(kind) = kind(event) else { continue };
        frame += 1;
        local += 1;
        rendered.push(Frame {
            protocol_version: PROTOCOL_VERSION,
            run_id: header.run_id,
            seq: frame,
            ts,
            engine: header.engine.to_owned(),
            kind,
            data: data(event),
            meta: Meta { attempt, local_seq: local },
            raw_ref: raw_ref(event),
        });
    }
    rendered
}

/// What an event tells, if it tells anything. Cheap: it is asked for every event that is decided.
fn kind(event: &Event) -> Option<FrameType> {
    match event {
        Event::StatusChanged { .. } => Some(FrameType::StateChanged),
        Event::Observed(Observation::Message { .. }) => Some(FrameType::MessageFinal),
        Event::Observed(Observation::Reasoning { .. }) => Some(FrameType::Reasoning),
        Event::Observed(Observation::ToolCall { .. }) => Some(FrameType::ToolCall),
        Event::Observed(Observation::CommandExecution { .. }) => Some(FrameType::CommandExecution),
        Event::RepairStarted { supersedes: Some(_), .. } => Some(FrameType::MessageSuperseded),
        Event::Warned(_) | Event::SetAside(_) => Some(FrameType::Warning),
        Event::InteractionOpened { .. } => Some(FrameType::InputRequired),
        Event::InteractionAnswered { by, .. } => match by.kind {
            ByKind::User => Some(FrameType::ReplyAccepted),
            ByKind::AutoDecide | ByKind::System => Some(FrameType::AutoDecided),
        },
        Event::InteractionExpired { .. } => Some(FrameType::AutoDecided),
        // A person gave up what it was about, which is an answer too.
        Event::InteractionWithdrawn { by: Some(_), .. } => Some(FrameType::ReplyAccepted),
        // Only the person's time changed, not the question.
        Event::DeadlineMoved { by_ms, .. } => (*by_ms != 0).then_some(FrameType::Warning),
        Event::ContractCreated(_) => Some(FrameType::ContractCreated),
        Event::ContractChanged { .. } => Some(FrameType::ContractChanged),
        Event::Created(_)
        | Event::TurnStarted { .. }
        | Event::Observed(
            Observation::Handle(_)
            | Observation::Process(_)
            | Observation::Sandbox(_)
            | Observation::Usage(_)
            | Observation::Step(_),
        )
        | Event::RepairStarted { supersedes: None, .. }
        | Event::InteractionWithdrawn { by: None, .. }
        // Said after the run's end, and in the stream nothing comes after its end.
        | Event::ContractSettled { .. }
        | Event::CallRefused(_)
        | Event::ToolsListed(_)
        | Event::ToolChanged { .. }
        | Event::ProcessLost
        | Event::EndRequested(_)
            | Event::TurnOver
        | Event::ResultRecorded(_) => None,
    }
}

fn data(event: &Event) -> Value {
    match event {
        Event::StatusChanged { from, to, trigger, error } => {
            state_changed(*from, *to, *trigger, error.as_ref())
        }
        Event::Observed(Observation::Message { text, .. } | Observation::Reasoning { text, .. }) => {
            json!({ "text": text })
        }
        Event::Observed(Observation::ToolCall { name, detail, .. }) => {
            json!({ "name": name, "detail": detail })
        }
        Event::Observed(Observation::CommandExecution { command, detail, .. }) => {
            json!({ "command": command, "detail": detail })
        }
        Event::RepairStarted { repair, problem, supersedes } => {
            json!({ "superseded_seq": supersedes, "repair": repair, "reason": problem })
        }
        Event::Warned(warning) => json!(warning),
        Event::SetAside(set_aside) => json!(set_aside.error()),
        Event::DeadlineMoved { id, deadline_at, by_ms, .. } => deadline_moved(*id, *deadline_at, *by_ms),
        Event::InteractionOpened { id, subject, question, deadline_at, .. } => {
            input_required(*id, *subject, question, *deadline_at)
        }
        Event::InteractionAnswered { id, response, action, by, .. } => {
            let mut data = json!({ "interaction_id": id, "response": response, "resolved_by": by });
            if let Some(action) = action {
                data["action"] = json!(action);
            }
            data
        }
        Event::InteractionExpired { id, response } => {
            json!({ "interaction_id": id, "response": response, "resolved_by": By::AUTO_DECIDE })
        }
        Event::InteractionWithdrawn { id, by: Some(by) } => {
            json!({ "interaction_id": id, "response": null, "canceled": true, "resolved_by": by })
        }
        Event::ContractCreated(spec) => contract_created(spec),
        Event::ContractChanged { id, from, to, trigger, actor, detail } => {
            let mut data = json!({
                "execution_id": id, "from": from, "to": to, "trigger": trigger, "actor": actor,
            });
            add_detail(&mut data, detail.as_ref());
            data
        }
        Event::Created(_)
        | Event::TurnStarted { .. }
        | Event::Observed(
            Observation::Handle(_)
            | Observation::Process(_)
            | Observation::Sandbox(_)
            | Observation::Usage(_)
            | Observation::Step(_),
        )
        | Event::InteractionWithdrawn { by: None, .. }
        | Event::ContractSettled { .. }
        | Event::CallRefused(_)
        | Event::ToolsListed(_)
        | Event::ToolChanged { .. }
        | Event::ProcessLost
        | Event::EndRequested(_)
        | Event::TurnOver
        | Event::ResultRecorded(_) => Value::Null,
    }
}

fn raw_ref(event: &Event) -> Option<RawRef> {
    match event {
        Event::Observed(
            Observation::Message { raw, .. }
            | Observation::Reasoning { raw, .. }
            | Observation::ToolCall { raw, .. }
            | Observation::CommandExecution { raw, .. },
        ) => *raw,
        _ => None,
    }
}

fn state_changed(from: RunStatus, to: RunStatus, trigger: RunTrigger, error: Option<&RunError>) -> Value {
    let mut data = json!({ "from": from, "to": to, "trigger": trigger });
    if to.is_terminal() {
        data["terminal"] = json!({ "status": to, "error": error });
    }
    data
}

fn input_required(
    id: InteractionId,
    subject: Subject,
    question: &Question,
    deadline_at: Option<Timestamp>,
) -> Value {
    let mut data = json!(question);
    data["interaction_id"] = json!(id);
    data["source"] = json!(subject.source());
    data["deadline_at"] = json!(deadline_at.map(|deadline| deadline.to_string()));
    if let Some(execution_id) = subject.execution_id() {
        data["execution_id"] = json!(execution_id);
    }
    data
}

fn deadline_moved(id: InteractionId, deadline_at: Timestamp, by_ms: i64) -> Value {
    let way = if by_ms < 0 { "back" } else { "forward" };
    let seconds = by_ms.unsigned_abs() / 1000;
    let message = format!(
        "the clock of this machine was set {way} by {seconds} s, and the deadline of question {id} moved with it to {deadline_at}"
    );
    json!({
        "code": WarningCode::DeadlineMoved,
        "message": message,
        "interaction_id": id,
        "deadline_at": deadline_at.to_string(),
    })
}

fn contract_created(spec: &ContractSpec) -> Value {
    let action_detail = match &spec.action {
        ContractAction::ToolCall(call) => json!(call),
        ContractAction::EcsRequest(question) => json!(question),
    };
    json!({
        "execution_id": spec.execution_id,
        "action_type": spec.action.kind(),
        "action_detail": action_detail,
        "irreversible": spec.irreversible,
        "idempotency_key": spec.idempotency_key,
        "status": crate::ContractStatus::Pending,
    })
}

fn add_detail(data: &mut Value, detail: Option<&ContractDetail>) {
    match detail {
        // What a tool wants back is its own business.
        None | Some(ContractDetail::Paused(_)) => {}
        Some(ContractDetail::Dispatched) => data["dispatched"] = json!(true),
        Some(ContractDetail::Result(result)) => data["result"] = result.clone(),
        Some(ContractDetail::Error(message)) => data["error_message"] = json!(message),
        Some(ContractDetail::Unknown(message)) => {
            data["error_message"] = json!(message);
            data["outcome"] = json!("unknown");
        }
    }
}
