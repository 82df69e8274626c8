//! Fuzzing of what model servers answer.

use serde_json::Value;

use super::options::Api;
use super::refusal::Refusal;
use super::wire::{Bad, Wire};
use crate::sse::SseReader;

/// Reads a streamed reply in both wire formats.
pub fn model_stream(bytes: &[u8]) {
    for api in [Api::Openai, Api::Anthropic] {
        let wire = Wire::of(api);
        let mut reader = (wire.reader)();
        let mut events = SseReader::default();
        let mut read: Vec<_> =
            bytes.chunks(64).map_while(|chunk| events.push(chunk).ok()).flatten().collect();
        read.extend(events.finish());
        // After an event that is wrong, the rest is not read.
        let wrong = read.iter().find_map(|event| reader.take(&event.data).err());
        match wrong {
            Some(Bad::Error(event)) => {
                Refusal::of_event(&event, "model");
            }
            Some(Bad::Nonsense(_) | Bad::TooMuch(_)) => {}
            None => {
                let _ = (wire.reply)(reader.whole());
            }
        }
    }
}

/// Reads a reply in one piece in both wire formats, and the body of a refusal.
pub fn model_whole(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for status in [400, 404, 429, 500] {
        Refusal::of_status(status, &text, "model");
    }
    let Ok(whole) = serde_json::from_slice::<Value>(bytes) else { return };
    for api in [Api::Openai, Api::Anthropic] {
        let _ = (Wire::of(api).reply)(whole.clone());
    }
}
