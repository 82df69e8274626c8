//! What a wire format has to be able to do.

use adjourn_core::check_depth;
use reqwest::RequestBuilder;
use serde_json::Value;

use super::conversation::Conversation;
use super::fold::TooMuch;
use super::options::{Api, ModelOptions};
use super::reply::{Delta, Reply};
use super::{anthropic, chat};

/// A wire format: how a conversation is sent, and how a reply is read.
pub(super) struct Wire {
    /// Where conversations are sent, below the base URL.
    pub(super) path: &'static str,
    /// Where the models are listed.
    pub(super) models: &'static str,
    /// Puts the key where it belongs.
    pub(super) authorize: fn(RequestBuilder, Option<&str>) -> RequestBuilder,
    /// Writes a conversation.
    pub(super) body: fn(&Conversation, &ModelOptions) -> Value,
    /// Begins to read a streamed reply.
    pub(super) reader: fn() -> Box<dyn StreamReader>,
    /// Reads a reply in one piece. The problem is what is missing for it to be one.
    pub(super) reply: fn(Value) -> Result<Reply, String>,
}

impl Wire {
    pub(super) const fn of(api: Api) -> &'static Self {
        match api {
            Api::Openai => &chat::WIRE,
            Api::Anthropic => &anthropic::WIRE,
        }
    }
}

/// Reads the events of a streamed reply.
pub(super) trait StreamReader: Send {
    /// Takes the data of one event, and says what there is to be shown.
    fn take(&mut self, data: &str) -> Result<Option<Delta>, Bad>;

    /// Whether the server said that this was all.
    fn is_complete(&self) -> bool;

    /// The reply as it would have come in one piece.
    fn whole(self: Box<Self>) -> Value;
}

/// What is wrong with an event.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bad {
    /// It cannot be read, and why.
    Nonsense(String),
    /// It makes the reply too large.
    TooMuch(TooMuch),
    /// It is an error of the server, which could not send it as a status any more.
    Error(Value),
}

impl From<TooMuch> for Bad {
    fn from(too_much: TooMuch) -> Self {
        Self::TooMuch(too_much)
    }
}

/// An event's data as JSON; an error if it says that it is one.
pub(super) fn event(data: &str) -> Result<Value, Bad> {
    let event: Value = serde_json::from_str(data)
        .map_err(|error| Bad::Nonsense(format!("an event of the stream is not JSON: {error}")))?;
    check_depth(&event).map_err(|error| Bad::Nonsense(format!("an event of the stream: {error}")))?;
    match event.get("error") {
        None | Some(Value::Null) => Ok(event),
        Some(_) => Err(Bad::Error(event)),
    }
}

/// The number at `key`.
pub(super) fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_default()
}

/// The string at `key`, or an empty one.
pub(super) fn string(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// The items of the array at `key`; none if there is no array.
pub(super) fn items<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::Wire;
    use crate::model::options::Api;
    use crate::model::reply::{Delta, Reply};
    use crate::sse::SseReader;

    const CHAT: &str = concat!(
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"Gr\u{fc}\"}}]}\n\n",
        ": still here\r\n\r\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"ezi \u{1f44b}\"}}]}\r\n\r\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
    );

    const ANTHROPIC: &str = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n\n",
        "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\ndata: \"delta\":{\"type\":\"text_delta\",\"text\":\"Gr\u{fc}ezi\"}}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\r\r",
        "data: {\"type\":\"message_stop\"}\n\n",
    );

    fn read<'a>(api: Api, chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Delta>, Reply) {
        let (wire, mut events) = (Wire::of(api), SseReader::default());
        let mut reader = (wire.reader)();
        let read: Vec<_> = chunks.into_iter().flat_map(|chunk| events.push(chunk).unwrap()).collect();
        let shown = read.iter().filter_map(|event| reader.take(&event.data).unwrap()).collect();
        assert!(reader.is_complete());
        (shown, (wire.reply)(reader.whole()).unwrap())
    }

    #[test]
    fn the_samples_say_something() {
        assert_eq!(read(Api::Openai, [CHAT.as_bytes()]).1.text, "Gr\u{fc}ezi \u{1f44b}");
        assert_eq!(read(Api::Openai, [CHAT.as_bytes()]).1.calls.len(), 1);
        assert_eq!(read(Api::Anthropic, [ANTHROPIC.as_bytes()]).1.text, "Gr\u{fc}ezi");
    }

    proptest! {
        #[test]
        fn any_split_of_the_bytes_gives_the_same_reply(
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..40),
        ) {
            for (api, text) in [(Api::Openai, CHAT), (Api::Anthropic, ANTHROPIC)] {
                let bytes = text.as_bytes();
                let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
                cuts.extend([0, bytes.len()]);
                cuts.sort_unstable();
                let cut = read(api, cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]));
                prop_assert_eq!(cut, read(api, [bytes]));
            }
        }
    }
}
