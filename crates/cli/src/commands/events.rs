//! `adjourn events`: the stream of a run.

use std::time::Duration;

use adjourn_core::Frame;
use clap::Args;

use crate::data::Global;
use crate::exit::Exit;
use crate::find::find;
use crate::frame::listed;
use crate::output::{print_json_line, print_line};
use crate::tail::Tail;

/// How often a stream that another process writes is looked at: it tells only its own readers when it changes.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Show the events of a run
#[derive(Debug, Args)]
pub(super) struct Events {
    /// The run: its id, or an end of it that no other run has
    #[arg(value_name = "RUN")]
    run: String,

    /// Go on until the run ends
    #[arg(long, short)]
    follow: bool,

    /// Only those after this one
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,
}

impl Events {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let store = global.reader()?;
        let run_id = find(&store, &self.run)?;
        let mut tail = Tail::new(&store, run_id);
        loop {
            for frame in tail.read()?.iter().filter(|frame| frame.seq > self.after) {
                if !show(global, frame)? {
                    return Ok(Exit::Done);
                }
            }
            if !self.follow || tail.run()?.status().is_terminal() {
                return Ok(Exit::Done);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

/// False once nobody reads any more.
fn show(global: &Global, frame: &Frame) -> anyhow::Result<bool> {
    if global.json { print_json_line(frame) } else { print_line(&format!("{}\n", listed(frame))) }
}
