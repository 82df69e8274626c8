//! The decider, step by step, over a store that fails when it is told to.

use std::sync::Arc;
use std::sync::Mutex;

use adjourn_core::{
    By, ClaimKey, Command, ContractRow, Create, Entry, ErrorCode, Evidence, ExecutionId, ExecutionMode,
    Holder, InteractionId, Item, Observation, OpenInteraction, Refusal, Reply, ReplyKey, ResumesBy,
    RoundtableId, RoundtableRow, Run, RunId, RunRow, RunSpec, RunStatus, StreamId, Timestamp, TurnEnd,
};
use adjourn_kernel::{Answer, Decider, Denied, Request, load};
use adjourn_store::conformance::items::{at, run_id};
use adjourn_store::{
    After, Conflict, Error, OpenCursor, Outcome, Pending, Removal, RoundtableFilter, RunFilter, Settled,
    SqliteStore, Store,
};
use serde_json::json;
use tokio::sync::watch;

/// A decider whose tickets are numbers, and the store below it.
struct Desk {
    decider: Decider<u32>,
    store: Arc<SqliteStore>,
    told: Vec<(u32, Answer)>,
    tickets: u32,
    _dir: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self::remembering(100)
    }

    fn remembering(warm_max: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(dir.path()).unwrap());
        let decider = Decider::new(store.clone(), warm_max);
        Self { decider, store, told: Vec::new(), tickets: 0, _dir: dir }
    }

    fn offer(&mut self, n: u64, command: Command) -> u32 {
        self.tickets += 1;
        let ticket = self.tickets;
        self.decider.offer(Request {
            id: run_id(n),
            command,
            at: at(n + u64::from(ticket)),
            boot: None,
            ticket,
        });
        ticket
    }

    /// Commits what is open, if anything is.
    fn commit(&mut self) -> usize {
        let items = self.decider.submit();
        let count = items.as_ref().map_or(0, |items| items.len());
        if let Some(items) = items {
            let outcome = self.store.commit(&items);
            self.decider.settle(outcome);
        }
        self.told.extend(self.decider.take_answers());
        count
    }

    /// Has the commit that is due fail.
    fn fail(&mut self) {
        assert!(self.decider.submit().is_some(), "there is something to commit");
        self.decider.settle(Err(Error::Failed { doing: "commit", problem: "the disk is full".to_owned() }));
        self.told.extend(self.decider.take_answers());
    }

    fn answer(&self, ticket: u32) -> &Answer {
        let mut answers = self.told.iter().filter(|(told, _)| *told == ticket);
        let (_, answer) = answers.next().expect("it was answered");
        assert!(answers.next().is_none(), "nobody is answered twice");
        answer
    }

    fn is_told(&self, ticket: u32) -> bool {
        self.told.iter().any(|(told, _)| *told == ticket)
    }

    fn status(&self, n: u64) -> Option<RunStatus> {
        load::<Run>(self.store.as_ref(), run_id(n)).unwrap().map(|run| run.status())
    }

    /// Takes a run to its first question.
    fn ask_first(&mut self, n: u64) {
        self.offer(n, create());
        self.offer(n, Command::StartTurn);
        self.offer(n, asks(1));
        self.commit();
        assert_eq!(self.status(n), Some(RunStatus::WaitingUser));
    }
}

fn create() -> Command {
    let spec =
        RunSpec { resumes_by: ResumesBy::Journal, ..RunSpec::new("claude", ExecutionMode::Interactive) };
    Command::Create(Create { spec, key: None })
}

fn create_with_key(digest: &str) -> Command {
    let Command::Create(create) = create() else { unreachable!("it is one") };
    let key = ReplyKey { key: "k".to_owned(), digest: digest.to_owned() };
    Command::Create(Create { key: Some(key), ..create })
}

fn asks(turn: u32) -> Command {
    let text = r#"{"__SKILL_DONE__": false, "message": "Which one?"}"#;
    Command::EndTurn {
        turn,
        observations: vec![Observation::Message { text: text.to_owned(), raw: None }],
        end: TurnEnd::Completed(Box::new(Evidence::read(text, None))),
    }
}

fn reply(text: &str) -> Command {
    Command::Reply(Reply {
        interaction_id: InteractionId(1),
        response: json!(text),
        action: None,
        by: By::USER,
        key: None,
        edited_id: ExecutionId::from_bits(0),
        edited_key: None,
    })
}

#[test]
fn nobody_is_told_before_the_commit() {
    let mut desk = Desk::new();
    let created = desk.offer(1, create());
    let items = desk.decider.submit().unwrap();
    desk.told.extend(desk.decider.take_answers());
    assert!(!desk.is_told(created));
    desk.decider.settle(desk.store.commit(&items));
    desk.told.extend(desk.decider.take_answers());
    assert_eq!(desk.answer(created).as_ref().unwrap().state.status(), RunStatus::Queued);
}

#[test]
fn everything_that_waits_is_one_commit_and_one_moment_is_one_item() {
    let mut desk = Desk::new();
    for n in 1..=40 {
        desk.offer(n, create());
    }
    assert_eq!(desk.commit(), 40);
    assert_eq!(desk.store.head().unwrap(), 40);

    let time = at(5000);
    for command in [Command::StartTurn, asks(1)] {
        desk.decider.offer(Request { id: run_id(1), command, at: time, boot: None, ticket: 0 });
    }
    assert_eq!(desk.commit(), 1, "what follows at the same moment is the same item");
    assert_eq!(desk.status(1), Some(RunStatus::WaitingUser));
}

#[test]
fn the_next_batch_is_decided_while_one_is_committed() {
    let mut desk = Desk::new();
    desk.offer(1, create());
    let first = desk.decider.submit().unwrap();
    let started = desk.offer(1, Command::StartTurn);
    assert!(desk.decider.submit().is_none(), "one commit at a time");
    desk.decider.settle(desk.store.commit(&first));
    desk.commit();
    assert_eq!(desk.answer(started).as_ref().unwrap().state.status(), RunStatus::Running);
    assert_eq!(desk.status(1), Some(RunStatus::Running));
}

#[test]
fn a_failed_commit_leaves_everything_as_it_was() {
    let mut desk = Desk::new();
    desk.ask_first(1);
    let answered = desk.offer(1, reply("a"));
    let created = desk.offer(2, create());
    desk.fail();
    for ticket in [answered, created] {
        let denied = desk.answer(ticket).as_ref().unwrap_err();
        assert_eq!(denied.to_string(), "the journal cannot commit: the disk is full");
    }
    assert_eq!((desk.status(1), desk.status(2)), (Some(RunStatus::WaitingUser), None));

    let again = desk.offer(1, reply("b"));
    desk.commit();
    assert!(desk.answer(again).is_ok(), "the question is still open");
}

#[test]
fn what_was_decided_on_a_state_that_never_was_is_decided_again() {
    let mut desk = Desk::new();
    desk.ask_first(1);
    let first = desk.offer(1, reply("a"));
    assert!(desk.decider.submit().is_some());
    // Refused, because the first reply has it, and told to nobody: the first reply is not durable.
    let second = desk.offer(1, reply("b"));
    desk.told.extend(desk.decider.take_answers());
    assert!(!desk.is_told(second));
    desk.decider.settle(Err(Error::Failed { doing: "commit", problem: "the disk is full".to_owned() }));
    desk.commit();
    assert!(desk.answer(first).is_err());
    let accepted = desk.answer(second).as_ref().unwrap();
    let answer = accepted.state.interaction(InteractionId(1)).unwrap().resolution.as_ref().unwrap();
    assert_eq!(answer.response, json!("b"));
}

#[test]
fn two_replies_are_one_accepted_and_one_refused_after_the_commit() {
    let mut desk = Desk::new();
    desk.ask_first(1);
    let first = desk.offer(1, reply("a"));
    let second = desk.offer(1, reply("b"));
    desk.told.extend(desk.decider.take_answers());
    assert!(!desk.is_told(second), "a refusal waits for what it is based on");
    desk.commit();
    assert!(desk.answer(first).is_ok());
    let denied = desk.answer(second).as_ref().unwrap_err();
    assert!(matches!(denied, Denied::Refused(Refusal::NotOpen { .. })), "{denied}");
}

#[test]
fn the_same_creation_twice_is_one_run_and_another_with_its_key_is_refused() {
    let mut desk = Desk::new();
    // In one batch: neither knows of the other before the commit.
    let first = desk.offer(1, create_with_key("same"));
    let second = desk.offer(2, create_with_key("same"));
    let other = desk.offer(3, create_with_key("other"));
    while desk.commit() > 0 {}
    assert_eq!(desk.answer(first).as_ref().unwrap().state.id(), run_id(1));
    assert_eq!(desk.answer(second).as_ref().unwrap().state.id(), run_id(1));
    let denied = desk.answer(other).as_ref().unwrap_err();
    assert!(matches!(denied, Denied::Refused(Refusal::KeyReused { .. })), "{denied}");
    assert_eq!((desk.status(2), desk.status(3)), (None, None));
}

#[test]
fn a_run_that_is_unknown_is_told_and_one_that_is_damaged_ends() {
    let mut desk = Desk::new();
    let unknown = desk.offer(9, Command::StartTurn);
    desk.commit();
    let denied = desk.answer(unknown).as_ref().unwrap_err();
    assert_eq!(denied.to_string(), format!("there is no run {}", run_id(9)));

    let mut item = adjourn_store::conformance::items::Script::run(5).next(1, 0, b"not a record".to_vec());
    item.expected_seq = 0;
    desk.store.commit(&[item]).unwrap();
    // What others ask of it is refused. What the runtime itself asks of it comes to its end.
    let asked = desk.offer(5, Command::Cancel(By::SYSTEM));
    desk.commit();
    let denied = desk.answer(asked).as_ref().unwrap_err().to_string();
    assert!(denied.starts_with("the journal is damaged: entry 1 of run_"), "{denied}");
    let started = desk.offer(5, Command::StartTurn);
    while desk.commit() > 0 {}
    let ended = &desk.answer(started).as_ref().unwrap().state;
    assert_eq!(ended.error().unwrap().code, ErrorCode::JournalUnreadable);
    assert_eq!(desk.status(5), Some(RunStatus::Failed));
    // It is folded like any other from now on.
    assert_eq!(load(desk.store.as_ref(), run_id(5)).unwrap().as_ref(), Some(&**ended));
    let late = desk.offer(5, Command::Cancel(By::SYSTEM));
    desk.commit();
    assert!(matches!(desk.answer(late), Err(Denied::Refused(Refusal::Machine(_)))));
}

#[test]
fn a_forgotten_run_is_loaded_and_goes_on() {
    let mut desk = Desk::remembering(2);
    for n in 1..=20 {
        desk.ask_first(n);
    }
    let tickets: Vec<_> = (1..=20).map(|n| desk.offer(n, reply("a"))).collect();
    desk.commit();
    assert!(tickets.iter().all(|ticket| desk.answer(*ticket).is_ok()));
}

/// A store in which somebody else was faster, a given number of times.
struct Contested {
    below: Arc<SqliteStore>,
    losses: Mutex<u32>,
}

impl Store for Contested {
    fn commit(&self, batch: &[Item]) -> Result<Vec<Outcome>, Error> {
        let mut losses = self.losses.lock().unwrap();
        if *losses == 0 {
            return self.below.commit(batch);
        }
        *losses -= 1;
        Ok(batch.iter().map(|_| Outcome::Refused(Conflict::Seq { actual: 0 })).collect())
    }

    fn read(&self, stream: StreamId, after: After, limit: usize) -> Result<Vec<Entry>, Error> {
        self.below.read(stream, after, limit)
    }

    fn read_all(&self, position: u64, limit: usize) -> Result<Vec<Entry>, Error> {
        self.below.read_all(position, limit)
    }

    fn head(&self) -> Result<u64, Error> {
        self.below.head()
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.below.watch()
    }

    fn watch_stream(&self, stream: StreamId) -> watch::Receiver<u64> {
        self.below.watch_stream(stream)
    }

    fn run(&self, id: RunId) -> Result<Option<RunRow>, Error> {
        self.below.run(id)
    }

    fn runs(&self, filter: &RunFilter, limit: usize) -> Result<Vec<RunRow>, Error> {
        self.below.runs(filter, limit)
    }

    fn run_counts(&self) -> Result<Vec<(RunStatus, u64)>, Error> {
        self.below.run_counts()
    }

    fn roundtable(&self, id: RoundtableId) -> Result<Option<RoundtableRow>, Error> {
        self.below.roundtable(id)
    }

    fn roundtables(&self, filter: &RoundtableFilter, limit: usize) -> Result<Vec<RoundtableRow>, Error> {
        self.below.roundtables(filter, limit)
    }

    fn open_interactions(
        &self,
        after: Option<OpenCursor>,
        limit: usize,
    ) -> Result<Vec<OpenInteraction>, Error> {
        self.below.open_interactions(after, limit)
    }

    fn deadlines(&self, limit: usize) -> Result<Vec<OpenInteraction>, Error> {
        self.below.deadlines(limit)
    }

    fn contract(&self, id: ExecutionId) -> Result<Option<ContractRow>, Error> {
        self.below.contract(id)
    }

    fn holder(&self, key: &ClaimKey) -> Result<Option<Holder>, Error> {
        self.below.holder(key)
    }

    fn notices(&self, limit: usize) -> Result<Vec<Pending>, Error> {
        self.below.notices(limit)
    }

    fn settle_notices(&self, settled: &[Settled]) -> Result<(), Error> {
        self.below.settle_notices(settled)
    }

    fn remove(&self, run: RunId) -> Result<Removal, Error> {
        self.below.remove(run)
    }

    fn forget_keys(&self, made_before: Timestamp) -> Result<u64, Error> {
        self.below.forget_keys(made_before)
    }
}

/// Offers a creation to a store that loses it `losses` times.
fn create_contested(losses: u32) -> Answer {
    let dir = tempfile::tempdir().unwrap();
    let below = Arc::new(SqliteStore::open(dir.path()).unwrap());
    let store = Arc::new(Contested { below, losses: Mutex::new(losses) });
    let mut decider = Decider::new(store.clone(), 10);
    decider.offer(Request { id: run_id(1), command: create(), at: at(1), boot: None, ticket: () });
    loop {
        if let Some(items) = decider.submit() {
            decider.settle(store.commit(&items));
        }
        if let Some(((), answer)) = decider.take_answers().next() {
            return answer;
        }
    }
}

#[test]
fn whoever_loses_a_race_decides_again_and_gives_up_at_last() {
    assert!(create_contested(3).is_ok());
    let denied = create_contested(1000).unwrap_err().to_string();
    assert_eq!(denied, "the journal cannot commit: other writers were faster 16 times in a row");
}
