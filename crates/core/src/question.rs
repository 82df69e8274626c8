//! What a person is asked.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::names::named;

named! {
    /// The form of a question, and so of its answer.
    pub enum QuestionKind {
        /// Any text.
        OpenText = "open_text",
        /// One of the options.
        ChooseOne = "choose_one",
        /// Any number of the options.
        ChooseMany = "choose_many",
        /// Yes or no.
        Confirm = "confirm",
        /// Several fields at once.
        Form = "form",
    }
}

/// What a person is asked, complete: every surface can show it and check an answer without knowing anything else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Question {
    /// The form of the answer.
    pub kind: QuestionKind,
    /// What is asked, for people.
    pub prompt: String,
    /// What can be chosen, for the kinds that choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// What a form consists of; a form has either these or a `schema`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// A JSON schema the answer has to meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// What is taken when Adjourn has to decide alone.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

impl Question {
    /// A question that any text answers.
    pub fn open_text(prompt: impl Into<String>) -> Self {
        Self {
            kind: QuestionKind::OpenText,
            prompt: prompt.into(),
            options: Vec::new(),
            fields: Vec::new(),
            schema: None,
            default: None,
        }
    }

    /// A question that one of `options` answers.
    pub fn choose_one(prompt: impl Into<String>, options: Vec<Choice>) -> Self {
        Self { kind: QuestionKind::ChooseOne, options, ..Self::open_text(prompt) }
    }

    /// A question that yes or no answers.
    pub fn confirm(prompt: impl Into<String>) -> Self {
        Self { kind: QuestionKind::Confirm, ..Self::open_text(prompt) }
    }
}

/// Something that can be chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Choice {
    /// What the answer holds when it is chosen.
    pub value: Value,
    /// What a person reads.
    pub label: String,
}

impl Choice {
    /// A choice whose value is a string.
    pub fn new(value: impl Into<String>, label: impl Into<String>) -> Self {
        Self { value: Value::String(value.into()), label: label.into() }
    }
}

named! {
    /// What a field of a form holds.
    pub enum FieldKind {
        /// One line or more of text.
        Text = "text",
        /// A number.
        Number = "number",
        /// A whole number.
        Integer = "integer",
        /// Yes or no.
        Boolean = "boolean",
        /// One of the field's options.
        ChooseOne = "choose_one",
        /// Any number of the field's options.
        ChooseMany = "choose_many",
    }
}

/// One field of a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Field {
    /// The key in the answer.
    pub name: String,
    /// What a person reads in front of it.
    pub label: String,
    /// What it holds.
    pub kind: FieldKind,
    /// The answer is refused without it.
    #[serde(default)]
    pub required: bool,
    /// What can be chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// What it holds when the person leaves it out.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

/// What is written down is there, null too.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
