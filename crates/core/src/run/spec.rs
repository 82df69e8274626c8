//! What a run was asked to do. Written once, with its creation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::names::named;
use crate::{ExecutionMode, RoundtableId, RunId};

/// How long a question waits when nobody says otherwise, in seconds.
pub const SESSION_TIMEOUT_DEFAULT_SEC: u32 = 1200;

/// How often an output that breaks its schema is sent back within one attempt when nobody says otherwise.
///
/// A model that did not get it right in three tries, each with the validator's words in front of it, does not in ten.
pub const REPAIR_LIMIT_DEFAULT: u32 = 3;

named! {
    /// What becomes of the agent's process while a run waits.
    pub enum Profile {
        /// The process ends with its turn; the next turn is a new process that resumes the conversation.
        Resumable = "resumable",
        /// The process stays, and with it the slot.
        StickyProcess = "sticky_process",
    }
}

named! {
    /// Whether a question may be decided without a person.
    pub enum Strict {
        /// Only a person answers.
        On = "on",
        /// When the deadline passes, Adjourn decides.
        Off = "off",
    }
}

named! {
    /// Where an engine takes up a conversation again.
    pub enum ResumesBy {
        /// From a handle that the agent keeps its own conversation under.
        Handle = "handle",
        /// From the journal: the conversation is what the journal says, and a settled contract goes on in the same turn.
        Journal = "journal",
    }
}

/// What a run was asked to do.
///
/// Serialised without what is at its default: a journal keeps one of these for every run there ever was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The skill; none for a bare prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The version of the skill that the run was created with, of those that the data directory keeps. Manifest, tools,
    /// schemas and prompts are read from there. None without a skill, and in journals that were written when only runs
    /// without a folder had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_version: Option<String>,
    /// The run has a folder that its agent works in, besides the version of its skill. A journal that does not say so is of
    /// a run without a folder, or one that has no `skill_version` either.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_folder: bool,
    /// The prompt of a run without a skill, or what the skill's template became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The engine's name.
    pub engine: String,
    /// Where the engine takes a conversation up again.
    pub resumes_by: ResumesBy,
    /// Whether the run may wait for a person's answer to the agent's questions.
    pub execution_mode: ExecutionMode,
    /// What becomes of the process while the run waits.
    #[serde(default = "resumable", skip_serializing_if = "is_resumable")]
    pub profile: Profile,
    /// Whether questions may be decided without a person.
    #[serde(default = "strict_on", skip_serializing_if = "is_strict_on")]
    pub strict: Strict,
    /// How long a question waits before something happens without an answer.
    #[serde(default = "session_timeout", skip_serializing_if = "is_session_timeout")]
    pub session_timeout_sec: u32,
    /// How many attempts an interactive run has to show a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_attempt: Option<u32>,
    /// How long one turn may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard_timeout_sec: Option<u32>,
    /// How many repairs an attempt has.
    #[serde(default = "repair_limit", skip_serializing_if = "is_repair_limit")]
    pub repair_limit: u32,
    /// Who goes first in the queue: higher does.
    #[serde(default, skip_serializing_if = "is_default")]
    pub priority: i32,
    /// What its creator wants to find it by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The skill's input.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// The skill's parameters.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub parameter: Value,
    /// The finished run whose conversation this one takes over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<Continued>,
    /// The roundtable it is an activation of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roundtable: Option<RoundtableId>,
}

/// The finished run that another one goes on from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Continued {
    /// The run that finished.
    pub run_id: RunId,
    /// The first run of the chain: what is done once per run is done once per chain.
    pub root: RunId,
    /// The handle that is taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
}

impl RunSpec {
    /// Whether the run has nothing on the disk but the version of its skill.
    pub fn is_without_folder(&self) -> bool {
        self.skill_version.is_some() && !self.has_folder
    }

    /// A run on `engine`, everything else at its default.
    pub fn new(engine: impl Into<String>, execution_mode: ExecutionMode) -> Self {
        Self {
            skill: None,
            skill_version: None,
            has_folder: false,
            prompt: None,
            engine: engine.into(),
            resumes_by: ResumesBy::Handle,
            execution_mode,
            profile: Profile::Resumable,
            strict: Strict::On,
            session_timeout_sec: SESSION_TIMEOUT_DEFAULT_SEC,
            max_attempt: None,
            hard_timeout_sec: None,
            repair_limit: REPAIR_LIMIT_DEFAULT,
            priority: 0,
            labels: BTreeMap::new(),
            input: Value::Null,
            parameter: Value::Null,
            continues: None,
            roundtable: None,
        }
    }
}

fn resumable() -> Profile {
    Profile::Resumable
}

fn is_resumable(profile: &Profile) -> bool {
    *profile == Profile::Resumable
}

fn strict_on() -> Strict {
    Strict::On
}

fn is_strict_on(strict: &Strict) -> bool {
    *strict == Strict::On
}

fn session_timeout() -> u32 {
    SESSION_TIMEOUT_DEFAULT_SEC
}

fn is_session_timeout(seconds: &u32) -> bool {
    *seconds == SESSION_TIMEOUT_DEFAULT_SEC
}

fn repair_limit() -> u32 {
    REPAIR_LIMIT_DEFAULT
}

fn is_repair_limit(limit: &u32) -> bool {
    *limit == REPAIR_LIMIT_DEFAULT
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
