//! What comes out of a roundtable: a document for people, or all of it for programs. Nothing is left out that is still
//! open, and a state that contradicts itself is refused rather than written up.

mod check;
mod document;
mod markdown;

use serde_json::{Value, json};

pub use check::Inconsistent;
pub use document::Document;

use super::Roundtable;
use super::reconciliation::human_decisions;
use super::view::RoundtableView;

/// What an export calls itself, so that whoever reads it knows what to expect.
const FORMAT: &str = "adjourn.roundtable/1";

/// The document that the roundtable was held for, as Markdown.
pub fn export_markdown(table: &Roundtable) -> Result<String, Inconsistent> {
    check::consistent(table)?;
    Ok(markdown::write(table))
}

/// Everything, as JSON.
pub fn export_json(table: &Roundtable) -> Result<Value, Inconsistent> {
    check::consistent(table)?;
    Ok(json!({
        "format": FORMAT,
        "document": table.spec.document,
        "roundtable": RoundtableView::of(table),
        "unsettled": table.unsettled(),
        "escalations": table.escalations,
        "human_decisions": human_decisions(table, &|_| true),
    }))
}
