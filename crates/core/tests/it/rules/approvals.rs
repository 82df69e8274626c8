//! Approvals fail closed and are bound to what will run.

use adjourn_core::{
    Action, Command, ContractReport, ContractStatus, ExecutionMode, Question, Refusal, RefusalKind,
    ResumesBy, RunStatus, Strict,
};
use serde_json::json;

use crate::case::{ASKS, Case, DONE};

#[test]
fn nothing_is_dispatched_before_a_person_said_yes() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.asks_to_send("ann");
    assert_eq!(run.tries(Command::DispatchContract(call)), Err(Refusal::NotApproved(call)));
    run.suspends();
    assert_eq!((run.status(), run.contract_status(call)), (RunStatus::WaitingUser, ContractStatus::Waiting));
    run.answers(1, "yes").starts().dispatches(call);
    assert_eq!(run.contract_status(call), ContractStatus::Running);
    run.reports(call, ContractReport::Succeeded(json!("sent"))).ends(DONE);
    assert_eq!(run.status(), RunStatus::Succeeded);
}

#[test]
fn a_no_leads_through_running_to_rejected() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.asks_to_send("ann");
    run.suspends().acts(1, Action::Reject, json!("not now"));
    assert_eq!(run.status(), RunStatus::Queued);
    let way: Vec<_> = run.contract(call).transitions.iter().map(|step| step.to.name()).collect();
    assert_eq!(way, ["RUNNING", "WAITING", "RUNNING", "REJECTED"]);
    assert_eq!(run.contract(call).error_message.as_deref(), Some("not now"));
}

#[test]
fn an_edit_rejects_the_call_and_records_an_approved_one() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.asks_to_send("ann");
    run.suspends();
    let reply = run.reply(1, json!({"to": "bob"}), Some(Action::Edit));
    let edited = reply.edited_id;
    run.does(Command::Reply(reply));
    assert_eq!(run.contract_status(call), ContractStatus::Rejected);
    assert_eq!(run.contract_status(edited), ContractStatus::Pending);
    assert_eq!(run.contract(edited).spec.edited_from, Some(call));
    run.starts().dispatches(edited);
    assert_eq!(run.contract_status(edited), ContractStatus::Running);
}

#[test]
fn an_edit_that_changes_nothing_does_not_stand_in_its_own_way() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.asks_to_send("ann");
    let reply = run.reply(1, json!({"to": "ann"}), Some(Action::Edit));
    let edited = reply.edited_id;
    run.does(Command::Reply(reply));
    assert_eq!(run.contract_status(call), ContractStatus::Rejected);
    assert!(run.contract(edited).holds_its_key());
}

#[test]
fn an_edit_into_what_was_done_before_is_refused_and_the_question_stays() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let done = run.sends("bob");
    run.reports(done, ContractReport::Succeeded(json!("sent")));
    let call = run.asks_to_send("ann");
    let reply = run.reply(1, json!({"to": "bob"}), Some(Action::Edit));
    assert!(matches!(run.tries(Command::Reply(reply)), Err(Refusal::Held(_))));
    assert_eq!((run.open(), run.contract_status(call)), (vec![1], ContractStatus::Waiting));
}

#[test]
fn a_request_cannot_bring_its_own_approval() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let mut spec = run.send("ann");
    spec.edited_from = Some(spec.execution_id);
    let call = run.try_request(spec, Some(Question::confirm("Send it?"))).unwrap();
    assert_eq!(run.tries(Command::DispatchContract(call)), Err(Refusal::NotApproved(call)));
}

#[test]
fn an_answer_that_is_no_clear_yes_is_none() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.asks_to_send("ann");
    let reply = run.reply(1, json!("perhaps"), None);
    assert_eq!(run.tries(Command::Reply(reply)).unwrap_err().kind(), RefusalKind::Invalid);
    run.answers(1, "no");
    assert_eq!(run.contract_status(call), ContractStatus::Rejected);
}

#[test]
fn an_action_on_a_question_that_is_no_approval_is_refused() {
    let mut run = Case::interactive();
    run.starts_with_handle().ends(ASKS);
    let reply = run.reply(1, json!("a"), Some(Action::Approve));
    let refused = run.tries(Command::Reply(reply));
    assert_eq!(refused, Err(Refusal::NotAnApproval { given: Action::Approve }));
}

#[test]
fn at_its_deadline_the_answer_is_no_whatever_strict_says() {
    for strict in [Strict::On, Strict::Off] {
        let mut run = Case::with(ExecutionMode::Interactive, |spec| {
            spec.strict = strict;
            spec.profile = adjourn_core::Profile::StickyProcess;
        });
        run.starts_with_process();
        let call = run.asks_to_send("ann");
        run.suspends().waits(100).expires(1);
        assert_eq!(run.contract_status(call), ContractStatus::Cancelled);
        assert_eq!(run.status(), RunStatus::Queued);
    }
}

#[test]
fn a_turn_that_claims_done_while_an_approved_call_is_not_made_is_not_done() {
    let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.resumes_by = ResumesBy::Journal);
    run.starts();
    let call = run.asks_to_send("ann");
    run.answers(1, "yes").ends(DONE);
    assert_eq!(run.status(), RunStatus::Queued);
    run.starts().dispatches(call).reports(call, ContractReport::Succeeded(json!("sent"))).ends(DONE);
    assert_eq!(run.status(), RunStatus::Succeeded);
}

#[test]
fn approvals_wait_in_auto_mode_too() {
    let mut run = Case::auto();
    run.starts_with_handle();
    run.asks_to_send("ann");
    run.ends(DONE);
    assert_eq!((run.status(), run.open()), (RunStatus::WaitingUser, vec![1]));
}
