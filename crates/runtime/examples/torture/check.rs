//! Holds what workers said against what the journal has.

use std::collections::BTreeMap;
use std::path::Path;

use adjourn_core::fcmp::Header;
use adjourn_core::{ErrorCode, FrameType, InteractionId, InteractionStatus, Record, Run, RunId, RunStatus};
use adjourn_kernel::load;
use adjourn_store::{After, RunFilter, SqliteStore, Store};

use super::kill::Said;

/// How many runs have to succeed, in percent. The others may only have been restarted too often.
const SUCCEEDED_LEAST_PERCENT: usize = 90;

pub(crate) fn main(data: &Path, said: &Said) -> Result<(), String> {
    let store = SqliteStore::open_reader(data).map_err(|error| error.to_string())?;
    let rows = store.runs(&RunFilter::default(), usize::MAX >> 1).map_err(|error| error.to_string())?;
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    let mut runs = BTreeMap::new();
    for row in rows {
        let run = load::<adjourn_core::Run>(&store, row.run_id).map_err(|error| error.to_string())?;
        let run = run.ok_or_else(|| format!("{} has a row and no journal", row.run_id))?;
        let end = match (run.status(), run.error().map(|error| error.code)) {
            (RunStatus::Succeeded, _) => "succeeded".to_owned(),
            (RunStatus::Failed, Some(ErrorCode::RestartInterrupted)) => {
                ErrorCode::RestartInterrupted.to_string()
            }
            (status, code) => return Err(format!("{} is {status}: {code:?}", run.id())),
        };
        *ends.entry(end).or_default() += 1;
        frames(&store, &run)?;
        runs.insert(run.id(), run);
    }
    for id in &said.created {
        runs.get(id).ok_or_else(|| format!("{id} was created and is gone"))?;
    }
    for (id, number) in &said.replied {
        replied(&runs, *id, *number)?;
    }
    let total: usize = ends.values().sum();
    let restarts: u32 = runs.values().map(Run::restarts).sum();
    println!("{total} runs: {ends:?}; {} replies were acknowledged, all are there", said.replied.len());
    println!("{restarts} restarts of attempts that were the last of their run");
    let succeeded = ends.get("succeeded").copied().unwrap_or(0);
    if succeeded * 100 < total * SUCCEEDED_LEAST_PERCENT {
        return Err(format!("only {succeeded} of {total} runs succeeded"));
    }
    Ok(())
}

/// A reply that was acknowledged is there, and was given to a turn unless the run failed before.
fn replied(runs: &BTreeMap<RunId, Run>, id: RunId, number: u32) -> Result<(), String> {
    let run = runs.get(&id).ok_or_else(|| format!("{id} was answered and is gone"))?;
    let interaction = run.interaction(InteractionId(number));
    let interaction = interaction.ok_or_else(|| format!("question {number} of {id} is gone"))?;
    let response = interaction.resolution.as_ref().and_then(|resolution| resolution.response.as_str());
    if interaction.status != InteractionStatus::Answered || response != Some(&format!("answer {number}")) {
        return Err(format!("the reply to question {number} of {id} is lost: {interaction:?}"));
    }
    if run.status() == RunStatus::Succeeded && !interaction.taken_up {
        return Err(format!("the reply to question {number} of {id} was given to nobody"));
    }
    Ok(())
}

/// The stream has no gap, and its one end is last.
fn frames(store: &SqliteStore, run: &Run) -> Result<(), String> {
    let entries = store.read(run.id().into(), After::START, 100_000).map_err(|error| error.to_string())?;
    let header = Header { run_id: run.id(), engine: &run.spec().engine };
    let mut frames = Vec::new();
    for entry in &entries {
        let record = Record::<adjourn_core::Event>::of(entry).map_err(|error| error.to_string())?;
        frames.extend(record.frames(header, entry));
    }
    let seqs: Vec<_> = frames.iter().map(|frame| frame.seq).collect();
    if seqs != (1..=run.last_frame()).collect::<Vec<_>>() {
        return Err(format!("the stream of {} has gaps: {seqs:?}", run.id()));
    }
    let is_end = |frame: &&adjourn_core::Frame| {
        frame.kind == FrameType::StateChanged && frame.data.get("terminal").is_some()
    };
    let ends = frames.iter().filter(is_end).count();
    if ends != 1 || frames.last().filter(is_end).is_none() {
        return Err(format!("the stream of {} has {ends} ends", run.id()));
    }
    Ok(())
}
