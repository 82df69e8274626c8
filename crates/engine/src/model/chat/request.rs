//! A conversation in the words of chat completions.

use serde_json::{Value, json};

use crate::model::conversation::{Conversation, Message, Said, ToolOffer, ToolResult, ToolUse};
use crate::model::options::ModelOptions;

pub(super) fn body(conversation: &Conversation, options: &ModelOptions) -> Value {
    let Conversation { system, messages, tools } = conversation;
    let system = (!system.is_empty()).then(|| json!({"role": "system", "content": system}));
    let messages: Vec<_> = system.into_iter().chain(messages.iter().flat_map(message)).collect();
    let mut body = json!({
        "model": options.model,
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    if !tools.is_empty() {
        body["tools"] = tools.iter().map(offer).collect();
    }
    if let Some(max) = options.output_tokens_max {
        body["max_tokens"] = json!(max);
    }
    body
}

fn message(message: &Message) -> Vec<Value> {
    match message {
        Message::User(text) => vec![json!({"role": "user", "content": text})],
        Message::Assistant(said) => vec![assistant(said)],
        Message::Results(results) => results.iter().map(result).collect(),
    }
}

/// Not what the server sent: compatible servers refuse fields that they themselves sent, reasoning first of all.
fn assistant(said: &Said) -> Value {
    let mut message = json!({"role": "assistant", "content": said.text});
    if !said.calls.is_empty() {
        message["tool_calls"] = said.calls.iter().map(call).collect();
    }
    message
}

fn call(call: &ToolUse) -> Value {
    // As it was said, also if that was no JSON: the model is told what is wrong with it, and should see it.
    let arguments = match &call.arguments {
        Value::String(text) => text.clone(),
        arguments => arguments.to_string(),
    };
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
}

fn result(result: &ToolResult) -> Value {
    json!({"role": "tool", "tool_call_id": result.call_id, "content": result.consequence.to_string()})
}

fn offer(tool: &ToolOffer) -> Value {
    let ToolOffer { name, description, input_schema } = tool;
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": input_schema}})
}
