//! The JSON documents of others that events carry.

use serde_json::Value;

use super::event::{ContractDetail, Event, Observation};
use crate::bounds::WRAPPED_DEPTH_MAX;
use crate::{ContractAction, JsonSize, Question, TooBig, check_depth};

impl Event {
    /// Checks the depth of every JSON document in the event that a client, an agent, a model or a tool wrote.
    pub(super) fn check_documents(&self) -> Result<(), TooBig> {
        let check = |document: &Value| check_depth(document);
        // What engines and tool connections keep of their own is wrapped around what they were given.
        let check_wrapped = |document: &Value| match JsonSize::of(document).depth {
            0..=WRAPPED_DEPTH_MAX => Ok(()),
            depth => Err(TooBig::Deep { depth, max: WRAPPED_DEPTH_MAX }),
        };
        match self {
            Self::Created(spec) => {
                check(&spec.input)?;
                check(&spec.parameter)
            }
            Self::Observed(
                Observation::ToolCall { detail: value, .. }
                | Observation::CommandExecution { detail: value, .. },
            )
            | Self::InteractionAnswered { response: value, .. }
            | Self::InteractionExpired { response: value, .. }
            | Self::ContractChanged { detail: Some(ContractDetail::Result(value)), .. }
            | Self::ResultRecorded(value) => check(value),
            Self::Observed(Observation::Step(value))
            | Self::ContractChanged { detail: Some(ContractDetail::Paused(value)), .. } => {
                check_wrapped(value)
            }
            Self::InteractionOpened { question, .. } => check_question(question),
            Self::ContractCreated(spec) => match &spec.action {
                ContractAction::ToolCall(call) => check(&call.arguments),
                ContractAction::EcsRequest(question) => check_question(question),
            },
            Self::Observed(
                Observation::Handle(_)
                | Observation::Process(_)
                | Observation::Sandbox(_)
                | Observation::Message { .. }
                | Observation::Reasoning { .. }
                | Observation::Usage(_),
            )
            | Self::ContractChanged {
                detail:
                    None
                    | Some(ContractDetail::Dispatched | ContractDetail::Error(_) | ContractDetail::Unknown(_)),
                ..
            }
            | Self::StatusChanged { .. }
            | Self::TurnStarted { .. }
            | Self::RepairStarted { .. }
            | Self::Warned(_)
            | Self::InteractionWithdrawn { .. }
            | Self::DeadlineMoved { .. }
            | Self::ContractSettled { .. }
            | Self::ProcessLost
            | Self::EndRequested(_)
            | Self::TurnOver
            | Self::CallRefused(_)
            | Self::ToolsListed(_)
            | Self::ToolChanged { .. }
            | Self::SetAside(_) => Ok(()),
        }
    }
}

fn check_question(question: &Question) -> Result<(), TooBig> {
    let Question { kind: _, prompt: _, options, fields, schema, default } = question;
    let field_values = fields
        .iter()
        .flat_map(|field| field.options.iter().map(|choice| &choice.value).chain(&field.default));
    let values = options.iter().map(|choice| &choice.value).chain(field_values);
    values.chain(schema).chain(default).try_for_each(check_depth)
}
