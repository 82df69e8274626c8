//! Anthropic: `POST /v1/messages`.

use serde_json::{Value, json};

use super::answer::{Answer, AnswerCall, Frame};
use super::conversation::{Conversation, Piece, Tool, items, string, text_of};
use super::wire::Wire;

pub(crate) const WIRE: Wire = Wire { name: "anthropic", read, frames, whole, error, too_long };

fn read(body: &Value) -> Conversation {
    Conversation {
        model: string(body, "model"),
        system: text_of(&body["system"]),
        pieces: items(body, "messages").flat_map(pieces).collect(),
        tools: items(body, "tools")
            .map(|tool| Tool { name: string(tool, "name"), namespace: None })
            .collect(),
        stream: body["stream"] == true,
    }
}

fn pieces(message: &Value) -> Vec<Piece> {
    let said = match message["role"].as_str() {
        Some("user") => Piece::User,
        Some("assistant") => Piece::Text,
        // Claude Code lists its agents and skills in messages of the role `system`.
        _ => return Vec::new(),
    };
    match &message["content"] {
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| match block["type"].as_str()? {
                "text" => Some(said(string(block, "text"))),
                "tool_use" => Some(Piece::Call(string(block, "name"))),
                "tool_result" => Some(Piece::Result(text_of(&block["content"]))),
                _ => None,
            })
            .collect(),
        content => vec![said(text_of(content))],
    }
}

/// Opens a block, streams into it, closes it.
fn block(index: usize, start: &Value, deltas: Vec<Frame>) -> Vec<Frame> {
    let start = json!({"type": "content_block_start", "index": index, "content_block": start});
    let stop = json!({"type": "content_block_stop", "index": index});
    [vec![Frame::named(&start)], deltas, vec![Frame::named(&stop)]].concat()
}

fn frames(answer: &Answer) -> Vec<Frame> {
    let mut message = whole(answer);
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    message["usage"]["output_tokens"] = json!(0);
    let mut frames = vec![Frame::named(&json!({"type": "message_start", "message": message}))];
    for (index, content) in content(answer).iter().enumerate() {
        let delta = |delta: Value| {
            Frame::named(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
        };
        frames.extend(match content["type"].as_str() {
            Some("thinking") => {
                let thinking = delta(json!({"type": "thinking_delta", "thinking": content["thinking"]}));
                let signature = delta(json!({"type": "signature_delta", "signature": content["signature"]}));
                let empty = json!({"type": "thinking", "thinking": "", "signature": ""});
                block(index, &empty, vec![thinking, signature])
            }
            Some("tool_use") => {
                let mut empty = content.clone();
                empty["input"] = json!({});
                let call = answer.calls.iter().find(|call| content["id"] == call.id);
                let pieces = call.into_iter().flat_map(AnswerCall::pieces);
                let pieces =
                    pieces.map(|piece| delta(json!({"type": "input_json_delta", "partial_json": piece})));
                block(index, &empty, pieces.collect())
            }
            _ => {
                let spoken = answer.text.iter();
                let spoken = spoken.map(|text| delta(json!({"type": "text_delta", "text": text})).spoken());
                block(index, &json!({"type": "text", "text": ""}), spoken.collect())
            }
        });
    }
    frames.push(Frame::named(&json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(answer), "stop_sequence": null},
        "usage": {"output_tokens": answer.usage.output_tokens},
    })));
    frames.push(Frame::named(&json!({"type": "message_stop"})));
    frames
}

fn whole(answer: &Answer) -> Value {
    json!({
        "id": format!("msg_{}", answer.id),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content(answer),
        "stop_reason": stop_reason(answer),
        "stop_sequence": null,
        "usage": {
            "input_tokens": answer.usage.input_tokens,
            "output_tokens": answer.usage.output_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    })
}

fn content(answer: &Answer) -> Vec<Value> {
    let thinking = answer.reasoning.iter();
    let thinking =
        thinking.map(|text| json!({"type": "thinking", "thinking": text, "signature": "scripted"}));
    // An empty text block is refused by the real API, so it is not sent either.
    let text = (!answer.text.is_empty()).then(|| json!({"type": "text", "text": answer.whole_text()}));
    let calls = answer.calls.iter();
    let calls = calls.map(
        |call| json!({"type": "tool_use", "id": call.id, "name": call.tool.name, "input": call.arguments}),
    );
    thinking.chain(text).chain(calls).collect()
}

fn stop_reason(answer: &Answer) -> &'static str {
    if answer.calls.is_empty() { "end_turn" } else { "tool_use" }
}

fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

fn too_long() -> Value {
    error(400, "prompt is too long: 205000 tokens > 200000 maximum")
}
