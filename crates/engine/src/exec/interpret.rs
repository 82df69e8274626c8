//! Reads the output of an agent by its profile.

#[cfg(test)]
mod tests;

use adjourn_core::{Observation, OutputStream, RawRef, Usage};
use serde_json::Value;

use super::profile::{Output, Pointer, Rule, Take, Test};
use super::used::Used;
use crate::detail::shortened;
use crate::lines::{Line, TEXT_BYTES_MAX};
use crate::turn::Seen;

/// What is known so far of a turn.
#[derive(Debug)]
pub(crate) struct Interpreter {
    output: Output,
    attempt: u32,
    /// The handle that was shown last.
    handle: Option<String>,
    /// What the conversation had used before this turn.
    used_before: Used,
    /// The message that is not complete yet.
    pieces: Option<Pieces>,
    report: Report,
}

/// What an agent's output says about the end of the turn.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// The last message.
    pub(crate) text: Option<String>,
    /// The agent said that it is done.
    pub(crate) ended: bool,
    /// The agent said that it failed, and why.
    pub(crate) failure: Option<String>,
    /// What it complained about last.
    pub(crate) complaint: Option<String>,
    /// A message was longer than one may be.
    pub(crate) too_long: bool,
    /// The agent named its conversation.
    pub(crate) handle: Option<String>,
    /// What the model's server answered with, where the agent says so.
    pub(crate) http_status: Option<u64>,
    /// What the whole conversation has used, where the agent counts that way.
    pub(crate) used: Option<Used>,
}

#[derive(Debug)]
struct Pieces {
    text: String,
    raw: RawRef,
}

impl Interpreter {
    pub(crate) fn new(output: Output, attempt: u32, used_before: Used) -> Self {
        Self { output, attempt, handle: None, used_before, pieces: None, report: Report::default() }
    }

    /// Whether the rest of the output does not matter any more.
    pub(crate) fn is_too_long(&self) -> bool {
        self.report.too_long
    }

    /// Reads a line.
    pub(crate) fn read(&mut self, line: &Line) -> Vec<Seen> {
        let raw =
            RawRef { attempt: self.attempt, stream: OutputStream::Stdout, from: line.from, to: line.to };
        let mut seen = Vec::new();
        match self.output {
            Output::Text => self.read_text(line, raw, &mut seen),
            Output::Events(rules) => {
                let event = line.bytes.as_deref().and_then(|bytes| serde_json::from_slice(bytes).ok());
                if let Some(event @ Value::Object(_)) = event {
                    self.read_event(rules, &event, raw, &mut seen);
                }
            }
        }
        seen
    }

    /// No more lines are coming.
    pub(crate) fn finish(mut self) -> (Vec<Seen>, Report) {
        let mut seen = Vec::new();
        self.complete_message(&mut seen);
        self.report.handle = self.handle;
        (seen, self.report)
    }

    fn read_text(&mut self, line: &Line, raw: RawRef, seen: &mut Vec<Seen>) {
        let Some(bytes) = &line.bytes else {
            self.report.too_long = true;
            return;
        };
        if let Some(handle) = named_handle(bytes) {
            return self.show_handle(&handle, seen);
        }
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        text.push('\n');
        self.add_piece(&text, raw, seen);
    }

    fn read_event(&mut self, rules: &[Rule], event: &Value, raw: RawRef, seen: &mut Vec<Seen>) {
        for rule in rules.iter().filter(|rule| holds(rule.when, event)) {
            match rule.each {
                None => self.take(rule.take, event, raw, seen),
                Some((list, that)) => {
                    let elements = event.pointer(list).and_then(Value::as_array).into_iter().flatten();
                    for element in elements.filter(|element| holds(that, element)) {
                        self.take(rule.take, element, raw, seen);
                    }
                }
            }
        }
    }

    fn take(&mut self, take: Take, from: &Value, raw: RawRef, seen: &mut Vec<Seen>) {
        let string = |at: Pointer| from.pointer(at).and_then(Value::as_str).filter(|text| !text.is_empty());
        let first = |all: &[Pointer]| all.iter().find_map(|at| string(at)).map(ToOwned::to_owned);
        let raw_ref = Some(raw);
        let fact = match take {
            Take::Handle(at) => {
                if let Some(handle) = string(at) {
                    self.show_handle(handle, seen);
                }
                None
            }
            Take::Delta(at) => {
                if let Some(text) = string(at) {
                    self.add_piece(text, raw, seen);
                }
                None
            }
            Take::Message(at) => string(at).map(|text| {
                self.report.text = Some(text.to_owned());
                Observation::Message { text: text.to_owned(), raw: raw_ref }
            }),
            Take::Reasoning(at) => {
                string(at).map(|text| Observation::Reasoning { text: text.to_owned(), raw: raw_ref })
            }
            Take::Tool(at) => string(at).map(|name| Observation::ToolCall {
                name: name.to_owned(),
                detail: shortened(from),
                raw: raw_ref,
            }),
            Take::Command(at) => string(at).map(|command| Observation::CommandExecution {
                command: command.to_owned(),
                detail: shortened(from),
                raw: raw_ref,
            }),
            Take::Usage { input, output, cost } => usage(from, input, output, cost).map(Observation::Usage),
            Take::UsageSoFar { input, output } => {
                usage(from, input, output, None).map(|total| Observation::Usage(self.since(total)))
            }
            Take::HttpStatus(at) => {
                self.report.http_status = from.pointer(at).and_then(Value::as_u64);
                None
            }
            Take::Complaint(all) => {
                self.report.complaint = first(all).or(self.report.complaint.take());
                None
            }
            Take::Failed(all) => {
                self.report.failure = Some(first(all).unwrap_or_else(|| "it does not say why".to_owned()));
                None
            }
            Take::Ended => {
                self.report.ended = true;
                None
            }
        };
        if let Some(fact) = fact {
            // Whatever else an agent shows, it has finished its sentence before.
            self.complete_message(seen);
            seen.push(Seen::Fact(fact));
        }
    }

    /// What was used since it was counted last.
    fn since(&mut self, total: Usage) -> Usage {
        let total = Used { input_tokens: total.input_tokens, output_tokens: total.output_tokens };
        let before = self.report.used.replace(total).unwrap_or(self.used_before);
        total.since(before)
    }

    fn show_handle(&mut self, handle: &str, seen: &mut Vec<Seen>) {
        if self.handle.as_deref() != Some(handle) {
            self.handle = Some(handle.to_owned());
            seen.push(Seen::Fact(Observation::Handle(handle.to_owned())));
        }
    }

    fn add_piece(&mut self, text: &str, raw: RawRef, seen: &mut Vec<Seen>) {
        let pieces = self.pieces.get_or_insert_with(|| Pieces { text: String::new(), raw });
        if pieces.text.len() + text.len() > TEXT_BYTES_MAX {
            self.report.too_long = true;
            return;
        }
        pieces.text.push_str(text);
        pieces.raw.to = raw.to;
        seen.push(Seen::Delta(text.to_owned()));
    }

    fn complete_message(&mut self, seen: &mut Vec<Seen>) {
        let Some(Pieces { text, raw }) = self.pieces.take() else { return };
        let text = text.trim_end().to_owned();
        self.report.text = Some(text.clone());
        if !text.is_empty() {
            seen.push(Seen::Fact(Observation::Message { text, raw: Some(raw) }));
        }
    }
}

fn holds(tests: &[Test], value: &Value) -> bool {
    let string = |at: Pointer| value.pointer(at).and_then(Value::as_str);
    let boolean = |at: Pointer| value.pointer(at).and_then(Value::as_bool);
    tests.iter().all(|test| match *test {
        Test::Is(at, wanted) => string(at) == Some(wanted),
        Test::Not(at, unwanted) => string(at) != Some(unwanted),
        Test::True(at) => boolean(at) == Some(true),
        Test::NotTrue(at) => boolean(at) != Some(true),
    })
}

/// The handle in a line `{"adjourn": {"handle": "…"}}`.
fn named_handle(line: &[u8]) -> Option<String> {
    // Answers are long and mostly prose; only a line that can be one is parsed.
    if !line.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let value: Value = serde_json::from_slice(line).ok()?;
    let handle = value.pointer("/adjourn/handle")?.as_str()?;
    (!handle.is_empty()).then(|| handle.to_owned())
}

/// What was used, unless nothing is said about it.
fn usage(from: &Value, input: &[Pointer], output: &[Pointer], cost: Option<Pointer>) -> Option<Usage> {
    let sum =
        |all: &[Pointer]| all.iter().filter_map(|at| from.pointer(at)?.as_u64()).fold(0, u64::saturating_add);
    let usage = Usage {
        input_tokens: sum(input),
        output_tokens: sum(output),
        cost_usd: cost.and_then(|at| from.pointer(at)?.as_f64()),
    };
    let is_nothing =
        usage.input_tokens == 0 && usage.output_tokens == 0 && usage.cost_usd.is_none_or(|cost| cost == 0.0);
    (!is_nothing).then_some(usage)
}
