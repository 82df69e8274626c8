//! Anthropic's messages: `POST /v1/messages`.

mod request;

use adjourn_core::Usage;
use serde_json::{Map, Value, json};

use super::conversation::ToolUse;
use super::fold::{append, arguments, check_arguments, check_calls, merge};
use super::reply::{Delta, Reply, Stop};
use super::wire::{Bad, StreamReader, Wire, event, items, number, string};

/// The version of the interface that all of this is written for.
const VERSION: &str = "2023-06-01";

pub(super) const WIRE: Wire = Wire {
    path: "/v1/messages",
    models: "/v1/models",
    authorize: |request, key| {
        let request = request.header("anthropic-version", VERSION);
        match key {
            Some(key) => request.header("x-api-key", key),
            None => request,
        }
    },
    body: request::body,
    reader: || Box::<Reader>::default(),
    reply,
};

/// Blocks in one reply. Each is a text, a thought or a call, and there is hardly more than one text between two calls.
const BLOCKS_MAX: usize = 4 * super::limits::CALLS_MAX;

/// The events so far, as the message that they add up to.
#[derive(Debug, Default)]
struct Reader {
    /// All but the content.
    message: Map<String, Value>,
    blocks: Vec<Block>,
    complete: bool,
}

/// A part of the content.
#[derive(Debug, Default)]
struct Block {
    fields: Map<String, Value>,
    /// The text of a call's arguments, as far as it came.
    input: String,
}

impl StreamReader for Reader {
    fn take(&mut self, data: &str) -> Result<Option<Delta>, Bad> {
        let event = event(data)?;
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                if let Some(message) = event["message"].as_object() {
                    merge(&mut self.message, message);
                    self.message.remove("content");
                }
            }
            "content_block_start" => {
                if let Some(fields) = event["content_block"].as_object() {
                    merge(&mut self.block(&event)?.fields, fields);
                }
                let calls = self.blocks.iter().filter(|block| block.is_call()).count();
                check_calls(calls)?;
            }
            "content_block_delta" => return self.block(&event)?.take(&event["delta"]),
            "message_delta" => {
                for part in [&event["delta"], &json!({"usage": event["usage"]})] {
                    merge(&mut self.message, part.as_object().unwrap_or(&Map::new()));
                }
            }
            "message_stop" => self.complete = true,
            // The end of a block, a sign of life, or something newer than this.
            _ => {}
        }
        Ok(None)
    }

    fn is_complete(&self) -> bool {
        self.complete || self.message.get("stop_reason").is_some_and(Value::is_string)
    }

    fn whole(self: Box<Self>) -> Value {
        let Self { mut message, blocks, complete: _ } = *self;
        message.insert("content".to_owned(), blocks.into_iter().map(Block::whole).collect());
        Value::Object(message)
    }
}

impl Reader {
    /// The block that an event is about, a new one where there was none.
    fn block(&mut self, event: &Value) -> Result<&mut Block, Bad> {
        let index = event["index"].as_u64().and_then(|index| usize::try_from(index).ok());
        let Some(index) = index.filter(|index| *index < BLOCKS_MAX) else {
            return Err(Bad::Nonsense(format!("an event of the stream is about block {}", event["index"])));
        };
        if index >= self.blocks.len() {
            self.blocks.resize_with(index + 1, Block::default);
        }
        Ok(&mut self.blocks[index])
    }
}

impl Block {
    fn is_call(&self) -> bool {
        self.fields.get("type").is_some_and(|kind| kind == "tool_use")
    }

    fn take(&mut self, delta: &Value) -> Result<Option<Delta>, Bad> {
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => {
                let text = string(delta, "text");
                append(&mut self.fields, "text", &text);
                Ok(Some(Delta::Text(text)))
            }
            "thinking_delta" => {
                let text = string(delta, "thinking");
                append(&mut self.fields, "thinking", &text);
                Ok(Some(Delta::Reasoning(text)))
            }
            "input_json_delta" => {
                self.input.push_str(delta["partial_json"].as_str().unwrap_or_default());
                let name = self.fields.get("name").and_then(Value::as_str).unwrap_or_default();
                check_arguments(self.input.len(), name)?;
                Ok(None)
            }
            // Signatures, and whatever is newer than this.
            _ => {
                merge(&mut self.fields, delta.as_object().unwrap_or(&Map::new()));
                Ok(None)
            }
        }
    }

    fn whole(self) -> Value {
        let Self { mut fields, input } = self;
        if !input.is_empty() {
            fields.insert("input".to_owned(), arguments(&input));
        }
        Value::Object(fields)
    }
}

fn reply(whole: Value) -> Result<Reply, String> {
    if !whole["content"].is_array() {
        return Err("there is no content in it".to_owned());
    }
    let of_kind = |kind: &'static str| items(&whole, "content").filter(move |block| block["type"] == kind);
    let calls: Vec<_> = of_kind("tool_use").map(call).collect();
    check_calls(calls.len()).map_err(|too_much| too_much.0)?;
    let stop = match whole["stop_reason"].as_str().unwrap_or_default() {
        "end_turn" | "stop_sequence" => Stop::Finished,
        "tool_use" => Stop::Calls,
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Refused,
        other => Stop::Other(other.to_owned()),
    };
    Ok(Reply {
        text: of_kind("text").map(|block| string(block, "text")).collect(),
        reasoning: of_kind("thinking").map(|block| string(block, "thinking")).collect(),
        calls,
        stop,
        usage: usage(&whole["usage"]),
        raw: whole,
    })
}

fn call(block: &Value) -> ToolUse {
    let arguments = match &block["input"] {
        Value::Null => json!({}),
        input => input.clone(),
    };
    ToolUse { id: string(block, "id"), name: string(block, "name"), arguments }
}

/// What was read from the cache or written into it is not part of Anthropic's own count of what was read.
fn usage(usage: &Value) -> Option<Usage> {
    let read = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    usage.is_object().then(|| Usage {
        // The numbers are the server's, and may be anything.
        input_tokens: read.iter().map(|key| number(usage, key)).fold(0, u64::saturating_add),
        output_tokens: number(usage, "output_tokens"),
        cost_usd: None,
    })
}

#[cfg(test)]
mod tests;
