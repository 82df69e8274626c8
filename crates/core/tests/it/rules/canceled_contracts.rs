//! One contract that a person cancels: what waits or has not begun is given up, and the agent is told.

use adjourn_core::machines::ContractMachine;
use adjourn_core::{
    Action, Actor, By, Command, ContractReport, ContractStatus, ContractTrigger, ExecutionId, FrameType,
    InteractionId, InteractionStatus, Machine, Question, Refusal, RunStatus, RunTrigger, Survey,
};
use serde_json::{Value, json};

use crate::case::{Case, DONE};

fn cancel(id: ExecutionId) -> Command {
    Command::CancelContract { id, by: By { name: Some("ann".to_owned()), ..By::USER } }
}

/// The way of a contract: the statuses it got to, and who took it there.
fn way(run: &Case, id: ExecutionId) -> Vec<(&'static str, Actor)> {
    run.contract(id).transitions.iter().map(|step| (step.to.name(), step.actor)).collect()
}

/// The calls that the agent is told of in the turn that begins now, with their statuses.
fn told(run: &mut Case) -> Vec<(ExecutionId, ContractStatus)> {
    run.starts();
    run.run().settled_calls().map(|(contract, told)| (contract.spec.execution_id, told.status)).collect()
}

#[test]
fn a_contract_that_waits_is_canceled_and_its_run_goes_on_with_that() {
    for is_form in [true, false] {
        let mut run = Case::interactive();
        run.starts_with_handle();
        let call = match is_form {
            true => run.asks_form(Question::confirm("Really?"), None),
            false => run.asks_to_send("ann"),
        };
        run.suspends();
        assert_eq!(run.status(), RunStatus::WaitingUser);
        run.does(cancel(call));
        assert_eq!(way(&run, call)[2..], [("CANCELLED", Actor::User)]);
        assert_eq!(run.contract(call).error_message.as_deref(), Some("a person canceled it"));
        let question = run.run().interaction(InteractionId(1)).unwrap();
        assert_eq!(question.status, InteractionStatus::Withdrawn);
        assert_eq!(question.resolution.as_ref().unwrap().by.name.as_deref(), Some("ann"));
        assert_eq!(run.status(), RunStatus::Queued);
        assert!(!run.contract(call).holds_its_key(), "another call of the same kind may be made");
        let frames = run.frames();
        let [.., decided, contract, state] = &frames[..] else { panic!("{frames:?}") };
        assert_eq!(decided.kind, FrameType::ReplyAccepted);
        assert_eq!(decided.data["resolved_by"]["name"], "ann");
        assert_eq!((&decided.data["response"], &decided.data["canceled"]), (&Value::Null, &json!(true)));
        assert_eq!(contract.data["to"], "CANCELLED");
        assert_eq!(state.data["trigger"], RunTrigger::ReplyAccepted.name());
        assert_eq!(told(&mut run), [(call, ContractStatus::Cancelled)]);
        run.ends(DONE);
        assert_eq!(run.status(), RunStatus::Succeeded);
    }
}

#[test]
fn what_was_canceled_during_a_turn_is_told_when_the_turn_is_over() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.asks_to_send("ann");
    run.does(cancel(call));
    assert_eq!((run.status(), run.open()), (RunStatus::Running, vec![]));
    run.suspends();
    assert_eq!(run.status(), RunStatus::Queued, "there is nothing left to wait for");
    assert_eq!(told(&mut run), [(call, ContractStatus::Cancelled)]);
}

#[test]
fn other_questions_stay_open() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let (one, other) = (run.asks_to_send("ann"), run.asks_to_send("bob"));
    run.suspends().does(cancel(one));
    assert_eq!((run.open(), run.contract_status(other)), (vec![2], ContractStatus::Waiting));
    assert_eq!(told(&mut run), [(one, ContractStatus::Cancelled)]);
    run.suspends().answers(2, "yes");
    assert_eq!(told(&mut run), [], "it was told before, and the other one has to be made");
    run.dispatches(other);
}

#[test]
fn a_contract_that_has_not_begun_starts_and_ends_in_one_commit() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.requests(run.send("ann"));
    run.does(cancel(call));
    assert_eq!(way(&run, call), [("RUNNING", Actor::System), ("CANCELLED", Actor::User)]);
    assert_eq!(run.contract(call).dispatched_at, None, "at no moment it may have happened");
    assert!(matches!(run.tries(Command::DispatchContract(call)), Err(Refusal::Machine(_))));
}

#[test]
fn an_approved_call_that_was_not_made_yet_is_canceled_and_told() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.asks_to_send("ann");
    run.suspends().acts(1, Action::Approve, Value::Null).does(cancel(call));
    assert_eq!((run.status(), run.contract_status(call)), (RunStatus::Queued, ContractStatus::Cancelled));
    assert_eq!(told(&mut run), [(call, ContractStatus::Cancelled)]);
}

#[test]
fn a_call_that_is_being_made_or_in_doubt_is_not_canceled_by_itself() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.sends("ann");
    assert_eq!(run.tries(cancel(call)), Err(Refusal::AtWork(call)));
    assert_eq!(run.contract_status(call), ContractStatus::Running);
    // A crash leaves it in doubt, and a person is asked.
    run.does(Command::Recover(Survey::INTACT));
    assert_eq!(run.contract_status(call), ContractStatus::Waiting);
    assert_eq!(run.tries(cancel(call)), Err(Refusal::InDoubt(call)));
    assert_eq!(run.open(), [1], "its question is still open");
}

#[test]
fn what_has_ended_is_refused_by_the_table_and_a_second_cancel_changes_nothing() {
    let ends = [
        (ContractStatus::Completed, ContractReport::Succeeded(json!("sent"))),
        (ContractStatus::Failed, ContractReport::Failed("no".to_owned())),
        (ContractStatus::Rejected, ContractReport::Rejected("no".to_owned())),
    ];
    for (status, report) in ends {
        let mut run = Case::interactive();
        run.starts_with_handle();
        let call = run.sends("ann");
        run.reports(call, report);
        let refused = ContractMachine::step(status, ContractTrigger::Cancel, Actor::User).unwrap_err();
        assert_eq!(run.tries(cancel(call)), Err(Refusal::Machine(refused)));
        assert_eq!(run.contract_status(call), status);
    }
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.asks_to_send("ann");
    run.does(cancel(call));
    assert_eq!(run.tries(cancel(call)), Ok(vec![]));
    let nobody = ExecutionId::from_bits(99);
    assert_eq!(run.tries(cancel(nobody)), Err(Refusal::UnknownContract(nobody)));
}
