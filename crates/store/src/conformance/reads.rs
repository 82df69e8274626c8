//! Reading: every cursor, every page.

use adjourn_core::Entry;

use super::items::{Script, claim_key, execution_id, roundtable_id, run_id};
use super::{Fixture, Random, model};
use crate::{After, OpenCursor, RunFilter, Store};

const LIMITS: [usize; 4] = [0, 1, 3, usize::MAX];

/// Two streams that grow at the same time, with items of one to four events and zero to two frames.
fn two_streams(store: &dyn Store, seed: u64) -> [Script; 2] {
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let mut scripts = [Script::run(1), Script::roundtable(1)];
    for n in 0..60 {
        let script = &mut scripts[usize::from(random.once_in(3))];
        let events = u32::try_from(1 + random.below(4)).expect("at most 4");
        let item = script.next(events, random.below(3), format!("payload {n}"));
        store.commit(&[item]).unwrap();
    }
    scripts
}

fn of(store: &dyn Store, script: &Script) -> Vec<Entry> {
    let mut all = store.read_all(0, usize::MAX).unwrap();
    all.retain(|entry| entry.stream == script.stream);
    all
}

pub fn a_stream_is_read_from_any_event(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    for script in two_streams(store, 1) {
        let all = of(store, &script);
        for after in (0..script.seq + 3).map(After::Seq) {
            for limit in LIMITS {
                let expected = model::read(&all, after, limit);
                assert_eq!(store.read(script.stream, after, limit).unwrap(), expected, "{after:?}, {limit}");
            }
        }
    }
}

pub fn a_stream_is_read_from_any_frame(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    for script in two_streams(store, 2) {
        let all = of(store, &script);
        for after in (0..script.frame + 3).map(After::Frame) {
            for limit in LIMITS {
                let expected = model::read(&all, after, limit);
                assert_eq!(store.read(script.stream, after, limit).unwrap(), expected, "{after:?}, {limit}");
            }
        }
    }
}

pub fn everything_is_read_from_any_position(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    two_streams(store, 3);
    let all = store.read_all(0, usize::MAX).unwrap();
    assert_eq!(all.len(), 60);
    for position in 0..store.head().unwrap() + 3 {
        for limit in LIMITS {
            let rest = all.iter().filter(|entry| entry.position > position);
            let expected: Vec<_> = rest.take(limit).cloned().collect();
            assert_eq!(store.read_all(position, limit).unwrap(), expected, "{position}, {limit}");
        }
    }
}

pub fn what_is_not_there_is_none_or_empty(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let nothing = |store: &dyn Store| {
        assert_eq!(store.read(run_id(99).into(), After::START, 10).unwrap(), []);
        assert_eq!(store.read(run_id(99).into(), After::Frame(4), 10).unwrap(), []);
        assert_eq!(store.run(run_id(99)).unwrap(), None);
        assert_eq!(store.roundtable(roundtable_id(99)).unwrap(), None);
        assert_eq!(store.contract(execution_id(99)).unwrap(), None);
        assert_eq!(store.holder(&claim_key("", "")).unwrap(), None);
        assert_eq!(store.open_interactions(None, 10).unwrap(), []);
        assert_eq!(store.deadlines(10).unwrap(), []);
        let unknown = RunFilter { skill: Some("none".to_owned()), ..RunFilter::default() };
        assert_eq!(store.runs(&unknown, 10).unwrap(), []);
    };
    assert_eq!(store.head().unwrap(), 0);
    assert_eq!(store.read_all(0, 10).unwrap(), []);
    assert_eq!(store.runs(&RunFilter::default(), 10).unwrap(), []);
    nothing(store);
    store.commit(&[Script::run(1).next(1, 1, "something")]).unwrap();
    nothing(store);
    // The same bits are a run and a roundtable: two different streams.
    assert_eq!(run_id(1).bits(), roundtable_id(1).bits());
    assert_eq!(store.read(Script::roundtable(1).stream, After::START, 10).unwrap(), []);
}

pub fn cursors_beyond_every_number_find_nothing(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let mut run = Script::run(1);
    store.commit(&[run.next(3, 3, "three")]).unwrap();
    for beyond in [4, 1 << 62, i64::MAX.cast_unsigned(), u64::MAX] {
        assert_eq!(store.read(run.stream, After::Seq(beyond), 10).unwrap(), []);
        assert_eq!(store.read(run.stream, After::Frame(beyond), 10).unwrap(), []);
        assert_eq!(store.read_all(beyond, 10).unwrap(), []);
    }
    let oldest = RunFilter { before: Some(adjourn_core::RunId::from_bits(0)), ..RunFilter::default() };
    assert_eq!(store.runs(&oldest, 10).unwrap(), []);
    let newest =
        RunFilter { before: Some(adjourn_core::RunId::from_bits(u128::MAX)), ..RunFilter::default() };
    assert_eq!(store.runs(&newest, 10).unwrap().len(), 1);
    let cursor = OpenCursor {
        created_at: adjourn_core::Timestamp::from_millis(i64::MAX),
        stream: roundtable_id(u64::MAX >> 24).into(),
        interaction_id: adjourn_core::InteractionId(u32::MAX),
    };
    assert_eq!(store.open_interactions(Some(cursor), 10).unwrap(), []);
}
