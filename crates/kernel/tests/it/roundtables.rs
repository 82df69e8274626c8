//! The decider of roundtables, step by step.

use std::collections::BTreeSet;
use std::sync::Arc;

use adjourn_core::roundtable::{
    Command, Document, DoneWhen, Limits, Open, Pace, Refusal, Role, Roundtable, RoundtableSpec, Seat,
    TopicId, TopicSpec,
};
use adjourn_core::{By, ReplyKey};
use adjourn_kernel::{Answer, Decider, Denied, Request, load};
use adjourn_store::conformance::items::{at, roundtable_id};
use adjourn_store::{After, Error, Outcome, SqliteStore, Store};

struct Desk {
    decider: Decider<u32, Roundtable>,
    store: Arc<SqliteStore>,
    told: Vec<(u32, Answer<Roundtable>)>,
    tickets: u32,
    _dir: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(dir.path()).unwrap());
        let decider = Decider::new(store.clone(), 64);
        Self { decider, store, told: Vec::new(), tickets: 0, _dir: dir }
    }

    fn offer(&mut self, n: u64, command: Command) -> u32 {
        self.tickets += 1;
        let ticket = self.tickets;
        let at = at(u64::from(ticket));
        self.decider.offer(Request { id: roundtable_id(n), command, at, boot: None, ticket });
        ticket
    }

    fn commit(&mut self) -> usize {
        let items = self.decider.submit();
        if let Some(items) = &items {
            self.decider.settle(self.store.commit(items));
        }
        self.told.extend(self.decider.take_answers());
        items.map_or(0, |items| items.len())
    }

    fn answer(&self, ticket: u32) -> &Answer<Roundtable> {
        &self.told.iter().find(|(told, _)| *told == ticket).expect("it was told").1
    }
}

fn open(subject: &str, key: Option<&str>) -> Command {
    let spec = RoundtableSpec {
        subject: subject.to_owned(),
        workflow: "specs".to_owned(),
        document: Document::Requirements,
        strategy: "standard".to_owned(),
        limits: Limits::default(),
        agenda: vec![TopicSpec {
            topic_id: TopicId::new("scope"),
            title: "Scope".to_owned(),
            critical: false,
            done_when: DoneWhen { min_artifacts: 1, ..DoneWhen::default() },
        }],
        facilitator: Seat::facilitator("scripted"),
        participants: vec![Seat::participant("qa", "scripted")],
        pace: Pace::Continuous,
        context: None,
        labels: Default::default(),
    };
    let key = key.map(|key| ReplyKey { key: key.to_owned(), digest: subject.to_owned() });
    Command::Open(Box::new(Open { spec, known_roles: BTreeSet::from([Role::new("qa")]), key }))
}

#[test]
fn commands_to_one_roundtable_are_decided_one_after_the_other_and_share_the_commit_with_others() {
    let mut desk = Desk::new();
    let first = [desk.offer(1, open("one", None)), desk.offer(2, open("two", None))];
    let second = desk.offer(1, Command::OpenRound);
    assert_eq!(desk.commit(), 3, "each moment of a roundtable is an item of its own");
    assert!(first.iter().all(|ticket| desk.answer(*ticket).is_ok()));
    let accepted = desk.answer(second).as_ref().unwrap();
    assert_eq!(accepted.state.current().unwrap().number, 1);
    let loaded = load::<Roundtable>(desk.store.as_ref(), roundtable_id(1)).unwrap().unwrap();
    assert_eq!(&loaded, accepted.state.as_ref());
    assert_eq!(desk.decider.undurable_len(), 0);
}

#[test]
fn the_same_key_finds_the_roundtable_that_it_opened_and_no_other() {
    let mut desk = Desk::new();
    let first = desk.offer(1, open("one", Some("key")));
    desk.commit();
    let (again, other) = (desk.offer(2, open("one", Some("key"))), desk.offer(3, open("three", Some("key"))));
    assert_eq!(desk.commit(), 0);
    let opened = desk.answer(first).as_ref().unwrap();
    let found = desk.answer(again).as_ref().unwrap();
    assert_eq!((found.state.id(), found.events.len()), (opened.state.id(), 0));
    let refused = desk.answer(other).as_ref().unwrap_err();
    assert!(matches!(refused, Denied::Refused(Refusal::KeyReused { .. })), "{refused}");
}

#[test]
fn a_commit_that_fails_changes_nothing_and_the_next_one_goes_on() {
    let mut desk = Desk::new();
    let lost = desk.offer(1, open("one", None));
    assert_eq!(desk.decider.submit().unwrap().len(), 1);
    desk.decider.settle(Err(Error::Failed { doing: "commit", problem: "the disk is full".to_owned() }));
    desk.told.extend(desk.decider.take_answers());
    assert!(matches!(desk.answer(lost), Err(Denied::Failed(_))));
    let unknown = desk.offer(1, Command::Close(By::USER));
    desk.commit();
    let refused = desk.answer(unknown).as_ref().unwrap_err().to_string();
    assert_eq!(refused, format!("there is no roundtable {}", roundtable_id(1)));
}

#[test]
fn what_another_writer_overtook_is_decided_again() {
    let mut desk = Desk::new();
    desk.offer(1, open("one", None));
    desk.commit();
    let closed = desk.offer(1, Command::Close(By::USER));
    let items = desk.decider.submit().unwrap();
    let conflict = adjourn_store::Conflict::Seq { actual: 7 };
    desk.decider.settle(Ok(vec![Outcome::Refused(conflict)]));
    assert_eq!((items.len(), desk.told.len()), (1, 1));
    assert_eq!(desk.commit(), 1);
    assert!(desk.answer(closed).is_ok());
}

#[test]
fn a_roundtable_that_cannot_be_read_is_closed_and_the_others_go_on() {
    for statement in [
        "UPDATE entries SET payload = x'7b' WHERE position = 1",
        "UPDATE entries SET payload = x'7b' WHERE position = 3",
    ] {
        let mut desk = Desk::new();
        desk.offer(1, open("one", None));
        desk.offer(2, open("two", None));
        desk.commit();
        desk.offer(1, Command::OpenRound);
        desk.commit();
        let path = desk._dir.path().join("adjourn.db");
        rusqlite::Connection::open(path).unwrap().execute_batch(statement).unwrap();
        desk.decider = Decider::new(desk.store.clone(), 64);
        let asked = desk.offer(1, Command::OpenRound);
        let ended = desk.offer(1, Command::Fail { problem: "it cannot be read".to_owned() });
        let other = desk.offer(2, Command::OpenRound);
        desk.commit();
        assert!(matches!(desk.answer(asked), Err(Denied::Failed(_))), "{statement}");
        assert!(desk.answer(ended).is_ok() && desk.answer(other).is_ok(), "{statement}");
        let table = load::<Roundtable>(desk.store.as_ref(), roundtable_id(1)).unwrap().unwrap();
        let row = desk.store.roundtable(roundtable_id(1)).unwrap().unwrap();
        assert_eq!(row.close_reason.as_deref(), Some("error"), "{statement}");
        assert_eq!(
            (table.status(), table.seq()),
            (
                row.status,
                desk.store.read(roundtable_id(1).into(), After::START, 9).unwrap().last().unwrap().seq
            )
        );
        // What is asked of it now is refused like anything that is asked of a closed roundtable.
        let late = desk.offer(1, Command::OpenRound);
        desk.commit();
        assert!(matches!(desk.answer(late), Err(Denied::Refused(Refusal::Closed(_)))), "{statement}");
        assert_eq!(desk.store.examine().unwrap().findings, [], "{statement}");
    }
}
