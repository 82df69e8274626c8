//! The steps of a conversation, as they are written down.

use std::collections::BTreeSet;

use adjourn_core::{Observation, RunId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::outcome::Outcome;
use crate::model::{Reply, Said, ToolUse};

/// One step of a conversation.
///
/// These, and what became of the contracts, are all that is kept. What became of a call that has a contract is not
/// repeated here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    /// The model was told something by the person, or on their behalf.
    Heard {
        /// In which attempt of the run.
        attempt: u32,
        /// The text that was given.
        prompt: String,
    },
    /// The model said something: as journals had it before replies had names. The calls of such a reply are known by its
    /// number in the whole conversation, those of the runs before included.
    Said(Said),
    /// The model replied.
    Replied {
        /// The name of the reply, which its calls are known by.
        reply: String,
        /// What it said.
        said: Said,
    },
    /// The model was told what became of a call that has no contract.
    Told {
        /// The call.
        call_ref: String,
        /// What it was told.
        outcome: Outcome,
    },
}

impl Step {
    /// The step that a reply of `run_id` is.
    ///
    /// Its name is made of the run and its number in that run, and is written down with it. So it stays what it is, whatever
    /// is left of the conversation before it when it is read again.
    pub(super) fn replied(run_id: RunId, reply: &Reply, number: ReplyNumber) -> Self {
        let ReplyNumber { in_run, in_conversation } = number;
        Self::Replied { reply: format!("{run_id}/{in_run}"), said: said(reply, in_conversation) }
    }

    /// The step as a fact for the journal.
    pub(super) fn fact(&self) -> Observation {
        Observation::Step(json!(self))
    }
}

/// The place of a reply, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReplyNumber {
    /// Among the replies of its run.
    pub(super) in_run: usize,
    /// Among those and the replies of the runs that it continues.
    pub(super) in_conversation: usize,
}

/// The reference that an engine knows a call by: the name of its reply, and its place in it.
pub(super) fn call_ref(reply: &str, index: usize) -> String {
    format!("{reply}.{index}")
}

fn said(reply: &Reply, ordinal: usize) -> Said {
    if has_names(&reply.calls) {
        return Said { raw: needed(&reply.raw), ..reply.said() };
    }
    let calls = reply.calls.iter().enumerate();
    let named = calls.map(|(index, call)| ToolUse { id: format!("call_{ordinal}_{index}"), ..call.clone() });
    Said { text: reply.text.clone(), calls: named.collect(), raw: Value::Null }
}

/// Whether each call has a name of its own, by which its result can be told. Some compatible servers give none, or all the
/// same.
fn has_names(calls: &[ToolUse]) -> bool {
    let names: BTreeSet<_> = calls.iter().map(|call| call.id.as_str()).collect();
    names.len() == calls.len() && !names.contains("")
}

/// What the server has to see again of its reply, apart from text and calls: thoughts, which are signed.
fn needed(raw: &Value) -> Value {
    let is_told = |block: &Value| block["type"] == "text" || block["type"] == "tool_use";
    match raw["content"].as_array() {
        Some(blocks) if !blocks.iter().all(is_told) => json!({"content": blocks}),
        Some(_) | None => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::said as kept;
    use crate::model::{Reply, Said, Stop, ToolUse};

    fn reply(ids: &[&str], raw: Value) -> Reply {
        Reply {
            text: "Hm.".to_owned(),
            reasoning: String::new(),
            calls: calls(ids),
            stop: Stop::Calls,
            usage: None,
            raw,
        }
    }

    fn calls(ids: &[&str]) -> Vec<ToolUse> {
        let call =
            |id: &&str| ToolUse { id: (*id).to_owned(), name: "echo".to_owned(), arguments: json!({}) };
        ids.iter().map(call).collect()
    }

    fn said(ids: &[&str], raw: Value) -> Said {
        Said { text: "Hm.".to_owned(), calls: calls(ids), raw }
    }

    #[test]
    fn only_what_text_and_calls_do_not_say_is_kept_of_a_reply() {
        let plain = json!({"id": "1", "content": [{"type": "text", "text": "Hm."}, {"type": "tool_use"}]});
        assert_eq!(kept(&reply(&["a"], plain), 1), said(&["a"], Value::Null));
        let thought = json!([{"type": "thinking", "thinking": "Hm?", "signature": "s"}, {"type": "text", "text": "Hm."}]);
        let raw = json!({"id": "1", "content": thought});
        assert_eq!(kept(&reply(&["a"], raw), 1), said(&["a"], json!({"content": thought})));
        let completion = json!({"choices": [{"message": {"content": "Hm."}}]});
        assert_eq!(kept(&reply(&[], completion), 1), said(&[], Value::Null));
    }

    #[test]
    fn calls_that_cannot_be_told_apart_get_names() {
        for ids in [["", "b"], ["a", "a"]] {
            let raw = json!({"content": [{"type": "thinking"}]});
            assert_eq!(kept(&reply(&ids, raw), 3), said(&["call_3_0", "call_3_1"], Value::Null));
        }
    }
}
