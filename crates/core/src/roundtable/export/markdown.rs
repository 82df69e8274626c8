//! The document as Markdown.

use std::fmt::Write;

use super::document::{Form, Section};
use crate::interaction::By;
use crate::machines::ArtifactStatus;
use crate::roundtable::artifact::{Agreement, Amendment, AmendmentKind, Artifact};
use crate::roundtable::id::Role;
use crate::roundtable::interaction::Word;
use crate::roundtable::point::{Conflict, OpenQuestion, Settler};
use crate::roundtable::reconciliation::human_decisions;
use crate::roundtable::{Roundtable, Topic};

/// The whole document.
pub(super) fn write(table: &Roundtable) -> String {
    let mut page = Page::default();
    head(&mut page, table);
    agenda(&mut page, table);
    for section in table.spec.document.sections() {
        results(&mut page, table, section);
    }
    open_points(&mut page, table);
    settled(&mut page, table);
    decisions_of_people(&mut page, table);
    out_of_force(&mut page, table);
    rounds(&mut page, table);
    page.0
}

/// Markdown in the making: blocks with an empty line between them.
#[derive(Default)]
struct Page(String);

impl Page {
    fn block(&mut self, text: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(text.trim_end());
        self.0.push('\n');
    }

    fn heading(&mut self, level: usize, text: &str) {
        self.block(&format!("{} {}", "#".repeat(level), one_line(text)));
    }

    fn list(&mut self, items: impl IntoIterator<Item = String>) {
        let items = items.into_iter().fold(String::new(), |mut list, item| {
            // Writing to a string cannot fail.
            _ = writeln!(list, "- {}", one_line(&item));
            list
        });
        if !items.is_empty() {
            self.block(&items);
        }
    }
}

/// Text of agents within a line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text of agents as paragraphs: it may use Markdown, but no headings, which would take the document apart.
fn paragraphs(text: &str) -> String {
    let lines = text.trim().lines().map(|line| match line.trim_start() {
        heading if heading.starts_with('#') => format!("\\{heading}"),
        _ => line.trim_end().to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn names(roles: &[Role]) -> String {
    roles.iter().map(Role::as_str).collect::<Vec<_>>().join(", ")
}

fn head(page: &mut Page, table: &Roundtable) {
    let spec = &table.spec;
    page.heading(1, &format!("{}: {}", spec.document.title(), spec.subject));
    let state = match &table.closing {
        Some(closing) => format!("closed ({})", closing.reason),
        None => "still going on".to_owned(),
    };
    let roles: Vec<_> = spec.participants.iter().map(|seat| seat.role.clone()).collect();
    page.list([
        format!("Roundtable: {}, {state}", table.id),
        format!("Rounds: {} ({})", table.recorded_rounds(), spec.strategy),
        format!("Participants: {}", names(&roles)),
    ]);
    if let Some(summary) = table.rounds.last().and_then(|round| round.summary()) {
        page.block(&paragraphs(summary));
    }
}

fn agenda(page: &mut Page, table: &Roundtable) {
    page.heading(2, "Agenda");
    for (topic, spec) in table.topics.iter().zip(&table.spec.agenda) {
        let critical = if spec.critical { ", critical" } else { "" };
        page.heading(3, &format!("{} ({}{critical})", spec.title, topic.status));
        let coverage = table.coverage_of(spec);
        page.list(coverage.criteria.iter().zip(&spec.done_when.criteria).map(|(covered, criterion)| {
            let by: Vec<_> = covered.by.iter().map(ToString::to_string).collect();
            if by.is_empty() {
                format!("[ ] {}", criterion.text)
            } else {
                format!("[x] {} ({})", criterion.text, by.join(", "))
            }
        }));
        if coverage.min_artifacts > 0 {
            let (living, min) = (coverage.artifacts, coverage.min_artifacts);
            page.block(&format!("Results in force: {living}, at least {min} were asked for."));
        }
        if coverage.min_requirements > 0 {
            let (living, min) = (coverage.requirements, coverage.min_requirements);
            page.block(&format!("Requirements in force: {living}, at least {min} were asked for."));
        }
    }
}

fn results(page: &mut Page, table: &Roundtable, section: &Section) {
    let of_section = |artifact: &&Artifact| section.kinds.contains(&artifact.id.kind);
    let shown = |artifact: &&Artifact| artifact.is_living() || section.form == Form::Record;
    let artifacts: Vec<_> = table.artifacts.iter().filter(of_section).filter(shown).collect();
    if artifacts.is_empty() {
        return;
    }
    page.heading(2, section.heading);
    for artifact in artifacts {
        page.heading(3, &format!("{} {}", artifact.id, artifact.version.title));
        if section.form == Form::Record {
            record(page, table, artifact);
        }
        page.block(&paragraphs(&artifact.version.body));
        page.block(&format!("*{}*", provenance(table, artifact)));
        page.list(artifact.amendments.iter().map(amended));
    }
}

/// What a decision record has besides: where it stands, and what it was decided about.
fn record(page: &mut Page, table: &Roundtable, artifact: &Artifact) {
    let status = match (artifact.status, artifact.version.agreement) {
        (ArtifactStatus::Superseded | ArtifactStatus::Withdrawn, _) => how_it_ended(artifact),
        (ArtifactStatus::Active | ArtifactStatus::Amended, Agreement::Consensus) => "accepted".to_owned(),
        (ArtifactStatus::Active | ArtifactStatus::Amended, Agreement::Draft) => "proposed".to_owned(),
        (ArtifactStatus::Active | ArtifactStatus::Amended, Agreement::Conflict) => "disputed".to_owned(),
    };
    let round = table.rounds.iter().find(|round| round.number == artifact.round);
    let question = round.and_then(|round| round.asked.as_ref()).map(|asked| asked.question.as_str());
    page.list([format!("Status: {status}"), format!("Context: {}", question.unwrap_or("not recorded"))]);
}

fn provenance(table: &Roundtable, artifact: &Artifact) -> String {
    let version = &artifact.version;
    let topic = table.spec.topic(&artifact.topic_id).map_or("", |topic| topic.title.as_str());
    let mut parts = vec![
        version.agreement.to_string(),
        one_line(topic),
        format!("round {}", artifact.round),
        format!("proposed by {}", artifact.proposed_by),
    ];
    if !version.supported_by.is_empty() {
        parts.push(format!("supported by {}", names(&version.supported_by)));
    }
    parts.join(" · ")
}

fn amended(amendment: &Amendment) -> String {
    let Amendment { round, change, reason, by, person, before } = amendment;
    let done = match change {
        AmendmentKind::Amend => "amended",
        AmendmentKind::Revert => "reverted",
    };
    let by = person.as_ref().map_or_else(|| by.to_string(), a_person);
    format!("Round {round}, {done} by {by} ({reason}). Before: **{}** {}", before.title, before.body)
}

/// A person, by the name they came in with.
fn a_person(by: &By) -> String {
    by.name.as_ref().map_or_else(|| "a person".to_owned(), |name| format!("a person ({name})"))
}

fn how_it_ended(artifact: &Artifact) -> String {
    let end = artifact.end.as_ref();
    let reason = end.and_then(|end| end.reason.as_ref()).map(|reason| format!(": {reason}"));
    let how = match end.and_then(|end| end.superseded_by) {
        Some(by) => format!("superseded by {by}"),
        None => "withdrawn".to_owned(),
    };
    let round = end.map_or(0, |end| end.round);
    let by = end.and_then(|end| end.person.as_ref()).map(|by| format!(" by {}", a_person(by)));
    format!("{how}{} in round {round}{}", by.unwrap_or_default(), reason.unwrap_or_default())
}

fn open_points(page: &mut Page, table: &Roundtable) {
    page.heading(2, "Open points");
    let unsettled = table.unsettled();
    let open = |topic: &&Topic| unsettled.topics.contains(&topic.id);
    let topics = table.topics.iter().filter(open).map(|topic| {
        let title = table.spec.topic(&topic.id).map_or("", |topic| topic.title.as_str());
        format!("Topic {} ({})", title, topic.status)
    });
    let conflicts = table.open_conflicts().map(disputed);
    let questions = table.open_questions().map(|question| {
        let about = &question.about;
        format!(
            "{} {} (asked by {}, round {})",
            about.question_id, about.text, about.asked_by, question.round
        )
    });
    let points: Vec<_> = topics.chain(conflicts).chain(questions).collect();
    if points.is_empty() {
        page.block("None.");
    } else {
        page.list(points);
    }
}

fn disputed(conflict: &Conflict) -> String {
    let about = &conflict.about;
    let positions: Vec<_> =
        about.positions.iter().map(|held| format!("{}: {}", names(&held.held_by), held.position)).collect();
    format!("{} {} (round {}): {}", about.conflict_id, about.title, conflict.round, positions.join("; "))
}

fn settled(page: &mut Page, table: &Roundtable) {
    let by = |settler| match settler {
        Settler::Facilitator => "the table",
        Settler::User => "a person",
    };
    let conflicts = table.conflicts.iter().filter_map(|conflict: &Conflict| {
        let (about, settled) = (&conflict.about, conflict.resolution.as_ref()?);
        Some((about.conflict_id.to_string(), &about.title, settled))
    });
    let questions = table.questions.iter().filter_map(|question: &OpenQuestion| {
        let (about, settled) = (&question.about, question.resolution.as_ref()?);
        Some((about.question_id.to_string(), &about.text, settled))
    });
    let points: Vec<_> = conflicts
        .chain(questions)
        .map(|(id, about, settled)| {
            format!("{id} {about}: {} (by {}, round {})", settled.text, by(settled.by), settled.round)
        })
        .collect();
    if !points.is_empty() {
        page.heading(2, "Settled points");
        page.list(points);
    }
}

fn decisions_of_people(page: &mut Page, table: &Roundtable) {
    let decisions: Vec<_> = human_decisions(table, &|_| true)
        .into_iter()
        // To go on without a word decides nothing.
        .filter(|decision| decision.decision != Word::Continue || decision.text.is_some())
        .map(|decision| {
            let text = decision.text.map(|text| format!(": {text}")).unwrap_or_default();
            format!("After round {}: {}{text}", decision.round, meant(decision.decision))
        })
        .collect();
    if !decisions.is_empty() {
        page.heading(2, "What people said");
        page.list(decisions);
    }
}

fn meant(word: Word) -> &'static str {
    match word {
        Word::Continue => "go on",
        Word::Conclude => "conclude",
        Word::Close => "break it off",
        Word::Accept => "the recommendation is accepted",
        Word::OwnDecision => "decided",
        Word::Discuss => "go on discussing",
    }
}

fn out_of_force(page: &mut Page, table: &Roundtable) {
    let ended: Vec<_> = table
        .artifacts
        .iter()
        .filter(|artifact| !artifact.is_living())
        .map(|artifact| {
            let (title, ended) = (&artifact.version.title, how_it_ended(artifact));
            format!("{} {title}, {ended} (*{}*)", artifact.id, provenance(table, artifact))
        })
        .collect();
    if !ended.is_empty() {
        page.heading(2, "No longer in force");
        page.list(ended);
    }
}

fn rounds(page: &mut Page, table: &Roundtable) {
    if table.rounds.is_empty() {
        return;
    }
    page.heading(2, "Rounds");
    page.list(table.rounds.iter().map(|round| {
        let question = round.asked.as_ref().map_or("", |asked| asked.question.as_str());
        let missing: Vec<_> = round.missing.iter().map(|missing| missing.role.clone()).collect();
        let missing =
            if missing.is_empty() { String::new() } else { format!(" (missing: {})", names(&missing)) };
        let summary = round.summary().unwrap_or_default();
        format!("Round {}, {}{missing}: *{question}* {summary}", round.number, round.phase)
    }));
}
