//! OpenAI's chat completions: `POST /chat/completions`, as spoken by most servers, each a little differently.

mod request;

use adjourn_core::Usage;
use serde_json::{Map, Value, json};

use super::conversation::ToolUse;
use super::fold::{TooMuch, append, arguments, check_arguments, check_calls, merge};
use super::reply::{Delta, Reply, Stop};
use super::wire::{Bad, StreamReader, Wire, event, items, number, string};

pub(super) const WIRE: Wire = Wire {
    path: "/chat/completions",
    models: "/models",
    authorize: |request, key| match key {
        Some(key) => request.bearer_auth(key),
        None => request,
    },
    body: request::body,
    reader: || Box::<Reader>::default(),
    reply,
};

/// What ends a stream, in place of JSON.
const DONE: &str = "[DONE]";

/// The chunks so far, as the completion that they add up to.
#[derive(Debug, Default)]
struct Reader {
    /// All but the choices.
    envelope: Map<String, Value>,
    message: Map<String, Value>,
    calls: Vec<Map<String, Value>>,
    finish_reason: Value,
    done: bool,
}

impl StreamReader for Reader {
    fn take(&mut self, data: &str) -> Result<Option<Delta>, Bad> {
        if data.trim() == DONE {
            self.done = true;
            return Ok(None);
        }
        let Value::Object(mut chunk) = event(data)? else {
            return Err(Bad::Nonsense("an event of the stream is not an object".to_owned()));
        };
        let choices = chunk.remove("choices").unwrap_or_default();
        merge(&mut self.envelope, &chunk);
        // Only one is asked for; some servers number it from 1.
        let Some(choice) = choices.get(0) else { return Ok(None) };
        if !choice["finish_reason"].is_null() {
            self.finish_reason = choice["finish_reason"].clone();
        }
        let Some(delta) = choice["delta"].as_object() else { return Ok(None) };
        let mut delta = delta.clone();
        if let Some(Value::Array(calls)) = delta.remove("tool_calls") {
            calls.iter().try_for_each(|call| self.take_call(call))?;
        }
        merge(&mut self.message, &delta);
        let delta = Value::Object(delta);
        Ok(match (delta["content"].as_str(), reasoning(&delta)) {
            (Some(text), _) if !text.is_empty() => Some(Delta::Text(text.to_owned())),
            (_, Some(text)) if !text.is_empty() => Some(Delta::Reasoning(text.to_owned())),
            _ => None,
        })
    }

    fn is_complete(&self) -> bool {
        self.done || !self.finish_reason.is_null()
    }

    fn whole(self: Box<Self>) -> Value {
        let Self { mut envelope, mut message, calls, finish_reason, done: _ } = *self;
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), calls.into_iter().map(Value::from).collect());
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason});
        envelope.insert("choices".to_owned(), json!([choice]));
        Value::Object(envelope)
    }
}

impl Reader {
    fn take_call(&mut self, piece: &Value) -> Result<(), TooMuch> {
        let Some(piece) = piece.as_object() else { return Ok(()) };
        let at = self.place_of(piece);
        if at == self.calls.len() {
            check_calls(at + 1)?;
            self.calls.push(Map::new());
        }
        let call = &mut self.calls[at];
        let mut piece = piece.clone();
        let mut function = match piece.remove("function") {
            Some(Value::Object(function)) => function,
            _ => Map::new(),
        };
        merge(call, &piece);
        let whole = call.entry("function").or_insert_with(|| Map::new().into());
        let Value::Object(whole) = whole else { return Ok(()) };
        match function.remove("arguments") {
            Some(Value::String(piece)) => append(whole, "arguments", &piece),
            // Not in pieces, and not as text: what some servers make of a format that asks for it.
            Some(object @ Value::Object(_)) => append(whole, "arguments", &object.to_string()),
            _ => {}
        }
        merge(whole, &function);
        let text = whole.get("arguments").and_then(Value::as_str).unwrap_or_default();
        let name = whole.get("name").and_then(Value::as_str).unwrap_or_default();
        check_arguments(text.len(), name)
    }

    /// Which call a piece belongs to, or the place after the last for a new one.
    ///
    /// Not only by its number: some servers leave it out, and some give every call of a reply the same one.
    fn place_of(&self, piece: &Map<String, Value>) -> usize {
        fn id(call: &Map<String, Value>) -> &str {
            call.get("id").and_then(Value::as_str).unwrap_or_default()
        }
        let (index, new) = (piece.get("index"), id(piece));
        let goes_on = |call: &Map<String, Value>| {
            let same_index = index.is_none_or(|index| call.get("index") == Some(index));
            same_index && (new.is_empty() || id(call).is_empty() || id(call) == new)
        };
        self.calls.iter().rposition(goes_on).unwrap_or(self.calls.len())
    }
}

/// What is shown of the thinking: not OpenAI's own, but what two families of compatible servers call it.
fn reasoning(message: &Value) -> Option<&str> {
    message["reasoning_content"].as_str().or_else(|| message["reasoning"].as_str())
}

fn reply(whole: Value) -> Result<Reply, String> {
    let choice = &whole["choices"][0];
    let message = &choice["message"];
    if !message.is_object() {
        return Err("there is no message in it".to_owned());
    }
    let calls: Vec<_> = items(message, "tool_calls").enumerate().map(call).collect();
    check_calls(calls.len()).map_err(|TooMuch(problem)| problem)?;
    let stop = match choice["finish_reason"].as_str().unwrap_or_default() {
        "stop" | "tool_calls" | "function_call" if !calls.is_empty() => Stop::Calls,
        "stop" | "eos" => Stop::Finished,
        "length" => Stop::Length,
        "content_filter" => Stop::Refused,
        other => Stop::Other(other.to_owned()),
    };
    let refusal = message["refusal"].as_str().filter(|refusal| !refusal.is_empty());
    let text = text(&message["content"]);
    Ok(Reply {
        text: if text.is_empty() { refusal.unwrap_or_default().to_owned() } else { text },
        reasoning: reasoning(message).unwrap_or_default().to_owned(),
        calls,
        stop: if refusal.is_some() { Stop::Refused } else { stop },
        usage: usage(&whole["usage"]),
        raw: whole,
    })
}

/// The text of a content, which some servers send in parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| string(part, "text")).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

fn call((index, call): (usize, &Value)) -> ToolUse {
    let function = &call["function"];
    let arguments = match &function["arguments"] {
        Value::String(text) => arguments(text),
        Value::Null => json!({}),
        other => other.clone(),
    };
    // The answer to a call has to name it, also where the server did not.
    let id = match string(call, "id") {
        id if id.is_empty() => format!("call_{index}"),
        id => id,
    };
    ToolUse { id, name: string(function, "name"), arguments }
}

fn usage(usage: &Value) -> Option<Usage> {
    usage.is_object().then(|| Usage {
        input_tokens: number(usage, "prompt_tokens"),
        output_tokens: number(usage, "completion_tokens"),
        // Not OpenAI's own; routers that know what they charge say it here.
        cost_usd: usage["cost"].as_f64(),
    })
}

#[cfg(test)]
mod tests;
