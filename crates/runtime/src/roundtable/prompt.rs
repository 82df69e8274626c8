//! What agents at the table are told: pure functions of the roundtable's state and of the texts of roles and phases.
//!
//! Nobody is shown an answer of the round that is going on, except the facilitator who draws them together. What people
//! and agents said is set apart as data.

use adjourn_core::roundtable::{
    Answer, ArtifactView, Focus, Missing, Role, Round, Roundtable, RoundtableView, Seat, Seen, reconciliation,
};
use serde_json::{Value, json};

use super::role::RoleText;
use crate::prompt::{fenced, quoted};

/// What a prompt is made of.
pub(super) struct Told<'a> {
    pub(super) table: &'a Roundtable,
    /// The round that is going on.
    pub(super) round: &'a Round,
    /// Who is told.
    pub(super) role: &'a RoleText,
    pub(super) seat: &'a Seat,
    /// What the phase of the strategy puts to participants.
    pub(super) phase: &'a str,
    /// The last recorded round that the agent remembers; none for an agent that begins anew.
    pub(super) since: Option<u32>,
}

/// What is known of the roles of others.
type Roles<'a> = dyn Fn(&Role) -> Option<RoleText> + 'a;

/// What the facilitator is told to open a round.
pub(super) fn ask(told: &Told<'_>, roles: &Roles<'_>) -> String {
    let Told { table, round, phase, .. } = told;
    let mut sections = leading(told, roles);
    let (number, strategy) = (round.number, table.strategy().name);
    let speakers: Vec<_> = round.speakers.iter().map(|role| format!("`{role}`")).collect();
    sections.push(format!(
        "# Your task: open round {number}\n\nThe round is the phase `{}` of the strategy `{strategy}`. Asked are, in \
         this order: {}. Besides your question each of them is told about the phase:\n\n{}\n\nChoose one focus and ask \
         one question, as you were told for opening a round.",
        round.phase,
        speakers.join(", "),
        quoted(phase),
    ));
    sections.join("\n\n")
}

/// What the facilitator is told to close a round.
pub(super) fn synthesis(told: &Told<'_>, roles: &Roles<'_>) -> String {
    let round = told.round;
    let mut sections = leading(told, roles);
    sections.push(format!("# Round {}: what was asked\n\n{}", round.number, fenced(&json!(round.asked))));
    // In the order in which they sit, not in which they happened to answer.
    let answers: Vec<_> = round.speakers.iter().filter_map(|role| round.answer(role)).map(answered).collect();
    let said = fenced(&Value::Array(answers));
    sections.push(format!("# Round {}: what was answered\n\n{said}", round.number));
    if !round.missing.is_empty() {
        let missing =
            round.missing.iter().map(|Missing { role, reason }| json!({"role": role, "reason": reason}));
        let missing = fenced(&missing.collect());
        sections.push(format!("# Round {}: who is missing\n\n{missing}", round.number));
    }
    sections.push(format!(
        "# Your task: close round {}\n\nDraw the answers together, as you were told for closing a round.",
        round.number
    ));
    sections.join("\n\n")
}

/// What a participant is told.
pub(super) fn answer(told: &Told<'_>) -> String {
    let Told { table, round, role, seat, phase, since } = told;
    let mut sections = Vec::new();
    if since.is_none() {
        sections.push(format!("You take part in a roundtable as `{}`.\n\n{}", role.role, role.text));
        sections.extend(subject(table));
    } else {
        sections.push(format!(
            "You take part in the next round of the roundtable that you know, as `{}`.",
            role.role
        ));
        sections.push(changes(table, *since));
    }
    let mut held = format!("# Round {}: how it is held\n\n{phase}", round.number);
    if let Some(side) = seat.side {
        held.push_str(&format!("\n\nYou speak `{side}`."));
    }
    sections.push(held);
    sections.extend(before(&table.seen_by(&role.role)));
    sections.extend(about(table, round, &role.role));
    sections.push(
        "# Your task\n\nAnswer the question. The others answer it at the same time: you do not see their answers, and \
         they do not see yours. Say in `position` what you hold, in `rationale` why, and in `confidence` how sure you \
         are, from 0 to 1."
            .to_owned(),
    );
    sections.join("\n\n")
}

/// What a facilitator is told before its task.
fn leading(told: &Told<'_>, roles: &Roles<'_>) -> Vec<String> {
    let Told { table, role, since, .. } = told;
    let mut sections = Vec::new();
    if since.is_none() {
        sections.push(role.text.clone());
        sections.extend(subject(table));
        sections.push(participants(table, roles));
    }
    sections.push(format!("# Agenda\n\n{}", fenced(&view(table)["agenda"])));
    sections.push(changes(table, *since));
    if since.is_none() && !table.rounds().is_empty() {
        let rounds = table.rounds().iter().map(|round| {
            json!({
                "number": round.number, "phase": round.phase, "asked": round.asked, "summary": round.summary(),
            })
        });
        sections.push(format!("# The rounds so far\n\n{}", fenced(&rounds.collect())));
    }
    sections
}

fn subject(table: &Roundtable) -> Vec<String> {
    let spec = table.spec();
    let mut sections = vec![format!("# Subject\n\n{}", quoted(&spec.subject))];
    sections.extend(spec.context.as_ref().map(|context| format!("# What is known\n\n{}", quoted(context))));
    sections
}

fn participants(table: &Roundtable, roles: &Roles<'_>) -> String {
    let seats = table.spec().participants.iter().map(|Seat { role, side, .. }| {
        let side = side.map_or_else(String::new, |side| format!(" (speaks `{side}`)"));
        let summary = roles(role).map_or_else(String::new, |text| format!(": {}", text.summary));
        format!("- `{role}`{side}{summary}")
    });
    format!("# Participants\n\n{}", seats.collect::<Vec<_>>().join("\n"))
}

/// What changed since the agent last looked; for one that begins anew, everything.
fn changes(table: &Roundtable, since: Option<u32>) -> String {
    let block = json!({ "context_reconciliation": reconciliation(table, since.unwrap_or(0)) });
    let since = match since {
        Some(_) => "This is what changed since you last looked.",
        None => "This is where the table stands.",
    };
    format!(
        "# The state of the table\n\n{since} It is authoritative: where it differs from what you remember, your memory \
         is wrong.\n\n{}",
        fenced(&block)
    )
}

/// What a participant sees of the rounds before.
fn before(seen: &Seen<'_>) -> Option<String> {
    if let Some(synthesis) = seen.synthesis {
        return Some(format!("# Where the table stands\n\n{}", quoted(synthesis)));
    }
    if seen.answers.is_empty() {
        return None;
    }
    let said = seen.answers.iter().map(|(round, answer)| {
        let mut said = answered(answer);
        said["round"] = json!(round);
        said
    });
    Some(format!("# What was said before\n\n{}", fenced(&said.collect())))
}

/// What the round is about, and the question.
fn about(table: &Roundtable, round: &Round, role: &Role) -> Vec<String> {
    let Some(asked) = &round.asked else { return Vec::new() };
    let view = view(table);
    let found = |list: &str, key: &str, id: &str| {
        let found = view[list].as_array().into_iter().flatten().find(|it| it[key].as_str() == Some(id));
        found.cloned().unwrap_or_default()
    };
    let mut sections = Vec::new();
    let topic = found("agenda", "topic_id", asked.topic_id.as_str());
    sections.push(format!("# The topic\n\n{}", fenced(&topic)));
    match &asked.focus {
        Focus::Topic(_) => {}
        Focus::Conflict(id) => {
            let conflict = found("conflicts", "conflict_id", &id.to_string());
            sections.push(format!("# The conflict\n\n{}", fenced(&conflict)));
        }
        Focus::Question(id) => {
            let question = found("questions", "question_id", &id.to_string());
            sections.push(format!("# The open question\n\n{}", fenced(&question)));
        }
    }
    let living = table.artifacts().iter().filter(|it| it.is_living() && it.topic_id == asked.topic_id);
    let written: Vec<_> = living.map(|artifact| json!(ArtifactView::of(artifact))).collect();
    if !written.is_empty() {
        sections.push(format!("# What is written down on it\n\n{}", fenced(&Value::Array(written))));
    }
    let mut question = format!("# The question\n\n{}", quoted(&asked.question));
    if let Some(context) = &asked.context {
        question.push_str(&format!("\n\nWhat you should know to answer it:\n\n{}", quoted(context)));
    }
    if let Some(directive) = asked.directives.get(role) {
        question.push_str(&format!("\n\nWhat you in particular should look at:\n\n{}", quoted(directive)));
    }
    sections.push(question);
    sections
}

fn answered(answer: &Answer) -> Value {
    let mut said = json!(answer.said);
    said["role"] = json!(answer.role);
    said
}

fn view(table: &Roundtable) -> Value {
    json!(RoundtableView::of(table))
}
