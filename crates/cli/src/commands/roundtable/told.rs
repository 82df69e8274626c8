//! Frames of a roundtable, as a person who watches it reads them.

use adjourn_core::machines::TopicStatus;
use adjourn_core::roundtable::{Frame, FrameType, RoundtableView, TopicView};
use serde_json::Value;

use crate::style::{BOLD, DIM, GOOD, ODD, PLAIN, styled};
use crate::text::{clean, indented, one_line};

/// Characters of what somebody says in one line. All of it is in the roundtable.
const SAID_CHARS_MAX: usize = 160;

/// What a person is told by a frame; nothing where it is seen in another way. `table` is the state with all of it.
pub(super) fn told(frame: &Frame, table: &RoundtableView) -> Option<String> {
    let data = &frame.data;
    match frame.kind {
        FrameType::Opened => Some(format!("{} {}", styled(DIM, "agenda:"), topics(data))),
        FrameType::RoundStarted => {
            let who = styled(DIM, clean(&format!("{}: {}", word(data, "phase"), list(&data["speakers"]))));
            Some(format!("\n{} {who}", styled(BOLD, format!("round {}", word(data, "round")))))
        }
        FrameType::StepChanged => step(data),
        FrameType::Answered => {
            let said = one_line(&word(data, "position"), SAID_CHARS_MAX);
            let sure = data["confidence"].as_f64().map(|sure| format!(" ({sure})")).unwrap_or_default();
            Some(format!("  {}{sure}: {said}", styled(BOLD, clean(&word(data, "role")))))
        }
        FrameType::Missing => {
            let reason = one_line(&word(data, "reason"), SAID_CHARS_MAX);
            Some(format!("  {} {reason}", styled(ODD, clean(&format!("{} is missing:", word(data, "role"))))))
        }
        FrameType::ArtifactChanged => Some(artifact(data, table)),
        FrameType::ConflictChanged => Some(match data["status"].as_str() {
            Some("open") => {
                let head = clean(&format!("! {} {}", word(data, "conflict_id"), word(data, "title")));
                format!("  {}", styled(ODD, head))
            }
            _ => settled(data, "conflict_id"),
        }),
        FrameType::QuestionChanged => Some(match data["status"].as_str() {
            Some("open") => {
                let text = one_line(&word(data, "text"), SAID_CHARS_MAX);
                format!("  {} {text}", styled(ODD, format!("? {}", word(data, "question_id"))))
            }
            _ => settled(data, "question_id"),
        }),
        FrameType::TopicChanged => match data["to"].as_str() {
            Some("closed") => {
                Some(format!("  {}", styled(GOOD, clean(&format!("{} is closed", word(data, "topic_id"))))))
            }
            _ => None,
        },
        FrameType::NextDecided => Some(next(data, table)),
        FrameType::ReplyAccepted => {
            let (said, text) = (word(&data["response"], "decision"), word(&data["response"], "text"));
            let text = if text.is_empty() { text } else { format!(": {text}") };
            Some(format!("  {}", styled(DIM, one_line(&format!("> {said}{text}"), SAID_CHARS_MAX))))
        }
        FrameType::ResumeFallback => {
            let head = format!("{} begins anew:", word(data, "role"));
            Some(format!(
                "  {} {}",
                styled(ODD, clean(&head)),
                one_line(&word(data, "reason"), SAID_CHARS_MAX)
            ))
        }
        // The question itself is shown, and the end.
        FrameType::EscalationRaised | FrameType::InputRequired | FrameType::Closed => None,
    }
}

fn step(data: &Value) -> Option<String> {
    if data["question"].is_string() {
        let focus = clean(&format!("{}:", word(&data["focus"], "id")));
        return Some(format!("  {} {}", styled(DIM, focus), clean(&word(data, "question"))));
    }
    if data["synthesis"].is_string() {
        let summary = clean(&word(data, "synthesis"));
        return Some(indented(&format!("{} {summary}", styled(BOLD, "facilitator:")), "  "));
    }
    let refused = data["proposals_refused"].as_array().into_iter().flatten();
    let lines: Vec<_> = refused
        .map(|refused| {
            let reason = one_line(&word(refused, "reason"), SAID_CHARS_MAX);
            format!("  {} {reason}", styled(ODD, "not written down:"))
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn artifact(data: &Value, table: &RoundtableView) -> String {
    let id = word(data, "artifact_id");
    let known = table.artifacts.iter().find(|artifact| artifact.artifact_id.to_string() == id);
    let title = known.map_or_else(|| word(data, "title"), |artifact| artifact.title.clone());
    let title = one_line(&title, SAID_CHARS_MAX);
    let reason = match one_line(&word(data, "reason"), SAID_CHARS_MAX) {
        reason if reason.is_empty() => reason,
        reason => format!(": {reason}"),
    };
    match data["change"].as_str().unwrap_or_default() {
        "created" => {
            format!(
                "  {} {title} {}",
                styled(GOOD, format!("+ {id}")),
                styled(DIM, format!("({})", word(data, "agreement")))
            )
        }
        "superseded" => format!(
            "  {} {title}, by {}{reason}",
            styled(DIM, format!("- {id}")),
            word(data, "superseded_by")
        ),
        "withdrawn" => format!("  {} {title}{reason}", styled(DIM, format!("- {id}"))),
        change => format!("  {} {title}, {change}{reason}", styled(PLAIN, format!("~ {id}"))),
    }
}

fn settled(data: &Value, id: &str) -> String {
    let resolution = one_line(&word(data, "resolution"), SAID_CHARS_MAX);
    format!("  {} {resolution}", styled(GOOD, format!("= {}", word(data, id))))
}

fn next(data: &Value, table: &RoundtableView) -> String {
    let (next, rule) = (word(data, "next"), word(data, "rule"));
    let proposed = match word(data, "proposed_next") {
        proposed if proposed.is_empty() || proposed == next => String::new(),
        proposed => format!("; the facilitator proposed {proposed}"),
    };
    let agenda = format!("  {} {}", styled(DIM, "agenda:"), agenda(table));
    format!("{agenda}\n  {}", styled(DIM, format!("next: {next} ({rule}){proposed}")))
}

/// How far every topic got.
pub(super) fn agenda(table: &RoundtableView) -> String {
    table.agenda.iter().map(progress).collect::<Vec<_>>().join(", ")
}

fn progress(topic: &TopicView) -> String {
    let name = clean(topic.topic_id.as_str());
    let criteria = &topic.done_when.criteria;
    let covered = criteria.iter().filter(|criterion| !criterion.covered_by.is_empty()).count();
    match topic.status {
        TopicStatus::Closed => styled(GOOD, format!("{name} closed")),
        TopicStatus::Open | TopicStatus::Partial if criteria.is_empty() => format!("{name} {}", topic.status),
        TopicStatus::Open | TopicStatus::Partial => format!("{name} {covered}/{}", criteria.len()),
    }
}

/// The topics of a roundtable that was just opened.
fn topics(data: &Value) -> String {
    let topics = data["agenda"].as_array().into_iter().flatten().map(|topic| {
        let critical = if topic["critical"] == true { " (critical)" } else { "" };
        format!("{}{critical}", word(topic, "title"))
    });
    clean(&topics.collect::<Vec<_>>().join(", "))
}

fn list(names: &Value) -> String {
    let names = names.as_array().into_iter().flatten().filter_map(Value::as_str);
    names.collect::<Vec<_>>().join(", ")
}

fn word(data: &Value, key: &str) -> String {
    match &data[key] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
