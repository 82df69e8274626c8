//! Warnings that come from outside of a turn, and how a person came in.

use adjourn_core::{By, Command, RunStatus, Via, Warning, WarningCode};
use serde_json::json;

use crate::case::{ASKS, Case, DONE};

fn refused(number: usize) -> Command {
    Command::Warn(Warning { code: WarningCode::AgentRefused, message: format!("attempt {number}") })
}

#[test]
fn a_warning_is_written_down_whatever_the_run_does_and_changes_nothing_else() {
    let mut run = Case::interactive();
    run.does(refused(1)).starts_with_handle().does(refused(2)).ends(ASKS).does(refused(3));
    assert_eq!((run.status(), run.open()), (RunStatus::WaitingUser, vec![1]));
    let messages: Vec<_> = run.run().warnings().iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(messages, ["attempt 1", "attempt 2", "attempt 3"]);
    let frame = run.frames().into_iter().next_back().unwrap();
    assert_eq!((frame.kind.name(), &frame.data["code"]), ("diagnostic.warning", &json!("AGENT_REFUSED")));
}

#[test]
fn an_agent_that_is_refused_over_and_over_does_not_fill_its_journal() {
    let mut run = Case::interactive();
    run.starts();
    for number in 0..1000 {
        run.does(refused(number));
    }
    assert_eq!(run.run().warnings().len(), 32);
}

#[test]
fn nothing_follows_the_end_of_a_run() {
    let mut run = Case::auto();
    run.starts().ends(DONE);
    assert_eq!(run.tries(refused(1)), Ok(vec![]));
}

#[test]
fn an_answer_that_was_recorded_before_it_was_known_how_people_come_in_is_still_read() {
    let old: By = serde_json::from_value(json!({ "kind": "user", "name": "ann" })).unwrap();
    assert_eq!(old, By { name: Some("ann".to_owned()), ..By::USER });
    assert_eq!(json!(old), json!({ "kind": "user", "name": "ann" }));
    let new = By { via: Some(Via::Token), ..old };
    assert_eq!(json!(new), json!({ "kind": "user", "name": "ann", "via": "token" }));
    assert_eq!(serde_json::from_value::<By>(json!(new)).unwrap(), new);
}
