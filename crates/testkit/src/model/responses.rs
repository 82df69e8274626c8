//! OpenAI: `POST /v1/responses`.

use serde_json::{Value, json};

use super::answer::{Answer, Frame};
use super::chat;
use super::conversation::{Conversation, Piece, Tool, items, string, text_of};
use super::wire::Wire;

pub(crate) const WIRE: Wire =
    Wire { name: "responses", read, frames, whole, error: chat::error, too_long: chat::too_long };

fn read(body: &Value) -> Conversation {
    let pieces = match &body["input"] {
        Value::String(prompt) => vec![Piece::User(prompt.clone())],
        _ => items(body, "input").filter_map(piece).collect(),
    };
    Conversation {
        model: string(body, "model"),
        system: text_of(&body["instructions"]),
        pieces,
        tools: items(body, "tools").flat_map(tools).collect(),
        stream: body["stream"] == true,
    }
}

fn piece(item: &Value) -> Option<Piece> {
    match item["type"].as_str().unwrap_or("message") {
        "message" if item["role"] == "assistant" => Some(Piece::Text(text_of(&item["content"]))),
        "message" if item["role"] == "user" => Some(Piece::User(text_of(&item["content"]))),
        "function_call" | "custom_tool_call" => Some(Piece::Call(string(item, "name"))),
        "function_call_output" | "custom_tool_call_output" => Some(Piece::Result(text_of(&item["output"]))),
        // Developer messages, reasoning, and whatever is invented next: nobody answers those.
        _ => None,
    }
}

/// A tool, or the tools of a namespace, which is how the tools of an MCP server are offered.
fn tools(tool: &Value) -> Vec<Tool> {
    if tool["type"] != "namespace" {
        return vec![Tool { name: string(tool, "name"), namespace: None }];
    }
    let namespace = string(tool, "name");
    let inner = items(tool, "tools").map(|tool| string(tool, "name"));
    inner.map(|name| Tool { name, namespace: Some(namespace.clone()) }).collect()
}

fn frames(answer: &Answer) -> Vec<Frame> {
    let response = whole(answer);
    let mut begun = response.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut frames = vec![Frame::named(&json!({"type": "response.created", "response": begun}))];
    for (index, item) in output(answer).into_iter().enumerate() {
        let mut opened = item.clone();
        opened["status"] = json!("in_progress");
        if item["type"] == "message" {
            opened["content"] = json!([]);
        }
        frames.push(at("response.output_item.added", index, "item", opened));
        frames.extend(deltas(index, &item, answer));
        frames.push(at("response.output_item.done", index, "item", item));
    }
    frames.push(Frame::named(&json!({"type": "response.completed", "response": response})));
    frames
}

fn at(kind: &str, index: usize, key: &str, value: Value) -> Frame {
    Frame::named(&json!({"type": kind, "output_index": index, key: value}))
}

fn deltas(index: usize, item: &Value, answer: &Answer) -> Vec<Frame> {
    let event = |kind: &str, key: &str, value: &Value| {
        let mut event = json!({"type": kind, "output_index": index, "item_id": item["id"]});
        event[if item["type"] == "reasoning" { "summary_index" } else { "content_index" }] = json!(0);
        event[key] = value.clone();
        Frame::named(&event)
    };
    match item["type"].as_str() {
        Some("reasoning") => {
            let part = &item["summary"][0];
            vec![
                event(
                    "response.reasoning_summary_part.added",
                    "part",
                    &json!({"type": "summary_text", "text": ""}),
                ),
                event("response.reasoning_summary_text.delta", "delta", &part["text"]),
                event("response.reasoning_summary_text.done", "text", &part["text"]),
                event("response.reasoning_summary_part.done", "part", part),
            ]
        }
        Some("message") => {
            let part = &item["content"][0];
            let empty = json!({"type": "output_text", "text": "", "annotations": []});
            let spoken = answer.text.iter();
            let spoken =
                spoken.map(|text| event("response.output_text.delta", "delta", &json!(text)).spoken());
            std::iter::once(event("response.content_part.added", "part", &empty))
                .chain(spoken)
                .chain([event("response.output_text.done", "text", &part["text"])])
                .chain([event("response.content_part.done", "part", part)])
                .collect()
        }
        _ => vec![
            event("response.function_call_arguments.delta", "delta", &item["arguments"]),
            event("response.function_call_arguments.done", "arguments", &item["arguments"]),
        ],
    }
}

fn whole(answer: &Answer) -> Value {
    let usage = answer.usage;
    json!({
        "id": format!("resp_{}", answer.id),
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": answer.model,
        "output": output(answer),
        "usage": {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.input_tokens + usage.output_tokens,
        },
    })
}

fn output(answer: &Answer) -> Vec<Value> {
    let reasoning = answer.reasoning.iter().map(|text| {
        let summary = json!([{"type": "summary_text", "text": text}]);
        json!({"type": "reasoning", "id": format!("rs_{}", answer.id), "summary": summary})
    });
    let message = (!answer.text.is_empty()).then(|| {
        json!({
            "type": "message",
            "id": format!("msg_{}", answer.id),
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": answer.whole_text(), "annotations": []}],
        })
    });
    let calls = answer.calls.iter().map(|call| {
        let mut item = json!({
            "type": "function_call",
            "id": format!("fc_{}", call.id),
            "call_id": call.id,
            "status": "completed",
            "name": call.tool.name,
            "arguments": call.arguments.to_string(),
        });
        if let Some(namespace) = &call.tool.namespace {
            item["namespace"] = json!(namespace);
        }
        item
    });
    reasoning.chain(message).chain(calls).collect()
}
