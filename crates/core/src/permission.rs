//! A permission that an agent asks for a tool of its own.
//!
//! What the agent's own process does is not a contract: Adjourn neither makes the call nor knows what became of it. It
//! only carries the question to a person and the answer back.

use serde::{Deserialize, Serialize};

use crate::{IdempotencyKey, Question};

/// A permission that an agent asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PermissionRequest {
    /// What it is for: two requests for the same tool with the same arguments have the same.
    pub digest: IdempotencyKey,
    /// What a person is asked. The options are the agent's own.
    pub question: Question,
}
