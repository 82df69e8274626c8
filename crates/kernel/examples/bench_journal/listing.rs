//! Listing the newest 50 of many runs, by every filter: the first page and the last one.

use std::time::{Duration, Instant};

use adjourn_core::{RunId, RunStatus};
use adjourn_store::conformance::items::{SKILLS, Script, run_id};
use adjourn_store::{RunFilter, SqliteStore, Store};

const PAGE: usize = 50;

/// How often each page is read. The slowest is shown.
const READS: usize = 20;

pub(crate) fn measure(runs: u64) {
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    let store = SqliteStore::open(dir.path()).expect("it is empty");
    fill(&store, runs);
    let filters = [
        ("no filter", RunFilter::default()),
        ("status, common", RunFilter { status: Some(RunStatus::Succeeded), ..RunFilter::default() }),
        ("status, rare", RunFilter { status: Some(RunStatus::WaitingUser), ..RunFilter::default() }),
        ("skill, common", RunFilter { skill: Some("code-review".to_owned()), ..RunFilter::default() }),
        ("skill, rare", RunFilter { skill: Some("deploy-preview".to_owned()), ..RunFilter::default() }),
        ("label, common", RunFilter { label: label("source", "ci"), ..RunFilter::default() }),
        ("label, rare", RunFilter { label: label("team", "core"), ..RunFilter::default() }),
        (
            "status and skill",
            RunFilter {
                status: Some(RunStatus::WaitingUser),
                skill: Some("code-review".to_owned()),
                ..RunFilter::default()
            },
        ),
    ];
    println!("the newest {PAGE} of {runs} runs, slowest of {READS}:");
    for (name, filter) in filters {
        let first = slowest(&store, &filter);
        let last = slowest(&store, &RunFilter { before: last_page(&store, &filter, runs), ..filter });
        println!("  {name:<18} first page {first:>8.1?}, last page {last:>8.1?}");
    }
}

fn label(key: &str, value: &str) -> Option<(String, String)> {
    Some((key.to_owned(), value.to_owned()))
}

/// One run in a hundred waits, one in ten failed, the others succeeded.
fn fill(store: &SqliteStore, runs: u64) {
    let mut batch = Vec::with_capacity(1000);
    for n in 0..runs {
        let status = match n % 100 {
            0 => RunStatus::WaitingUser,
            1..=10 => RunStatus::Failed,
            _ => RunStatus::Succeeded,
        };
        let team = if n % 16 == 0 { "core" } else { "web" };
        // Another stride than the status has, so that every skill has runs of every status.
        let skill = SKILLS[usize::try_from(n / 3 % 8).expect("below 8")];
        let mut run = Script::run(n).skill(skill).label("source", "ci").label("team", team);
        batch.push(run.moves(status, 10, 9, "what happened is of no interest to a list"));
        if batch.len() == 1000 || n + 1 == runs {
            store.commit(&batch).expect("the disk has room");
            batch.clear();
        }
    }
}

fn slowest(store: &SqliteStore, filter: &RunFilter) -> Duration {
    let once = || {
        let started = Instant::now();
        let page = store.runs(filter, PAGE).expect("it was just written");
        assert!(!page.is_empty(), "nothing matches {filter:?}");
        started.elapsed()
    };
    (0..READS).map(|_| once()).max().unwrap_or_default()
}

/// A cursor from which at most a page is left: found from the old end, where the ids are the smallest.
fn last_page(store: &SqliteStore, filter: &RunFilter, runs: u64) -> Option<RunId> {
    let left = |before: u64| {
        let filter = RunFilter { before: Some(run_id(before)), ..filter.clone() };
        store.runs(&filter, PAGE + 1).expect("it was just written").len()
    };
    let (mut low, mut high) = (0, runs);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if left(middle) <= PAGE { low = middle } else { high = middle }
    }
    // A tiny database may have nothing before its first run.
    Some(run_id(if left(low) == 0 { high } else { low }))
}
