//! Entries of a journal whose places cannot be right. A disk may give back anything.

use adjourn_core::{Entry, Folding, Record, Run, RunId, StreamId, Timestamp, roundtable};
use serde_json::{Value, json};

fn entry(stream: StreamId, payload: &Value) -> Entry {
    let at = Timestamp::from_millis(0);
    let payload = payload.to_string().into_bytes();
    Entry { stream, position: 1, seq: u64::MAX, at, events: 1, last_frame: 1, payload }
}

fn created(frame: u64, local: u64) -> Value {
    let spec =
        json!({"skill": "choose", "engine": "claude", "resumes_by": "handle", "execution_mode": "auto"});
    json!({"p": [frame, 0, local], "e": [{"created": spec}]})
}

#[test]
fn an_entry_that_stands_after_more_frames_than_there_can_be_is_unreadable() {
    let run = RunId::from_bits(1);
    for (frame, local) in [(u64::MAX, 0), (0, u64::MAX)] {
        let error =
            Record::<adjourn_core::Event>::of(&entry(run.into(), &created(frame, local))).unwrap_err();
        assert!(error.to_string().contains("18446744073709551615"), "{error}");
        let table = json!({"p": [frame, 0, local], "e": []});
        assert!(Record::<roundtable::Event>::of(&entry(run.into(), &table)).is_err());
    }
    assert!(Record::<adjourn_core::Event>::of(&entry(run.into(), &created(7, 7))).is_ok());
}

#[test]
fn a_stream_that_goes_on_after_more_events_than_there_can_be_is_unreadable() {
    let run = RunId::from_bits(1);
    for (seq, frame) in [(u64::MAX, 1), (1, u64::MAX)] {
        let row = json!({
            "run_id": run, "status": "failed", "skill": null, "engine": "claude", "attempt_number": 1, "priority": 0,
            "error_code": null, "seq": 1, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
            "labels": {},
        });
        let set_aside = json!({"seq": seq, "frame": frame, "row": row, "problem": "a damage"});
        let payload = json!({"p": [1, 1, 1], "e": [{"set_aside": set_aside}]});
        let mut folding = Folding::<Run>::new(run);
        folding.add(&entry(run.into(), &payload));
        let damage = folding.finish().unwrap_err().to_string();
        assert!(damage.contains("18446744073709551615"), "{damage}");
    }
}
