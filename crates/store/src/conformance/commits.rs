//! Commits: all of an item or nothing, in order, without gaps.

use std::thread;

use adjourn_core::{Change, ContractStatus, Entry, InteractionId, RunStatus};

use super::items::{Script, claim, claim_key, contract, execution_id, holder, question, run_id, with};
use super::{Fixture, accept, refuse};
use crate::{After, Conflict, Outcome, RunFilter, Store};

pub fn an_accepted_item_is_there_with_everything_it_carries(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mut run = Script::run(1).skill("triage").label("team", "core");
    let mut item = run.next(3, 2, "three events");
    item.changes.extend([
        Change::InteractionOpened(question(run.run_id(), 1, 5, Some(9))),
        Change::Contract(contract(1, ContractStatus::Pending)),
        claim("run", "key", &holder(1)),
    ]);
    assert_eq!(store.commit(std::slice::from_ref(&item)).unwrap(), [Outcome::Accepted { position: 3 }]);

    let entry = Entry {
        stream: run.stream,
        position: 3,
        seq: 3,
        at: item.at,
        events: 3,
        last_frame: 2,
        payload: item.payload,
    };
    assert_eq!(store.read(run.stream, After::START, 10).unwrap(), std::slice::from_ref(&entry));
    assert_eq!(store.read_all(0, 10).unwrap(), [entry]);
    assert_eq!(store.head().unwrap(), 3);
    assert_eq!(store.run(run.run_id()).unwrap(), run.row);
    assert_eq!(store.runs(&RunFilter::default(), 10).unwrap(), [run.row.clone().unwrap()]);
    let open = [question(run.run_id(), 1, 5, Some(9))];
    assert_eq!(store.open_interactions(None, 10).unwrap(), open);
    assert_eq!(store.deadlines(10).unwrap(), open);
    assert_eq!(store.contract(execution_id(1)).unwrap(), Some(contract(1, ContractStatus::Pending)));
    assert_eq!(store.holder(&claim_key("run", "key")).unwrap(), Some(holder(1)));
}

pub fn a_refused_item_leaves_nothing_behind(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mut run = Script::run(1);
    accept(store, with(run.next(1, 1, "first"), claim("all", "taken", &holder(1))));
    let before = everything(store);

    // The claim comes last, so that whoever writes before looking leaves something.
    let mut late = Script::run(2).skill("triage").label("team", "core");
    let mut item = late.next(1, 1, "refused");
    item.changes.extend([
        Change::InteractionOpened(question(run_id(2), 1, 5, Some(9))),
        Change::InteractionClosed(run_id(1).into(), InteractionId(1)),
        Change::Contract(contract(2, ContractStatus::Running)),
        claim("all", "free", &holder(2)),
        claim("all", "taken", &holder(2)),
    ]);
    let conflict = refuse(store, item);
    assert_eq!(conflict, Conflict::Claimed { key: claim_key("all", "taken"), holder: holder(1) });
    assert_eq!(everything(store), before);
    assert_eq!(store.run(run_id(2)).unwrap(), None);
    assert_eq!(store.holder(&claim_key("all", "free")).unwrap(), None);

    let mut stale = run.clone();
    stale.seq = 0;
    let conflict = refuse(store, with(stale.next(1, 1, "stale"), claim("all", "free", &holder(1))));
    assert_eq!(conflict, Conflict::Seq { actual: 1 });
    assert_eq!(everything(store), before);
}

/// Everything that can be listed.
fn everything(store: &dyn Store) -> impl PartialEq + std::fmt::Debug + use<> {
    (
        store.read_all(0, usize::MAX).unwrap(),
        store.head().unwrap(),
        store.runs(&RunFilter::default(), usize::MAX).unwrap(),
        store.open_interactions(None, usize::MAX).unwrap(),
        store.deadlines(usize::MAX).unwrap(),
        store.contract(execution_id(2)).unwrap(),
    )
}

pub fn each_item_of_a_batch_is_accepted_or_refused_alone(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mut elsewhere = Script::run(2);
    elsewhere.seq = 7;
    let batch = [
        Script::run(1).next(2, 1, "one"),
        elsewhere.next(1, 1, "never"),
        Script::roundtable(3).next(1, 1, "three"),
    ];
    let outcomes = store.commit(&batch).unwrap();
    let refused = Outcome::Refused(Conflict::Seq { actual: 0 });
    assert_eq!(outcomes, [Outcome::Accepted { position: 2 }, refused, Outcome::Accepted { position: 3 }]);
    let payloads: Vec<_> = store.read_all(0, 10).unwrap().into_iter().map(|entry| entry.payload).collect();
    assert_eq!(payloads, [b"one".to_vec(), b"three".to_vec()]);
}

pub fn items_of_a_batch_are_taken_in_order(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mut run = Script::run(1);
    let batch = [
        run.next(1, 1, "a"),
        run.moves(RunStatus::Running, 2, 0, "b"),
        Script::run(1).next(1, 1, "decided before the others"),
        run.moves(RunStatus::Failed, 1, 1, "c"),
    ];
    let outcomes = store.commit(&batch).unwrap();
    assert_eq!(outcomes[2], Outcome::Refused(Conflict::Seq { actual: 3 }));
    assert_eq!(outcomes[3], Outcome::Accepted { position: 4 });
    assert_eq!(store.run(run_id(1)).unwrap(), run.row);
}

pub fn a_stream_that_is_elsewhere_refuses_and_says_where(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    for mut script in [Script::run(1), Script::roundtable(1)] {
        accept(store, script.next(4, 1, "first"));
        for wrong in [0, 3, 5, 1000] {
            let mut other = script.clone();
            other.seq = wrong;
            assert_eq!(refuse(store, other.next(1, 1, "wrong")), Conflict::Seq { actual: 4 }, "{wrong}");
        }
        accept(store, script.next(1, 1, "right"));
    }
}

pub fn positions_and_places_have_no_gaps(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mut scripts = [Script::run(1), Script::run(2), Script::roundtable(3)];
    let mut position = 0;
    for round in 0..20_u32 {
        let events = 1 + round % 4;
        let mut batch: Vec<_> = scripts.iter_mut().map(|script| script.next(events, 1, "x")).collect();
        // A refused one in the middle takes no place.
        let mut wrong = Script::run(9);
        wrong.seq = 1;
        batch.insert(1, wrong.next(5, 1, "refused"));
        for outcome in store.commit(&batch).unwrap() {
            if let Outcome::Accepted { position: given } = outcome {
                position += u64::from(events);
                assert_eq!(given, position);
            }
        }
    }
    assert_eq!(store.head().unwrap(), position);
    let mut last = 0;
    for entry in store.read_all(0, usize::MAX).unwrap() {
        assert_eq!(entry.position - u64::from(entry.events), last);
        last = entry.position;
    }
    for script in scripts {
        let mut last = 0;
        for entry in store.read(script.stream, After::START, usize::MAX).unwrap() {
            assert_eq!(entry.seq - u64::from(entry.events), last);
            last = entry.seq;
        }
        assert_eq!(last, script.seq);
    }
}

pub fn an_empty_batch_changes_nothing(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let watch = store.watch();
    assert_eq!(store.commit(&[]).unwrap(), []);
    assert!(!watch.has_changed().unwrap());
    assert_eq!(store.head().unwrap(), 0);
}

pub fn a_stale_decision_is_told_so_before_its_claims_are_looked_at(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mut first = Script::run(1);
    accept(store, with(first.next(1, 1, "first"), claim("all", "key", &holder(1))));
    let mut second = Script::run(2);
    accept(store, second.next(1, 1, "second"));
    let stale = with(Script::run(2).next(1, 1, "stale"), claim("all", "key", &holder(2)));
    assert_eq!(refuse(store, stale), Conflict::Seq { actual: 1 });
}

pub fn a_restart_keeps_everything(fixture: &mut dyn Fixture) {
    let mut run = Script::run(1).skill("triage").label("team", "core");
    let mut item = run.next(2, 1, "kept");
    item.changes.extend([
        Change::InteractionOpened(question(run_id(1), 1, 5, None)),
        Change::Contract(contract(1, ContractStatus::Waiting)),
        claim("all", "key", &holder(1)),
    ]);
    accept(fixture.store(), item);
    let before = everything(fixture.store());
    let watched = *fixture.store().watch().borrow();

    fixture.reopen();
    let store = fixture.store();
    assert_eq!(everything(store), before);
    assert_eq!(*store.watch().borrow(), watched);
    assert_eq!(store.holder(&claim_key("all", "key")).unwrap(), Some(holder(1)));
    assert_eq!(refuse(store, Script::run(1).next(1, 1, "again")), Conflict::Seq { actual: 2 });
    assert_eq!(accept(store, run.next(1, 1, "goes on")), 3);
}

pub fn writers_in_many_threads_share_one_order(fixture: &mut dyn Fixture) {
    const THREADS: u64 = 4;
    const COMMITS: u64 = 25;
    let store = fixture.store();
    thread::scope(|scope| {
        for n in 0..THREADS {
            scope.spawn(move || {
                let mut own = Script::run(n);
                for _ in 0..COMMITS {
                    accept(store, own.next(2, 1, "own"));
                }
            });
        }
    });
    assert_eq!(store.head().unwrap(), THREADS * COMMITS * 2);
    let entries = store.read_all(0, usize::MAX).unwrap();
    let positions: Vec<_> = entries.iter().map(|entry| entry.position).collect();
    assert_eq!(positions, (1..=THREADS * COMMITS).map(|n| n * 2).collect::<Vec<_>>());
}
