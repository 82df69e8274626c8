//! What goes with a run that is removed, and what stays.

use adjourn_core::{Change, ContractRow, ContractStatus, Holder, RunStatus};

use super::items::{Script, claim, claim_key, contract, execution_id, paused_run, run_id, with};
use super::{Fixture, accept};
use crate::{After, RunFilter};

pub fn a_run_that_ended_is_removed_with_everything_that_is_only_its_own(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    store.commit(&paused_run(1)).unwrap();
    let mut run = Script::run(2).skill("triage").label("team", "core");
    let mine = Holder { stream: run_id(2).into(), execution_id: Some(execution_id(2)), digest: None };
    let own = [("create", "order-7"), ("run:run_x", "send")];
    let wider = [("skill:triage", "send"), ("global", "send"), ("continues", "run_x")];
    let mut item = run.next(1, 1, "works");
    item.changes.push(Change::Contract(contract(2, ContractStatus::Completed)));
    item.changes.extend(own.iter().chain(&wider).map(|(scope, key)| claim(scope, key, &mine)));
    accept(store, item);
    accept(store, run.moves(RunStatus::Succeeded, 1, 1, "ends"));
    // A stranger's key in the same scope is none of this run's.
    let other = Holder { stream: run_id(3).into(), execution_id: None, digest: None };
    let mut third = Script::run(3).skill("triage").label("team", "core");
    accept(store, with(third.next(1, 1, "holds"), claim("run:run_x", "other", &other)));

    assert!(store.remove(run_id(2)).unwrap());
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
        assert!(!store.remove(run_id(2)).unwrap(), "it is gone");
        fixture.reopen();
    }
}

pub fn a_run_that_is_still_needed_is_not_removed(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    assert!(!store.remove(run_id(9)).unwrap(), "there is none");
    let mut run = Script::run(1);
    for &status in RunStatus::ALL.iter().filter(|status| !status.is_terminal()) {
        accept(store, run.moves(status, 1, 1, "goes on"));
        assert!(!store.remove(run_id(1)).unwrap(), "{status}");
        assert_eq!(store.run(run_id(1)).unwrap(), run.row);
    }
    let doubtful = ContractRow { unknown: true, ..contract(1, ContractStatus::Failed) };
    accept(store, with(run.moves(RunStatus::Failed, 1, 1, "in doubt"), Change::Contract(doubtful)));
    assert!(!store.remove(run_id(1)).unwrap(), "a person has to say what became of its call");
    assert_eq!(store.contract(execution_id(1)).unwrap(), Some(doubtful));

    let settled = Change::Contract(ContractRow { unknown: false, ..doubtful });
    accept(store, with(run.next(1, 0, "settled"), settled));
    assert!(store.remove(run_id(1)).unwrap());
}

pub fn positions_never_go_back_when_the_newest_entry_is_removed(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    store.commit(&paused_run(1)).unwrap();
    store.commit(&paused_run(2)).unwrap();
    let head = store.head().unwrap();
    let watch = store.watch();
    assert!(store.remove(run_id(2)).unwrap());
    assert!(store.remove(run_id(1)).unwrap());
    assert_eq!((store.head().unwrap(), *watch.borrow()), (head, head));
    drop(watch);
    fixture.reopen();

    let store = fixture.store();
    assert_eq!(store.head().unwrap(), head);
    assert_eq!(accept(store, Script::run(3).next(1, 1, "is next")), head + 1);
    let seen: Vec<_> = store.read_all(0, 10).unwrap().iter().map(|entry| entry.position).collect();
    assert_eq!(seen, [head + 1]);
}
