//! What somebody outside is told of a run.

#![allow(clippy::unwrap_used, reason = "what cannot go on has failed its test")]

use adjourn_core::{Command, Notice, NoticeKind, Run, Wanted};
use serde_json::{Value, json};

use crate::case::{ASKS, Case, DONE};
use crate::world::Sight;

fn everything() -> Wanted {
    NoticeKind::ALL.iter().copied().collect()
}

impl Case {
    /// What is told, of what is wanted, when the run gets this command.
    fn tells(&mut self, command: &Command, wanted: Wanted) -> Option<Value> {
        let step = self.world.command(self.id, command, Sight::Full).unwrap();
        let notice = Notice::of(step.before.as_ref(), &step.events, &step.after, wanted)?;
        let body: Value = serde_json::from_str(&notice.body).unwrap();
        let change = step.frames.iter().rev().find(|frame| frame.data.get("to").is_some()).unwrap();
        assert_eq!((notice.id.seq, notice.at), (change.seq, change.ts), "it is about that frame");
        assert_eq!(body["id"], notice.id.to_string());
        Some(body)
    }
}

fn end(run: &Run, text: &str) -> Command {
    let evidence = adjourn_core::Evidence::read(text, None);
    let end = adjourn_core::TurnEnd::Completed(Box::new(evidence));
    Command::EndTurn { turn: run.turn(), observations: Vec::new(), end }
}

#[test]
fn a_run_that_begins_to_wait_is_told_with_its_question_and_one_that_waits_on_is_not() {
    let mut case = Case::interactive();
    case.starts_with_handle();
    let asks = end(case.run(), ASKS);
    let told = case.tells(&asks, everything()).unwrap();
    assert_eq!((&told["type"], &told["run"]["status"]), (&json!("waiting_user"), &json!("waiting_user")));
    assert_eq!(told["run"]["run_id"], json!(case.id));
    let pending = &told["run"]["pending"];
    assert_eq!((&pending["interaction_id"], &pending["prompt"]), (&json!(1), &json!("Which one?")));
    assert_eq!(told["run"]["open_interactions"], json!([1]));
    assert_eq!(told["occurred_at"], case.run().updated_at().to_string());
    let restart = Command::Recover(adjourn_core::Survey::INTACT);
    assert_eq!(case.tells(&restart, everything()), None);
    let reply = Command::Reply(case.reply(1, json!("this"), None));
    assert_eq!(case.tells(&reply, everything()), None);
    assert_eq!(case.tells(&Command::StartTurn, everything()), None);
    let again = end(case.run(), ASKS);
    assert_eq!(case.tells(&again, everything()).unwrap()["run"]["pending"]["interaction_id"], 2);
}

#[test]
fn every_end_is_told_once_with_its_error() {
    let mut case = Case::auto();
    case.starts();
    let done = end(case.run(), DONE);
    let told = case.tells(&done, everything()).unwrap();
    assert_eq!((&told["type"], &told["run"]["status"]), (&json!("terminal"), &json!("succeeded")));
    assert_eq!((&told["run"]["error"], &told["run"]["pending"]), (&Value::Null, &Value::Null));

    let mut case = Case::interactive();
    let cancel = Command::Cancel(adjourn_core::By::USER);
    assert_eq!(case.tells(&cancel, everything()).unwrap()["run"]["status"], "canceled");
    assert_eq!(case.tells(&cancel, everything()), None, "nothing changes");

    let mut case = Case::interactive();
    case.starts();
    let asks = end(case.run(), ASKS);
    let told = case.tells(&asks, everything()).unwrap();
    assert_eq!(told["run"]["error"]["code"], "SESSION_RESUME_FAILED", "it left no handle");
}

#[test]
fn only_what_is_wanted_is_told() {
    for (wanted, told) in [
        (vec![], [false, false]),
        (vec![NoticeKind::WaitingUser], [true, false]),
        (vec![NoticeKind::Terminal], [false, true]),
    ] {
        let wanted: Wanted = wanted.into_iter().collect();
        let mut case = Case::interactive();
        case.starts_with_handle();
        let asks = end(case.run(), ASKS);
        let waits = case.tells(&asks, wanted).is_some();
        let ends = case.tells(&Command::Cancel(adjourn_core::By::USER), wanted).is_some();
        assert_eq!([waits, ends], told, "{wanted:?}");
    }
}
