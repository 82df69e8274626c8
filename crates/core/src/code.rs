//! The codes that a run ends with or carries along: fixed names that scripts depend on.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::names::named;

named! {
    /// Why a run failed.
    pub enum ErrorCode {
        /// The last attempt that `max_attempt` allows ended without a result.
        InteractiveMaxAttemptExceeded = "INTERACTIVE_MAX_ATTEMPT_EXCEEDED",
        /// Nobody answered in time, and the profile does not wait longer.
        InteractionWaitTimeout = "INTERACTION_WAIT_TIMEOUT",
        /// The process that waited for the answer died and its session cannot be loaded again.
        InteractionProcessLost = "INTERACTION_PROCESS_LOST",
        /// The engine's conversation cannot be taken up again.
        SessionResumeFailed = "SESSION_RESUME_FAILED",
        /// A restart cut the turn off where it cannot go on.
        RestartInterrupted = "RESTART_INTERRUPTED",
        /// The agent's program is not installed here.
        EngineNotFound = "ENGINE_NOT_FOUND",
        /// The sandbox around the agent cannot be built here, and it is not started without.
        SandboxUnavailable = "SANDBOX_UNAVAILABLE",
        /// The agent's program ended with an error of its own.
        EngineExitNonzero = "ENGINE_EXIT_NONZERO",
        /// The turn ran longer than its hard timeout.
        EngineTimeout = "ENGINE_TIMEOUT",
        /// The agent said something that its protocol does not allow.
        EngineProtocolError = "ENGINE_PROTOCOL_ERROR",
        /// The agent is not logged in, or its key is refused.
        EngineAuthRequired = "ENGINE_AUTH_REQUIRED",
        /// The agent printed more than a turn may.
        EngineOutputLimit = "ENGINE_OUTPUT_LIMIT",
        /// The model does not answer, or answers nonsense.
        ModelUnavailable = "MODEL_UNAVAILABLE",
        /// A tool server that the skill needs does not answer.
        ToolServerUnavailable = "TOOL_SERVER_UNAVAILABLE",
        /// The agent ended without a result, and asking again did not help.
        OutputMissing = "OUTPUT_MISSING",
        /// The result does not meet the output schema, and asking again did not help.
        OutputSchemaInvalid = "OUTPUT_SCHEMA_INVALID",
        /// A part of the run's journal cannot be read.
        JournalUnreadable = "JOURNAL_UNREADABLE",
        /// The kept version of the run's skill is not what it was when the run was created.
        SkillVersionDamaged = "SKILL_VERSION_DAMAGED",
        /// Adjourn itself is at fault.
        Internal = "INTERNAL",
    }
}

named! {
    /// What was odd about a run that went on all the same.
    pub enum WarningCode {
        /// The result was taken although the agent did not mark it as final.
        InteractiveCompletedWithoutDoneMarker = "INTERACTIVE_COMPLETED_WITHOUT_DONE_MARKER",
        /// The result was right only after the agent had been asked to correct it.
        OutputRepaired = "OUTPUT_REPAIRED",
        /// The agent's question could not be read, so its text is asked instead.
        AskUserMalformed = "ASK_USER_MALFORMED",
        /// The agent tried something that only a person may do, or that belongs to another run; it was refused.
        AgentRefused = "AGENT_REFUSED",
        /// The clock of the machine was set, and the deadline of a question moved with it.
        DeadlineMoved = "DEADLINE_MOVED",
        /// A part of what the agent printed could not be kept in its log.
        OutputNotKept = "OUTPUT_NOT_KEPT",
        /// The engine is not installed or not configured here; the run waits until it is.
        EngineNotFound = "ENGINE_NOT_FOUND",
        /// The turns of the run are those of a recording, and no agent worked on the request.
        RecordingPlayed = "RECORDING_PLAYED",
    }
}

/// Why a run failed, for scripts and for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunError {
    /// For scripts.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// What was odd, for scripts and for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Warning {
    /// For scripts.
    pub code: WarningCode,
    /// For people.
    pub message: String,
}
