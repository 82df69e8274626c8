//! OpenAI-compatible: `POST /v1/chat/completions`.

use serde_json::{Value, json};

use super::answer::{Answer, Frame};
use super::conversation::{Conversation, Piece, Tool, items, string, text_of};
use super::wire::Wire;

pub(crate) const WIRE: Wire = Wire { name: "chat", read, frames, whole, error, too_long };

fn read(body: &Value) -> Conversation {
    let is_system = |message: &&Value| message["role"] == "system" || message["role"] == "developer";
    let system = items(body, "messages").filter(is_system).map(|message| text_of(&message["content"]));
    let tools = items(body, "tools").map(|tool| string(&tool["function"], "name"));
    Conversation {
        model: string(body, "model"),
        system: system.collect::<Vec<_>>().join("\n"),
        pieces: items(body, "messages").flat_map(pieces).collect(),
        tools: tools.map(|name| Tool { name, namespace: None }).collect(),
        stream: body["stream"] == true,
    }
}

fn pieces(message: &Value) -> Vec<Piece> {
    let text = text_of(&message["content"]);
    match message["role"].as_str() {
        Some("user") => vec![Piece::User(text)],
        Some("tool") => vec![Piece::Result(text)],
        Some("assistant") => {
            let calls = items(message, "tool_calls").map(|call| string(&call["function"], "name"));
            std::iter::once(Piece::Text(text)).chain(calls.map(Piece::Call)).collect()
        }
        _ => Vec::new(),
    }
}

fn frames(answer: &Answer) -> Vec<Frame> {
    let chunk = |delta: Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        Frame::data(envelope(answer, "chat.completion.chunk", &json!([choice])))
    };
    let mut frames = vec![chunk(json!({"role": "assistant", "content": ""}), None)];
    // Not in OpenAI's own format, but what compatible servers with a reasoning model send.
    frames.extend(answer.reasoning.iter().map(|text| chunk(json!({"reasoning_content": text}), None)));
    frames.extend(answer.text.iter().map(|text| chunk(json!({"content": text}), None).spoken()));
    for (index, call) in answer.calls.iter().enumerate() {
        let function = json!({"name": call.tool.name, "arguments": ""});
        let first = json!({"index": index, "id": call.id, "type": "function", "function": function});
        let rest = call.pieces().map(|piece| json!({"index": index, "function": {"arguments": piece}}));
        let pieces = std::iter::once(first).chain(rest);
        frames.extend(pieces.map(|piece| chunk(json!({"tool_calls": [piece]}), None)));
    }
    frames.push(chunk(json!({}), Some(finish_reason(answer))));
    let mut last = envelope(answer, "chat.completion.chunk", &json!([]));
    last["usage"] = usage(answer);
    frames.push(Frame::data(last));
    frames.push(Frame::data("[DONE]"));
    frames
}

fn whole(answer: &Answer) -> Value {
    let mut message = json!({"role": "assistant", "content": answer.whole_text()});
    if let Some(reasoning) = &answer.reasoning {
        message["reasoning_content"] = json!(reasoning);
    }
    if !answer.calls.is_empty() {
        message["tool_calls"] = json!(calls(answer));
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason(answer)});
    let mut whole = envelope(answer, "chat.completion", &json!([choice]));
    whole["usage"] = usage(answer);
    whole
}

fn envelope(answer: &Answer, object: &str, choices: &Value) -> Value {
    json!({
        "id": format!("chatcmpl-{}", answer.id),
        "object": object,
        "created": 0,
        "model": answer.model,
        "choices": choices,
    })
}

fn calls(answer: &Answer) -> Vec<Value> {
    let calls = answer.calls.iter().map(|call| {
        let function = json!({"name": call.tool.name, "arguments": call.arguments.to_string()});
        json!({"id": call.id, "type": "function", "function": function})
    });
    calls.collect()
}

fn finish_reason(answer: &Answer) -> &'static str {
    if answer.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn usage(answer: &Answer) -> Value {
    let usage = answer.usage;
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
    })
}

/// The errors of OpenAI, in both of its formats.
pub(crate) fn error(status: u16, message: &str) -> Value {
    let (kind, code) = match status {
        400 => ("invalid_request_error", "invalid_request"),
        401 => ("invalid_request_error", "invalid_api_key"),
        429 => ("rate_limit_error", "rate_limit_exceeded"),
        _ => ("server_error", "server_error"),
    };
    json!({"error": {"message": message, "type": kind, "code": code, "param": null}})
}

pub(crate) fn too_long() -> Value {
    let mut error = error(400, "This model's maximum context length is 8192 tokens, your messages have 9000");
    error["error"]["code"] = json!("context_length_exceeded");
    error
}
