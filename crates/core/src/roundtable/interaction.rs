//! What a roundtable asks a person: how to go on after a round, and what to do where the table is stuck.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::escalation::Escalation;
use crate::interaction::{By, ReplyKey, Source};
use crate::names::named;
use crate::{
    Choice, Field, FieldError, FieldKind, InteractionId, InteractionStatus, Question, QuestionKind,
    Timestamp, reply,
};

/// A question to a person, and how it was resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    /// Its number at the table, counted from 1.
    pub interaction_id: InteractionId,
    /// Where it is in its life.
    pub status: InteractionStatus,
    /// The round after which it was asked.
    pub round: u32,
    /// What it is about.
    pub matter: Matter,
    /// What is asked.
    pub question: Question,
    /// When it was asked.
    pub created_at: Timestamp,
    /// How it was resolved; none where it fell away.
    pub resolution: Option<Resolution>,
}

impl Interaction {
    /// Whether it still waits for an answer.
    pub fn is_open(&self) -> bool {
        self.status == InteractionStatus::Open
    }
}

/// What a person is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matter {
    /// A round is over: how to go on?
    Checkpoint,
    /// The table is stuck, or a person wants a say: the number of the escalation, counted from 1.
    Escalation(u32),
}

impl Matter {
    /// Where the question comes from, on the wire.
    pub const fn source(self) -> Source {
        match self {
            Self::Checkpoint => Source::Checkpoint,
            Self::Escalation(_) => Source::Escalation,
        }
    }

    /// The escalation it is about.
    pub const fn escalation(self) -> Option<u32> {
        match self {
            Self::Checkpoint => None,
            Self::Escalation(number) => Some(number),
        }
    }

    /// What somebody means who just says something.
    const fn spoken(self) -> Word {
        match self {
            Self::Checkpoint => Word::Continue,
            Self::Escalation(_) => Word::OwnDecision,
        }
    }
}

named! {
    /// What a person says.
    pub enum Word {
        /// Hold another round.
        Continue = "continue",
        /// End it: the person is content with what there is.
        Conclude = "conclude",
        /// Break it off.
        Close = "close",
        /// Do as the facilitator recommends.
        Accept = "accept",
        /// Do as I say.
        OwnDecision = "own_decision",
        /// Go on discussing.
        Discuss = "discuss",
    }
}

/// How a question was resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// What the person chose.
    pub word: Word,
    /// What they said: a decision, or a remark for the next round.
    pub text: Option<String>,
    /// The time of it.
    pub at: Timestamp,
    /// Who did it.
    pub by: By,
    /// The key that the reply was sent with.
    pub key: Option<ReplyKey>,
}

impl Resolution {
    /// The answer, as it is shown.
    pub(crate) fn response(&self) -> Value {
        json!({ "decision": self.word, "text": self.text })
    }
}

/// The question after a round.
pub(crate) fn checkpoint(round: u32, summary: &str) -> Question {
    let prompt = format!("Round {round} is recorded. {summary}");
    let words = vec![
        choice(Word::Continue, "Hold another round"),
        choice(Word::Conclude, "Conclude with what there is"),
        choice(Word::Close, "Break it off"),
    ];
    form(prompt, words, Some(Word::Continue), "A remark for the next round")
}

/// The question where the table is stuck.
pub(crate) fn escalation(escalation: &Escalation) -> Question {
    let mut words = Vec::new();
    if escalation.recommendation.is_some() {
        words.push(choice(Word::Accept, "Accept the recommendation"));
    }
    words.push(choice(Word::OwnDecision, "Decide otherwise: say how"));
    words.push(choice(Word::Discuss, "Go on discussing"));
    form(escalation.prompt(), words, None, "The decision, or a remark for the next round")
}

fn choice(word: Word, label: &str) -> Choice {
    Choice::new(word.name(), label)
}

fn form(prompt: String, words: Vec<Choice>, default: Option<Word>, text_label: &str) -> Question {
    let decision = Field {
        name: "decision".to_owned(),
        label: "How to go on".to_owned(),
        kind: FieldKind::ChooseOne,
        required: true,
        options: words,
        default: default.map(|word| json!(word)),
    };
    let text = Field {
        name: "text".to_owned(),
        label: text_label.to_owned(),
        kind: FieldKind::Text,
        required: false,
        options: Vec::new(),
        default: None,
    };
    Question { kind: QuestionKind::Form, fields: vec![decision, text], ..Question::open_text(prompt) }
}

/// Reads an answer: the form, one of its words, or plain text, which people in a terminal have.
pub(crate) fn read(
    interaction: &Interaction,
    response: &Value,
) -> Result<(Word, Option<String>), Vec<FieldError>> {
    let question = &interaction.question;
    let form = match response {
        Value::String(said) => spoken(interaction, said),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            response.clone()
        }
    };
    let answer = reply::check(question, &form)?;
    let word = answer["decision"].as_str().and_then(|name| name.parse().ok());
    let word: Word = word.expect("the form was checked, and takes only the words it offers");
    let text = answer["text"].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    if word == Word::OwnDecision && text.is_none() {
        return Err(vec![FieldError::new("/text", "is missing: it should say what is decided")]);
    }
    Ok((word, text))
}

/// What was said as the form that means it.
fn spoken(interaction: &Interaction, said: &str) -> Value {
    let offered = interaction.question.fields.first().map(|decision| decision.options.clone());
    let choices = Question::choose_one("", offered.unwrap_or_default());
    match reply::check(&choices, &Value::from(said)) {
        Ok(word) => json!({ "decision": word }),
        Err(_) => json!({ "decision": interaction.matter.spoken(), "text": said }),
    }
}
