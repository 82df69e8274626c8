//! The interaction: a question that a run asked, and how it was resolved.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::names::named;
use crate::{
    Actor, Boot, ExecutionId, IdempotencyKey, InteractionId, InteractionStatus, Question, Timestamp,
};

/// A question that a run asked, and how it was resolved. Kept for as long as the run is.
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    /// Its number in its run.
    pub interaction_id: InteractionId,
    /// Where it is in its life.
    pub status: InteractionStatus,
    /// The attempt it was asked in.
    pub attempt_number: u32,
    /// What it is about.
    pub subject: Subject,
    /// What is asked.
    pub question: Question,
    /// When it was asked.
    pub created_at: Timestamp,
    /// When something happens without an answer; none if nothing ever does.
    pub deadline_at: Option<Timestamp>,
    /// The boot of the machine that the deadline was set in; none in journals that were written before this was recorded.
    pub deadline_boot: Option<Boot>,
    /// How it was resolved.
    pub resolution: Option<Resolution>,
    /// A turn was given the answer.
    pub taken_up: bool,
}

impl Interaction {
    /// Whether it still waits for an answer.
    pub fn is_open(&self) -> bool {
        self.status == InteractionStatus::Open
    }

    /// Whether it has an answer, a person's or a made one, that no turn was given yet. That a person gave up what it was
    /// about is one.
    pub fn is_unused(&self) -> bool {
        let given_up = || self.resolution.as_ref().is_some_and(|it| it.by.kind == ByKind::User);
        match self.status {
            InteractionStatus::Answered | InteractionStatus::Expired => !self.taken_up,
            InteractionStatus::Withdrawn => !self.taken_up && given_up(),
            InteractionStatus::Open => false,
        }
    }
}

/// What a question is about, and so what its answer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The agent ended its turn with it; the answer opens the next turn.
    Turn,
    /// May this call be made?
    Approval(ExecutionId),
    /// The agent asks for a form to be filled in; the answer is the contract's result.
    Form(ExecutionId),
    /// The tool wants to know something before it does anything; the call is made again with the answer.
    Elicitation(ExecutionId),
    /// After a crash: did this call happen?
    Recovery(ExecutionId),
    /// The agent asks whether it may use a tool of its own, with these arguments; no answer is a no.
    Permission(IdempotencyKey),
}

named! {
    /// Where a question comes from, on the wire.
    pub enum Source {
        /// The end of a turn.
        Turn = "turn",
        /// A contract.
        Contract = "contract",
        /// A permission that the agent asks for.
        Permission = "permission",
        /// A crash in doubt.
        Recovery = "recovery",
        /// A roundtable that is stuck, or a person who wants a say in it.
        Escalation = "escalation",
        /// A round of a roundtable that is over.
        Checkpoint = "checkpoint",
    }
}

impl Subject {
    /// Where it comes from, on the wire.
    pub const fn source(self) -> Source {
        match self {
            Self::Turn => Source::Turn,
            Self::Approval(_) | Self::Form(_) | Self::Elicitation(_) => Source::Contract,
            Self::Recovery(_) => Source::Recovery,
            Self::Permission(_) => Source::Permission,
        }
    }

    /// Whether the agent itself asks, by printing or by its tool. The same rules of the run apply to both: strict, the session
    /// timeout, the default, `max_attempt`.
    pub const fn is_agents_own(self) -> bool {
        match self {
            Self::Turn | Self::Form(_) => true,
            Self::Approval(_) | Self::Elicitation(_) | Self::Recovery(_) | Self::Permission(_) => false,
        }
    }

    /// The contract it is about.
    pub const fn execution_id(self) -> Option<ExecutionId> {
        match self {
            Self::Turn | Self::Permission(_) => None,
            Self::Approval(id) | Self::Form(id) | Self::Elicitation(id) | Self::Recovery(id) => Some(id),
        }
    }
}

/// How a question was resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolution {
    /// The answer; nothing where there was none.
    pub response: Value,
    /// What to do with a call that needed approval.
    pub action: Option<Action>,
    /// The time of it.
    pub at: Timestamp,
    /// By whom.
    pub by: By,
    /// The key that the reply was sent with.
    pub key: Option<ReplyKey>,
}

named! {
    /// What to do with a call that needs approval.
    pub enum Action {
        /// Make it, as it was shown.
        Approve = "approve",
        /// Make it with other arguments.
        Edit = "edit",
        /// Do not make it.
        Reject = "reject",
    }
}

/// Who resolved a question or asked for something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct By {
    /// What kind of party.
    pub kind: ByKind,
    /// Its name, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How a person came in; none where nobody did, and in journals that were written before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<Via>,
}

named! {
    /// How a person came in to answer or to ask for something.
    pub enum Via {
        /// By the socket or a loopback port, as the user of this machine that the kernel names.
        Socket = "socket",
        /// With a token.
        Token = "token",
        /// With a session of the web page.
        Session = "session",
    }
}

named! {
    /// A kind of party that resolves questions.
    pub enum ByKind {
        /// A person.
        User = "user",
        /// Adjourn, in place of a person.
        AutoDecide = "auto_decide",
        /// Adjourn, because the question fell away.
        System = "system",
    }
}

impl By {
    /// A person whose name is not known.
    pub const USER: Self = Self { kind: ByKind::User, name: None, via: None };
    /// Adjourn, in place of a person.
    pub const AUTO_DECIDE: Self = Self { kind: ByKind::AutoDecide, name: None, via: None };
    /// Adjourn, because the question fell away.
    pub const SYSTEM: Self = Self { kind: ByKind::System, name: None, via: None };

    /// The actor that a machine's table knows the party as.
    pub(crate) const fn actor(&self) -> Actor {
        match self.kind {
            ByKind::User => Actor::User,
            ByKind::AutoDecide | ByKind::System => Actor::System,
        }
    }
}

/// The idempotency key of a reply: the same key with the same digest is the same reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyKey {
    /// What the sender chose.
    pub key: String,
    /// A digest of what was sent.
    pub digest: String,
}
