//! What the evidence means under the rules of a run.

use serde_json::Value;

use super::DONE_MARKER;
use super::ask::Ask;
use super::evidence::{Evidence, Validity};
use crate::{ErrorCode, ExecutionMode, FieldError, Question, Warning, WarningCode};

/// Questions of one run that Adjourn decides alone in auto mode.
///
/// A skill asks two or three things where a person would want to be asked; one that asks more than this is told the
/// same each time and will not stop by itself.
pub const AUTO_DECISIONS_MAX: u32 = 10;

/// Field errors that a message names. The agent gets more of them, but not a list without end.
const ERRORS_SHOWN: usize = 3;

/// What the verdict depends on besides the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Whether the run may wait for a person.
    pub mode: ExecutionMode,
    /// Which attempt this is, not counting those that only settled a contract.
    pub attempt_counted: u32,
    /// How many attempts an interactive run has. None is no limit.
    pub max_attempt: Option<u32>,
    /// Repairs that this attempt already had.
    pub repairs: u32,
    /// Repairs that an attempt may have.
    pub repair_limit: u32,
    /// What the agent has to hear of before it can be done: questions that are open (approvals, ECS requests, calls whose outcome
    /// is unknown), and answers that came while the turn went on.
    pub waits_for: usize,
    /// Questions of this run that Adjourn already decided alone.
    pub auto_decisions: u32,
}

/// What the end of a turn means.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The run has its result.
    Succeeded {
        /// The result, without the marker.
        output: Value,
        /// What was odd about it.
        warnings: Vec<Warning>,
    },
    /// A person is needed.
    NeedsInput {
        /// What to ask, or nothing where a contract's question is open already.
        question: Option<Question>,
        /// What was odd about the question.
        warnings: Vec<Warning>,
    },
    /// The turn asked, and Adjourn answers.
    AutoDecide {
        /// What was asked.
        question: Question,
        /// What was odd about the question.
        warnings: Vec<Warning>,
    },
    /// The agent is asked once more within the same attempt.
    Repair {
        /// What it is told.
        problem: String,
    },
    /// The run has failed.
    Failed {
        /// For scripts.
        code: ErrorCode,
        /// For people.
        message: String,
    },
}

/// What the end of a turn means: the one place where that is decided.
pub fn verdict(rules: &Rules, evidence: &Evidence) -> Verdict {
    match rules.mode {
        ExecutionMode::Interactive => interactive(rules, evidence),
        ExecutionMode::Auto => auto(rules, evidence),
    }
}

fn interactive(rules: &Rules, evidence: &Evidence) -> Verdict {
    if rules.waits_for > 0 {
        return waits_for_contract();
    }
    match (evidence.done, &evidence.output, &evidence.validity) {
        (Some(true), Some(output), Validity::Valid | Validity::NoSchema) => {
            return succeeded(rules, output.clone(), Vec::new());
        }
        (Some(true), _, _) if rules.repairs < rules.repair_limit => return repair(evidence),
        (None, Some(output), Validity::Valid) if !evidence.asked => {
            return succeeded(rules, output.clone(), vec![without_marker()]);
        }
        (Some(_) | None, _, _) => {}
    }
    match rules.max_attempt {
        Some(max) if rules.attempt_counted >= max => Verdict::Failed {
            code: ErrorCode::InteractiveMaxAttemptExceeded,
            message: format!("attempt {} of {max} ended without a result", rules.attempt_counted),
        },
        Some(_) | None => {
            let (question, warnings) = question(evidence);
            Verdict::NeedsInput { question: Some(question), warnings }
        }
    }
}

fn auto(rules: &Rules, evidence: &Evidence) -> Verdict {
    if rules.waits_for > 0 {
        return waits_for_contract();
    }
    if evidence.asked && evidence.done != Some(true) && evidence.validity != Validity::Valid {
        return decide(rules, evidence);
    }
    let result = match (&evidence.validity, &evidence.output) {
        (Validity::Valid | Validity::NoSchema, Some(output)) => Some(output.clone()),
        (Validity::Valid | Validity::NoSchema, None) => evidence.plain.clone().map(Value::String),
        (Validity::Invalid(_), _) => None,
    };
    match result {
        Some(output) => succeeded(rules, output, Vec::new()),
        None if rules.repairs < rules.repair_limit => repair(evidence),
        None => no_result(evidence),
    }
}

fn no_result(evidence: &Evidence) -> Verdict {
    match (&evidence.validity, &evidence.output) {
        (Validity::Invalid(errors), Some(_)) => Verdict::Failed {
            code: ErrorCode::OutputSchemaInvalid,
            message: format!("the result does not meet the output schema: {}", first_few(errors)),
        },
        (Validity::Invalid(_) | Validity::Valid | Validity::NoSchema, _) => Verdict::Failed {
            code: ErrorCode::OutputMissing,
            message: "the agent ended without a result".to_owned(),
        },
    }
}

/// The words that the turn ended with are no question: the agent hears the answer to the question that it asked before, and
/// may ask again.
fn waits_for_contract() -> Verdict {
    Verdict::NeedsInput { question: None, warnings: Vec::new() }
}

fn decide(rules: &Rules, evidence: &Evidence) -> Verdict {
    if rules.auto_decisions >= AUTO_DECISIONS_MAX {
        return Verdict::Failed {
            code: ErrorCode::OutputMissing,
            message: format!(
                "the agent asked again after {AUTO_DECISIONS_MAX} of its questions had been decided for it"
            ),
        };
    }
    let (question, warnings) = question(evidence);
    Verdict::AutoDecide { question, warnings }
}

fn succeeded(rules: &Rules, output: Value, mut warnings: Vec<Warning>) -> Verdict {
    if rules.repairs > 0 {
        let message = format!("the result was right after {} repair(s)", rules.repairs);
        warnings.push(Warning { code: WarningCode::OutputRepaired, message });
    }
    Verdict::Succeeded { output, warnings }
}

fn without_marker() -> Warning {
    Warning {
        code: WarningCode::InteractiveCompletedWithoutDoneMarker,
        message: format!("the result meets the output schema but does not say `\"{DONE_MARKER}\": true`"),
    }
}

/// The question that was asked, or one made from the text.
fn question(evidence: &Evidence) -> (Question, Vec<Warning>) {
    match &evidence.ask {
        Ask::Question(question) => (question.clone(), Vec::new()),
        Ask::None => (Question::open_text(&evidence.prose), Vec::new()),
        Ask::Malformed { problem, prompt } => {
            let warning = Warning { code: WarningCode::AskUserMalformed, message: problem.clone() };
            (Question::open_text(prompt), vec![warning])
        }
    }
}

/// What is wrong, for the agent; how it is asked again is not for the rules to say.
fn repair(evidence: &Evidence) -> Verdict {
    let problem = match (&evidence.validity, &evidence.output) {
        (Validity::Invalid(errors), Some(_)) => {
            let errors: String = errors.iter().map(|error| format!("\n- {error}")).collect();
            format!("the JSON object in your last message does not meet the output schema:{errors}")
        }
        (Validity::NoSchema | Validity::Valid | Validity::Invalid(_), _) => {
            "your last message has no result in it".to_owned()
        }
    };
    Verdict::Repair { problem }
}

fn first_few(errors: &[FieldError]) -> String {
    let shown: Vec<_> = errors.iter().take(ERRORS_SHOWN).map(FieldError::to_string).collect();
    let more = if errors.len() > ERRORS_SHOWN { ", and more" } else { "" };
    format!("{}{more}", shown.join("; "))
}

#[cfg(test)]
mod tests;
