//! The end of a command that was with a roundtable: what came out of it.

use adjourn_core::machines::{ConflictStatus, QuestionStatus, RoundtableStatus, RoundtableTrigger};
use adjourn_core::roundtable::{RoundtableView, Seat};
use adjourn_core::{InteractionId, RoundtableId};

use super::export::fetch;
use super::question::{question_text, reply_command, status_style};
use crate::client::Client;
use crate::data::Global;
use crate::exit::Exit;
use crate::output::{print, print_json};
use crate::result::GoesOn;
use crate::style::{self, styled};
use crate::text::{age, clean, indented, one_line};

/// Characters of a conflict or a question that is left open.
const OPEN_CHARS_MAX: usize = 120;

/// What the roundtable is, in two lines.
pub(super) fn heading(table: &RoundtableView) -> String {
    let RoundtableView { workflow, strategy, facilitator, participants, .. } = table;
    let who: Vec<_> = participants.iter().map(|seat| who(seat, &facilitator.engine)).collect();
    let held = format!("{workflow}, {strategy}, on {}: {}", facilitator.engine, who.join(", "));
    format!(
        "{}  {}\n{}",
        styled(style::BOLD, table.roundtable_id),
        styled(style::DIM, clean(&held)),
        styled(style::BOLD, clean(table.subject.trim())),
    )
}

/// A role, with its engine where that is not the one of all.
pub(super) fn who(seat: &Seat, engine: &str) -> String {
    if seat.engine == engine { seat.role.to_string() } else { format!("{} on {}", seat.role, seat.engine) }
}

/// Shows what came of a roundtable: the document on stdout, everything else on stderr.
pub(super) async fn show(
    client: &mut Client<'_>,
    table: &RoundtableView,
    shown: Option<InteractionId>,
    goes_on: GoesOn,
) -> anyhow::Result<Exit> {
    let global = client.global;
    anstream::eprintln!("\n{}", headline(table));
    let exit = exit(table);
    match (&table.pending, table.status) {
        (Some(open), _) => {
            if shown != Some(open.interaction_id) {
                anstream::eprintln!("{} {}", styled(style::ASKS, "?"), question_text(open));
            }
            anstream::eprintln!("answer it with: {}", reply_command(global, table.roundtable_id, open));
        }
        (None, RoundtableStatus::Active) => {
            anstream::eprintln!("{}", where_to_look(global, table.roundtable_id, goes_on));
        }
        (None, RoundtableStatus::Closed) => {
            if let Some(problem) = &table.problem {
                anstream::eprintln!("{}", indented(&styled(style::BAD, clean(problem)), "  "));
            }
            for line in still_open(table) {
                anstream::eprintln!("  {} {line}", styled(style::ODD, "still open:"));
            }
            let export = global.command(&format!("roundtable export {}", table.roundtable_id));
            anstream::eprintln!("the document again: {export}");
        }
    }
    if global.json {
        print_json(table)?;
    } else if exit == Exit::Done {
        print(&clean(&String::from_utf8_lossy(&fetch(client, table.roundtable_id, "md").await?)))?;
    }
    Ok(exit)
}

/// What it means for a command that its roundtable stands like this.
fn exit(table: &RoundtableView) -> Exit {
    match table.close_reason {
        None => Exit::Left,
        Some(RoundtableTrigger::Conclude | RoundtableTrigger::ExhaustRounds) => Exit::Done,
        Some(RoundtableTrigger::CloseByUser) => Exit::Canceled,
        Some(RoundtableTrigger::Fail) => Exit::Failed,
    }
}

fn headline(table: &RoundtableView) -> String {
    let RoundtableView { rounds, artifacts, .. } = table;
    [
        styled(style::BOLD, table.roundtable_id),
        standing(table),
        age(table.created_at, table.updated_at),
        format!("{}, {}", counted(rounds.len(), "round"), counted(artifacts.len(), "artifact")),
    ]
    .join("  ")
}

/// Its status, with the reason where it has ended and the wait where it waits.
pub(super) fn standing(table: &RoundtableView) -> String {
    let reason = table.close_reason.map(RoundtableTrigger::name);
    match (&table.pending, reason) {
        (Some(_), _) => styled(style::ASKS, "waits for you"),
        (None, Some(reason)) => {
            styled(status_style(table.status, Some(reason)), format!("{}: {reason}", table.status))
        }
        (None, None) => table.status.to_string(),
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// What was not settled.
pub(super) fn still_open(table: &RoundtableView) -> Vec<String> {
    let conflicts =
        table.conflicts.iter().filter(|conflict| conflict.status == ConflictStatus::Open).map(|conflict| {
            format!("{} {}", conflict.conflict_id, one_line(&conflict.title, OPEN_CHARS_MAX))
        });
    let questions = table
        .questions
        .iter()
        .filter(|question| question.status == QuestionStatus::Open)
        .map(|question| format!("{} {}", question.question_id, one_line(&question.text, OPEN_CHARS_MAX)));
    conflicts.chain(questions).collect()
}

/// Who works on a roundtable that is not watched any longer, and where it is seen.
pub(super) fn where_to_look(global: &Global, id: RoundtableId, goes_on: GoesOn) -> String {
    let look = || global.command(&format!("roundtable show {id}"));
    match goes_on {
        GoesOn::WithOwner => format!("it goes on; to see how: {}", look()),
        GoesOn::InBackground => format!("it goes on in the background; to see how: {}", look()),
        GoesOn::WithNextOwner => {
            "it is taken up again by the next command that runs, answers or cancels something here".to_owned()
        }
    }
}
