//! What has to be known about an agent's command line, as data.
//!
//! A profile is a table. One interpreter reads the output of every agent by it; a new agent is a new table and no code.

use adjourn_core::{ErrorCode, named};

use crate::sandbox::StateFolder;

named! {
    /// What an agent may do without asking.
    pub enum Permission {
        /// Look, and change nothing.
        ReadOnly = "read_only",
        /// Change what is in its workspace.
        Workspace = "workspace",
        /// Anything the user may.
        Full = "full",
    }
}

/// How an agent's program is called and understood.
#[derive(Debug)]
pub(crate) struct Profile {
    /// What people call it.
    pub(crate) name: &'static str,
    /// The program, where the configuration names none.
    pub(crate) program: &'static str,
    /// What to do if the program is not there.
    pub(crate) install: &'static str,
    /// What to do if it is not logged in.
    pub(crate) login: &'static str,
    /// The arguments that make it say its version; none for a program that may not know such a question.
    pub(crate) version: Option<&'static [&'static str]>,
    /// The arguments for a new conversation. The prompt always comes by stdin.
    pub(crate) start: &'static [Arg],
    /// The arguments to go on with one.
    pub(crate) resume: &'static [Arg],
    /// What stands before the name of a model.
    pub(crate) model: &'static str,
    /// What each permission is in the agent's own terms.
    pub(crate) read_only: Grant,
    pub(crate) workspace: Grant,
    pub(crate) full: Grant,
    /// The flags behind a wall, in place of those of the permission: for an agent whose own sandbox needs mounts, which nobody
    /// can change there. The wall keeps to the permission.
    pub(crate) walled: Option<&'static [&'static str]>,
    /// Where it keeps its login, settings and conversations.
    pub(crate) state: &'static [StateFolder],
    /// How it is told of the gateway, where there is something to call.
    pub(crate) gateway: Access,
    /// How its output is read.
    pub(crate) output: Output,
    /// What exit statuses of its own mean.
    pub(crate) statuses: &'static [(u8, ErrorCode)],
    /// Words in its complaints that say what kind of failure it is, in lower case; the first match counts.
    pub(crate) failures: &'static [(&'static str, ErrorCode)],
}

impl Profile {
    pub(crate) fn grant(&self, permission: Permission) -> &Grant {
        match permission {
            Permission::ReadOnly => &self.read_only,
            Permission::Workspace => &self.workspace,
            Permission::Full => &self.full,
        }
    }
}

/// One argument, or some.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arg {
    /// This one.
    Is(&'static str),
    /// The flag and the name of the model, if one was chosen.
    Model,
    /// The flags of the permission.
    Permission,
    /// What tells it of the gateway.
    Gateway,
    /// What the configuration adds.
    Extra,
    /// The handle of the conversation.
    Handle,
}

/// A permission in an agent's own terms.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(crate) args: &'static [&'static str],
    pub(crate) env: &'static [(&'static str, &'static str)],
}

impl Grant {
    /// For an agent that knows no permissions.
    pub(crate) const NONE: Self = Self::args(&[]);

    pub(crate) const fn args(args: &'static [&'static str]) -> Self {
        Self { args, env: &[] }
    }

    pub(crate) const fn env(env: &'static [(&'static str, &'static str)]) -> Self {
        Self { args: &[], env }
    }
}

/// How an agent is told of the gateway, and that it need not ask before it calls what is offered there: a call that takes a
/// person's yes gets it from the run. Every agent has the address and the token in its environment; what is said here says so
/// in its own terms. `{url}` stands for the address and `{file:NAME}` for the path of a file. The token is in no argument and
/// in no file: others can read those.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) args: &'static [&'static str],
    pub(crate) env: &'static [(&'static str, &'static str)],
    /// Files by name, which are there as long as the agent is.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// What to do instead, for an agent that passes over a file unless it and all folders above it are root's, and nobody
    /// else can write there.
    pub(crate) unless_of_root: Option<&'static str>,
}

impl Access {
    /// For an agent that reads the environment.
    pub(crate) const ENVIRONMENT: Self = Self { args: &[], env: &[], files: &[], unless_of_root: None };
}

/// How output is read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Output {
    /// All of it is the answer, but for a line `{"adjourn": {"handle": "…"}}`.
    Text,
    /// Each line is an event in JSON; what is not is passed over.
    Events(&'static [Rule]),
}

/// What to take from an event. All rules are tried on every event, in order.
#[derive(Debug)]
pub(crate) struct Rule {
    /// What has to hold for the event.
    pub(crate) when: &'static [Test],
    /// Where the event has a list of which each element is looked at, and what has to hold for the element.
    pub(crate) each: Option<(Pointer, &'static [Test])>,
    /// What is then taken, from the element or else from the event.
    pub(crate) take: Take,
}

/// A rule about an event.
pub(crate) const fn on(when: &'static [Test], take: Take) -> Rule {
    Rule { when, each: None, take }
}

/// A rule about each element of a list in an event.
pub(crate) const fn on_each(when: &'static [Test], list: Pointer, that: &'static [Test], take: Take) -> Rule {
    Rule { when, each: Some((list, that)), take }
}

/// A JSON pointer (RFC 6901).
pub(crate) type Pointer = &'static str;

/// A question about a JSON value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Test {
    /// This string is there.
    Is(Pointer, &'static str),
    /// This string is not there.
    Not(Pointer, &'static str),
    /// A `true` is there.
    True(Pointer),
    /// No `true` is there.
    NotTrue(Pointer),
}

/// What to take, and where it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Take {
    /// The id of the conversation.
    Handle(Pointer),
    /// A whole message.
    Message(Pointer),
    /// A piece of a message, which ends where something else begins.
    Delta(Pointer),
    /// A thought.
    Reasoning(Pointer),
    /// The name of a tool; all around it is its detail.
    Tool(Pointer),
    /// A command line; all around it is its detail.
    Command(Pointer),
    /// Tokens read and written, each a sum, and what they cost.
    Usage {
        /// Tokens read.
        input: &'static [Pointer],
        /// Tokens written.
        output: &'static [Pointer],
        /// Dollars.
        cost: Option<Pointer>,
    },
    /// The same of the whole conversation, not of this turn.
    UsageSoFar {
        /// Tokens read.
        input: &'static [Pointer],
        /// Tokens written.
        output: &'static [Pointer],
    },
    /// The status that the model's server answered with.
    HttpStatus(Pointer),
    /// What the agent complains about, worth telling only if the turn then fails; the first that is there counts.
    Complaint(&'static [Pointer]),
    /// The turn failed, for the first of these reasons that is there.
    Failed(&'static [Pointer]),
    /// The turn ended as it should.
    Ended,
}
