//! `adjourn prune`: removes finished runs and their workspaces.

use std::collections::HashSet;
use std::time::Duration;

use adjourn_core::{RunId, RunStatus, Timestamp};
use adjourn_runtime::workspace::Workspaces;
use adjourn_store::decider::load_readable;
use adjourn_store::{RunFilter, Store};
use clap::Args;
use serde_json::json;

use crate::data::{Global, now};
use crate::exit::{Exit, wrong_use};
use crate::output::print_json;

/// Rows that are read at once.
const PAGE: usize = 1000;

/// Remove finished runs, and what they left
///
/// A folder that was named with --workspace is never removed, nor is a run that waits, or one with a call of which
/// nobody has said whether it happened.
#[derive(Debug, Args)]
pub(super) struct Prune {
    /// How long ago they ended, at least: 30d, 12h, 45m or 10s
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Duration,
}

impl Prune {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<Exit> {
        if let Some(url) = &global.server {
            return Err(wrong_use(format!(
                "runs are removed where they are kept, not from here: --server {url}"
            )));
        }
        // Not the service: nothing is to be driven just because something is tidied up.
        let store = global.owner()?;
        let workspaces = Workspaces::new(&global.absolute_data());
        let millis = i64::try_from(self.older_than.as_millis()).unwrap_or(i64::MAX);
        let before = Timestamp::from_millis(now().millis().saturating_sub(millis));
        let (mut removed, mut kept) = (Vec::new(), Vec::new());
        for run_id in ended_before(&store, before)? {
            // The workspace afterwards: one without a run is found by the next start, the other way round nobody would
            // notice that files are missing.
            if store.remove(run_id)? {
                workspaces.remove(run_id)?;
                removed.push(run_id);
            } else {
                kept.push(run_id);
            }
        }
        workspaces.prune_versions(|skill| versions_read(&store, skill))?;
        if global.json {
            print_json(&json!({ "removed": removed, "kept": kept }))?;
        } else {
            anstream::eprintln!("{} removed", count(removed.len()));
            for run_id in kept {
                anstream::eprintln!("{run_id} is kept: nobody has said what became of one of its calls");
            }
        }
        Ok(Exit::Done)
    }
}

fn count(runs: usize) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}

fn ended_before(store: &dyn Store, before: Timestamp) -> anyhow::Result<Vec<RunId>> {
    let mut ended = Vec::new();
    for &status in RunStatus::ALL.iter().filter(|status| status.is_terminal()) {
        let mut filter = RunFilter { status: Some(status), ..RunFilter::default() };
        loop {
            let page = store.runs(&filter, PAGE)?;
            let Some(last) = page.last() else { break };
            filter.before = Some(last.run_id);
            ended.extend(page.iter().filter(|row| row.updated_at <= before).map(|row| row.run_id));
        }
    }
    Ok(ended)
}

/// The versions of a skill that the runs which are left read.
fn versions_read(store: &dyn Store, skill: &str) -> anyhow::Result<HashSet<String>> {
    let mut filter = RunFilter { skill: Some(skill.to_owned()), ..RunFilter::default() };
    let mut versions = HashSet::new();
    loop {
        let page = store.runs(&filter, PAGE)?;
        let Some(last) = page.last() else { return Ok(versions) };
        filter.before = Some(last.run_id);
        for row in &page {
            let run = load_readable(store, row.run_id)?;
            versions.extend(run.and_then(|run| run.spec().skill_version.clone()));
        }
    }
}

/// `30d`, `12h`, `45m`, `10s`.
fn age(text: &str) -> Result<Duration, String> {
    let wrong = || "it should be a number and d, h, m or s, as in 30d".to_owned();
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let seconds: u64 = match unit {
        'd' => 86_400,
        'h' => 3600,
        'm' => 60,
        's' => 1,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    Ok(Duration::from_secs(number.saturating_mul(seconds)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::age;

    #[test]
    fn ages_have_a_unit() {
        assert_eq!(age("2d"), Ok(Duration::from_secs(172_800)));
        assert_eq!(age("45m"), Ok(Duration::from_secs(2700)));
        for wrong in ["", "30", "d", "-1d", "1w", "1 d", "ü"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }
}
