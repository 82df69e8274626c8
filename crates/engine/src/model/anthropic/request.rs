//! A conversation in the words of Anthropic's messages.

use serde_json::{Value, json};

use crate::model::conversation::{Conversation, Message, Said, ToolOffer, ToolResult, ToolUse, Went};
use crate::model::options::{ModelOptions, OUTPUT_TOKENS_DEFAULT};

pub(super) fn body(conversation: &Conversation, options: &ModelOptions) -> Value {
    let Conversation { system, messages, tools } = conversation;
    let mut body = json!({
        "model": options.model,
        "max_tokens": options.output_tokens_max.unwrap_or(OUTPUT_TOKENS_DEFAULT),
        "messages": messages.iter().map(message).collect::<Vec<_>>(),
        "stream": true,
    });
    if !system.is_empty() {
        body["system"] = json!(system);
    }
    if !tools.is_empty() {
        body["tools"] = tools.iter().map(offer).collect();
    }
    body
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Assistant(said) => json!({"role": "assistant", "content": content(said)}),
        Message::Results(results) => {
            json!({"role": "user", "content": results.iter().map(result).collect::<Vec<_>>()})
        }
    }
}

/// What the model said, as it said it if that was on this wire: thoughts are only taken back with their signature.
fn content(said: &Said) -> Vec<Value> {
    match said.raw["content"].as_array() {
        Some(blocks) => blocks.iter().map(|block| sendable(block.clone())).collect(),
        None => {
            // An empty text is refused, also one of spaces.
            let text = (!said.text.trim().is_empty()).then(|| json!({"type": "text", "text": said.text}));
            text.into_iter().chain(said.calls.iter().map(call)).collect()
        }
    }
}

fn call(call: &ToolUse) -> Value {
    sendable(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}))
}

/// A block that is taken back: the input of a call has to be an object, whatever the model made of it.
fn sendable(mut block: Value) -> Value {
    if block["type"] == "tool_use" && !block["input"].is_object() {
        block["input"] = json!({});
    }
    block
}

fn result(result: &ToolResult) -> Value {
    let mut block = json!({
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": result.consequence.to_string(),
    });
    match result.went {
        Went::Well => {}
        Went::Wrong => block["is_error"] = json!(true),
    }
    block
}

fn offer(tool: &ToolOffer) -> Value {
    let ToolOffer { name, description, input_schema } = tool;
    json!({"name": name, "description": description, "input_schema": input_schema})
}
