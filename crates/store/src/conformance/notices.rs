//! Notices: in the commit of what they tell, and then until they were heard.

use adjourn_core::{Change, Notice, NoticeId, RunStatus};

use super::items::{Script, at, claim, holder, run_id, with};
use super::{Fixture, accept, refuse};
use crate::{Pending, Settled, Store};

/// A notice of the `n`th run.
fn notice(n: u64, seq: u64, happened: u64) -> Notice {
    let id = NoticeId { stream: run_id(n).into(), seq };
    Notice { id, at: at(happened), body: format!("{{\"id\":\"{id}\"}}") }
}

fn pending(notice: Notice, due: u64, attempts: u32) -> Pending {
    Pending { notice, due_at: at(due), attempts }
}

/// The numbers of the runs and frames of the first notices.
fn first(store: &dyn Store, limit: usize) -> Vec<NoticeId> {
    store.notices(limit).unwrap().iter().map(|pending| pending.notice.id).collect()
}

pub fn a_notice_is_there_with_its_item_until_it_is_settled(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mut run = Script::run(1);
    let told = notice(1, 2, 5);
    accept(store, with(run.next(1, 2, "waits"), claim("all", "taken", &holder(1))));
    let mut refused = with(Script::run(2).next(1, 1, "refused"), Change::Notice(notice(2, 1, 4)));
    refused.changes.push(claim("all", "taken", &holder(2)));
    refuse(store, refused);
    assert_eq!(store.notices(10).unwrap(), []);
    accept(store, with(run.next(1, 0, "told"), Change::Notice(told.clone())));
    assert_eq!(store.notices(10).unwrap(), [pending(told.clone(), 5, 0)]);

    store.settle_notices(&[Settled::Again(told.id, at(70))]).unwrap();
    store.settle_notices(&[Settled::Again(told.id, at(90))]).unwrap();
    fixture.reopen();
    let store = fixture.store();
    assert_eq!(store.notices(10).unwrap(), [pending(told.clone(), 90, 2)]);
    store.settle_notices(&[Settled::Done(told.id)]).unwrap();
    assert_eq!(store.notices(10).unwrap(), []);
    fixture.reopen();
    assert_eq!(fixture.store().notices(10).unwrap(), []);
}

pub fn of_each_run_the_oldest_notice_comes_first_and_the_earliest_due_of_all(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let notices = [(1, 3, 10), (1, 7, 20), (1, 9, 30), (2, 3, 15), (3, 3, 5)];
    let notices = notices.map(|(n, seq, happened)| notice(n, seq, happened));
    let mut scripts = [Script::run(1), Script::run(2), Script::run(3)];
    for told in &notices {
        let script = scripts.iter_mut().find(|script| told.id.stream == script.run_id().into()).unwrap();
        accept(store, with(script.next(1, 1, "told"), Change::Notice(told.clone())));
    }
    let [first_of_1, second_of_1, third_of_1, of_2, of_3] = notices.map(|notice| notice.id);
    assert_eq!(first(store, 10), [of_3, first_of_1, of_2]);
    assert_eq!(first(store, 1), [of_3]);

    // One that is not heard holds up those of its own run, and nobody else.
    store.settle_notices(&[Settled::Again(first_of_1, at(100)), Settled::Done(of_3)]).unwrap();
    assert_eq!(first(store, 10), [of_2, first_of_1]);
    fixture.reopen();
    let store = fixture.store();
    store.settle_notices(&[Settled::Done(first_of_1)]).unwrap();
    assert_eq!(first(store, 10), [of_2, second_of_1]);
    assert_eq!(store.notices(10).unwrap()[1].due_at, at(20), "when it happened");
    store.settle_notices(&[Settled::Done(second_of_1), Settled::Done(third_of_1)]).unwrap();
    assert_eq!(first(store, 10), [of_2]);
}

pub fn what_became_of_a_notice_that_is_gone_changes_nothing(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mut run = Script::run(1);
    let told = notice(1, 1, 5);
    accept(store, with(run.moves(RunStatus::Succeeded, 1, 1, "ends"), Change::Notice(told.clone())));
    accept(store, with(Script::run(2).next(1, 1, "other"), Change::Notice(notice(2, 1, 6))));
    assert_eq!(store.remove(run_id(1).into()).unwrap(), crate::Removal::Removed);
    assert_eq!(first(store, 10), [notice(2, 1, 6).id], "its notices go with a run");
    store.settle_notices(&[Settled::Again(told.id, at(9)), Settled::Done(told.id)]).unwrap();
    store.settle_notices(&[]).unwrap();
    assert_eq!(first(store, 10), [notice(2, 1, 6).id]);
}
