//! `adjourn roundtable`: several agents, one agenda.

mod artifact;
mod ask;
mod attach;
mod close;
mod ended;
mod escalate;
mod export;
mod list;
mod live;
mod question;
mod reply;
mod session;
mod show;
mod start;
mod told;
mod watch;

use clap::{Args, Subcommand};

pub(crate) use self::ask::ask as ask_roundtable;
pub(super) use self::question::{question_text, reply_command};

use crate::data::Global;
use crate::exit::Exit;

/// Let several agents discuss something, in rounds, and write down what they come to
#[derive(Debug, Args)]
pub(super) struct Roundtable {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Start(start::Start),
    List(list::List),
    Show(show::Show),
    Attach(attach::Attach),
    Reply(reply::Reply),
    Escalate(escalate::Escalate),
    Artifact(artifact::Artifact),
    Close(close::Close),
    Export(export::Export),
}

impl Roundtable {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        match self.command {
            Command::Start(command) => command.run(global).await,
            Command::List(command) => command.run(global).await,
            Command::Show(command) => command.run(global).await,
            Command::Attach(command) => command.run(global).await,
            Command::Reply(command) => command.run(global).await,
            Command::Escalate(command) => command.run(global).await,
            Command::Artifact(command) => command.run(global).await,
            Command::Close(command) => command.run(global).await,
            Command::Export(command) => command.run(global).await,
        }
    }
}
