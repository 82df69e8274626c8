//! The pure heart of Adjourn.
//!
//! Here are the machines, runs with their contracts and interactions, roundtables, the completion verdict and the stream.
//! Everything is a function of what it is given: `decide(state, command)` says which facts follow, `apply(state, fact)` adds one
//! up. There is **no** clock, no I/O, no randomness and no async in this crate; time and ids come in with the command.
//!
//! # Invariants
//!
//! - A status changes only through [`Machine::step`], and only along an edge of its table.
//! - The state of a run or a roundtable is the fold of its events, nothing else.
//! - Rendering the stream is a pure function of the journal.

mod actor;
mod approval;
mod bounds;
mod canonical;
mod chart;
mod code;
mod completion;
mod contract;
mod excerpt;
pub mod fcmp;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod id;
mod interaction;
mod journal;
mod key;
pub mod machine;
pub mod machines;
mod mode;
mod names;
mod notice;
#[cfg(feature = "openapi")]
pub mod openapi;
mod permission;
mod question;
mod recovery;
pub mod reply;
pub mod roundtable;
mod run;
mod schema;
mod scripts;
mod settlement;
pub mod statechart;
mod stream;
mod time;
mod tool_digest;
mod view;
mod visible;

pub use actor::Actor;
pub use approval::{APPROVAL_BYTES_MAX, Approval, TooLongToShow};
pub use bounds::{JSON_DEPTH_MAX, JsonSize, TooBig, check_depth, check_size, text_depth};
pub use canonical::canonical;
pub use chart::{Chart, ChartEdge, ChartState, ChartTrigger};
pub use code::{ErrorCode, RunError, Warning, WarningCode};
pub use completion::{AUTO_DECISIONS_MAX, Ask, DONE_MARKER, Evidence, Rules, Validity, Verdict, verdict};
pub use contract::{
    ActionType, Consequence, Contract, ContractAction, ContractSpec, Outcome, Paused, ToolCall, Transition,
};
pub use fcmp::{Frame, FrameType, Place};
pub use id::{BadId, ExecutionId, InteractionId, RoundtableId, RunId};
pub use interaction::{Action, By, ByKind, Interaction, ReplyKey, Resolution, Source, Subject, Via};
pub use journal::{
    Change, Claim, ClaimKey, ContractRow, Entry, Holder, Item, OpenInteraction, RoundtableRow, RunRow,
    StreamId,
};
pub use key::{BadKey, IdempotencyKey, KeyScope};
pub use machine::{Machine, Refused};
pub use machines::{ContractMachine, ContractStatus, ContractTrigger};
pub use machines::{InteractionMachine, InteractionStatus, InteractionTrigger};
pub use machines::{RunMachine, RunStatus, RunTrigger};
pub use mode::ExecutionMode;
pub use names::{UnknownName, first_line};
pub use notice::{Notice, NoticeId, NoticeKind, Wanted};
pub use permission::PermissionRequest;
pub use question::{Choice, Field, FieldKind, Question, QuestionKind};
pub use recovery::Answer as RecoveryAnswer;
pub use run::{
    AskAgain, Command, Continued, ContractDetail, ContractReport, Create, EndCause, Event, Known,
    Observation, OutputStream, Process, Profile, REPAIR_LIMIT_DEFAULT, RESTARTS_MAX, RawRef, Refusal,
    RefusalKind, RefusedCall, Reply, RequestContract, ResumesBy, Run, RunSpec, SESSION_TIMEOUT_DEFAULT_SEC,
    Strict, Survey, TurnEnd, TurnReason, Usage, create_key, successor_key,
};
pub use schema::{ANSWER_STEPS_MAX, CHECK_STEPS_MAX, FieldError, Schema, SchemaError};
pub use scripts::mixed_scripts;
pub use settlement::Settlement;
pub use stream::{BadEntry, BadEvent, Decided, Folding, Record, SetAside, Stream, StreamRow, item};
pub use time::{Boot, Timestamp};
pub use tool_digest::{ToolDigest, ToolDigests};
pub use view::{ContractView, OutcomeKind, TransitionView};
pub use view::{GraphStatus, GraphView, SettlementView, StepMetadata, Trace, TraceStep};
pub use view::{InteractionView, ListedRun, ProfileView, RunView};
pub use visible::{is_hidden, visible, visible_line};
