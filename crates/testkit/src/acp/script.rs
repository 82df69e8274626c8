//! What the agent is told to do.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// All that an agent does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Script {
    /// Where its sessions are kept.
    pub sessions: PathBuf,
    /// How a session is taken up again.
    pub takes_up: TakesUp,
    /// What it does.
    pub behaviour: Behaviour,
    /// The modes it offers for a session; it begins in the first.
    #[serde(default)]
    pub modes: Vec<String>,
    /// The models it offers; it begins with the first.
    #[serde(default)]
    pub models: Vec<String>,
    /// The MCP servers that it says it can use.
    #[serde(default)]
    pub mcp: Mcp,
}

/// Which MCP servers an agent can use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mcp {
    /// Also those that listen somewhere.
    #[default]
    Http,
    /// Only those that it starts itself, as every agent can.
    Stdio,
}

/// How an agent takes up a session again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TakesUp {
    /// With `session/resume`, which replays nothing; it also knows `session/load`.
    Resume,
    /// With `session/load` alone, which replays all that was said.
    Load,
    /// Not at all: it announces neither.
    Never,
    /// It announces `session/load`, and knows no session when asked.
    Forgets,
}

/// What an agent does.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Behaviour {
    /// These acts, one list for each prompt that a session gets; the last one is for all that follow.
    Prompts(Vec<Vec<Act>>),
    /// In the turn with number N of its working folder it writes `prompt.N`, waits for `does.N`, a list of acts, and
    /// does that.
    Steered,
    /// It never answers anything.
    Silent,
    /// It says that it is not logged in when it is asked for a session.
    LoggedOut,
}

/// Something that it does in a turn.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Says this, in pieces.
    Say(String),
    /// Says which process it is.
    SayPid,
    /// Thinks this.
    Think(String),
    /// Shows a plan with these entries.
    Plan(Vec<String>),
    /// Uses a tool of its own: its title and its kind.
    Tool(String, String),
    /// Calls a tool of the last MCP server that its session was given, and says what it was told, or the error.
    UseTool(String, Value),
    /// Asks for these permissions at once, and thinks what it was told.
    Ask(Vec<Asks>),
    /// Reports tokens, at the end of the turn.
    Usage(u64, u64),
    /// Has the client read a file, and says what is in it, or the error.
    Read(PathBuf),
    /// Has the client write a file, and says nothing but an error.
    Write(PathBuf, String),
    /// Has the client run a command, and says what it printed, or the error.
    Run(Vec<String>),
    /// Starts a process that outlives it if nobody prevents that.
    Fork,
    /// Ends its process with this status.
    Exit(i32),
    /// Answers the prompt with this error.
    Fail(i32, String),
    /// Prints a line as it is.
    Raw(String),
    /// Prints messages of this many bytes together.
    Flood(u64),
    /// Calls a method that nobody knows, as a request and as a notification.
    Call(String),
    /// Reports about a session that is not this one.
    OtherSession,
    /// Does nothing until it is cancelled.
    Wait,
    /// Does nothing, cancelled or not.
    Hang,
}

/// A permission that it asks for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Asks {
    /// What a person reads.
    pub title: String,
    /// The kind of the tool, as the protocol names it.
    pub kind: String,
    /// The arguments of the tool.
    #[serde(default)]
    pub input: Value,
    /// The file that it is about.
    #[serde(default)]
    pub path: Option<PathBuf>,
}
