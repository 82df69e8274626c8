//! A round of a roundtable: everybody is asked once, and nothing that was said is lost.

use adjourn_core::RoundtableId;
use adjourn_core::machines::RoundtableStatus;
use adjourn_core::roundtable::Roundtable;
use adjourn_powercut::{CrashPoint, Depth, Recording};
use serde_json::json;

use super::story::is_sound;
use crate::stage::Stage;

/// Of the states between two syncs, every so many are tried in the short form: a round has hundreds.
const SHORT_EVERY: usize = 12;

/// Waits until the roundtable asks its question with this number, or has ended.
fn rests(stage: &Stage, id: RoundtableId, number: u32) -> Roundtable {
    stage.at_table(id).until("a question or the end", |table| {
        let asks = table.pending().is_some_and(|pending| pending.interaction_id.0 >= number);
        (asks || table.status() == RoundtableStatus::Closed).then(|| table.clone())
    })
}

/// Plays the roundtable on to its end. The numbers of the questions that it asked.
fn finish(stage: &Stage, id: RoundtableId) -> Vec<u32> {
    let mut asked = Vec::new();
    loop {
        let state = rests(stage, id, asked.last().map_or(1, |last| last + 1));
        let Some(pending) = state.pending() else { return asked };
        asked.push(pending.interaction_id.0);
        stage.at_table(id).reply(json!("continue")).unwrap();
    }
}

fn check(point: &CrashPoint<'_>, id: RoundtableId, activations: usize) {
    let context = point.to_string();
    let stage = Stage::closed("");
    point.rebuild(&stage.data()).unwrap();
    stage.open();
    let asked = finish(&stage, id);
    assert!(!point.knows("replied") || !asked.contains(&1), "{context}: the reply is lost");
    assert!(!point.knows("round") || asked.contains(&2), "{context}: the question is lost");
    let table = stage.at_table(id);
    assert_eq!(table.close_reason(), "concluded", "{context}");
    let closed = table.closes();
    assert_eq!((closed.recorded_rounds(), closed.artifacts().len()), (3, 13), "{context}");
    for round in closed.rounds() {
        assert_eq!((round.answers.len(), round.missing.len()), (5, 0), "{context}");
    }
    assert_eq!(table.runs().len(), activations, "{context}: somebody was asked twice, or not at all");
    stage.close();
    is_sound(&stage, &context);
}

#[test]
fn xx_09_a_power_cut_at_any_sync_of_a_round_loses_no_answer_and_asks_nobody_twice() {
    let stage = Stage::closed("");
    let recording = Recording::start(&stage.data());
    stage.open();
    let request = json!({ "engine": "replay", "workflow": "specs", "interactive": true });
    let id = stage.table(request).id;
    rests(&stage, id, 1);
    let from = recording.tape().len();
    stage.at_table(id).reply(json!("continue")).unwrap();
    recording.mark("replied");
    rests(&stage, id, 2);
    recording.mark("round");
    let tape = recording.tape();
    finish(&stage, id);
    let activations = stage.at_table(id).runs().len();
    stage.close();

    let every = if Depth::wanted() == Depth::Full { 1 } else { SHORT_EVERY };
    let (mut seen, mut tried) = (0, 0);
    tape.try_each(from, Depth::wanted(), |point| {
        seen += 1;
        if seen % every == 0 {
            check(point, id, activations);
            tried += 1;
        }
    });
    println!("roundtable round: {tried} of {seen} states tried");
    assert!(tried > 0);
}
