//! Codes of refusals: fixed names that scripts depend on, each with its HTTP status.

use adjourn_core::named;

named! {
    /// What went wrong, for programs.
    pub enum Code {
        /// The body is not JSON: `detail` says where.
        BadJson = "BAD_JSON",
        /// The body is not a form, or one without a part `request`.
        BadForm = "BAD_FORM",
        /// A header or a parameter is wrong.
        BadRequest = "BAD_REQUEST",
        /// A token is needed here, in `Authorization`.
        TokenMissing = "TOKEN_MISSING",
        /// This is no token of this server, or not any more.
        TokenUnknown = "TOKEN_UNKNOWN",
        /// The token has a role that does not take this.
        RoleTooLow = "ROLE_TOO_LOW",
        /// The `Host` is not this server.
        ForeignHost = "FOREIGN_HOST",
        /// The request comes from a web page of somebody else.
        ForeignOrigin = "FOREIGN_ORIGIN",
        /// An agent asked for something that only people may have.
        AgentRefused = "AGENT_REFUSED",
        /// Another user of this machine has to come in with a token.
        OtherUser = "OTHER_USER",
        /// Which process the request comes from cannot be found out, so it may be an agent's.
        PeerUnknown = "PEER_UNKNOWN",
        /// There is nothing at this address.
        UnknownRoute = "UNKNOWN_ROUTE",
        /// There is no such run.
        UnknownRun = "UNKNOWN_RUN",
        /// There is no such roundtable.
        UnknownRoundtable = "UNKNOWN_ROUNDTABLE",
        /// The roundtable has no such artifact.
        UnknownArtifact = "UNKNOWN_ARTIFACT",
        /// There is no such contract.
        UnknownContract = "UNKNOWN_CONTRACT",
        /// There is no such file in the workspace.
        UnknownFile = "UNKNOWN_FILE",
        /// There is no such machine.
        UnknownMachine = "UNKNOWN_MACHINE",
        /// There is no skill of that name.
        UnknownSkill = "UNKNOWN_SKILL",
        /// The run's folder is gone.
        NoWorkspace = "NO_WORKSPACE",
        /// The attempt left no such output, or it was removed.
        NoLog = "NO_LOG",
        /// The header `allow` says what the route takes.
        MethodNotAllowed = "METHOD_NOT_ALLOWED",
        /// The body did not come in time.
        BodyTooSlow = "BODY_TOO_SLOW",
        /// That question does not wait for an answer: answered, expired, withdrawn, or never asked.
        NotOpen = "NOT_OPEN",
        /// The run has no result before its end.
        NotFinished = "NOT_FINISHED",
        /// The idempotency key was used for another request.
        KeyReused = "KEY_REUSED",
        /// The idempotency key created a run that was removed since.
        RunPruned = "RUN_PRUNED",
        /// The idempotency key opened a roundtable that was removed since.
        RoundtablePruned = "ROUNDTABLE_PRUNED",
        /// The run cannot be continued, or is already.
        NotContinuable = "NOT_CONTINUABLE",
        /// The run or the roundtable does not take this now.
        NotAllowedNow = "NOT_ALLOWED_NOW",
        /// It is known what became of that call.
        NothingToSettle = "NOTHING_TO_SETTLE",
        /// It does not go together with what is there.
        Conflict = "CONFLICT",
        /// The body is longer than it may be.
        BodyTooLarge = "BODY_TOO_LARGE",
        /// The body is of a kind that is not taken here.
        UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE",
        /// `errors` says what is wrong, and where.
        Invalid = "INVALID",
        /// No engine was named, and none that could do it is installed here: `errors` says which could.
        EngineNotFound = "ENGINE_NOT_FOUND",
        /// The skill cannot be used, or there is none of that name.
        SkillUnusable = "SKILL_UNUSABLE",
        /// Nothing was created, because too many runs wait: `Retry-After` says when to try again.
        QueueFull = "QUEUE_FULL",
        /// Too many writes at once, nothing was changed: `Retry-After` says when to try again.
        RateLimited = "RATE_LIMITED",
        /// Nothing was created, because the disk with the data directory has too little room: `detail` says how much is needed.
        DiskReserve = "DISK_RESERVE",
        /// Adjourn itself is at fault.
        Internal = "INTERNAL",
        /// The folders of the run cannot be made or read.
        WorkspaceFailed = "WORKSPACE_FAILED",
        /// The tool server that has to be asked does not answer.
        ToolServerUnavailable = "TOOL_SERVER_UNAVAILABLE",
        /// The server is about to end, and begins no turn any more.
        Draining = "DRAINING",
        /// The server begins no turn and creates no run, because the disk has too little room.
        DiskLow = "DISK_LOW",
        /// The server does not get on: a thread of it is stuck in one step.
        Stalled = "STALLED",
        /// Nothing was changed: `Retry-After` says when to try again.
        JournalUnavailable = "JOURNAL_UNAVAILABLE",
    }
}

impl Code {
    /// The HTTP status of an answer with this code.
    pub const fn status(self) -> u16 {
        match self {
            Self::BadJson | Self::BadForm | Self::BadRequest => 400,
            Self::TokenMissing | Self::TokenUnknown => 401,
            Self::RoleTooLow
            | Self::ForeignHost
            | Self::ForeignOrigin
            | Self::AgentRefused
            | Self::OtherUser
            | Self::PeerUnknown => 403,
            Self::UnknownRoute
            | Self::UnknownRun
            | Self::UnknownRoundtable
            | Self::UnknownArtifact
            | Self::UnknownContract
            | Self::UnknownFile
            | Self::UnknownMachine
            | Self::UnknownSkill
            | Self::NoWorkspace
            | Self::NoLog => 404,
            Self::MethodNotAllowed => 405,
            Self::BodyTooSlow => 408,
            Self::NotOpen
            | Self::NotFinished
            | Self::KeyReused
            | Self::NotContinuable
            | Self::NotAllowedNow
            | Self::NothingToSettle
            | Self::Conflict => 409,
            Self::RunPruned | Self::RoundtablePruned => 410,
            Self::BodyTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::Invalid | Self::EngineNotFound | Self::SkillUnusable => 422,
            Self::QueueFull | Self::RateLimited => 429,
            Self::Internal | Self::WorkspaceFailed => 500,
            Self::DiskReserve => 507,
            Self::Draining
            | Self::DiskLow
            | Self::Stalled
            | Self::JournalUnavailable
            | Self::ToolServerUnavailable => 503,
        }
    }
}
