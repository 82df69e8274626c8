//! What is looked up: runs, questions, contracts and claims.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use adjourn_core::{
    Change, ContractRow, ContractStatus, ExecutionId, Holder, InteractionId, OpenInteraction, RunRow,
    RunStatus,
};

use super::items::{Script, claim, claim_key, contract, execution_id, holder, question, run_id, with};
use super::{Fixture, Random, accept, model, refuse};
use crate::{Conflict, OpenCursor, Outcome, RunFilter, Store};

const SKILLS: [Option<&str>; 4] = [None, Some("triage"), Some("review"), Some("deploy")];
const LABELS: [(&str, &str); 3] = [("team", "core"), ("team", "web"), ("urgent", "yes")];

/// Runs of every status with every skill and label, written in a random order and changed afterwards.
fn many_runs(store: &dyn Store, seed: u64) -> Vec<RunRow> {
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let mut scripts: Vec<_> = (0..120)
        .map(|n| {
            let mut script = Script::run(n);
            if let Some(skill) = random.one_of(&SKILLS) {
                script = script.skill(skill);
            }
            for (key, value) in LABELS {
                if random.once_in(3) {
                    script = script.label(key, value);
                }
            }
            script
        })
        .collect();
    for _ in 0..600 {
        let index = usize::try_from(random.below(120)).expect("small");
        let status = *random.one_of(RunStatus::ALL);
        let item = scripts[index].moves(status, 1, 1, "event");
        accept(store, item);
    }
    scripts.into_iter().filter(|script| script.seq > 0).filter_map(|script| script.row).collect()
}

pub fn a_run_is_listed_by_every_filter_from_every_cursor(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let all = many_runs(store, 4);
    let statuses: Vec<_> = std::iter::once(None).chain(RunStatus::ALL.iter().copied().map(Some)).collect();
    let labels: Vec<_> =
        std::iter::once(None).chain(LABELS.map(Some)).chain([Some(("team", "none"))]).collect();
    let cursors = [None, Some(0), Some(1), Some(17), Some(60), Some(119), Some(500)];
    for (&status, skill, label, cursor) in product(&statuses, &SKILLS, &labels, &cursors) {
        let filter = RunFilter {
            status,
            skill: skill.map(str::to_owned),
            label: label.map(|(key, value)| (key.to_owned(), value.to_owned())),
            before: cursor.map(run_id),
        };
        for limit in [0, 1, 7, usize::MAX] {
            let expected = model::runs(&all, &filter, limit);
            assert_eq!(store.runs(&filter, limit).unwrap(), expected, "{filter:?}, {limit}");
        }
    }
}

type Case<'c, A, B, C, D> = (&'c A, &'c B, &'c C, &'c D);

pub fn runs_are_counted_by_status(fixture: &mut dyn Fixture) {
    let none: Vec<_> = RunStatus::ALL.iter().map(|&status| (status, 0)).collect();
    assert_eq!(fixture.store().run_counts().unwrap(), none);
    let all = many_runs(fixture.store(), 6);
    let count = |status: RunStatus| all.iter().filter(|row| row.status == status).count() as u64;
    let expected: Vec<_> = RunStatus::ALL.iter().map(|&status| (status, count(status))).collect();
    assert_eq!(fixture.store().run_counts().unwrap(), expected);
    fixture.reopen();
    assert_eq!(fixture.store().run_counts().unwrap(), expected);
}

/// Every combination of one of each.
fn product<'c, A, B, C, D>(
    a: &'c [A],
    b: &'c [B],
    c: &'c [C],
    d: &'c [D],
) -> impl Iterator<Item = Case<'c, A, B, C, D>> {
    a.iter().flat_map(move |a| {
        b.iter().flat_map(move |b| c.iter().flat_map(move |c| d.iter().map(move |d| (a, b, c, d))))
    })
}

pub fn a_list_is_one_moment_while_its_runs_change(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mut scripts: Vec<_> = (0..5).map(|n| Script::run(n).skill("triage").label("team", "core")).collect();
    let mut step = |n: usize| {
        let status = RunStatus::ALL[n % RunStatus::ALL.len()];
        let moved: Vec<_> = scripts.iter_mut().map(|script| script.moves(status, 1, 1, "moved")).collect();
        store.commit(&moved).unwrap();
    };
    step(0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            (1..200).for_each(&mut step);
            done.store(true, Ordering::SeqCst);
        });
        let skill = RunFilter { skill: Some("triage".to_owned()), ..RunFilter::default() };
        let label = RunFilter { label: Some(("team".to_owned(), "core".to_owned())), ..RunFilter::default() };
        while !done.load(Ordering::SeqCst) {
            for filter in [&RunFilter::default(), &skill, &label] {
                let rows = store.runs(filter, 10).unwrap();
                assert_eq!(rows.len(), 5, "{filter:?}: {rows:?}");
                assert!(rows.iter().all(|row| row.status == rows[0].status), "{filter:?}: {rows:?}");
            }
        }
    });
}

pub fn a_row_follows_its_run(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mut run = Script::run(1).skill("triage").label("team", "core");
    // The row may come later than the stream.
    let mut rowless = run.next(1, 0, "no row yet");
    rowless.changes.clear();
    accept(store, rowless);
    assert_eq!(store.run(run.run_id()).unwrap(), None);
    for (n, status) in
        [RunStatus::Queued, RunStatus::Running, RunStatus::Running, RunStatus::Failed].into_iter().enumerate()
    {
        if let Some(row) = &mut run.row {
            row.attempt_number = u32::try_from(n).expect("small");
            row.error_code = (status == RunStatus::Failed).then(|| "RESTART_INTERRUPTED".to_owned());
        }
        accept(store, run.moves(status, 2, 1, "moved"));
        assert_eq!(store.run(run.run_id()).unwrap(), run.row);
    }
}

pub fn labels_with_odd_characters_are_told_apart(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let labels =
        [("a=b", "c"), ("a", "b=c"), ("", ""), ("ключ", "значение"), ("a\nb", "\"'%_"), ("a", "B=C")];
    for (n, (key, value)) in (0..).zip(labels) {
        accept(store, Script::run(n).label(key, value).next(1, 1, "labelled"));
    }
    for (n, (key, value)) in (0..).zip(labels) {
        let filter = RunFilter { label: Some((key.to_owned(), value.to_owned())), ..RunFilter::default() };
        let found: Vec<_> = store.runs(&filter, 10).unwrap().into_iter().map(|row| row.run_id).collect();
        assert_eq!(found, [run_id(n)], "{key}={value}");
    }
}

pub fn open_questions_are_listed_oldest_first_and_paged(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mut random = Random::new(5);
    let mut open: Vec<OpenInteraction> = Vec::new();
    for n in 0..30 {
        // Several questions of one run at the same moment, and several runs at the same moment.
        let asked = random.below(5);
        let mut item = Script::run(n).next(1, 1, "asks");
        for number in 1..=3 {
            let question = question(run_id(n), number, asked, None);
            item.changes.push(Change::InteractionOpened(question.clone()));
            open.push(question);
        }
        accept(store, item);
    }
    for n in 0..10 {
        let mut run = Script::run(n);
        run.seq = 1;
        run.frame = 1;
        accept(
            store,
            with(run.next(1, 1, "answered"), Change::InteractionClosed(run_id(n).into(), InteractionId(2))),
        );
        open.retain(|open| (open.stream, open.interaction_id) != (run_id(n).into(), InteractionId(2)));
    }
    open.sort_by_key(OpenCursor::after);
    assert_eq!(store.open_interactions(None, usize::MAX).unwrap(), open);
    for size in [1, 4, 7] {
        let mut paged = Vec::new();
        let mut after = None;
        loop {
            let page = store.open_interactions(after, size).unwrap();
            let Some(last) = page.last() else { break };
            after = Some(OpenCursor::after(last));
            paged.extend(page);
        }
        assert_eq!(paged, open, "in pages of {size}");
    }
}

pub fn deadlines_are_listed_earliest_first(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    for (n, deadline) in [Some(300), None, Some(100), Some(200), Some(100)].into_iter().enumerate() {
        let n = n as u64;
        let asks = Change::InteractionOpened(question(run_id(n), 1, n, deadline));
        accept(store, with(Script::run(n).next(1, 1, "asks"), asks));
    }
    let runs = |limit| {
        store.deadlines(limit).unwrap().into_iter().filter_map(|open| open.stream.run()).collect::<Vec<_>>()
    };
    assert_eq!(runs(10), [2, 4, 3, 0].map(run_id));
    assert_eq!(runs(2), [2, 4].map(run_id));
    let mut run = Script::run(2);
    (run.seq, run.frame) = (1, 1);
    accept(
        store,
        with(run.next(1, 1, "expired"), Change::InteractionClosed(run_id(2).into(), InteractionId(1))),
    );
    assert_eq!(runs(10), [4, 3, 0].map(run_id));
}

pub fn contracts_are_found_and_change(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mut run = Script::run(1);
    for &status in ContractStatus::ALL {
        for unknown in [false, true] {
            let row = ContractRow { unknown, ..contract(1, status) };
            accept(store, with(run.next(1, 1, "changed"), Change::Contract(row)));
            assert_eq!(store.contract(execution_id(1)).unwrap(), Some(row));
        }
    }
    assert_eq!(store.contract(ExecutionId::from_bits(0)).unwrap(), None);
}

pub fn a_key_has_one_holder(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mine = Holder {
        stream: run_id(1).into(),
        execution_id: Some(execution_id(1)),
        digest: Some("5f2c".to_owned()),
    };
    let mut first = Script::run(1);
    accept(store, with(first.next(1, 1, "claims"), claim("all", "key", &mine)));
    accept(store, with(first.next(1, 1, "claims the same again"), claim("all", "key", &mine)));
    assert_eq!(store.holder(&claim_key("all", "key")).unwrap(), Some(mine.clone()));

    // Anything that differs makes another holder.
    let others = [
        Holder { stream: run_id(2).into(), ..mine.clone() },
        Holder { execution_id: None, ..mine.clone() },
        Holder { digest: None, ..mine.clone() },
        Holder { digest: Some("0000".to_owned()), ..mine.clone() },
    ];
    for other in others {
        let conflict = refuse(store, with(Script::run(2).next(1, 1, "too"), claim("all", "key", &other)));
        assert_eq!(conflict, Conflict::Claimed { key: claim_key("all", "key"), holder: mine.clone() });
    }
    // The same key in another scope is another key, and so is the same text cut elsewhere.
    let mut second = Script::run(2);
    accept(store, with(second.next(1, 1, "elsewhere"), claim("run", "key", &holder(2))));
    accept(store, with(second.next(1, 1, "cut elsewhere"), claim("al", "lkey", &holder(2))));

    accept(store, with(first.next(1, 1, "lets go"), Change::Released(claim_key("all", "key"))));
    assert_eq!(store.holder(&claim_key("all", "key")).unwrap(), None);
    accept(store, with(second.next(1, 1, "takes it"), claim("all", "key", &holder(2))));
    assert_eq!(store.holder(&claim_key("all", "key")).unwrap(), Some(holder(2)));
    accept(store, with(first.next(1, 1, "lets go of nothing"), Change::Released(claim_key("no", "such"))));
}

pub fn claims_count_in_the_order_they_are_made(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let (mut a, mut b, mut c) = (Script::run(1), Script::run(2), Script::run(3));
    let batch = [
        with(a.next(1, 1, "claims"), claim("all", "key", &holder(1))),
        with(Script::run(2).next(1, 1, "is late"), claim("all", "key", &holder(2))),
        with(a.next(1, 1, "lets go"), Change::Released(claim_key("all", "key"))),
        with(b.next(1, 1, "is next"), claim("all", "key", &holder(2))),
    ];
    let outcomes = store.commit(&batch).unwrap();
    let late = Conflict::Claimed { key: claim_key("all", "key"), holder: holder(1) };
    assert_eq!(outcomes[1], Outcome::Refused(late));
    assert!(matches!(outcomes[3], Outcome::Accepted { .. }));

    // Also within one item: it can hand a key on, but not have it for two.
    let handed_on = with(c.next(1, 1, "hands on"), Change::Released(claim_key("all", "key")));
    accept(store, with(handed_on, claim("all", "key", &holder(3))));
    let mut both = with(c.next(1, 1, "both"), claim("all", "new", &holder(1)));
    both.changes.push(claim("all", "new", &holder(2)));
    let conflict = refuse(store, both);
    assert_eq!(conflict, Conflict::Claimed { key: claim_key("all", "new"), holder: holder(1) });
    assert_eq!(store.holder(&claim_key("all", "new")).unwrap(), None);
    assert_eq!(store.holder(&claim_key("all", "key")).unwrap(), Some(holder(3)));
}
