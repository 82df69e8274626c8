//! Reads a run as it grows: its frames, and the state that they come from.

use adjourn_core::fcmp::Header;
use adjourn_core::{Frame, Record, Run, RunId};
use adjourn_store::{After, Store};
use anyhow::anyhow;

/// Entries that are read at once.
const PAGE: usize = 256;

/// A run, read up to where it was last looked at.
pub(crate) struct Tail<'s> {
    store: &'s dyn Store,
    run_id: RunId,
    run: Option<Run>,
}

impl<'s> Tail<'s> {
    /// A run of which nothing was read yet.
    pub(crate) fn new(store: &'s dyn Store, run_id: RunId) -> Self {
        Self { store, run_id, run: None }
    }

    /// A run of which nothing before now is of interest.
    pub(crate) fn from_now(store: &'s dyn Store, run_id: RunId) -> anyhow::Result<Self> {
        let mut tail = Self::new(store, run_id);
        tail.read()?;
        Ok(tail)
    }

    /// The frames that came since the last time.
    pub(crate) fn read(&mut self) -> anyhow::Result<Vec<Frame>> {
        let mut frames = Vec::new();
        loop {
            let after = After::Seq(self.run.as_ref().map_or(0, Run::seq));
            let page = self.store.read(self.run_id.into(), after, PAGE)?;
            for entry in &page {
                let run = Run::fold_on(self.run_id, self.run.take(), entry)?;
                let header = Header { run_id: self.run_id, engine: &run.spec().engine };
                frames.extend(Record::of(entry)?.frames(header, entry));
                self.run = Some(run);
            }
            if page.len() < PAGE {
                return Ok(frames);
            }
        }
    }

    /// The run, as far as it was read.
    pub(crate) fn run(&self) -> anyhow::Result<&Run> {
        self.run.as_ref().ok_or_else(|| anyhow!("there is no run {}", self.run_id))
    }

    /// The run, read to its end.
    pub(crate) fn load(store: &dyn Store, run_id: RunId) -> anyhow::Result<Run> {
        let mut tail = Tail::new(store, run_id);
        tail.read()?;
        tail.run.ok_or_else(|| anyhow!("there is no run {run_id}"))
    }
}
