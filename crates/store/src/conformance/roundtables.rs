//! What is looked up of roundtables.

use std::collections::BTreeMap;

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::{
    Change, Holder, InteractionId, Item, Notice, NoticeId, OpenInteraction, RoundtableRow, StreamId,
    Timestamp, roundtable_scope,
};

use super::items::{Script, at, claim, claim_key, holder, question, roundtable_id, run_id, with};
use super::{Fixture, Random, accept, refuse};
use crate::{After, Conflict, KeptBecause, OpenCursor, Removal, RoundtableFilter};

/// The `n`th roundtable, as a list shows it.
fn row(n: u64) -> RoundtableRow {
    RoundtableRow {
        roundtable_id: roundtable_id(n),
        status: RoundtableStatus::Active,
        subject: format!("subject {n}"),
        workflow: "specs".to_owned(),
        strategy: "standard".to_owned(),
        rounds: 0,
        close_reason: None,
        seq: 0,
        created_at: at(n),
        updated_at: at(n),
        labels: BTreeMap::from([("team".to_owned(), "core".to_owned())]),
    }
}

/// The next item of a roundtable, which leaves its row like this.
fn next(script: &mut Script, row: &mut RoundtableRow) -> Item {
    let item = script.next(1, 1, "event");
    (row.seq, row.updated_at) = (item.last_frame, item.at);
    with(item, Change::Roundtable(row.clone()))
}

fn asked(n: u64, asked: u64) -> OpenInteraction {
    OpenInteraction { stream: roundtable_id(n).into(), ..question(run_id(n), 1, asked, None) }
}

pub fn a_row_follows_its_roundtable(fixture: &mut dyn Fixture) {
    let (mut script, mut row) = (Script::roundtable(1), row(1));
    assert_eq!(fixture.store().roundtable(row.roundtable_id).unwrap(), None);
    for rounds in 0..3 {
        row.rounds = rounds;
        accept(fixture.store(), next(&mut script, &mut row));
        assert_eq!(fixture.store().roundtable(row.roundtable_id).unwrap(), Some(row.clone()));
    }
    (row.status, row.close_reason) = (RoundtableStatus::Closed, Some("concluded".to_owned()));
    accept(fixture.store(), next(&mut script, &mut row));
    fixture.reopen();
    assert_eq!(fixture.store().roundtable(row.roundtable_id).unwrap(), Some(row));
    assert_eq!(fixture.store().run(run_id(1)).unwrap(), None, "the same bits are no run");
}

pub fn roundtables_are_listed_newest_first_by_status_and_paged(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mut random = Random::new(7);
    let mut rows: Vec<_> = (0..40).map(row).collect();
    for row in &mut rows {
        row.status = *random.one_of(RoundtableStatus::ALL);
    }
    for (n, row) in (0..).zip(&mut rows) {
        accept(store, next(&mut Script::roundtable(n), row));
    }
    rows.reverse();
    for status in [None, Some(RoundtableStatus::Active), Some(RoundtableStatus::Closed)] {
        let all: Vec<_> =
            rows.iter().filter(|row| status.is_none_or(|status| row.status == status)).cloned().collect();
        for size in [1, 7, usize::MAX] {
            let mut filter = RoundtableFilter { status, before: None };
            let mut paged = Vec::new();
            loop {
                let page = store.roundtables(&filter, size).unwrap();
                let Some(last) = page.last() else { break };
                filter.before = Some(last.roundtable_id);
                paged.extend(page);
            }
            assert_eq!(paged, all, "{status:?} in pages of {size}");
        }
    }
}

pub fn questions_of_runs_and_roundtables_are_one_list(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mut script = Script::roundtable(1);
    accept(store, with(next(&mut script, &mut row(1)), Change::InteractionOpened(asked(1, 5))));
    // The same bits and the same moment: only the kind tells the two apart.
    let of_run = question(run_id(1), 1, 5, None);
    accept(store, with(Script::run(1).next(1, 1, "asks"), Change::InteractionOpened(of_run.clone())));
    assert_eq!(store.open_interactions(None, 10).unwrap(), [of_run.clone(), asked(1, 5)]);
    let after = Some(OpenCursor::after(&of_run));
    assert_eq!(store.open_interactions(after, 10).unwrap(), [asked(1, 5)]);
    let answered = Change::InteractionClosed(roundtable_id(1).into(), InteractionId(1));
    accept(store, with(script.next(1, 1, "answered"), answered));
    assert_eq!(store.open_interactions(None, 10).unwrap(), [of_run]);
}

pub fn a_roundtable_holds_keys_like_a_run(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mine =
        Holder { stream: roundtable_id(1).into(), execution_id: None, digest: Some("5f2c".to_owned()) };
    let key = claim_key("create_roundtable", "key");
    accept(store, with(Script::roundtable(1).next(1, 1, "opened"), claim(&key.scope, &key.key, &mine)));
    assert_eq!(store.holder(&key).unwrap(), Some(mine.clone()));
    let other = with(Script::run(1).next(1, 1, "late"), claim(&key.scope, &key.key, &holder(1)));
    assert_eq!(refuse(store, other), Conflict::Claimed { key, holder: mine });
}

pub fn roundtables_are_counted_by_status(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let counts = |active, closed| [(RoundtableStatus::Active, active), (RoundtableStatus::Closed, closed)];
    assert_eq!(store.roundtable_counts().unwrap(), counts(0, 0));
    for n in 1..=3 {
        let mut row = row(n);
        if n == 2 {
            row.status = RoundtableStatus::Closed;
        }
        accept(store, next(&mut Script::roundtable(n), &mut row));
    }
    assert_eq!(store.roundtable_counts().unwrap(), counts(2, 1));
}

pub fn a_closed_roundtable_is_removed_with_everything_that_is_only_its_own(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let stream = StreamId::from(roundtable_id(1));
    let mine = Holder { stream, execution_id: None, digest: Some("5f2c".to_owned()) };
    let opening = claim_key("create_roundtable", "key");
    let shared = claim_key(&roundtable_scope(roundtable_id(1)), "sent");
    let (mut script, mut row) = (Script::roundtable(1), row(1));
    let opened = with(next(&mut script, &mut row), claim(&opening.scope, &opening.key, &mine));
    let notice = Notice { id: NoticeId { stream, seq: 1 }, at: at(1), body: "{}".to_owned() };
    accept(store, with(opened, Change::Notice(notice.clone())));
    accept(store, with(Script::run(1).next(1, 1, "calls"), claim(&shared.scope, &shared.key, &holder(1))));
    assert_eq!(store.notices(9).unwrap()[0].notice, notice);
    assert_eq!(store.remove(stream).unwrap(), Removal::Kept(KeptBecause::NotEnded));

    (row.status, row.close_reason) = (RoundtableStatus::Closed, Some("concluded".to_owned()));
    accept(store, next(&mut script, &mut row));
    let head = store.head().unwrap();
    assert_eq!(store.remove(stream).unwrap(), Removal::Removed);
    fixture.reopen();
    let store = fixture.store();
    assert_eq!(store.roundtable(roundtable_id(1)).unwrap(), None);
    assert_eq!(store.read(stream, After::START, 9).unwrap(), []);
    assert_eq!(store.notices(9).unwrap(), []);
    assert_eq!((store.head().unwrap(), store.holder(&shared).unwrap()), (head, None));
    assert_eq!(store.holder(&opening).unwrap(), Some(mine), "the same request again opens no second one");
    assert_eq!(store.remove(stream).unwrap(), Removal::NotThere);
    assert_eq!(store.read(run_id(1).into(), After::START, 9).unwrap().len(), 1, "the same bits are no run");
    assert_eq!(store.forget_keys(Timestamp::from_millis(i64::MAX)).unwrap(), 1);
    assert_eq!(store.holder(&opening).unwrap(), None);
}
