//! `adjourn ps`: lists runs.

use std::collections::HashMap;

use adjourn_core::{OpenInteraction, RunId, RunStatus};
use adjourn_store::{OpenCursor, RunFilter, Store};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::data::{Global, now};
use crate::exit::{Exit, wrong_use};
use crate::output::{print, print_json};
use crate::style;
use crate::table::{Cell, table};
use crate::text::{age, one_line};

/// Runs that are listed when nobody says otherwise: a screenful.
const LIMIT_DEFAULT: usize = 30;

/// Characters that are shown of a question.
const QUESTION_CHARS_MAX: usize = 60;

/// Questions that are read at once.
const PAGE: usize = 1000;

/// List runs, the newest first
#[derive(Debug, Args)]
pub(super) struct Ps {
    /// Only those with this status
    #[arg(long, value_name = "STATUS", value_parser = statuses())]
    status: Option<RunStatus>,

    /// How many
    #[arg(long, value_name = "N", default_value_t = LIMIT_DEFAULT)]
    limit: usize,

    /// Only those of this skill
    #[arg(long, value_name = "NAME")]
    skill: Option<String>,

    /// Only those with this label
    #[arg(long, value_name = "K=V")]
    label: Option<String>,
}

fn statuses() -> impl TypedValueParser<Value = RunStatus> {
    let names = RunStatus::ALL.iter().map(|status| PossibleValue::new(status.name()).help(status.doc()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<RunStatus>())
}

impl Ps {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let label = match &self.label {
            Some(label) => Some(label.split_once('=').ok_or_else(|| {
                wrong_use(format!(
                    "--label {label}: it should be a name and a value, as in --label team=core"
                ))
            })?),
            None => None,
        };
        let filter = RunFilter {
            status: self.status,
            skill: self.skill,
            label: label.map(|(name, value)| (name.to_owned(), value.to_owned())),
            before: None,
        };
        let store = global.reader()?;
        // One more than is shown, to tell whether there are more.
        let mut rows = store.runs(&filter, self.limit.saturating_add(1))?;
        let is_more = rows.len() > self.limit;
        rows.truncate(self.limit);
        if global.json {
            print_json(&rows)?;
            return Ok(Exit::Done);
        }
        if rows.is_empty() {
            anstream::eprintln!("there are no such runs");
            return Ok(Exit::Done);
        }
        let is_waiting = rows.iter().any(|row| row.status == RunStatus::WaitingUser);
        let questions = if is_waiting { questions(&store)? } else { HashMap::new() };
        let now = now();
        let lines: Vec<_> = rows
            .iter()
            .map(|row| {
                let told = questions.get(&row.run_id).or(row.error_code.as_ref());
                vec![
                    Cell::from(row.run_id.to_string()),
                    Cell::styled(style::status(row.status), row.status.name()),
                    Cell::from(row.skill.as_deref().unwrap_or("-")),
                    Cell::from(row.engine.as_str()),
                    Cell::from(row.attempt_number.to_string()),
                    Cell::from(age(row.created_at, now)),
                    Cell::from(told.map_or("", String::as_str)),
                ]
            })
            .collect();
        print(&table(&["RUN", "STATUS", "SKILL", "ENGINE", "ATTEMPT", "AGE", ""], &lines))?;
        if is_more {
            anstream::eprintln!("there are more: --limit shows more than {}", self.limit);
        }
        Ok(Exit::Done)
    }
}

/// The oldest question of each run that waits.
fn questions(store: &dyn Store) -> anyhow::Result<HashMap<RunId, String>> {
    let mut questions = HashMap::new();
    let mut after = None;
    loop {
        let page = store.open_interactions(after, PAGE)?;
        let Some(last) = page.last() else { return Ok(questions) };
        after = Some(OpenCursor::after(last));
        for OpenInteraction { run_id, question, .. } in page {
            questions.entry(run_id).or_insert_with(|| one_line(&question.prompt, QUESTION_CHARS_MAX));
        }
    }
}
