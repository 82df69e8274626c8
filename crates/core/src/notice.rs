//! Notices: what somebody outside is told of a run or a roundtable, because it waits for a person or has ended.
//!
//! A notice is a row that is written in the commit of the fact that it tells, and stays until it was heard. So nothing
//! is told that did not happen, and nothing that happened goes untold.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::fcmp;
use crate::machines::RoundtableStatus;
use crate::names::named;
use crate::roundtable::{self, Roundtable};
use crate::run::Event;
use crate::time::wire;
use crate::{
    InteractionId, InteractionView, RoundtableId, Run, RunError, RunId, RunStatus, StreamId, Timestamp,
};

named! {
    /// What a notice is about.
    pub enum NoticeKind {
        /// A run or a roundtable waits for a person.
        WaitingUser = "waiting_user",
        /// A run or a roundtable ended.
        Terminal = "terminal",
    }
}

/// Which notices there are to be. By default none, and then nothing is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    waiting_user: bool,
    terminal: bool,
}

impl Wanted {
    fn has(self, kind: NoticeKind) -> bool {
        match kind {
            NoticeKind::WaitingUser => self.waiting_user,
            NoticeKind::Terminal => self.terminal,
        }
    }
}

impl FromIterator<NoticeKind> for Wanted {
    fn from_iter<I: IntoIterator<Item = NoticeKind>>(kinds: I) -> Self {
        let mut wanted = Self::default();
        for kind in kinds {
            match kind {
                NoticeKind::WaitingUser => wanted.waiting_user = true,
                NoticeKind::Terminal => wanted.terminal = true,
            }
        }
        wanted
    }
}

/// Which notice it is, for good: the stream, and its frame that has the same news.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoticeId {
    /// The run, or the roundtable.
    pub stream: StreamId,
    /// The number of the frame.
    pub seq: u64,
}

impl fmt::Display for NoticeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.stream, self.seq)
    }
}

/// Something to be told until it was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Which one.
    pub id: NoticeId,
    /// When it happened.
    pub at: Timestamp,
    /// What is told, as JSON.
    pub body: String,
}

/// The body of a notice.
#[derive(Serialize)]
struct NoticeView<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: NoticeKind,
    #[serde(with = "wire")]
    occurred_at: Timestamp,
    #[serde(flatten)]
    about: About<'a>,
}

/// The stream that a notice is about.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum About<'a> {
    Run(Box<RunInShort<'a>>),
    Roundtable(Box<RoundtableInShort<'a>>),
}

/// What a run's view has too, under the same names. Not its result: that may be long, and can be fetched.
#[derive(Serialize)]
struct RunInShort<'a> {
    run_id: RunId,
    status: RunStatus,
    skill: Option<&'a str>,
    engine: &'a str,
    attempt_number: u32,
    pending: Option<InteractionView>,
    open_interactions: Vec<InteractionId>,
    error: Option<&'a RunError>,
    labels: &'a BTreeMap<String, String>,
    seq: u64,
    #[serde(with = "wire")]
    created_at: Timestamp,
}

/// The same for a roundtable. Not its artifacts: they can be fetched.
#[derive(Serialize)]
struct RoundtableInShort<'a> {
    roundtable_id: RoundtableId,
    status: RoundtableStatus,
    subject: &'a str,
    workflow: &'a str,
    rounds: u32,
    close_reason: Option<&'static str>,
    pending: Option<InteractionView>,
    labels: &'a BTreeMap<String, String>,
    seq: u64,
    #[serde(with = "wire")]
    created_at: Timestamp,
}

impl Notice {
    /// What is to be told of the step by which `before` became `after` through `events`, if anything is. Only where the
    /// step ends counts: a question that was asked and answered at the same moment waits for nobody.
    pub fn of(before: Option<&Run>, events: &[Event], after: &Run, wanted: Wanted) -> Option<Self> {
        let last = events.iter().rposition(|event| matches!(event, Event::StatusChanged { .. }))?;
        let Event::StatusChanged { from, to, .. } = &events[last] else { return None };
        let kind = match to {
            // One that waited before waits on, over a restart: that is no news.
            RunStatus::WaitingUser if from != to => NoticeKind::WaitingUser,
            RunStatus::Succeeded | RunStatus::Failed | RunStatus::Canceled => NoticeKind::Terminal,
            RunStatus::Queued | RunStatus::Running | RunStatus::WaitingUser => return None,
        };
        if !wanted.has(kind) {
            return None;
        }
        let frames: u64 = events[..=last].iter().map(fcmp::frames).sum();
        let id = NoticeId { stream: after.id().into(), seq: before.map_or(0, Run::last_frame) + frames };
        Some(Self::new(id, kind, after.updated_at(), About::Run(Box::new(run_in_short(after, id.seq)))))
    }

    /// The same for a roundtable: it asks a person, or it was closed.
    pub(crate) fn of_roundtable(
        before: Option<&Roundtable>,
        events: &[roundtable::Event],
        after: &Roundtable,
        wanted: Wanted,
    ) -> Option<Self> {
        let news = |event: &roundtable::Event| match event {
            roundtable::Event::Closed(_) => Some(NoticeKind::Terminal),
            roundtable::Event::InteractionOpened { id, .. } => {
                let waits = after.pending().is_some_and(|pending| pending.interaction_id == *id);
                waits.then_some(NoticeKind::WaitingUser)
            }
            _ => None,
        };
        let mut told = events.iter().enumerate().filter_map(|(at, event)| Some((at, news(event)?)));
        let (last, kind) = told.next_back()?;
        if !wanted.has(kind) {
            return None;
        }
        let frames: u64 = events[..=last].iter().map(roundtable::frames).sum();
        let seq = before.map_or(0, Roundtable::last_frame) + frames;
        let id = NoticeId { stream: after.id().into(), seq };
        let about = About::Roundtable(Box::new(roundtable_in_short(after, seq)));
        Some(Self::new(id, kind, after.updated_at(), about))
    }

    fn new(id: NoticeId, kind: NoticeKind, at: Timestamp, about: About<'_>) -> Self {
        let view = NoticeView { id: id.to_string(), kind, occurred_at: at, about };
        let body = serde_json::to_string(&view).expect("a view is plain data, and plain data is JSON");
        Self { id, at, body }
    }
}

fn run_in_short(run: &Run, seq: u64) -> RunInShort<'_> {
    let spec = run.spec();
    let open = || run.open_interactions();
    RunInShort {
        run_id: run.id(),
        status: run.status(),
        skill: spec.skill.as_deref(),
        engine: &spec.engine,
        attempt_number: run.attempt_number(),
        pending: open().next().map(|interaction| InteractionView::of(run, interaction)),
        open_interactions: open().map(|interaction| interaction.interaction_id).collect(),
        error: run.error(),
        labels: &spec.labels,
        seq,
        created_at: run.created_at(),
    }
}

fn roundtable_in_short(roundtable: &Roundtable, seq: u64) -> RoundtableInShort<'_> {
    let spec = roundtable.spec();
    RoundtableInShort {
        roundtable_id: roundtable.id(),
        status: roundtable.status(),
        subject: &spec.subject,
        workflow: &spec.workflow,
        rounds: roundtable.recorded_rounds(),
        close_reason: roundtable.closing().map(|closing| closing.reason.name()),
        pending: roundtable.pending().map(InteractionView::of_roundtable),
        labels: &spec.labels,
        seq,
        created_at: roundtable.created_at(),
    }
}
