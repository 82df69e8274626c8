//! Gemini: `POST /v1beta/models/{model}:streamGenerateContent`, and `:generateContent`.
//!
//! The model and whether to stream are in the path, so the server adds both to what is read here.

use serde_json::{Value, json};

use super::answer::{Answer, Frame};
use super::conversation::{Conversation, Piece, Tool, items, string, text_of};
use super::wire::Wire;

pub(crate) const WIRE: Wire = Wire { name: "gemini", read, frames, whole, error, too_long };

fn read(body: &Value) -> Conversation {
    let declared = items(body, "tools").flat_map(|tool| items(tool, "functionDeclarations"));
    Conversation {
        model: String::new(),
        system: text_of(&body["systemInstruction"]["parts"]),
        pieces: items(body, "contents").flat_map(pieces).collect(),
        tools: declared.map(|tool| Tool { name: string(tool, "name"), namespace: None }).collect(),
        stream: false,
    }
}

fn pieces(content: &Value) -> Vec<Piece> {
    let by_model = content["role"] == "model";
    let piece = |part: &Value| {
        if part["functionCall"].is_object() {
            return Some(Piece::Call(string(&part["functionCall"], "name")));
        }
        if part["functionResponse"].is_object() {
            return Some(Piece::Result(part["functionResponse"]["response"].to_string()));
        }
        let text = part["text"].as_str().filter(|_| part["thought"] != true)?.to_owned();
        Some(if by_model { Piece::Text(text) } else { Piece::User(text) })
    };
    items(content, "parts").filter_map(piece).collect()
}

fn frames(answer: &Answer) -> Vec<Frame> {
    let thought = answer.reasoning.iter().map(|text| Frame::data(chunk(answer, vec![thought(text)])));
    let spoken = answer.text.iter();
    let spoken = spoken.map(|text| Frame::data(chunk(answer, vec![json!({"text": text})])).spoken());
    let mut end = chunk(answer, calls(answer));
    end["candidates"][0]["finishReason"] = json!("STOP");
    thought.chain(spoken).chain([Frame::data(end)]).collect()
}

fn whole(answer: &Answer) -> Value {
    let thought = answer.reasoning.iter().map(|text| thought(text));
    let text = (!answer.text.is_empty()).then(|| json!({"text": answer.whole_text()}));
    let mut whole = chunk(answer, thought.chain(text).chain(calls(answer)).collect());
    whole["candidates"][0]["finishReason"] = json!("STOP");
    whole
}

fn thought(text: &str) -> Value {
    json!({"text": text, "thought": true})
}

fn calls(answer: &Answer) -> Vec<Value> {
    let calls = answer.calls.iter();
    let calls = calls.map(|call| json!({"id": call.id, "name": call.tool.name, "args": call.arguments}));
    calls.map(|call| json!({"functionCall": call})).collect()
}

fn chunk(answer: &Answer, parts: Vec<Value>) -> Value {
    let usage = answer.usage;
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": usage.input_tokens,
            "candidatesTokenCount": usage.output_tokens,
            "totalTokenCount": usage.input_tokens + usage.output_tokens,
        },
        "modelVersion": answer.model,
        "responseId": answer.id,
    })
}

fn error(status: u16, message: &str) -> Value {
    let name = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    json!({"error": {"code": status, "message": message, "status": name}})
}

fn too_long() -> Value {
    error(400, "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).")
}
