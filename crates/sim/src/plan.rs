//! What happens in a simulation before chance and faults come in: who wants what, and how engines behave.

use std::collections::BTreeMap;

use adjourn_core::RunSpec;
use adjourn_core::roundtable::RoundtableSpec;
use adjourn_kernel::Slots;

use crate::bug::Bug;
use crate::memory::Unsynced;

/// Everything that determines a simulation.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Determines every chance.
    pub seed: u64,
    /// How many turns may go on at the same time.
    pub slots: Slots,
    /// States of runs that the kernel keeps in memory.
    pub warm_max: usize,
    /// The runs that somebody wants.
    pub runs: Vec<RunPlan>,
    /// The roundtables that somebody wants.
    pub roundtables: Vec<RoundtablePlan>,
    /// What goes wrong by chance.
    pub faults: Faults,
    /// What goes wrong at a given place.
    pub crashes: Crashes,
    /// When faults stop and everything that waits is answered, in milliseconds of virtual time.
    pub calm_at_ms: i64,
    /// Where the journal is kept.
    pub medium: Medium,
    /// What is broken on purpose.
    pub bug: Option<Bug>,
}

/// Where the journal is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// In memory.
    Memory,
    /// In a SQLite database in a temporary directory.
    Sqlite,
}

/// Crashes at boundaries that are counted from 0.
#[derive(Debug, Clone, Default)]
pub struct Crashes(pub BTreeMap<u64, Unsynced>);

/// How often what goes wrong: once in so many times; 0 is never.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// A crash, at each boundary.
    pub crash: u64,
    /// A commit that fails, each time.
    pub commit: u64,
    /// Reads that fail, at each step.
    pub read: u64,
    /// A clock that is set, at each step.
    pub clock: u64,
    /// A disk that takes seconds, at each commit.
    pub slow: u64,
    /// A disk that fills up, at each step.
    pub disk: u64,
    /// A survey that finds something missing.
    pub survey: u64,
    /// A prune of everything that may go, at each restart.
    pub prune: u64,
    /// An agent of a roundtable that cannot be asked, or whose run cannot be created, each time.
    pub agent: u64,
}

/// A run that somebody wants.
#[derive(Debug, Clone)]
pub struct RunPlan {
    /// The time, in milliseconds.
    pub at_ms: i64,
    /// The specification of the run.
    pub spec: RunSpec,
    /// The plan whose run it continues, if that has ended by then.
    pub continues: Option<usize>,
    /// The idempotency key it is asked for with.
    pub key: Option<String>,
    /// How often it is asked for.
    pub asks: u32,
    /// How long after each time the next one comes.
    pub asks_every_ms: i64,
    /// How long after that somebody cancels it.
    pub cancel_after_ms: Option<i64>,
    /// What the engine does in each attempt; the last one counts for all that follow.
    pub attempts: Vec<Vec<Act>>,
    /// Who answers its questions.
    pub person: Person,
}

/// A roundtable that somebody wants.
#[derive(Debug, Clone)]
pub struct RoundtablePlan {
    /// When it is opened.
    pub at_ms: i64,
    /// What it is about.
    pub spec: RoundtableSpec,
    /// The idempotency key it is opened with.
    pub key: Option<String>,
    /// How often its opening is asked for.
    pub asks: u32,
    /// How long after that a person asks to have a say.
    pub escalate_after_ms: Option<i64>,
    /// How long after that a person closes it.
    pub close_after_ms: Option<i64>,
    /// The person who answers its questions.
    pub person: Person,
    /// The agents that sit at it.
    pub agents: Agents,
}

/// How agents at a roundtable work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agents {
    /// Each says something useful at once.
    Reliable,
    /// They say something useful, nonsense or nothing, fail, hang, and are canceled.
    Anyhow,
}

/// How questions are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Person {
    /// Rightly, after a second.
    Prompt,
    /// Not before the end.
    Absent,
    /// In every way there is: late, wrongly, twice.
    Anyhow,
}

/// Something that an engine does in a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Takes its time, in milliseconds.
    Work(i64),
    /// Says something.
    Say,
    /// Tells its handle.
    Handle,
    /// Tells its process, which stays in a sticky run.
    Process,
    /// Wants a tool called.
    Call(Call),
    /// Has a call made that a person allowed.
    MakeApproved(adjourn_core::ExecutionId),
    /// Wants a form filled in.
    Form,
    /// Wants permissions for tools of its own: this many at once. A process that stays waits for them in its turn.
    Permissions(u8),
    /// Ends the turn by printing this document.
    Print(String),
    /// Ends the turn.
    End(End),
}

/// A call that an engine wants made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Calls with the same number are the same call.
    pub number: u8,
    /// It must not be made twice.
    pub irreversible: bool,
    /// The same call of another run counts as the same.
    pub everywhere: bool,
    /// A person has to allow it.
    pub approval: bool,
    /// How it goes.
    pub goes: Goes,
}

/// How a call goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goes {
    /// It has its effect, and that is reported.
    Well,
    /// It has none, and that is reported.
    Badly,
    /// It has its effect, and the result gets lost.
    Unheard,
    /// It has none, and nobody can tell.
    Nowhere,
    /// The tool wants to know something first; called again with the answer, it goes well.
    Asks,
    /// It goes well, after longer than a turn may take.
    Slowly,
    /// It has its effect, and never answers.
    Hangs,
}

/// How an engine ends a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With a question.
    Ask,
    /// With a question that cannot be read.
    AskBadly,
    /// With a result.
    Done,
    /// With a result that has to be repaired, and is.
    DoneWrong,
    /// With a result that never gets right.
    DoneWrongAlways,
    /// With some text.
    Prose,
    /// With an error.
    Fail,
    /// Not before it is stopped.
    Hang,
    /// Never, and nobody hears of it again.
    Vanish,
}
