//! Which run is meant: its id, or an end of it that no other run has.

use adjourn_core::{RunId, RunRow};
use adjourn_store::{RunFilter, Store};
use anyhow::bail;

use crate::text::{age, one_line};

/// Shorter ones fit by chance.
const ABBREVIATION_CHARS_MIN: usize = 4;

/// Rows that are read at once.
const PAGE: usize = 1000;

/// Runs that are named where several fit.
const CANDIDATES_MAX: usize = 10;

/// The run that `given` means.
pub(crate) fn find(store: &dyn Store, given: &str) -> anyhow::Result<RunId> {
    if let Ok(id) = given.parse::<RunId>() {
        return match store.run(id)? {
            Some(_) => Ok(id),
            None => bail!("there is no run {id}: `adjourn ps` lists those there are"),
        };
    }
    let part = given.strip_prefix("run_").unwrap_or(given).to_ascii_lowercase();
    if part.chars().count() < ABBREVIATION_CHARS_MIN {
        bail!(
            "`{given}` is too short for a run: give its id, or at least {ABBREVIATION_CHARS_MIN} characters of \
             the beginning or the end of it"
        );
    }
    let found = matching(store, &part)?;
    match found.as_slice() {
        [] => bail!("there is no run `{given}`: `adjourn ps` lists those there are"),
        [only] => Ok(only.run_id),
        several => bail!("`{given}` can be any of these runs:\n{}", listed(several)),
    }
}

fn matching(store: &dyn Store, part: &str) -> anyhow::Result<Vec<RunRow>> {
    let mut found = Vec::new();
    let mut filter = RunFilter::default();
    loop {
        let page = store.runs(&filter, PAGE)?;
        let Some(last) = page.last() else { return Ok(found) };
        filter.before = Some(last.run_id);
        for row in page {
            let id = row.run_id.to_string();
            let id = id.strip_prefix("run_").unwrap_or(&id);
            if id.starts_with(part) || id.ends_with(part) {
                found.push(row);
            }
        }
        if found.len() > CANDIDATES_MAX {
            return Ok(found);
        }
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
