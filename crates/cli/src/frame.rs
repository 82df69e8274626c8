//! Frames of the stream, as a person reads them.

use adjourn_core::{Evidence, Frame, FrameType};
use serde_json::Value;

use crate::style::{ASKS, BAD, DIM, GOOD, ODD, PLAIN, styled};
use crate::text::{clean, one_line};

/// Characters of an event in a list of them.
const SUMMARY_CHARS_MAX: usize = 160;

/// Characters that are shown of what a tool was called with.
const DETAIL_CHARS_MAX: usize = 100;

/// A frame as one line of a list: place, time, what it is, and what it says.
pub(crate) fn listed(frame: &Frame) -> String {
    let time = frame.ts.to_string();
    let time = time.get(11..23).unwrap_or(&time);
    let summary = one_line(&summary(frame), SUMMARY_CHARS_MAX);
    let style = match frame.kind {
        FrameType::InputRequired => ASKS,
        FrameType::Warning => ODD,
        FrameType::StateChanged if frame.data["terminal"]["status"] == "succeeded" => GOOD,
        FrameType::StateChanged if frame.data["terminal"]["status"] == "failed" => BAD,
        _ => PLAIN,
    };
    format!("{:>4}  {}  {:<31}  {}", frame.seq, styled(DIM, time), frame.kind, styled(style, summary))
}

fn summary(frame: &Frame) -> String {
    let data = &frame.data;
    match frame.kind {
        FrameType::StateChanged => {
            let change =
                format!("{} -> {} ({})", word(data, "from"), word(data, "to"), word(data, "trigger"));
            match &data["terminal"]["error"] {
                Value::Null => change,
                error => format!("{change}: {}: {}", word(error, "code"), word(error, "message")),
            }
        }
        FrameType::InputRequired => format!("{}: {}", word(data, "interaction_id"), word(data, "prompt")),
        FrameType::ReplyAccepted | FrameType::AutoDecided => {
            format!("{}: {}", word(data, "interaction_id"), answer(data))
        }
        FrameType::MessageFinal | FrameType::Reasoning => word(data, "text"),
        FrameType::MessageSuperseded => {
            format!("{} no longer counts: {}", word(data, "superseded_seq"), word(data, "reason"))
        }
        FrameType::ToolCall => format!("{} {}", word(data, "name"), detail(&data["detail"])),
        FrameType::CommandExecution => word(data, "command"),
        FrameType::ContractCreated => format!("{}: {}", word(data, "execution_id"), call(data)),
        FrameType::ContractChanged => {
            format!("{}: {} -> {}", word(data, "execution_id"), word(data, "from"), word(data, "to"))
        }
        FrameType::Warning => format!("{}: {}", word(data, "code"), word(data, "message")),
    }
}

/// What a person who watches the run is told by a frame; nothing where it is seen in another way.
pub(crate) fn told(frame: &Frame) -> Option<String> {
    let data = &frame.data;
    let dim = |text: String| Some(styled(DIM, clean(&text)));
    match frame.kind {
        FrameType::MessageFinal => words(&word(data, "text")),
        FrameType::Reasoning => dim(format!("  {}", one_line(&word(data, "text"), SUMMARY_CHARS_MAX))),
        FrameType::ToolCall => dim(format!("  {} {}", word(data, "name"), detail(&data["detail"]))),
        FrameType::CommandExecution => {
            dim(format!("  $ {}", one_line(&word(data, "command"), SUMMARY_CHARS_MAX)))
        }
        FrameType::ContractCreated => dim(format!("  {}", call(data))),
        FrameType::ContractChanged => match &data["error_message"] {
            Value::String(problem) => dim(format!("  {}: {problem}", word(data, "to"))),
            _ => None,
        },
        FrameType::MessageSuperseded => {
            let reason = one_line(&word(data, "reason"), SUMMARY_CHARS_MAX);
            Some(format!("{} the agent is asked again: {reason}", styled(ODD, "not yet right:")))
        }
        FrameType::Warning => {
            let message = one_line(&word(data, "message"), SUMMARY_CHARS_MAX);
            Some(format!("{} {message} ({})", styled(ODD, "warning:"), word(data, "code")))
        }
        FrameType::ReplyAccepted => Some(format!("{} {}", styled(ASKS, ">"), answer(data))),
        FrameType::AutoDecided => {
            Some(format!("{} {}", styled(ODD, "decided without a person:"), answer(data)))
        }
        FrameType::InputRequired | FrameType::StateChanged => None,
    }
}

/// An answer; of a call that needed approval what was done with it, and what was said besides.
fn answer(data: &Value) -> String {
    let response = word(data, "response");
    let text = match data["action"].as_str() {
        // That it is true says no more than that it is approved.
        Some(action) if data["response"].is_boolean() => action.to_owned(),
        Some(action) => format!("{action} {response}"),
        None => response,
    };
    one_line(&text, SUMMARY_CHARS_MAX)
}

/// What a message says to a person: without the objects that are meant for Adjourn, and nothing if it is only those.
pub(crate) fn words(message: &str) -> Option<String> {
    let evidence = Evidence::read(message, None);
    let said = if evidence.done.is_some() || evidence.asked { evidence.prose } else { message.to_owned() };
    let said = said.trim();
    // Where no words are left, the prose is a sentence of ours, which is nowhere in the message.
    let is_the_agents = said.lines().next_back().is_some_and(|last| message.contains(last));
    (!said.is_empty() && is_the_agents).then(|| clean(said))
}

fn call(data: &Value) -> String {
    let action = &data["action_detail"];
    match (&action["service"], &action["method"]) {
        (Value::String(service), Value::String(method)) => {
            format!("{service}.{method} {}", detail(&action["arguments"]))
        }
        _ => word(action, "prompt"),
    }
}

fn detail(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        value => one_line(&value.to_string(), DETAIL_CHARS_MAX),
    }
}

/// A member as text: a string as it is, anything else as JSON.
fn word(data: &Value, key: &str) -> String {
    match &data[key] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn a_message_is_what_it_says_to_a_person() {
        assert_eq!(words("Hello"), Some("Hello".to_owned()));
        assert_eq!(words("{\"__SKILL_DONE__\": true, \"n\": 1}"), None);
        assert_eq!(words("All done.\n{\"__SKILL_DONE__\": true}"), Some("All done.".to_owned()));
        assert_eq!(words("  "), None);
    }
}
