//! A conversation that is too long for its model, made shorter.
//!
//! Only the model knows how long is too long, so it is asked, and learns less after each refusal: half of what is left of
//! the results, the oldest first. Nothing of it is written down; the journal keeps all of them.

use serde_json::{Value, json};

use crate::model::{Message, ToolResult};

/// A result that is not longer is not worth leaving out: what stands for it has nearly as many bytes.
const WORTH_BYTES_MIN: usize = 256;

/// How much of a conversation is left out.
#[derive(Debug, Default)]
pub(super) struct Context {
    /// How many results, oldest first, of those that are worth it.
    left_out: usize,
}

impl Context {
    /// The messages without what is left out. Each call keeps an answer, which says how it stands.
    pub(super) fn of(&self, mut messages: Vec<Message>) -> Vec<Message> {
        for result in worth_leaving_out(&mut messages).into_iter().take(self.left_out) {
            result.consequence = without_result(&result.consequence);
        }
        messages
    }

    /// Leaves out half of what is left of the results of a conversation; an error if nothing is.
    pub(super) fn tighten(&mut self, mut messages: Vec<Message>) -> Result<(), NothingLeft> {
        let sizes: Vec<_> = worth_leaving_out(&mut messages).iter().map(|result| bytes(result)).collect();
        let left = sizes.get(self.left_out..).unwrap_or_default();
        let total: usize = left.iter().sum();
        let mut gone = 0;
        let enough = left.iter().take_while(|size| {
            let is_enough = gone * 2 >= total;
            gone += **size;
            !is_enough
        });
        match enough.count() {
            0 => Err(NothingLeft),
            count => {
                self.left_out += count;
                Ok(())
            }
        }
    }
}

/// All that can be left out is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NothingLeft;

/// The long results, oldest first, but for the newest: the model has not seen those.
fn worth_leaving_out(messages: &mut [Message]) -> Vec<&mut ToolResult> {
    let mut lists: Vec<_> = messages
        .iter_mut()
        .filter_map(|message| match message {
            Message::Results(results) => Some(results),
            Message::User(_) | Message::Assistant(_) => None,
        })
        .collect();
    lists.pop();
    lists.into_iter().flatten().filter(|result| bytes(result) > WORTH_BYTES_MIN).collect()
}

fn bytes(result: &ToolResult) -> usize {
    result.consequence.to_string().len()
}

fn without_result(consequence: &Value) -> Value {
    let mut left = consequence.clone();
    if let Some(fields) = left.as_object_mut() {
        fields.retain(|field, _| field != "result" && field != "error_message");
        fields.insert(
            "left_out".to_owned(),
            json!("you were told before; the conversation has become too long"),
        );
    }
    left
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Context, NothingLeft};
    use crate::model::{Message, ToolResult, Went};

    /// One message of results for each list, each result of as many bytes.
    fn messages(lists: &[&[usize]]) -> Vec<Message> {
        let result = |bytes: &usize| ToolResult {
            call_id: bytes.to_string(),
            consequence: json!({"status": "COMPLETED", "result": "x".repeat(*bytes)}),
            went: Went::Well,
        };
        let results = lists.iter().map(|sizes| Message::Results(sizes.iter().map(result).collect()));
        std::iter::once(Message::User("Hi".to_owned())).chain(results).collect()
    }

    /// Which results are left out.
    fn left_out(context: &Context, lists: &[&[usize]]) -> Vec<String> {
        let messages = context.of(messages(lists));
        assert_eq!(messages.len(), lists.len() + 1);
        let results = messages.into_iter().flat_map(|message| match message {
            Message::Results(results) => results,
            Message::User(_) | Message::Assistant(_) => Vec::new(),
        });
        let left_out = results.filter(|result| {
            assert_eq!(result.consequence["status"], "COMPLETED");
            result.consequence["result"].is_null()
        });
        left_out.map(|result| result.call_id).collect()
    }

    #[test]
    fn the_oldest_half_of_the_results_is_left_out_until_only_the_newest_are_there() {
        let lists: &[&[usize]] = &[&[1000, 7, 1001], &[1002], &[3000, 1003], &[9000, 9001]];
        let mut context = Context::default();
        let mut seen = Vec::new();
        while context.tighten(messages(lists)) == Ok(()) {
            seen.push(left_out(&context, lists));
        }
        assert_eq!(
            seen,
            [vec!["1000", "1001", "1002", "3000"], vec!["1000", "1001", "1002", "3000", "1003"],]
        );
        assert_eq!(context.tighten(messages(lists)), Err(NothingLeft));
    }

    #[test]
    fn a_conversation_without_results_cannot_be_shorter() {
        assert_eq!(Context::default().tighten(messages(&[&[9000]])), Err(NothingLeft));
        assert_eq!(Context::default().tighten(messages(&[])), Err(NothingLeft));
    }
}
