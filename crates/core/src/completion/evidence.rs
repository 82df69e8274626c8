//! What the text of a turn shows: is it done, what came out, what is asked.

use serde_json::{Map, Value};

use super::DONE_MARKER;
use super::ask::{self, Ask, Unreadable, described};
use super::prose::Prose;
use super::scan::Scan;
use crate::{FieldError, JSON_DEPTH_MAX, JsonSize, Question, Schema};

/// The key of an object by which an agent asks without the marker.
const ASK_USER: &str = "ask_user";

/// What some programs put in front of their text; not white space to Unicode, but nothing to anybody.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What the final message of a turn shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// What the last object with the done marker says, if there is one.
    pub done: Option<bool>,
    /// The turn asked something anywhere, readable or not. Then its output is taken only if it is marked as done.
    pub asked: bool,
    /// The result, if there is one, without the marker.
    pub output: Option<Value>,
    /// Whether the result meets the output schema.
    pub validity: Validity,
    /// The last question.
    pub ask: Ask,
    /// The whole text, trimmed, where it can be the result: there is no schema, no object, and it is not blank.
    pub plain: Option<String>,
    /// The end of the text without the objects that carry marker or question, never blank: the prompt of a question
    /// that has to be made from it.
    pub prose: String,
}

/// Whether a result meets the output schema.
#[derive(Debug, Clone, PartialEq)]
pub enum Validity {
    /// There is no schema.
    NoSchema,
    /// It does.
    Valid,
    /// It does not, or there is no result.
    Invalid(Vec<FieldError>),
}

impl Evidence {
    /// Reads the final message of a turn, whose result should meet `schema`.
    ///
    /// ```
    /// use adjourn_core::{Ask, Evidence, Question};
    /// use serde_json::json;
    ///
    /// let evidence = Evidence::read(r#"Done! {"__SKILL_DONE__": true, "answer": 42}"#, None);
    /// assert_eq!(evidence.done, Some(true));
    /// assert_eq!(evidence.output, Some(json!({"answer": 42})));
    ///
    /// let evidence = Evidence::read(r#"{"ask_user": {"prompt": "Which one?"}}"#, None);
    /// assert_eq!(evidence.ask, Ask::Question(Question::open_text("Which one?")));
    /// ```
    pub fn read(text: &str, schema: Option<&Schema>) -> Self {
        let text = text.trim_matches(|char: char| char.is_whitespace() || char == BYTE_ORDER_MARK);
        let mut found = Found::default();
        let mut prose = Prose::new(text);
        for span in Scan::new(text) {
            // What the grammar lets pass and the parser does not (lone surrogates, 1e999) is no object.
            let Ok(object) = serde_json::from_str::<Map<String, Value>>(&text[span.clone()]) else {
                continue;
            };
            // Nor is one that is nested too deep to be kept: the agent is told that there is no result.
            if object.values().any(|value| JsonSize::of(value).depth >= JSON_DEPTH_MAX) {
                continue;
            }
            match Object::read(object) {
                // `{}` is all over code and templates. Only alone can it be meant as a result.
                Object::Unmarked(object) if object.is_empty() && span.len() < text.len() => {}
                object => {
                    if object.is_protocol() {
                        prose.cut(span);
                    }
                    found.add(object);
                }
            }
        }
        found.into_evidence(text, prose.finish(), schema)
    }
}

/// An object of the text, by what it is for.
enum Object {
    /// Marked as done; the marker is taken out.
    Done(Map<String, Value>),
    /// Marked as not done, with the question if it asks one.
    NotDone(Option<Reading>),
    /// A question without the marker.
    Ask(Reading),
    /// None of these.
    Unmarked(Map<String, Value>),
}

/// What came of reading a question.
type Reading = Result<Question, Unreadable>;

impl Object {
    fn read(mut object: Map<String, Value>) -> Self {
        let Some(marker) = object.remove(DONE_MARKER) else {
            return match object.get(ASK_USER) {
                Some(ask) => Self::Ask(ask::read(ask)),
                None => Self::Unmarked(object),
            };
        };
        match as_bool(&marker) {
            Some(true) => Self::Done(object),
            Some(false) => Self::NotDone(question(object)),
            None => {
                let problem =
                    format!("`{DONE_MARKER}` is {}, it should be true or false", described(&marker));
                let prompt = match question(object) {
                    Some(Ok(question)) => Some(question.prompt),
                    Some(Err(unreadable)) => unreadable.prompt,
                    None => None,
                };
                Self::NotDone(Some(Err(Unreadable { problem, prompt })))
            }
        }
    }

    /// Whether it is said to Adjourn, not to a person.
    fn is_protocol(&self) -> bool {
        match self {
            Self::Done(_) | Self::NotDone(_) | Self::Ask(_) => true,
            Self::Unmarked(_) => false,
        }
    }
}

/// The question in an object that is marked as not done. One that only says so asks nothing.
fn question(mut object: Map<String, Value>) -> Option<Reading> {
    match object.remove(ASK_USER) {
        Some(ask) => Some(ask::read(&ask)),
        None if ask::asks(&object) => Some(ask::read(&Value::Object(object))),
        None => None,
    }
}

/// Models like to quote.
fn as_bool(marker: &Value) -> Option<bool> {
    match marker {
        Value::Bool(done) => Some(*done),
        Value::String(word) => word.trim().to_ascii_lowercase().parse().ok(),
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// What was found so far: the last of each, never a list, since a text can hold any number.
#[derive(Default)]
struct Found {
    done: Option<bool>,
    asked: bool,
    /// The last object marked as done that holds anything else.
    finished: Option<Map<String, Value>>,
    /// The last object marked as done held nothing else.
    bare: bool,
    unmarked: Option<Map<String, Value>>,
    ask: Option<Reading>,
}

impl Found {
    fn add(&mut self, object: Object) {
        match object {
            Object::Done(object) => {
                self.done = Some(true);
                self.asked |= object.contains_key(ASK_USER);
                self.bare = object.is_empty();
                if !self.bare {
                    self.finished = Some(object);
                }
            }
            Object::NotDone(question) => {
                self.done = Some(false);
                self.asked = true;
                self.ask = question.or(self.ask.take());
            }
            Object::Ask(question) => {
                self.asked = true;
                self.ask = Some(question);
            }
            Object::Unmarked(object) => self.unmarked = Some(object),
        }
    }

    fn into_evidence(self, text: &str, prose: String, schema: Option<&Schema>) -> Evidence {
        let output = match (self.done, self.bare) {
            (None, _) => self.unmarked,
            (Some(_), true) => self.unmarked.or(self.finished).or_else(|| Some(Map::new())),
            (Some(_), false) => self.finished,
        };
        let output = output.map(Value::Object);
        let plain = output.is_none() && schema.is_none() && !text.is_empty();
        let ask = match self.ask {
            None => Ask::None,
            Some(Ok(question)) => Ask::Question(question),
            Some(Err(Unreadable { problem, prompt })) => {
                Ask::Malformed { problem, prompt: prompt.unwrap_or_else(|| prose.clone()) }
            }
        };
        Evidence {
            done: self.done,
            asked: self.asked,
            validity: validity(schema, output.as_ref(), self.done),
            output,
            ask,
            plain: plain.then(|| text.to_owned()),
            prose,
        }
    }
}

fn validity(schema: Option<&Schema>, output: Option<&Value>, done: Option<bool>) -> Validity {
    let Some(schema) = schema else { return Validity::NoSchema };
    let checked = match output {
        None => Err(vec![FieldError::new("", "there is no JSON object")]),
        // Packages whose schema speaks of the marker expect it in the result. A marked turn's result is the one
        // that was marked as done, whatever came after it.
        Some(Value::Object(object)) if done.is_some() && schema.declares(DONE_MARKER) => {
            let mut object = object.clone();
            object.insert(DONE_MARKER.to_owned(), Value::Bool(true));
            schema.check(&Value::Object(object))
        }
        Some(output) => schema.check(output),
    };
    checked.map_or_else(Validity::Invalid, |()| Validity::Valid)
}

#[cfg(test)]
mod tests;
