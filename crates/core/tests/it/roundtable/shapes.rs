//! What is shown of a roundtable: the shape of its view and of its stream.

use adjourn_core::roundtable::{Command, Pace, RoundtableView};
use adjourn_core::{By, canonical};
use serde_json::{Value, json};

use super::table::{Table, amend, conflict, create, create_as, supersede};

fn held() -> Table {
    let mut table = Table::with(|spec| {
        spec.pace = Pace::Checkpoints;
        spec.agenda.truncate(1);
        spec.limits.max_rounds_per_conflict = 1;
    });
    let question = json!({ "action": "open_question", "text": "Who pays?", "asked_by": "qa" });
    table.round(vec![create("requirement", "users", &["personas"]), conflict("users"), question]);
    table.person(json!("go on"));
    table.opens_round().asks("users");
    table.is_missing("qa");
    table.answers("architect", "less is more", 0.75);
    table.synthesizes(super::table::synthesis(vec![
        amend("REQ-001", "better"),
        create_as("new", "decision", "users"),
        supersede("REQ-001", "new"),
        json!({ "action": "resolve_question", "question": "OQ-001", "resolution": "the buyer" }),
    ]));
    table.does(Command::RecordRound);
    table
}

#[test]
fn a_roundtable_is_shown_in_the_shape_of_the_interface() {
    let table = held();
    insta::assert_json_snapshot!(RoundtableView::of(&table.table));
}

#[test]
fn a_round_that_goes_on_is_shown_as_far_as_it_got() {
    let mut table = Table::standard();
    table.opens_round();
    let view = serde_json::to_value(RoundtableView::of(&table.table)).unwrap();
    assert_eq!(
        view["rounds"],
        json!([{
            "number": 1, "phase": "discussion", "step": "question", "focus": null, "question": null,
            "answers": [], "missing": [], "synthesis": null, "proposals_refused": [], "proposed_next": null,
            "next": null, "rule": null,
        }])
    );
    assert_eq!((&view["status"], &view["close_reason"]), (&json!("active"), &Value::Null));
}

#[test]
fn the_stream_tells_everything_in_order_and_ends_with_the_end() {
    let mut table = held();
    table.person(json!("cash it is"));
    table.does(Command::Close(By::USER));
    let frames = table.frames();
    for (place, frame) in frames.iter().enumerate() {
        assert_eq!(frame.seq, place as u64 + 1, "without gaps");
    }
    let lines: Vec<_> = frames
        .iter()
        .map(|frame| {
            let meta = format!("{}.{}", frame.meta.attempt, frame.meta.local_seq);
            format!("{meta} {} {}", frame.kind, canonical(&frame.data))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    assert_eq!(frames.last().unwrap().kind.name(), "roundtable.closed");
}

#[test]
fn a_frame_has_the_envelope_of_a_runs_frame() {
    let frame = serde_json::to_value(&Table::standard().frames()[0]).unwrap();
    let keys: Vec<_> = frame.as_object().unwrap().keys().collect();
    let run = ["protocol_version", "roundtable_id", "seq", "ts", "engine", "type", "data", "meta", "raw_ref"];
    let mut expected = run.to_vec();
    expected.sort_unstable();
    let mut keys: Vec<_> = keys.into_iter().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, expected);
    assert_eq!((&frame["engine"], &frame["type"]), (&json!("engine-f"), &json!("roundtable.opened")));
}
