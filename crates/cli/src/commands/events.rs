//! `adjourn events`: the stream of a run.

use adjourn_core::{Frame, RunId, RunView};
use clap::Args;

use crate::client::{Client, Role};
use crate::data::Global;
use crate::exit::Exit;
use crate::find::find;
use crate::frame::listed;
use crate::output::{print_json_line, print_line};
use crate::tail::{News, Tail};

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
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let mut client = Client::connect(global, Role::Reads).await?;
        let run = find(&mut client, &self.run).await?;
        if self.follow {
            self.follow(&mut client, run).await
        } else {
            self.list(&mut client, run.run_id).await
        }
    }

    async fn list(&self, client: &mut Client<'_>, run_id: RunId) -> anyhow::Result<Exit> {
        let mut after = self.after;
        loop {
            let frames = client.history(run_id, after).await?;
            let Some(last) = frames.last() else { return Ok(Exit::Done) };
            after = last.seq;
            for frame in &frames {
                if !show(client.global, frame)? {
                    return Ok(Exit::Done);
                }
            }
        }
    }

    async fn follow(&self, client: &mut Client<'_>, run: RunView) -> anyhow::Result<Exit> {
        let mut tail = Tail::after(run, self.after);
        while tail.is_behind() || !tail.now().status.is_terminal() {
            if let News::Frames(frames) = tail.next(client).await? {
                for frame in &frames {
                    if !show(client.global, frame)? {
                        return Ok(Exit::Done);
                    }
                }
            }
        }
        Ok(Exit::Done)
    }
}

/// False once nobody reads any more.
fn show(global: &Global, frame: &Frame) -> anyhow::Result<bool> {
    if global.json { print_json_line(frame) } else { print_line(&format!("{}\n", listed(frame))) }
}
