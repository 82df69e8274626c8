//! What a call came to.

use std::time::Duration;

use adjourn_core::check_depth;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use super::limits::{PROBLEM_BYTES_MAX, RESULT_BYTES_MAX, shortened};
use super::unfinished::Unfinished;

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Called {
    /// The tool did it; this is its result.
    Completed(Value),
    /// The tool says that it did not, or the server refused the call.
    Failed(String),
    /// The tool wants to know something first.
    NeedsInput(Unfinished),
    /// Nobody knows whether it was done.
    Lost(Lost),
}

/// Why nobody knows what became of a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// It took longer than it may.
    #[error("there was no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// The server died, or the way to it broke.
    #[error("the tool server was gone before it answered: {0}")]
    ServerGone(String),
    /// It answered, but nothing that the protocol has.
    #[error("the tool server answered nonsense: {0}")]
    Nonsense(String),
    /// The caller did not wait for it.
    #[error("the call was cancelled while it was made")]
    Cancelled,
}

impl Called {
    pub(super) fn of(result: &CallToolResult) -> Self {
        if result.is_error == Some(true) {
            return Self::Failed(problem(result));
        }
        Self::Completed(bounded(value(result)))
    }
}

/// A result as one JSON value: the structured one if there is one, a single text as itself, everything else as it came.
fn value(result: &CallToolResult) -> Value {
    let blocks = || json!(result.content);
    match (&result.structured_content, result.content.as_slice()) {
        // By the protocol, one text repeats a structured result for clients that do not know about those.
        (Some(structured), [] | [ContentBlock::Text(_)]) => structured.clone(),
        (Some(structured), _) => json!({"structured": structured, "content": blocks()}),
        (None, [ContentBlock::Text(text)]) => Value::from(text.text.as_str()),
        (None, _) => blocks(),
    }
}

/// The call was made, so its result counts however long it is: what is too long is cut off, and says so.
fn bounded(value: Value) -> Value {
    // As text, a result that is nested too deep is whole and no deeper than any other.
    let value = if check_depth(&value).is_err() { Value::from(value.to_string()) } else { value };
    let text = value.to_string();
    if text.len() <= RESULT_BYTES_MAX {
        return value;
    }
    let beginning = value.as_str().map_or(text.as_str(), |plain| plain);
    json!({
        "cut_off": format!("the result has {} bytes, this is the beginning", text.len()),
        "beginning": shortened(beginning, RESULT_BYTES_MAX / 2),
    })
}

fn problem(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    match (text.trim(), &result.structured_content) {
        ("", Some(structured)) => shortened(&structured.to_string(), PROBLEM_BYTES_MAX),
        ("", None) => "the tool says that it failed, and not why".to_owned(),
        (text, _) => shortened(text, PROBLEM_BYTES_MAX),
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::CallToolResult;
    use serde_json::{Value, json};

    use super::{Called, RESULT_BYTES_MAX};

    fn called(result: Value) -> Called {
        Called::of(&serde_json::from_value::<CallToolResult>(result).unwrap())
    }

    #[test]
    fn a_result_is_one_value() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let picture = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
        for (result, expected) in [
            (json!({"content": [text("hi")]}), json!("hi")),
            (json!({"content": []}), json!([])),
            (json!({"content": [text("{\"n\":1}")], "structuredContent": {"n": 1}}), json!({"n": 1})),
            (json!({"structuredContent": {"n": 1}}), json!({"n": 1})),
            (json!({"content": [text("a"), picture]}), json!([text("a"), picture])),
            (
                json!({"content": [text("a"), picture], "structuredContent": {"n": 1}}),
                json!({"structured": {"n": 1}, "content": [text("a"), picture]}),
            ),
        ] {
            assert_eq!(called(result.clone()), Called::Completed(expected), "{result}");
        }
    }

    #[test]
    fn a_tool_that_failed_says_why() {
        let failed = |content: Value| called(json!({"isError": true, "content": content}));
        let text = json!({"type": "text", "text": "no such file"});
        assert_eq!(failed(json!([text])), Called::Failed("no such file".to_owned()));
        assert_eq!(failed(json!([])), Called::Failed("the tool says that it failed, and not why".to_owned()));
    }

    #[test]
    fn a_result_that_is_too_long_is_cut_off_but_still_a_result() {
        let text = "é".repeat(RESULT_BYTES_MAX);
        let Called::Completed(result) = called(json!({"content": [{"type": "text", "text": text}]})) else {
            panic!("it was done");
        };
        assert!(result.to_string().len() <= RESULT_BYTES_MAX, "{}", result["cut_off"]);
        assert!(result["beginning"].as_str().unwrap().starts_with("éé"));
    }

    #[test]
    fn a_result_that_is_nested_too_deep_is_kept_as_text() {
        let deep = (0..70).fold(json!({}), |inner, _| json!({ "k": inner }));
        let Called::Completed(result) = called(json!({"structuredContent": deep})) else {
            panic!("it was done");
        };
        assert_eq!(result, Value::from(deep.to_string()));
    }
}
