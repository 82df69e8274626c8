//! Killed at any moment: what was acknowledged is there, and what is there is whole.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::time::Duration;

use adjourn_core::{Change, ContractStatus, Item};
use adjourn_store::conformance::Random;
use adjourn_store::conformance::items::{
    Script, claim, claim_key, contract, execution_id, holder, question, run_id, with,
};
use adjourn_store::{After, Outcome, RunFilter, SqliteStore, Store};

use super::child;

const KILLS: u64 = 200;

/// After so many kills there is a new directory.
const KILLS_PER_DIRECTORY: u64 = 10;

#[test]
fn two_hundred_kills_lose_and_halve_nothing() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(6);
    println!("seed {seed}: repeat with SEED={seed}");
    let mut random = Random::new(seed);
    let mut acknowledged_in_all = 0;
    for _ in 0..KILLS / KILLS_PER_DIRECTORY {
        let dir = tempfile::tempdir().unwrap();
        let mut there = 0;
        for kill in 0..KILLS_PER_DIRECTORY {
            // The first of each directory falls into the making of the database, or shortly after it.
            let lives_for = if kill == 0 { 0 } else { random.below(12) };
            let acknowledged = kill_once(dir.path(), lives_for, &mut random).unwrap_or(there);
            let found = check(dir.path());
            println!("kill {kill}: {acknowledged} acknowledged, {found} there");
            assert!(found >= acknowledged, "{acknowledged} batches were acknowledged, {found} are there");
            assert!(found <= acknowledged.max(there) + 1, "more than the one that was being written");
            acknowledged_in_all += acknowledged.saturating_sub(there);
            there = found;
        }
    }
    assert!(acknowledged_in_all > KILLS, "only {acknowledged_in_all} batches in {KILLS} lives");
}

/// Lets a child commit, kills it somewhere in the batch after the one numbered `lives_for` of its life, and gives the
/// number of the last batch that it said was durable.
fn kill_once(dir: &Path, lives_for: u64, random: &mut Random) -> Option<u64> {
    let mut child = child::command("kill::child_that_commits", dir).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = None;
    let mut note = |line: std::io::Result<String>| {
        let batch = line.ok().and_then(|line| line.strip_prefix("durable ")?.parse().ok());
        acknowledged = batch.or(acknowledged);
        batch.is_some()
    };
    let mut seen = 0;
    while seen < lives_for
        && let Some(line) = lines.next()
    {
        seen += u64::from(note(line));
    }
    let longest_micros = if lives_for == 0 { 20_000 } else { 2_000 };
    std::thread::sleep(Duration::from_micros(random.below(longest_micros)));
    child.kill().unwrap();
    child.wait().unwrap();
    // A last line that was cut off by the kill was not acknowledged: it has no end.
    for line in lines {
        note(line);
    }
    acknowledged
}

#[test]
#[ignore = "a process that another test starts"]
fn child_that_commits() {
    let Some(dir) = child::directory() else { return };
    let store = SqliteStore::open(&dir).unwrap();
    let mut state = State::load(&store);
    let mut out = std::io::stdout();
    writeln!(out).unwrap();
    loop {
        let batch = state.batch();
        let outcomes = store.commit(&batch).unwrap();
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Accepted { .. })));
        writeln!(out, "durable {}", state.batches).unwrap();
        out.flush().unwrap();
    }
}

/// What batch `n` is made of: an item of the long run 0, a new run `n` with all that an item can carry, and an item
/// of a roundtable.
struct State {
    batches: u64,
    long: Script,
    table: Script,
}

impl State {
    fn load(store: &SqliteStore) -> Self {
        let (mut long, mut table) = (Script::run(0), Script::roundtable(0));
        for script in [&mut long, &mut table] {
            if let Some(last) = store.read(script.stream, After::START, usize::MAX).unwrap().last() {
                (script.seq, script.frame) = (last.seq, last.last_frame);
            }
        }
        Self { batches: table.seq, long, table }
    }

    fn batch(&mut self) -> [Item; 3] {
        self.batches += 1;
        let n = self.batches;
        let mut new = Script::run(n).skill("triage").label("batch", "yes").next(3, 2, vec![b'n'; 500]);
        new.changes.extend([
            Change::InteractionOpened(question(run_id(n), 1, n, Some(n))),
            Change::Contract(contract(n, ContractStatus::Pending)),
            claim("batch", &n.to_string(), &holder(n)),
        ]);
        let long =
            with(self.long.next(2, 1, n.to_string()), Change::Released(claim_key("batch", "never held")));
        [long, new, self.table.next(1, 1, n.to_string())]
    }
}

/// Opens the journal as after a crash, checks that every batch is there with all of its parts or not at all, and counts
/// them.
fn check(dir: &Path) -> u64 {
    let store = SqliteStore::open(dir).unwrap();
    let State { batches, .. } = State::load(&store);

    let entries = store.read_all(0, usize::MAX).unwrap();
    assert_eq!(entries.len() as u64, batches * 3);
    let mut position = 0;
    for entry in &entries {
        assert_eq!(entry.position - u64::from(entry.events), position);
        position = entry.position;
    }
    assert_eq!((position, store.head().unwrap()), (batches * 6, batches * 6));

    let runs = store.runs(&RunFilter::default(), usize::MAX).unwrap();
    assert_eq!(runs.len() as u64, if batches == 0 { 0 } else { batches + 1 });
    let labelled = RunFilter { label: Some(("batch".to_owned(), "yes".to_owned())), ..RunFilter::default() };
    assert_eq!(store.runs(&labelled, usize::MAX).unwrap().len() as u64, batches);
    let skilled = RunFilter { skill: Some("triage".to_owned()), ..RunFilter::default() };
    assert_eq!(store.runs(&skilled, usize::MAX).unwrap().len() as u64, batches);
    if let Some(row) = store.run(run_id(0)).unwrap() {
        assert_eq!(row.seq, batches);
    }
    assert_eq!(store.open_interactions(None, usize::MAX).unwrap().len() as u64, batches);
    assert_eq!(store.deadlines(usize::MAX).unwrap().len() as u64, batches);
    for n in 1..=batches + 1 {
        let is_there = n <= batches;
        assert_eq!(store.run(run_id(n)).unwrap().is_some(), is_there);
        assert_eq!(store.holder(&claim_key("batch", &n.to_string())).unwrap().is_some(), is_there);
        assert_eq!(store.contract(execution_id(n)).unwrap().is_some(), is_there);
        assert_eq!(store.read(run_id(n).into(), After::START, 9).unwrap().len(), usize::from(is_there));
    }
    batches
}
