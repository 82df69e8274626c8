//! Events as Anthropic sends them, and as newer versions may.

use adjourn_core::Usage;
use serde_json::{Value, json};

use super::{BLOCKS_MAX, WIRE};
use crate::model::conversation::{Conversation, Message, Said, ToolUse};
use crate::model::reply::{Delta, Reply, Stop};
use crate::model::wire::Bad;
use crate::model::{ARGUMENTS_BYTES_MAX, Api, CALLS_MAX, ModelOptions};

fn start(index: usize, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: usize, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn tool(index: usize) -> Value {
    start(index, json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": "f", "input": {}}))
}

fn json_delta(index: usize, piece: &str) -> Value {
    delta(index, json!({"type": "input_json_delta", "partial_json": piece}))
}

fn read(events: &[Value]) -> (Vec<Delta>, Reply) {
    let mut reader = (WIRE.reader)();
    let shown = events.iter().filter_map(|event| reader.take(&event.to_string()).unwrap()).collect();
    assert!(reader.is_complete());
    (shown, (WIRE.reply)(reader.whole()).unwrap())
}

#[test]
fn events_add_up_to_the_message_they_stand_for() {
    let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 40, "output_tokens": 1});
    let message = json!({"id": "m", "type": "message", "role": "assistant", "content": [], "stop_reason": null, "usage": usage});
    let (shown, reply) = read(&[
        json!({"type": "message_start", "message": message}),
        json!({"type": "ping"}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Hm"})),
        delta(0, json!({"type": "signature_delta", "signature": "sig"})),
        json!({"type": "content_block_stop", "index": 0}),
        start(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "Grü"})),
        delta(1, json!({"type": "text_delta", "text": "ezi"})),
        start(2, json!({"type": "newer_than_this", "x": 1})),
        delta(2, json!({"type": "newer_delta", "y": "a"})),
        tool(3),
        json_delta(3, "{\"n\""),
        tool(4),
        json_delta(3, ":1}"),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]);
    assert_eq!(shown, [Delta::Reasoning("Hm".into()), Delta::Text("Grü".into()), Delta::Text("ezi".into())]);
    let content = json!([
        {"type": "thinking", "thinking": "Hm", "signature": "sig"},
        {"type": "text", "text": "Grüezi"},
        {"type": "newer_than_this", "x": 1, "y": "a"},
        {"type": "tool_use", "id": "toolu_3", "name": "f", "input": {"n": 1}},
        {"type": "tool_use", "id": "toolu_4", "name": "f", "input": {}},
    ]);
    let call = |id: &str, arguments| ToolUse { id: id.to_owned(), name: "f".to_owned(), arguments };
    assert_eq!(
        reply,
        Reply {
            text: "Grüezi".to_owned(),
            reasoning: "Hm".to_owned(),
            calls: vec![call("toolu_3", json!({"n": 1})), call("toolu_4", json!({}))],
            stop: Stop::Calls,
            usage: Some(Usage { input_tokens: 43, output_tokens: 9, cost_usd: None }),
            raw: json!({
                "id": "m", "type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use",
                "usage": {"input_tokens": 3, "cache_read_input_tokens": 40, "output_tokens": 9},
            }),
        }
    );
}

#[test]
fn what_the_model_said_is_sent_back_as_it_was_with_its_signature() {
    let blocks = json!([
        {"type": "thinking", "thinking": "Hm", "signature": "sig"},
        {"type": "tool_use", "id": "a", "name": "f", "input": "{\"n\": "},
    ]);
    let said = Said { raw: json!({"content": blocks}), ..Said::default() };
    let elsewhere = Said {
        text: "From another wire.".to_owned(),
        calls: vec![ToolUse { id: "b".to_owned(), name: "f".to_owned(), arguments: json!({"n": 1}) }],
        raw: json!({"choices": []}),
    };
    let messages = vec![Message::Assistant(said), Message::Assistant(elsewhere)];
    let conversation = Conversation { messages, ..Conversation::default() };
    let body = (WIRE.body)(&conversation, &ModelOptions::new(Api::Anthropic, "", "m"));
    assert_eq!(
        body["messages"],
        json!([
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm", "signature": "sig"},
                {"type": "tool_use", "id": "a", "name": "f", "input": {}},
            ]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "From another wire."},
                {"type": "tool_use", "id": "b", "name": "f", "input": {"n": 1}},
            ]},
        ])
    );
}

#[test]
fn too_many_calls_and_too_long_arguments_are_refused_while_they_come() {
    let mut reader = (WIRE.reader)();
    let mut taken = (0..).map(|index| reader.take(&tool(index).to_string()));
    assert_eq!(taken.by_ref().take(CALLS_MAX).filter(Result::is_ok).count(), CALLS_MAX);
    assert!(matches!(taken.next(), Some(Err(Bad::TooMuch(_)))));

    let mut reader = (WIRE.reader)();
    let piece = json_delta(0, &"x".repeat(ARGUMENTS_BYTES_MAX / 2)).to_string();
    assert!(reader.take(&piece).is_ok() && reader.take(&piece).is_ok());
    assert!(matches!(reader.take(&piece), Err(Bad::TooMuch(_))));
}

#[test]
fn nonsense_is_told_from_an_error_and_from_what_is_merely_odd() {
    let mut reader = (WIRE.reader)();
    assert!(matches!(reader.take("{no"), Err(Bad::Nonsense(_))));
    let far = delta(BLOCKS_MAX, json!({"type": "text_delta", "text": "x"}));
    assert!(matches!(reader.take(&far.to_string()), Err(Bad::Nonsense(_))));
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    assert!(matches!(reader.take(&error.to_string()), Err(Bad::Error(_))));
    for odd in ["{}", "3", r#"{"type": "new"}"#, r#"{"type": "message_start"}"#] {
        assert_eq!(reader.take(odd), Ok(None), "{odd}");
    }
    assert!(!reader.is_complete());
    assert!((WIRE.reply)(json!({"type": "message"})).is_err());
}

#[test]
fn counts_of_tokens_that_are_nonsense_are_added_without_overflow() {
    let usage = json!({"input_tokens": u64::MAX, "cache_read_input_tokens": 1, "output_tokens": u64::MAX});
    let reply = (WIRE.reply)(json!({"content": [], "usage": usage})).unwrap();
    let expected = Usage { input_tokens: u64::MAX, output_tokens: u64::MAX, cost_usd: None };
    assert_eq!(reply.usage, Some(expected));
}
