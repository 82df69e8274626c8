//! The texts that agents get.
//!
//! Pure functions, the same for every engine. They say what to do, where things are and what the answer has to look
//! like, and leave the rest to the skill. What comes from users is set apart as data, as JSON or between fences.

#[cfg(test)]
mod tests;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use adjourn_core::{
    By, ByKind, Consequence, Contract, ContractAction, DONE_MARKER, ExecutionMode, Question, QuestionKind,
};
use adjourn_engine::ASK_THE_USER;
use serde_json::{Value, json};

/// The prompt of a turn that goes on where the last one was cut off: not the original one again, which would have the work
/// done twice.
pub const GO_ON: &str = "You were interrupted before you finished. The conversation so far and the files in your working \
folder are as you left them. Look at what is already done, do not repeat it, and go on from there. \
End as you were told: with one JSON object.";

/// What the first prompt of a run is made of.
#[derive(Debug, Clone, Copy)]
pub struct First<'a> {
    /// The skill.
    pub skill: Option<SkillText<'a>>,
    /// What to do: the words of the request, or what the skill's template became.
    pub task: Option<&'a str>,
    /// The skill's input.
    pub input: &'a Value,
    /// The skill's parameters.
    pub parameter: &'a Value,
    /// Files that came with the request, as the agent finds them.
    pub files: &'a [PathBuf],
    /// What the result has to be like.
    pub output_schema: Option<&'a Value>,
    /// Whether there is somebody to ask.
    pub mode: ExecutionMode,
}

/// A skill, as an agent is told of it.
#[derive(Debug, Clone, Copy)]
pub struct SkillText<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it says.
    pub text: &'a str,
    /// Where its files are, as the agent finds them.
    pub folder: &'a Path,
}

/// The first prompt of a run.
pub fn first(first: &First<'_>) -> String {
    let mut sections = Vec::new();
    if let Some(SkillText { name, text, folder }) = first.skill {
        let folder = folder.display();
        sections.push(format!(
            "You are carrying out the skill `{name}`. Its instructions follow. Files they mention are in `{folder}`; \
             leave those unchanged.\n\n<skill name=\"{name}\">\n{text}\n</skill>"
        ));
    }
    if let Some(task) = first.task {
        sections.push(match first.skill {
            Some(_) => format!("# Task\n\n{task}"),
            None => task.to_owned(),
        });
    }
    for (title, value) in [("Input", first.input), ("Parameters", first.parameter)] {
        if !is_empty(value) {
            sections.push(format!("# {title}\n\n{}", fenced(value)));
        }
    }
    if !first.files.is_empty() {
        let files: String = first.files.iter().map(|file| format!("\n- `{}`", file.display())).collect();
        sections.push(format!("# Files you were given\n{files}"));
    }
    sections.push(output_contract(first.output_schema, first.mode));
    sections.join("\n\n")
}

fn output_contract(schema: Option<&Value>, mode: ExecutionMode) -> String {
    let mut text =
        "# How to end\n\nWork in your current folder, and name files by paths relative to it. End your last \
                    message with exactly one JSON object, and nothing after it.\n\n"
            .to_owned();
    let fields = match schema {
        Some(_) => "the fields of the result",
        None => "whatever fields report the result best",
    };
    // Writing to a String cannot fail.
    _ = writeln!(text, "When everything is done, the marker and {fields}:\n");
    _ = writeln!(text, "```json\n{{\"{DONE_MARKER}\": true, …}}\n```");
    if let Some(schema) = schema {
        _ = writeln!(text, "\nWithout the marker, the object has to be valid against this JSON schema:\n");
        _ = writeln!(text, "{}", fenced(schema));
    }
    match mode {
        ExecutionMode::Interactive => {
            _ = write!(
                text,
                "\nWhen you cannot go on without a decision or a fact that only the user has, ask instead. Ask one \
                 thing, give what is needed to answer it, and end your turn; you will go on with the answer.\n\n\
                 ```json\n{{\"{DONE_MARKER}\": false, \"message\": \"Which database?\", \"ui_hints\": {}}}\n```\n\n\
                 `kind` is one of {}; leave `ui_hints` out for a free answer. Never ask what you can find out, and \
                 never ask for permission to begin.",
                json!({"kind": "choose_one", "options": ["SQLite", "PostgreSQL"]}),
                kinds(),
            );
        }
        ExecutionMode::Auto => {
            text.push_str(
                "\nNobody is there to answer questions. Where something is open, decide as the user most likely \
                 would, go on, and say in the result what you assumed.",
            );
        }
    }
    text
}

fn kinds() -> String {
    QuestionKind::ALL.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", ")
}

/// A question and how it was answered.
#[derive(Debug, Clone, Copy)]
pub struct Answered<'a> {
    /// What was asked.
    pub question: &'a Question,
    /// The answer.
    pub response: &'a Value,
    /// Who gave it.
    pub by: &'a By,
}

/// A call that was open, and what became of it.
#[derive(Debug, Clone)]
pub struct Settled {
    /// What was called: `mail.send`, or `ask_the_user`.
    pub call: String,
    /// What it was called with, as it may be seen.
    pub arguments: Value,
    /// What became of it.
    pub consequence: Consequence,
}

impl From<(&Contract, Consequence)> for Settled {
    fn from((contract, consequence): (&Contract, Consequence)) -> Self {
        let (call, arguments) = match &contract.spec.action {
            ContractAction::ToolCall(call) => {
                (format!("{}.{}", call.service, call.method), call.arguments.clone())
            }
            ContractAction::EcsRequest(question) => (ASK_THE_USER.to_owned(), json!(question.prompt)),
        };
        Self { call, arguments, consequence }
    }
}

/// What happened since an agent's last turn.
#[derive(Debug, Clone, Copy, Default)]
pub struct News<'a> {
    /// Questions of the last turn.
    pub answered: &'a [Answered<'a>],
    /// Calls that were open when it ended.
    pub settled: &'a [Settled],
    /// Permissions that it needed.
    pub permissions: &'a [Answered<'a>],
    /// How many questions are still with the user.
    pub waiting: usize,
}

impl News<'_> {
    fn sections(&self) -> Vec<String> {
        let mut sections: Vec<_> = self.answered.iter().map(answer).collect();
        if sections.len() > 1 {
            for (index, section) in sections.iter_mut().enumerate() {
                *section = format!("## Question {}\n\n{section}", index + 1);
            }
            sections.insert(0, format!("All {} of your questions are answered.", self.answered.len()));
        }
        if !self.settled.is_empty() {
            sections.push(consequences(self.settled));
        }
        if !self.permissions.is_empty() {
            sections.push(permitted(self.permissions));
        }
        if self.waiting > 0 {
            let (noun, verb) = if self.waiting == 1 { ("question", "is") } else { ("questions", "are") };
            sections.push(format!(
                "{} {noun} of yours {verb} still with the user. Do what does not depend on the answer; if nothing is left \
                 to do, end your turn, and you will go on with the answer.",
                self.waiting
            ));
        }
        sections
    }
}

/// The prompt that opens the turn after something was answered or settled.
pub fn news(news: &News<'_>) -> String {
    let mut sections = news.sections();
    sections.push("Go on with your work, and end as you were told: with one JSON object.".to_owned());
    sections.join("\n\n")
}

fn answer(answered: &Answered<'_>) -> String {
    let Answered { question, response, by } = answered;
    let asked = quoted(&question.prompt);
    let who = match (by.kind, by.name.as_deref()) {
        (ByKind::User, None) => "The user answered".to_owned(),
        (ByKind::User, Some(name)) => format!("The user ({name}) answered"),
        (ByKind::AutoDecide, _) => {
            "Nobody was there to answer, so this was decided for the user; treat it as an assumption and say so in the \
             result"
                .to_owned()
        }
        (ByKind::System, _) => "The question was withdrawn".to_owned(),
    };
    format!("You asked:\n\n{asked}\n\n{who}:\n\n{}", response_text(question, response))
}

/// An answer as the agent reads it: text as text, a choice with its label, anything else as JSON.
fn response_text(question: &Question, response: &Value) -> String {
    let chosen = question.options.iter().find(|choice| choice.value == *response);
    match (chosen, response) {
        (Some(choice), Value::String(value)) if choice.label != *value => {
            format!("{} (`{value}`)", quoted(&choice.label))
        }
        (_, Value::String(text)) => quoted(text),
        (_, Value::Bool(true)) => quoted("yes"),
        (_, Value::Bool(false)) => quoted("no"),
        (_, Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_)) => fenced(response),
    }
}

/// The prompt that asks for a result once more, because the last one cannot be used.
pub fn repair(problem: &str, schema: Option<&Value>) -> String {
    let mut text = format!("Your result cannot be used: {problem}\n");
    if let Some(schema) = schema {
        // Writing to a String cannot fail.
        _ = write!(
            text,
            "\nThis is the JSON schema that it has to be valid against:\n\n{}\n",
            fenced(schema)
        );
    }
    _ = write!(
        text,
        "\nPrint the whole object again, corrected, with `\"{DONE_MARKER}\": true` and nothing after it. The work itself \
         is not in question: do not repeat what is already done, and do not make up values to satisfy the schema."
    );
    text
}

/// The prompt of a turn that was cut off, with the answers it may not have seen.
pub fn go_on(news: &News<'_>) -> String {
    let mut sections = news.sections();
    if !news.answered.is_empty() || !news.settled.is_empty() {
        sections.insert(0, "You may have been interrupted before you read this.".to_owned());
    }
    sections.insert(0, GO_ON.to_owned());
    sections.join("\n\n")
}

/// The prompt of a turn that was cut off before the agent showed that it knows its task: agents name their conversation
/// before they keep anything in it, so `task` may have been lost on its way.
pub fn go_on_with_task(news: &News<'_>, task: &str) -> String {
    format!(
        "{}\n\nYour task may not have reached you before the interruption, so it is repeated below. This is a repetition, \
         not a second task: if you have begun with it, nothing that is already done may be done again.\n\n{task}",
        go_on(news)
    )
}

/// What was decided about permissions, to an agent whose turn ended when it asked for them.
fn permitted(permissions: &[Answered<'_>]) -> String {
    let decided = permissions.iter().map(|Answered { question, response, by }| {
        let asked = quoted(&question.prompt);
        match by.kind {
            ByKind::User => {
                format!(
                    "You needed a permission:\n\n{asked}\n\nThe user chose:\n\n{}",
                    response_text(question, response)
                )
            }
            ByKind::AutoDecide | ByKind::System => {
                format!("You needed a permission:\n\n{asked}\n\nNobody answered, which is a no.")
            }
        }
    });
    let mut sections: Vec<_> = decided.collect();
    sections.push(
        "Where that is a yes, use the tool once more, just as before: it will pass this once. Where it is a no, do not \
         do it, and do not try it in another way."
            .to_owned(),
    );
    sections.join("\n\n")
}

/// What became of calls that a person had to decide on, or that were interrupted.
fn consequences(settled: &[Settled]) -> String {
    let mut text = "This is what became of calls that were open when your last turn ended:\n\n".to_owned();
    let shown = settled.iter().map(|Settled { call, arguments, consequence }| {
        let mut shown = json!({ "call": call, "asked_for": arguments });
        if let (Some(shown), Value::Object(told)) = (shown.as_object_mut(), json!(consequence)) {
            shown.extend(told);
        }
        shown
    });
    text.push_str(&fenced(&shown.collect()));
    text.push_str(
        "\n\n`COMPLETED` was done, once: do not do it again. `REJECTED` was refused by the user: do not try it in \
         another way. `FAILED` and `CANCELLED` did not go through.",
    );
    if settled.iter().any(|settled| settled.consequence.arguments.is_some()) {
        text.push_str(
            " Where there are `arguments`, the user changed the call, and those are what it was made with.",
        );
    }
    if settled.iter().any(|settled| settled.consequence.outcome_unknown) {
        text.push_str(
            " Where `outcome_unknown` is true, nobody knows whether it happened: treat it as if it had, and do not \
             repeat it.",
        );
    }
    text
}

/// JSON between fences. In a string, a fence cannot begin a line, so data never ends it.
pub(crate) fn fenced(value: &Value) -> String {
    format!("```json\n{value:#}\n```")
}

/// Words of others, set apart from ours.
pub(crate) fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => false,
    }
}
