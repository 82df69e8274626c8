//! One roundtable and what is said at it, told in the words of the rules.
//!
//! Every commit is written as JSON and read back, so whatever is tested here is tested through the stored form.

use std::collections::{BTreeMap, BTreeSet};

use adjourn_core::machines::{RoundtableTrigger, TopicStatus};
use adjourn_core::roundtable::{
    Artifact, Ask, ChangeArtifact, Command, Confidence, Criterion, CriterionId, Document, DoneWhen, Event,
    Frame, Limits, NextAction, Open, Pace, PersonChange, Position, Purpose, Refusal, Reply, Role, Roundtable,
    RoundtableSpec, Rule, Seat, Start, Synthesis, Todo, TopicId, TopicSpec,
};
use adjourn_core::{By, Decided, Entry, InteractionId, Record, RoundtableId, RunId, Stream, Timestamp, item};
use serde_json::{Value, json};

/// Roles that there is a prompt for.
pub(crate) const ROLES: &[&str] = &["architect", "qa", "security", "product", "ops"];

/// A roundtable and its journal.
#[derive(Clone)]
pub(crate) struct Table {
    pub(crate) table: Roundtable,
    pub(crate) entries: Vec<Entry>,
    runs: u128,
}

pub(crate) fn known_roles() -> BTreeSet<Role> {
    ROLES.iter().map(|role| Role::new(*role)).collect()
}

pub(crate) fn criterion(id: &str) -> CriterionId {
    CriterionId::new(id)
}

/// A topic whose criteria are these, and that needs `min_artifacts` artifacts of any kind.
pub(crate) fn topic(id: &str, criteria: &[&str], min_artifacts: u32) -> TopicSpec {
    let criteria =
        criteria.iter().map(|id| Criterion { id: CriterionId::new(*id), text: format!("{id} is said") });
    TopicSpec {
        topic_id: TopicId::new(id),
        title: format!("The {id}"),
        critical: false,
        done_when: DoneWhen { criteria: criteria.collect(), min_artifacts, ..DoneWhen::default() },
    }
}

/// Two participants, two topics of which the first is critical, one round at least.
pub(crate) fn spec() -> RoundtableSpec {
    let mut users = topic("users", &["personas", "goals"], 1);
    users.critical = true;
    RoundtableSpec {
        subject: "a shop for bicycles".to_owned(),
        workflow: "specs".to_owned(),
        document: Document::Requirements,
        strategy: "standard".to_owned(),
        limits: Limits { min_rounds: 1, ..Limits::default() },
        agenda: vec![users, topic("payment", &["methods"], 1)],
        facilitator: Seat::facilitator("engine-f"),
        participants: vec![Seat::participant("architect", "engine-a"), Seat::participant("qa", "engine-q")],
        pace: Pace::Continuous,
        context: None,
        labels: BTreeMap::new(),
    }
}

pub(crate) fn now() -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000)
}

pub(crate) fn said(position: &str, confidence: f64) -> Position {
    Position {
        position: position.to_owned(),
        rationale: None,
        confidence: Confidence::new(confidence).unwrap(),
        stance: None,
    }
}

pub(crate) fn synthesis(proposals: Vec<Value>) -> Synthesis {
    Synthesis {
        summary: "The table agrees.".to_owned(),
        proposals,
        next: Some(NextAction::Continue),
        recommendation: Some("Take cards only.".to_owned()),
    }
}

/// A new artifact of the topic that covers these criteria.
pub(crate) fn create(kind: &str, topic: &str, covers: &[&str]) -> Value {
    json!({
        "action": "create_artifact", "kind": kind, "topic_id": topic, "title": format!("a {kind}"),
        "body": "It has to be so.", "covers": covers, "proposed_by": "architect", "supported_by": ["qa"],
    })
}

/// The same under a label.
pub(crate) fn create_as(label: &str, kind: &str, topic: &str) -> Value {
    let mut proposal = create(kind, topic, &[]);
    proposal["label"] = json!(label);
    proposal
}

pub(crate) fn amend(artifact: &str, body: &str) -> Value {
    json!({
        "action": "amend_artifact", "artifact": artifact, "body": body, "reason": "it was too narrow",
        "proposed_by": "qa",
    })
}

pub(crate) fn revert(artifact: &str) -> Value {
    let reason = "it was right before";
    json!({ "action": "revert_artifact", "artifact": artifact, "reason": reason, "proposed_by": "qa" })
}

pub(crate) fn supersede(artifact: &str, by: &str) -> Value {
    json!({ "action": "supersede_artifact", "artifact": artifact, "by": by })
}

pub(crate) fn withdraw(artifact: &str) -> Value {
    json!({ "action": "withdraw_artifact", "artifact": artifact, "reason": "out of scope" })
}

pub(crate) fn conflict(topic: &str) -> Value {
    json!({
        "action": "open_conflict", "topic_id": topic, "title": "cards or cash",
        "positions": [
            { "held_by": ["architect"], "position": "cards", "rationale": "cash cannot be refunded" },
            { "held_by": ["qa"], "position": "cash" },
        ],
    })
}

pub(crate) fn resolve(conflict: &str) -> Value {
    json!({ "action": "resolve_conflict", "conflict": conflict, "resolution": "both" })
}

impl Table {
    pub(crate) fn standard() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut RoundtableSpec)) -> Self {
        Self::try_with(change).unwrap()
    }

    pub(crate) fn try_with(change: impl FnOnce(&mut RoundtableSpec)) -> Result<Self, Refusal> {
        let mut spec = spec();
        change(&mut spec);
        let open = Command::Open(Box::new(Open { spec, known_roles: known_roles(), key: None }));
        let decided = Roundtable::open(RoundtableId::from_bits(7), &open, now())?;
        let mut table = Self { table: decided.state.clone(), entries: Vec::new(), runs: 0 };
        table.commit(None, decided);
        Ok(table)
    }

    /// Writes what was decided, reads it back, and goes on with what was read.
    fn commit(&mut self, before: Option<&Roundtable>, decided: Decided<Roundtable>) {
        let item = item(before, Vec::new(), &decided.events, &decided.state);
        assert_eq!(item.expected_seq, before.map_or(0, Roundtable::seq));
        let entry = Entry {
            stream: item.stream,
            position: item.expected_seq + u64::from(item.events),
            seq: item.expected_seq + u64::from(item.events),
            at: item.at,
            events: item.events,
            last_frame: item.last_frame,
            payload: item.payload,
        };
        let record = Record::<Event>::of(&entry).unwrap();
        assert_eq!(record.events, decided.events, "an event reads back as it was");
        let folded = Roundtable::fold_on(decided.state.id(), before.cloned(), &entry).unwrap();
        assert_eq!(folded, decided.state, "the state is the fold of its events");
        let frames = record.frames(&folded, &entry);
        assert_eq!(frames.last().map_or(record.place.frame, |frame| frame.seq), entry.last_frame);
        self.entries.push(entry);
        self.table = folded;
    }

    pub(crate) fn tries(&mut self, command: &Command) -> Result<Vec<Event>, Refusal> {
        let before = self.table.clone();
        let decided = before.decide(command, now())?;
        let events = decided.events.clone();
        if events.is_empty() {
            assert_eq!(before, decided.state, "without an event nothing changes");
        } else {
            self.commit(Some(&before), decided);
        }
        Ok(events)
    }

    pub(crate) fn does(&mut self, command: Command) -> Vec<Event> {
        self.tries(&command).unwrap()
    }

    pub(crate) fn fresh_run(&mut self) -> RunId {
        self.runs += 1;
        RunId::from_bits(self.runs)
    }

    /// Announces a run for something.
    pub(crate) fn starts(&mut self, purpose: Purpose) -> RunId {
        let run_id = self.fresh_run();
        self.does(Command::StartActivation { purpose, run_id, start: Start::Fresh });
        run_id
    }

    pub(crate) fn opens_round(&mut self) -> &mut Self {
        self.does(Command::OpenRound);
        self
    }

    /// The facilitator asks about a topic.
    pub(crate) fn asks(&mut self, topic: &str) -> &mut Self {
        self.asks_about(json!({ "kind": "topic", "id": topic }))
    }

    pub(crate) fn asks_about(&mut self, focus: Value) -> &mut Self {
        let ask = json!({ "focus": focus, "question": "What has to be so?" });
        let ask: Ask = serde_json::from_value(ask).unwrap();
        let run_id = self.starts(Purpose::Ask);
        self.does(Command::RecordFocus { run_id, ask });
        self
    }

    /// Everybody who is awaited says the same, this sure.
    pub(crate) fn everybody_answers(&mut self, confidence: f64) -> &mut Self {
        let awaited: Vec<_> = self.table.current().unwrap().awaited().cloned().collect();
        for role in awaited {
            self.answers(role.as_str(), &format!("{role} thinks so"), confidence);
        }
        self
    }

    pub(crate) fn answers(&mut self, role: &str, position: &str, confidence: f64) -> &mut Self {
        let run_id = self.starts(Purpose::Answer(Role::new(role)));
        self.does(Command::RecordAnswer { run_id, said: said(position, confidence) });
        self
    }

    pub(crate) fn is_missing(&mut self, role: &str) -> Vec<Event> {
        let run_id = self.starts(Purpose::Answer(Role::new(role)));
        self.does(Command::ReportLost { run_id, reason: "exit status 1".to_owned() })
    }

    pub(crate) fn synthesizes(&mut self, synthesis: Synthesis) -> &mut Self {
        let run_id = self.starts(Purpose::Synthesis);
        self.does(Command::RecordSynthesis { run_id, synthesis });
        self
    }

    /// A whole round on a topic, in which everybody is this sure and this is proposed.
    pub(crate) fn round_on(&mut self, topic: &str, confidence: f64, proposals: Vec<Value>) -> &mut Self {
        self.opens_round().asks(topic).everybody_answers(confidence).synthesizes(synthesis(proposals));
        self.does(Command::RecordRound);
        self
    }

    /// A whole round on the first topic, in which everybody is sure.
    pub(crate) fn round(&mut self, proposals: Vec<Value>) -> &mut Self {
        self.round_on("users", 0.9, proposals)
    }

    pub(crate) fn reply(&self, response: Value) -> Reply {
        let interaction_id = self.table.pending().map_or(InteractionId(99), |open| open.interaction_id);
        Reply { interaction_id, response, by: By { name: Some("ann".to_owned()), ..By::USER }, key: None }
    }

    /// A change that a person makes to an artifact.
    pub(crate) fn change_by_person(&self, artifact: &str, change: PersonChange) -> Command {
        let by = By { name: Some("ann".to_owned()), ..By::USER };
        let (artifact_id, reason) = (artifact.parse().unwrap(), "the law says so".to_owned());
        Command::ChangeArtifact(Box::new(ChangeArtifact { artifact_id, change, reason, by, key: None }))
    }

    /// A person answers the open question.
    pub(crate) fn person(&mut self, response: Value) -> Vec<Event> {
        let reply = self.reply(response);
        self.does(Command::Reply(reply))
    }

    pub(crate) fn artifact(&self, id: &str) -> &Artifact {
        self.table.artifact(id.parse().unwrap()).unwrap()
    }

    /// Why proposals of the last round came to nothing, with their numbers.
    pub(crate) fn refused(&self) -> Vec<(usize, &str)> {
        let refused = &self.table.rounds().last().unwrap().refused;
        refused.iter().map(|refused| (refused.number, refused.reason.as_str())).collect()
    }

    /// What came after the last round, and by which rule.
    pub(crate) fn next(&self) -> (NextAction, Rule) {
        let decided = self.table.rounds().last().unwrap().decided.as_ref().unwrap();
        (decided.next, decided.rule)
    }

    pub(crate) fn close_reason(&self) -> Option<RoundtableTrigger> {
        self.table.closing().map(|closing| closing.reason)
    }

    pub(crate) fn topic_status(&self, id: &str) -> TopicStatus {
        self.table.topics().iter().find(|topic| topic.id.as_str() == id).unwrap().status
    }

    /// All frames, rendered from the journal.
    pub(crate) fn frames(&self) -> Vec<Frame> {
        let entries = self.entries.iter();
        entries.flat_map(|entry| Record::<Event>::of(entry).unwrap().frames(&self.table, entry)).collect()
    }

    pub(crate) fn waits(&self) -> bool {
        matches!(self.table.todo(), Todo::Wait(_))
    }
}
