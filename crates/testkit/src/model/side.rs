//! Requests that an agent makes on the side: for a title, a summary, a check of its quota.
//!
//! They are not part of the conversation, so they must not use up the script. They get an answer that means nothing.

use super::conversation::Conversation;
use super::script::Reply;
use crate::agents::SIDE_MODEL;

/// What tells a side request from the conversation, in the agent's own words, and what it is for.
///
/// opencode names a session with its main model when no small one is configured. The others, in the versions that are
/// pinned in `xtask/agents` and without a terminal, ask nothing on the side.
const SIGNS: &[(&str, &str)] = &[("you are a title generator", "title")];

/// What a request is for, if it is not part of the conversation.
pub(crate) fn purpose(request: &Conversation) -> Option<&'static str> {
    if request.model.ends_with(SIDE_MODEL) {
        return Some("side model");
    }
    let system = request.system.to_lowercase();
    SIGNS
        .iter()
        .find(|(sign, _)| request.tools.is_empty() && system.contains(sign))
        .map(|(_, purpose)| *purpose)
}

/// An answer that any of them can live with.
pub(crate) fn reply() -> Reply {
    Reply::text("Scripted")
}
