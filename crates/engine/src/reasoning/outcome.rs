//! What the model is told about a call: fields to read, never a text to parse.

use adjourn_core::{Consequence, ContractStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::model::{ToolResult, Went};

/// What became of a call, in the words for the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Outcome {
    consequence: Value,
    went: Went,
}

impl Outcome {
    /// Of a call that is over.
    pub(super) fn over(consequence: &Consequence) -> Self {
        let went = match consequence.status {
            ContractStatus::Completed => Went::Well,
            ContractStatus::Pending
            | ContractStatus::Running
            | ContractStatus::Waiting
            | ContractStatus::Failed
            | ContractStatus::Rejected
            | ContractStatus::Cancelled => Went::Wrong,
        };
        Self { consequence: json!(consequence), went }
    }

    /// Of a call that was not made because of an earlier one like it.
    pub(super) fn before(earlier: &Consequence) -> Self {
        let mut told = Self::over(earlier);
        let (field, note) = match told.went {
            Went::Well => {
                ("already_done", "it was done before and was not done again; this is what came of it then")
            }
            Went::Wrong => (
                "already_asked_for",
                "it was asked for before and may have happened, so it was not done again",
            ),
        };
        told.consequence[field] = json!(true);
        told.consequence["note"] = json!(note);
        told
    }

    /// Of a call that cannot be made.
    pub(super) fn refused(why: &str) -> Self {
        Self::without_contract(ContractStatus::Rejected, why)
    }

    /// Of a call that nobody came to make before its run was over.
    pub(super) fn never_made() -> Self {
        Self::without_contract(
            ContractStatus::Cancelled,
            "the run that it belongs to ended before it was made",
        )
    }

    fn without_contract(status: ContractStatus, why: &str) -> Self {
        Self { consequence: json!({"status": status, "error_message": why}), went: Went::Wrong }
    }

    /// As the answer to the call that the model knows by this name.
    pub(super) fn told(&self, call_id: &str) -> ToolResult {
        ToolResult { call_id: call_id.to_owned(), consequence: self.consequence.clone(), went: self.went }
    }
}

#[cfg(test)]
mod tests {
    use adjourn_core::{Consequence, ContractStatus, ExecutionId};
    use serde_json::{Value, json};

    use super::Outcome;
    use crate::model::Went;

    fn consequence(status: ContractStatus) -> Consequence {
        Consequence {
            execution_id: ExecutionId::from_bits(1),
            status,
            result: Some(json!({"n": 1})),
            error_message: None,
            outcome_unknown: false,
            assumed: false,
            arguments: None,
        }
    }

    fn told(outcome: &Outcome) -> (Value, Went) {
        let result = outcome.told("a");
        assert_eq!(result.call_id, "a");
        (result.consequence, result.went)
    }

    #[test]
    fn the_model_reads_fields() {
        let id = ExecutionId::from_bits(1);
        let done = json!({"execution_id": id, "status": "COMPLETED", "result": {"n": 1}});
        assert_eq!(told(&Outcome::over(&consequence(ContractStatus::Completed))), (done, Went::Well));
        let unknown = Consequence { outcome_unknown: true, ..consequence(ContractStatus::Cancelled) };
        let (fields, went) = told(&Outcome::over(&unknown));
        assert_eq!((&fields["outcome_unknown"], went), (&json!(true), Went::Wrong));
        let no = json!({"status": "REJECTED", "error_message": "there is no tool `x`"});
        assert_eq!(told(&Outcome::refused("there is no tool `x`")), (no, Went::Wrong));
    }

    #[test]
    fn what_was_done_before_is_not_taken_for_done_again() {
        let (fields, went) = told(&Outcome::before(&consequence(ContractStatus::Completed)));
        assert_eq!((&fields["already_done"], &fields["result"]), (&json!(true), &json!({"n": 1})));
        assert_eq!(went, Went::Well);
        let (fields, went) = told(&Outcome::before(&consequence(ContractStatus::Waiting)));
        assert_eq!((&fields["already_asked_for"], &fields["already_done"]), (&json!(true), &Value::Null));
        assert_eq!(went, Went::Wrong);
    }
}
