//! `adjourn roundtable show`: one roundtable, everything that a person wants to know of it.

use std::fmt::Write as _;

use adjourn_core::machines::{ConflictStatus, QuestionStatus, TopicStatus};
use adjourn_core::roundtable::{
    ArtifactView, Escalation, HumanDecisionView, RefusedProposalView, Role as Seated, RoundView,
    RoundtableView, TopicView,
};
use clap::Args;

use super::ended::{standing, who};
use super::question::{question_text, reply_command};
use crate::client::{Client, Role};
use crate::data::{Global, now};
use crate::exit::Exit;
use crate::find::find_roundtable;
use crate::output::{print, print_json};
use crate::style::{self, styled};
use crate::text::{age, clean, indented, moment, one_line};

/// Characters of an entry in one line.
const LINE_CHARS_MAX: usize = 120;

/// Show a roundtable: its agenda, its rounds, what was written down, and what it asks
#[derive(Debug, Args)]
pub(super) struct Show {
    /// The roundtable: its id, or an end of it that no other has
    #[arg(value_name = "ROUNDTABLE")]
    roundtable: String,
}

impl Show {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let mut client = Client::connect(global, Role::Reads).await?;
        let table = find_roundtable(&mut client, &self.roundtable).await?;
        if global.json {
            print_json(&table)?;
        } else {
            print(&text(global, &table))?;
        }
        Ok(Exit::Done)
    }
}

/// Lines with a name in front, and parts below a heading.
#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{}{value}", styled(style::DIM, format!("{name:<12}")));
    }

    fn part(&mut self, heading: &str, lines: &[String]) {
        if !lines.is_empty() {
            let _ =
                writeln!(self.0, "\n{}\n{}", styled(style::BOLD, heading), indented(&lines.join("\n"), "  "));
        }
    }
}

fn text(global: &Global, table: &RoundtableView) -> String {
    let mut page = Page::default();
    facts(table, &mut page);
    page.part("Agenda", &table.agenda.iter().map(topic).collect::<Vec<_>>());
    page.part("Rounds", &table.rounds.iter().map(round).collect::<Vec<_>>());
    page.part("Written down", &table.artifacts.iter().map(artifact).collect::<Vec<_>>());
    let conflicts = table.conflicts.iter().map(|it| {
        let settled = it.resolution.as_ref().map(|settled| settled.text.as_str());
        point(
            &it.conflict_id.to_string(),
            &it.title,
            settled.filter(|_| it.status == ConflictStatus::Resolved),
        )
    });
    page.part("Conflicts", &conflicts.collect::<Vec<_>>());
    let questions = table.questions.iter().map(|it| {
        let settled = it.resolution.as_ref().map(|settled| settled.text.as_str());
        point(
            &it.question_id.to_string(),
            &it.text,
            settled.filter(|_| it.status == QuestionStatus::Resolved),
        )
    });
    page.part("Questions", &questions.collect::<Vec<_>>());
    page.part("Came before a person", &table.escalations.iter().map(escalation).collect::<Vec<_>>());
    page.part("People decided", &table.human_decisions.iter().map(decision).collect::<Vec<_>>());
    if let Some(open) = &table.pending {
        let heading = format!("Asks ({} ago)", age(open.created_at, now()));
        let command = reply_command(global, table.roundtable_id, open);
        page.part(&heading, &[question_text(open), String::new(), styled(style::DIM, command)]);
    }
    page.0
}

fn facts(table: &RoundtableView, page: &mut Page) {
    page.line("roundtable", styled(style::BOLD, table.roundtable_id));
    page.line("subject", one_line(&table.subject, LINE_CHARS_MAX));
    page.line("status", standing(table));
    if let Some(problem) = &table.problem {
        page.line("problem", styled(style::BAD, clean(problem)));
    }
    page.line("held as", clean(&format!("{}, {}", table.workflow, table.strategy)));
    page.line("facilitator", clean(&format!("on {}", table.facilitator.engine)));
    let seats: Vec<_> = table.participants.iter().map(|seat| who(seat, &table.facilitator.engine)).collect();
    page.line("takes part", clean(&seats.join(", ")));
    page.line("rounds", format!("{} of at most {}", table.rounds.len(), table.limits.max_rounds));
    page.line("opened", format!("{} ({} ago)", moment(table.created_at), age(table.created_at, now())));
}

fn topic(topic: &TopicView) -> String {
    let style = match topic.status {
        TopicStatus::Closed => style::GOOD,
        TopicStatus::Partial => style::PLAIN,
        TopicStatus::Open => style::DIM,
    };
    let critical = if topic.critical { ", critical" } else { "" };
    let head = format!("{} ({}{critical})", clean(&topic.title), topic.status);
    let mut text = styled(style, head);
    for criterion in &topic.done_when.criteria {
        let covered: Vec<_> = criterion.covered_by.iter().map(ToString::to_string).collect();
        let mark = if covered.is_empty() { "[ ]".to_owned() } else { "[x]".to_owned() };
        let by = if covered.is_empty() { String::new() } else { format!(" ({})", covered.join(", ")) };
        text.push_str(&format!("\n  {mark} {}{by}", one_line(&criterion.text, LINE_CHARS_MAX)));
    }
    text
}

fn round(round: &RoundView) -> String {
    let asked = round.question.as_deref().unwrap_or("nothing is asked yet");
    let mut text = format!("{}. {}: {}", round.number, clean(&round.phase), one_line(asked, LINE_CHARS_MAX));
    if !round.missing.is_empty() {
        let missing: Vec<_> = round.missing.iter().map(Seated::as_str).collect();
        text.push_str(&format!(
            "\n   {}",
            styled(style::ODD, clean(&format!("missing: {}", missing.join(", "))))
        ));
    }
    for RefusedProposalView { number, reason, .. } in &round.proposals_refused {
        let refused = format!("proposal {number} refused: {}", one_line(reason, LINE_CHARS_MAX));
        text.push_str(&format!("\n   {}", styled(style::ODD, refused)));
    }
    match (&round.synthesis, round.next, round.rule) {
        (Some(synthesis), next, rule) => {
            text.push_str(&format!("\n   {}", one_line(synthesis, LINE_CHARS_MAX)));
            if let (Some(next), Some(rule)) = (next, rule) {
                text.push_str(&format!("\n   {}", styled(style::DIM, format!("next: {next} ({rule})"))));
            }
        }
        (None, ..) => text.push_str(&format!("\n   {}", styled(style::DIM, format!("at {}", round.step)))),
    }
    text
}

fn artifact(artifact: &ArtifactView) -> String {
    let ArtifactView { artifact_id, title, agreement, status, proposed_by, round, .. } = artifact;
    let origin = format!("({agreement}, {status}, by {proposed_by} in round {round})");
    format!("{artifact_id} {} {}", one_line(title, LINE_CHARS_MAX), styled(style::DIM, clean(&origin)))
}

/// An escalation: after which round, and why.
fn escalation(escalation: &Escalation) -> String {
    format!("after round {}: {}", escalation.round, one_line(&escalation.reasons.join(" "), LINE_CHARS_MAX))
}

/// A decision of a person, and who took it.
fn decision(decision: &HumanDecisionView) -> String {
    let HumanDecisionView { round, decision, text, resolved_by, .. } = decision;
    let text = text.as_ref().map(|text| format!(": {}", one_line(text, LINE_CHARS_MAX)));
    let by = resolved_by.name.as_ref().map(|name| styled(style::DIM, format!(" (by {})", clean(name))));
    format!("after round {round}: {decision}{}{}", text.unwrap_or_default(), by.unwrap_or_default())
}

/// A conflict or a question, and how it was settled.
fn point(id: &str, what: &str, settled: Option<&str>) -> String {
    let what = one_line(what, LINE_CHARS_MAX);
    match settled {
        Some(settled) => format!("{id} {what}\n  > {}", one_line(settled, LINE_CHARS_MAX)),
        None => format!("{} {what}", styled(style::ODD, format!("{id} (open)"))),
    }
}
