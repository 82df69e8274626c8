//! Contracts, as a person reads them.

use adjourn_core::{ActionType, ContractStatus, ContractView, OutcomeKind, ToolCall};
use clap::builder::styling::Style;
use serde::Deserialize;
use serde_json::Value;

use crate::style::{self, styled};
use crate::text::{clean, indented, one_line};

/// Characters that are shown of a call in one line.
const CALL_CHARS_MAX: usize = 100;

/// A call in full: nobody should allow what they have not read.
pub(crate) fn call_text(call: &ToolCall) -> String {
    let name = clean(&format!("{}.{}", call.service, call.method));
    format!("{}\n{}", styled(style::BOLD, name), indented(&clean(&format!("{:#}", call.arguments)), "  "))
}

/// What a contract is for, in one line.
pub(crate) fn headline(contract: &ContractView) -> String {
    let text = match (contract.action_type, ToolCall::deserialize(&contract.action_detail)) {
        (ActionType::ToolCall, Ok(ToolCall { service, method, arguments })) => {
            format!("{service}.{method}({arguments})")
        }
        (ActionType::EcsRequest, _) => {
            let prompt = contract.action_detail["prompt"].as_str().unwrap_or_default();
            format!("asks: {prompt}")
        }
        (ActionType::ToolCall, Err(_)) => contract.action_detail.to_string(),
    };
    one_line(&text, CALL_CHARS_MAX)
}

/// Whether a person has to say what became of it.
pub(crate) fn is_unknown(contract: &ContractView) -> bool {
    contract.outcome == OutcomeKind::Unknown
}

/// How a contract stands, and what came of it.
pub(crate) fn standing(contract: &ContractView) -> String {
    let status = styled(status_style(contract), contract.status);
    let doubt = match (contract.outcome, contract.settled) {
        (OutcomeKind::Unknown, _) => styled(style::ODD, ", outcome unknown"),
        (OutcomeKind::Known, Some(settled)) => format!(", settled as {settled}"),
        (OutcomeKind::Known, None) => String::new(),
    };
    let came_of_it = match (&contract.result, &contract.error_message) {
        (Some(Value::String(result)), _) => Some(result.clone()),
        (Some(result), _) => Some(result.to_string()),
        (None, error) => error.clone(),
    };
    let came_of_it = came_of_it.map(|text| format!(": {}", one_line(&text, CALL_CHARS_MAX)));
    format!("{status}{doubt}{}", came_of_it.unwrap_or_default())
}

/// How many contracts there are, and how many of them need a person; none where there are none.
pub(crate) fn count(contracts: &[ContractView]) -> Option<String> {
    let waiting = contracts.iter().filter(|contract| contract.status == ContractStatus::Waiting).count();
    let unknown = contracts.iter().filter(|contract| is_unknown(contract)).count();
    let mut parts = vec![contracts.len().to_string()];
    if waiting > 0 {
        parts.push(styled(style::ASKS, format!("{waiting} waiting for a person")));
    }
    if unknown > 0 {
        parts.push(styled(style::ODD, format!("{unknown} of unknown outcome")));
    }
    (!contracts.is_empty()).then(|| parts.join(", "))
}

fn status_style(contract: &ContractView) -> Style {
    match contract.status {
        ContractStatus::Pending => style::DIM,
        ContractStatus::Running => style::PLAIN,
        ContractStatus::Waiting => style::ASKS,
        ContractStatus::Completed => style::GOOD,
        ContractStatus::Failed if is_unknown(contract) => style::ODD,
        ContractStatus::Failed => style::BAD,
        ContractStatus::Rejected | ContractStatus::Cancelled => style::ODD,
    }
}
