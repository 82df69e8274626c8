//! What goes with a run that is removed, and what stays.

use adjourn_core::{
    Change, ContractRow, ContractStatus, Holder, RunStatus, Timestamp, create_key, successor_key,
};

use super::items::{Script, at, claim, claim_key, contract, execution_id, paused_run, run_id, with};
use super::{Fixture, accept};
use crate::{After, KeptBecause, Removal, RunFilter};

pub fn a_run_that_ended_is_removed_with_everything_that_is_only_its_own(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    store.commit(&paused_run(1)).unwrap();
    let mut run = Script::run(2).skill("triage").label("team", "core");
    let mine = Holder { stream: run_id(2).into(), execution_id: Some(execution_id(2)), digest: None };
    let own = [("run:run_x", "send")];
    let wider = [("create", "order-7"), ("skill:triage", "send"), ("global", "send"), ("continues", "run_x")];
    let mut item = run.next(1, 1, "works");
    item.changes.push(Change::Contract(contract(2, ContractStatus::Completed)));
    item.changes.extend(own.iter().chain(&wider).map(|(scope, key)| claim(scope, key, &mine)));
    accept(store, item);
    accept(store, run.moves(RunStatus::Succeeded, 1, 1, "ends"));
    // A stranger's key in the same scope is none of this run's.
    let other = Holder { stream: run_id(3).into(), execution_id: None, digest: None };
    let mut third = Script::run(3).skill("triage").label("team", "core");
    accept(store, with(third.next(1, 1, "holds"), claim("run:run_x", "other", &other)));

    assert_eq!(store.remove(run_id(2).into()).unwrap(), Removal::Removed);
    for _ in 0..2 {
        let store = fixture.store();
        assert_eq!(store.run(run_id(2)).unwrap(), None);
        assert_eq!(store.read(run_id(2).into(), After::START, 10).unwrap(), []);
        assert_eq!(store.contract(execution_id(2)).unwrap(), None);
        assert!(store.read_all(0, 100).unwrap().iter().all(|entry| entry.stream != run_id(2).into()));
        let team = RunFilter { label: Some(("team".to_owned(), "core".to_owned())), ..RunFilter::default() };
        let skill = RunFilter { skill: Some("triage".to_owned()), ..RunFilter::default() };
        for (filter, left) in [(RunFilter::default(), 2), (team, 2), (skill, 1)] {
            assert_eq!(store.runs(&filter, 10).unwrap().len(), left, "{filter:?}");
        }
        for (scope, key) in own {
            assert_eq!(store.holder(&claim_key(scope, key)).unwrap(), None, "{scope}");
        }
        for (scope, key) in wider {
            assert_eq!(store.holder(&claim_key(scope, key)).unwrap(), Some(mine.clone()), "{scope}");
        }
        assert_eq!(store.holder(&claim_key("run:run_x", "other")).unwrap(), Some(other.clone()));
        assert_eq!(store.read(run_id(1).into(), After::START, 10).unwrap().len(), 4);
        assert_eq!(store.remove(run_id(2).into()).unwrap(), Removal::NotThere);
        fixture.reopen();
    }
}

pub fn a_run_that_is_still_needed_is_not_removed(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    assert_eq!(store.remove(run_id(9).into()).unwrap(), Removal::NotThere);
    let mut run = Script::run(1);
    for &status in RunStatus::ALL.iter().filter(|status| !status.is_terminal()) {
        accept(store, run.moves(status, 1, 1, "goes on"));
        assert_eq!(store.remove(run_id(1).into()).unwrap(), Removal::Kept(KeptBecause::NotEnded));
        assert_eq!(store.run(run_id(1)).unwrap(), run.row);
    }
    let doubtful = ContractRow { unknown: true, ..contract(1, ContractStatus::Failed) };
    accept(store, with(run.moves(RunStatus::Failed, 1, 1, "in doubt"), Change::Contract(doubtful)));
    assert_eq!(store.remove(run_id(1).into()).unwrap(), Removal::Kept(KeptBecause::CallInDoubt));
    assert_eq!(store.contract(execution_id(1)).unwrap(), Some(doubtful));

    let settled = Change::Contract(ContractRow { unknown: false, ..doubtful });
    accept(store, with(run.next(1, 0, "settled"), settled));
    assert_eq!(store.remove(run_id(1).into()).unwrap(), Removal::Removed);
}

/// A chain of three: each continues the one before, and holds a key of the chain.
pub fn a_chain_of_runs_is_removed_from_its_end(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let chain = format!("run:{}", run_id(1));
    let holder = |number| Holder { stream: run_id(number).into(), execution_id: None, digest: None };
    for number in 1..=3 {
        let mut run = Script::run(number);
        let mut item = run.next(1, 1, "works");
        item.changes.push(claim(&chain, &format!("call {number}"), &holder(number)));
        if number > 1 {
            let key = successor_key(run_id(number - 1));
            item.changes.push(claim(&key.scope, &key.key, &holder(number)));
        }
        accept(store, item);
        accept(store, run.moves(RunStatus::Succeeded, 1, 1, "ends"));
    }
    for _ in 0..2 {
        let store = fixture.store();
        for number in 1..=2 {
            let kept = Removal::Kept(KeptBecause::ContinuedBy(run_id(number + 1)));
            assert_eq!(store.remove(run_id(number).into()).unwrap(), kept);
            let key = claim_key(&chain, &format!("call {number}"));
            assert_eq!(store.holder(&key).unwrap(), Some(holder(number)));
            assert!(!store.read(run_id(number).into(), After::START, 10).unwrap().is_empty());
        }
        fixture.reopen();
    }
    let store = fixture.store();
    for number in [3, 2, 1] {
        assert_eq!(store.remove(run_id(number).into()).unwrap(), Removal::Removed, "{number}");
        assert_eq!(store.holder(&claim_key(&chain, &format!("call {number}"))).unwrap(), None);
        // What is left has had its successor, and gets no other.
        let before = successor_key(run_id(number - 1));
        let expected = (number > 1).then(|| holder(number));
        assert_eq!(store.holder(&before).unwrap(), expected, "{number}");
    }
}

pub fn a_key_that_created_a_removed_run_is_held_until_it_is_forgotten(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let (living, old, young) = (1, 2, 3);
    let made_at = |run: u64, later: i64| Timestamp::from_millis(at(run).millis() + later);
    let key = |run: u64| create_key(&run.to_string());
    for run in [old, young, living] {
        let holder = Holder { stream: run_id(run).into(), execution_id: None, digest: Some("d".to_owned()) };
        let (name, mut script) = (key(run), Script::run(run));
        accept(store, with(script.next(1, 1, "works"), claim(&name.scope, &name.key, &holder)));
        if run != living {
            accept(store, script.moves(RunStatus::Succeeded, 1, 1, "ends"));
            assert_eq!(store.remove(run_id(run).into()).unwrap(), Removal::Removed);
        }
    }
    let held =
        |store: &dyn crate::Store| [old, young, living].map(|run| store.holder(&key(run)).unwrap().is_some());
    assert_eq!(store.forget_keys(made_at(old, 0)).unwrap(), 0);
    assert_eq!(held(store), [true, true, true]);
    assert_eq!(store.forget_keys(made_at(old, 1)).unwrap(), 1);
    assert_eq!(held(store), [false, true, true]);
    fixture.reopen();
    let store = fixture.store();
    assert_eq!(store.forget_keys(made_at(young, 1)).unwrap(), 1);
    assert_eq!(held(store), [false, false, true], "a run that is there keeps its key");
}

pub fn positions_never_go_back_when_the_newest_entry_is_removed(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    store.commit(&paused_run(1)).unwrap();
    store.commit(&paused_run(2)).unwrap();
    let head = store.head().unwrap();
    let watch = store.watch();
    assert_eq!(store.remove(run_id(2).into()).unwrap(), Removal::Removed);
    assert_eq!(store.remove(run_id(1).into()).unwrap(), Removal::Removed);
    assert_eq!((store.head().unwrap(), *watch.borrow()), (head, head));
    drop(watch);
    fixture.reopen();

    let store = fixture.store();
    assert_eq!(store.head().unwrap(), head);
    assert_eq!(accept(store, Script::run(3).next(1, 1, "is next")), head + 1);
    let seen: Vec<_> = store.read_all(0, 10).unwrap().iter().map(|entry| entry.position).collect();
    assert_eq!(seen, [head + 1]);
}
