//! Which run is meant: its id, or an end of it that no other run has.

use adjourn_core::{RunId, RunRow, RunView};
use anyhow::bail;
use axum::http::StatusCode;

use crate::client::{Client, Refused, RunQuery};
use crate::text::{age, one_line};

/// Shorter ones fit by chance.
const ABBREVIATION_CHARS_MIN: usize = 4;

/// Runs that are named where several fit.
const CANDIDATES_MAX: usize = 10;

/// The run that `given` means.
pub(crate) async fn find(client: &mut Client<'_>, given: &str) -> anyhow::Result<RunView> {
    let id = match given.parse::<RunId>() {
        Ok(id) => id,
        Err(_) => matching(client, given).await?,
    };
    client.run(id).await.map_err(|error| match error.downcast_ref::<Refused>() {
        Some(refused) if refused.is(StatusCode::NOT_FOUND) => {
            anyhow::anyhow!("there is no run {id}: `adjourn ps` lists those there are")
        }
        Some(_) | None => error,
    })
}

/// The one run whose id begins or ends like this.
async fn matching(client: &mut Client<'_>, given: &str) -> anyhow::Result<RunId> {
    let part = given.strip_prefix("run_").unwrap_or(given).to_ascii_lowercase();
    if part.chars().count() < ABBREVIATION_CHARS_MIN {
        bail!(
            "`{given}` is too short for a run: give its id, or at least {ABBREVIATION_CHARS_MIN} characters of \
             the beginning or the end of it"
        );
    }
    let mut rows = client.runs(&RunQuery::default(), usize::MAX).await?.items;
    rows.retain(|row| {
        let id = row.run_id.to_string();
        let id = id.strip_prefix("run_").unwrap_or(&id);
        id.starts_with(&part) || id.ends_with(&part)
    });
    match rows.as_slice() {
        [] => bail!("there is no run `{given}`: `adjourn ps` lists those there are"),
        [only] => Ok(only.run_id),
        several => bail!("`{given}` can be any of these runs:\n{}", listed(several)),
    }
}

fn listed(rows: &[RunRow]) -> String {
    let now = crate::data::now();
    let mut lines: Vec<_> = rows
        .iter()
        .take(CANDIDATES_MAX)
        .map(|row| {
            let skill = row.skill.as_deref().unwrap_or("-");
            format!(
                "  {}  {}  {}  {} ago",
                row.run_id,
                row.status,
                one_line(skill, 40),
                age(row.created_at, now)
            )
        })
        .collect();
    if rows.len() > CANDIDATES_MAX {
        lines.push("  and more".to_owned());
    }
    lines.join("\n")
}
