//! What people send to runs, contracts and roundtables.

use adjourn_core::roundtable::{Agreement, ArtifactId, CriterionId};
use adjourn_core::{Action, InteractionId, Settlement, named};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "interaction_id": 1, "response": "SQLite" }))]
pub struct Answer {
    /// The question. With an `Idempotency-Key` it may be left out: then the question that the key answered before is meant,
    /// or the oldest that is open.
    pub interaction_id: Option<InteractionId>,
    /// The answer, in the form that the question's `kind` asks for.
    pub response: Option<Value>,
    /// Of an approval. For `edit`, `response` holds the new arguments.
    pub action: Option<Action>,
}

/// An answer to the question about a contract.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "action": "approve" }))]
pub struct ContractAnswer {
    /// The question; by default the one about this contract that is open, or that the `Idempotency-Key` answered before.
    pub interaction_id: Option<InteractionId>,
    /// The answer, in the form that the question's `kind` asks for.
    pub response: Option<Value>,
    /// Of an approval. For `edit`, `response` holds the new arguments.
    pub action: Option<Action>,
}

/// What became of a call whose result was lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Said, example = json!({ "outcome": "happened", "note": "it is in the sent folder" }))]
pub struct SettleCall {
    #[allow(missing_docs, reason = "its type says what it is")]
    pub outcome: Settlement,
    /// What there is to say about it. Of a call that happened, it is the result.
    pub note: Option<String>,
}

/// An answer to a question of a roundtable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "interaction_id": 1, "response": { "decision": "own_decision", "text": "Card only." } }))]
pub struct RoundtableAnswer {
    /// The question. With an `Idempotency-Key` it may be left out: then the question that the key answered before is meant,
    /// or the one that is open.
    pub interaction_id: Option<InteractionId>,
    /// `{decision, text?}` with one of the words that the question offers; or that word alone; or plain text, which is a
    /// remark at a checkpoint and a decision of your own at an escalation.
    pub response: Value,
}

/// What somebody wants to have a say in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Wish, example = json!({ "note": "I want to decide about payment myself." }))]
pub struct EscalateRoundtable {
    /// What about.
    #[schema(max_length = 4096)]
    pub note: Option<String>,
}

named! {
    /// What a person can do to an artifact.
    pub enum ArtifactAction {
        /// Have it say something else.
        Amend = "amend",
        /// Restore the version before the last amendment.
        Revert = "revert",
        /// Put a newer artifact in its place.
        Supersede = "supersede",
        /// Take it out.
        Withdraw = "withdraw",
    }
}

/// A change of an artifact by a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "action": "amend", "body": "Cards and cash are taken.", "reason": "The owner wants both." }))]
pub struct ArtifactChange {
    #[schema(inline)]
    #[allow(missing_docs, reason = "its type says what it is")]
    pub action: ArtifactAction,
    /// Why. It stays in the history of the artifact.
    #[schema(pattern = r"\S", max_length = 4096)]
    pub reason: String,
    /// Of an amendment: the new title.
    #[schema(max_length = 4096)]
    pub title: Option<String>,
    /// Of an amendment: what it says now.
    #[schema(max_length = 65_536)]
    pub body: Option<String>,
    /// Of an amendment: how far the table agrees.
    pub agreement: Option<Agreement>,
    /// Of an amendment: the criteria of its topic that it covers.
    pub covers: Option<Vec<CriterionId>>,
    /// Of `supersede`: the newer artifact that takes its place.
    pub by: Option<ArtifactId>,
}
