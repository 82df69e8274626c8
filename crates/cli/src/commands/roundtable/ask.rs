//! Asks a person at a terminal how a roundtable goes on.

use std::fmt;

use adjourn_core::roundtable::Word;
use adjourn_core::{InteractionView, Source};
use inquire::validator::Validation;
use inquire::{Select, Text};
use serde_json::{Value, json};

use super::question::words;
use crate::output::value_text;
use crate::prompt::{Asked, Prompted, asked};
use crate::text::clean;

/// One thing that can be chosen.
struct Offer {
    word: String,
    label: String,
    says: Says,
}

/// Whether something has to be said with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Nothing,
    /// A remark, or just Enter.
    Maybe,
    Something,
}

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

/// Asks until there is an answer.
pub(crate) fn ask(open: &InteractionView) -> anyhow::Result<Asked<Value>> {
    asked(answer(open))
}

fn answer(open: &InteractionView) -> Prompted<Value> {
    let chosen = Select::new("How to go on?", offers(open)).without_help_message().prompt()?;
    let text = match chosen.says {
        Says::Nothing => String::new(),
        Says::Maybe => Text::new("A remark for the next round (Enter for none):").prompt()?,
        Says::Something => {
            let filled = |typed: &str| {
                Ok(match typed.trim().is_empty() {
                    true => Validation::Invalid("say something, or press Esc".into()),
                    false => Validation::Valid,
                })
            };
            let is_checkpoint = open.source == Source::Checkpoint;
            let title = if is_checkpoint { "Your remark:" } else { "Your decision:" };
            Text::new(title).with_validator(filled).prompt()?
        }
    };
    let text = Some(text).filter(|text| !text.trim().is_empty());
    Ok(json!({ "decision": chosen.word, "text": text }))
}

/// What the question offers; at a checkpoint also to go on with a remark.
fn offers(open: &InteractionView) -> Vec<Offer> {
    let mut offers: Vec<_> = words(&open.question)
        .iter()
        .map(|choice| {
            let word = value_text(&choice.value);
            let says = match word.parse() {
                Ok(Word::OwnDecision) => Says::Something,
                Ok(Word::Discuss) => Says::Maybe,
                Ok(Word::Continue | Word::Conclude | Word::Close | Word::Accept) | Err(_) => Says::Nothing,
            };
            Offer { word, label: clean(&choice.label), says }
        })
        .collect();
    if open.source == Source::Checkpoint {
        let label = "Hold another round, with a remark from me".to_owned();
        let remark = Offer { word: Word::Continue.to_string(), label, says: Says::Something };
        offers.insert(offers.len().min(1), remark);
    }
    offers
}
