//! A run as a text that can be read from top to bottom.

use std::fmt::Write;

use adjourn_core::{Choice, Frame, FrameType, Question, Run};
use serde::Deserialize;
use serde_json::Value;

use crate::problem::Problem;

/// Bytes of a transcript. More than this no model takes in at once, and nobody reads.
const TRANSCRIPT_BYTES_MAX: usize = 512 * 1024;

/// Characters of one line about a frame.
const LINE_CHARS_MAX: usize = 2000;

/// The transcript of `run`, in Markdown. `read` gives the frames after one, page by page, and none at the end.
pub(super) fn transcript(
    run: &Run,
    mut read: impl FnMut(u64) -> Result<Vec<Frame>, Problem>,
) -> Result<String, Problem> {
    let mut text = heading(run);
    let (mut after, mut attempt) = (0, 0);
    loop {
        let frames = read(after)?;
        let Some(last) = frames.last() else { break };
        after = last.seq;
        for frame in &frames {
            if frame.meta.attempt != attempt {
                attempt = frame.meta.attempt;
                let _ = write!(text, "\n## Attempt {attempt}\n");
            }
            let _ = write!(text, "\n{}\n", paragraph(frame));
        }
        if text.len() > TRANSCRIPT_BYTES_MAX {
            let _ = write!(text, "\n(The rest is left out: events after {after} are not shown.)\n");
            return Ok(text);
        }
    }
    if let Some(result) = run.result() {
        let _ = write!(text, "\n## Result\n\n{}\n", block(result));
    }
    Ok(text)
}

fn heading(run: &Run) -> String {
    let spec = run.spec();
    let what =
        spec.skill.as_deref().map_or_else(|| "A prompt".to_owned(), |skill| format!("Skill `{skill}`"));
    let mut text = format!(
        "# {}\n\n{what} on `{}`, {}: {}. Started at {}.\n",
        run.id(),
        spec.engine,
        spec.execution_mode,
        run.status(),
        run.created_at()
    );
    if let Some(prompt) = &spec.prompt {
        let _ = write!(text, "\n**Prompt**\n\n{}\n", quoted(prompt));
    }
    for (name, value) in [("Input", &spec.input), ("Parameters", &spec.parameter)] {
        if !value.is_null() {
            let _ = write!(text, "\n**{name}**\n\n{}\n", block(value));
        }
    }
    text
}

/// What a frame tells, for reading.
fn paragraph(frame: &Frame) -> String {
    let data = &frame.data;
    let word = |key: &str| data[key].as_str().unwrap_or_default();
    match frame.kind {
        FrameType::StateChanged => match data["terminal"]["error"].as_object() {
            Some(error) => {
                let say = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
                format!("*{} → {} ({}): {}*", word("from"), word("to"), say("code"), say("message"))
            }
            None => format!("*{} → {} ({})*", word("from"), word("to"), word("trigger")),
        },
        FrameType::MessageFinal => format!("**Agent:**\n\n{}", quoted(word("text"))),
        FrameType::MessageSuperseded => {
            format!("*What the agent said last does not count, and it was asked again: {}*", word("reason"))
        }
        FrameType::Reasoning => format!("**Agent, thinking:**\n\n{}", quoted(word("text"))),
        FrameType::ToolCall => format!("**Tool** `{}`\n\n{}", word("name"), block(&data["detail"])),
        FrameType::CommandExecution => {
            format!("**Command** `{}`\n\n{}", word("command"), block(&data["detail"]))
        }
        FrameType::InputRequired => question(data),
        FrameType::ReplyAccepted => {
            format!("**Answer to question {}:** {}", data["interaction_id"], inline(&data["response"]))
        }
        FrameType::AutoDecided => format!(
            "**Question {} was decided without a person:** {}",
            data["interaction_id"],
            inline(&data["response"])
        ),
        FrameType::ContractCreated => {
            format!("**Call** {}: recorded\n\n{}", word("execution_id"), block(&data["action_detail"]))
        }
        FrameType::ContractChanged => {
            format!("**Call** {}: {} → {}", word("execution_id"), word("from"), word("to"))
        }
        FrameType::Warning => format!("*Warning {}: {}*", word("code"), word("message")),
    }
}

/// The same in one line that is not too long.
pub(super) fn line(frame: &Frame) -> String {
    let text = paragraph(frame);
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(LINE_CHARS_MAX) {
        line.truncate(end);
        line.push('…');
    }
    line
}

fn question(data: &Value) -> String {
    let id = &data["interaction_id"];
    let Ok(question) = Question::deserialize(data) else {
        return format!("**Question {id}:** {data}");
    };
    let mut text = format!("**Question {id}** ({}):\n\n{}", question.kind, quoted(&question.prompt));
    for Choice { value, label } in &question.options {
        let _ = write!(text, "\n- {}: {label}", inline(value));
    }
    for field in &question.fields {
        let _ = write!(text, "\n- `{}` ({}): {}", field.name, field.kind, field.label);
    }
    text
}

/// What others wrote stays apart from what is written here.
fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn block(value: &Value) -> String {
    format!("```json\n{value:#}\n```")
}
