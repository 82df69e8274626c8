//! `adjourn ps`: lists runs.

use std::collections::HashMap;

use adjourn_api::{Waiting, WaitingRun};
use adjourn_core::{ListedRun, RunId, RunStatus};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::client::{Client, Role, RunQuery};
use crate::data::{Global, now};
use crate::exit::{Exit, wrong_use};
use crate::output::{print, print_json};
use crate::style;
use crate::table::{Cell, table};
use crate::text::{age, one_line};

/// Runs that are listed when nobody says otherwise: a screenful.
pub(super) const LIMIT_DEFAULT: usize = 30;

/// Characters that are shown of a question.
const QUESTION_CHARS_MAX: usize = 60;

/// List runs, the newest first
#[derive(Debug, Args)]
pub(super) struct Ps {
    /// Only those with this status
    #[arg(long, value_name = "STATUS", value_parser = statuses())]
    status: Option<RunStatus>,

    /// How many
    #[arg(long, value_name = "N", default_value_t = LIMIT_DEFAULT, value_parser = at_least_one)]
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
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        if let Some(label) = self.label.as_ref().filter(|label| !label.contains('=')) {
            return Err(wrong_use(format!(
                "--label {label}: it should be a name and a value, as in --label team=core"
            )));
        }
        let query = RunQuery {
            status: self.status.map(|status| status.to_string()),
            skill: self.skill,
            label: self.label,
        };
        let mut client = Client::connect(global, Role::Reads).await?;
        let page = client.runs(&query, self.limit).await?;
        if global.json {
            print_json(&page)?;
            return Ok(Exit::Done);
        }
        let (rows, is_more) = (page.items, page.next_cursor.is_some());
        if rows.is_empty() {
            anstream::eprintln!("there are no such runs");
            return Ok(Exit::Done);
        }
        let is_waiting = rows.iter().any(|listed| listed.row.status == RunStatus::WaitingUser);
        let questions = if is_waiting { questions(&mut client).await? } else { HashMap::new() };
        let now = now();
        let lines: Vec<_> = rows
            .iter()
            .map(|ListedRun { row, blocked_by }| {
                let blocked = blocked_by.map(|code| format!("blocked by {code}"));
                let told = questions.get(&row.run_id).or(row.error_code.as_ref()).or(blocked.as_ref());
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
async fn questions(client: &mut Client<'_>) -> anyhow::Result<HashMap<RunId, String>> {
    let mut questions = HashMap::new();
    for waiting in client.inbox().await?.items {
        if let Waiting::Run(WaitingRun { run_id, interaction, .. }) = waiting {
            let prompt = || one_line(&interaction.question.prompt, QUESTION_CHARS_MAX);
            questions.entry(run_id).or_insert_with(prompt);
        }
    }
    Ok(questions)
}

pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "it should be 1 or more".to_owned())
}
