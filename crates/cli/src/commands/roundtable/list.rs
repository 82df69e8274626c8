//! `adjourn roundtable list`.

use adjourn_core::machines::RoundtableStatus;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::question::status_style;
use crate::client::{Client, Role};
use crate::commands::ps::{LIMIT_DEFAULT, at_least_one};
use crate::data::{Global, now};
use crate::exit::Exit;
use crate::output::{print, print_json};
use crate::table::{Cell, table};
use crate::text::{age, one_line};

/// Characters that are shown of a subject.
const SUBJECT_CHARS_MAX: usize = 60;

/// List roundtables, the newest first
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only those with this status
    #[arg(long, value_name = "STATUS", value_parser = statuses())]
    status: Option<RoundtableStatus>,

    /// How many
    #[arg(long, value_name = "N", default_value_t = LIMIT_DEFAULT, value_parser = at_least_one)]
    limit: usize,
}

fn statuses() -> impl TypedValueParser<Value = RoundtableStatus> {
    let names =
        RoundtableStatus::ALL.iter().map(|status| PossibleValue::new(status.name()).help(status.doc()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<RoundtableStatus>())
}

impl List {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let page = Client::connect(global, Role::Reads).await?.roundtables(self.status, self.limit).await?;
        if global.json {
            print_json(&page)?;
            return Ok(Exit::Done);
        }
        if page.items.is_empty() {
            anstream::eprintln!("there are no such roundtables");
            return Ok(Exit::Done);
        }
        let now = now();
        let rows: Vec<_> = page
            .items
            .iter()
            .map(|row| {
                let status = row.close_reason.as_deref().unwrap_or(row.status.name());
                vec![
                    Cell::from(row.roundtable_id.to_string()),
                    Cell::styled(status_style(row.status, row.close_reason.as_deref()), status),
                    Cell::from(row.workflow.as_str()),
                    Cell::from(row.strategy.as_str()),
                    Cell::from(row.rounds.to_string()),
                    Cell::from(age(row.created_at, now)),
                    Cell::from(one_line(&row.subject, SUBJECT_CHARS_MAX)),
                ]
            })
            .collect();
        print(&table(&["ROUNDTABLE", "STATUS", "WORKFLOW", "STRATEGY", "ROUNDS", "AGE", "SUBJECT"], &rows))?;
        if page.next_cursor.is_some() {
            anstream::eprintln!("there are more: --limit shows more than {}", self.limit);
        }
        Ok(Exit::Done)
    }
}
