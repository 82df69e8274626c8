//! Questions: all are listed, each is answered once, and an answer is never too early.

use adjourn_core::{
    AUTO_DECISIONS_MAX, Action, Actor, ByKind, Command, ContractStatus, ErrorCode, Event, ExecutionMode,
    InteractionId, InteractionStatus, Profile, Question, Refusal, RefusalKind, RunStatus, TurnReason,
    WarningCode,
};
use serde_json::json;

use crate::case::{ASKS, Case, DONE};

fn triggers(run: &Case) -> Vec<String> {
    let changes = run.frames().into_iter().filter(|frame| frame.data["trigger"].is_string());
    changes
        .filter(|frame| frame.data["actor"].is_null())
        .map(|frame| frame.data["trigger"].as_str().expect("it is text").to_owned())
        .collect()
}

#[test]
fn a_run_that_asks_once_passes_through_the_queue_twice() {
    let mut run = Case::interactive();
    run.starts_with_handle().ends(ASKS).answers(1, "the blue one").starts().ends(DONE);
    assert_eq!(run.run().result(), Some(&json!({"n": 1})));
    assert_eq!(
        triggers(&run),
        ["turn.started", "turn.needs_input", "interaction.reply.accepted", "turn.started", "turn.succeeded"]
    );
}

#[test]
fn several_questions_are_answered_in_any_order_each_with_its_own_effect() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let calls = ["ann", "bob", "cid"].map(|to| run.asks_to_send(to));
    run.suspends();
    assert_eq!(run.open(), [1, 2, 3]);
    run.answers(3, "yes").answers(1, "no").answers(2, "yes");
    assert_eq!(run.status(), RunStatus::Queued);
    assert_eq!(calls.map(|call| run.contract(call).approved), [false, true, true]);
    let started = run.tries(Command::StartTurn).unwrap();
    let answers = [1, 2, 3].map(InteractionId).to_vec();
    assert_eq!(started[0], Event::TurnStarted { attempt: 1, reason: TurnReason::Settled, answers });
}

#[test]
fn an_answer_while_the_turn_goes_on_is_taken_up_when_it_ends() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    run.asks_to_send("ann");
    run.answers(1, "yes");
    assert_eq!(run.status(), RunStatus::Running);
    run.suspends();
    assert_eq!(run.status(), RunStatus::Queued);
    assert_eq!(triggers(&run)[1..], ["turn.needs_input", "interaction.reply.accepted"]);
}

#[test]
fn an_answer_that_no_turn_takes_up_stays_in_the_history_as_unused() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    run.asks_to_send("ann");
    run.answers(1, "no").breaks();
    assert_eq!(run.status(), RunStatus::Failed);
    assert_eq!(run.run().unused_answers().count(), 1);
}

#[test]
fn a_turn_whose_question_was_answered_meanwhile_goes_on_with_the_answer() {
    for last_words in ["I have asked you, and wait for your answer.", ASKS, DONE] {
        let mut run = Case::interactive();
        run.starts_with_handle();
        run.asks_form(Question::open_text("Which?"), None);
        run.answers(1, "this").ends(last_words);
        assert_eq!((run.status(), run.open()), (RunStatus::Queued, vec![]), "{last_words}");
        let started = run.tries(Command::StartTurn).unwrap();
        let answers = vec![InteractionId(1)];
        assert_eq!(started[0], Event::TurnStarted { attempt: 2, reason: TurnReason::Answer, answers });
    }
}

#[test]
fn a_question_that_was_resolved_takes_no_further_answer() {
    let mut run = Case::interactive();
    run.starts_with_handle().ends(ASKS).answers(1, "a");
    let reply = run.reply(1, json!("b"), None);
    let status = InteractionStatus::Answered;
    let refused = run.tries(Command::Reply(reply)).unwrap_err();
    assert_eq!(refused, Refusal::NotOpen { id: InteractionId(1), status, open: Vec::new() });
    let reply = run.reply(9, json!("b"), None);
    assert_eq!(run.tries(Command::Reply(reply)).unwrap_err().kind(), RefusalKind::Conflict);
}

#[test]
fn the_same_reply_with_the_same_key_is_one_reply() {
    let mut run = Case::interactive();
    run.starts_with_handle().ends(ASKS);
    let reply = run.keyed(1, "a", "key");
    run.does(reply.clone());
    assert_eq!(run.tries(reply.clone()), Ok(Vec::new()));
    run.starts().ends(DONE);
    assert_eq!(run.tries(reply), Ok(Vec::new()));
    let other = run.keyed(1, "b", "key");
    assert_eq!(run.tries(other), Err(Refusal::KeyReused { key: "key".to_owned() }));
}

#[test]
fn a_wrong_answer_leaves_the_question_open() {
    let mut run = Case::interactive();
    run.starts_with_handle().ends(ASKS);
    let reply = run.reply(1, json!(5), None);
    assert_eq!(run.tries(Command::Reply(reply)).unwrap_err().kind(), RefusalKind::Invalid);
    assert_eq!(run.open(), [1]);
    run.answers(1, "five");
}

#[test]
fn without_a_handle_a_resumable_run_fails_before_it_ever_waits() {
    let mut run = Case::interactive();
    run.starts().ends(ASKS);
    assert_eq!(run.code(), Some(ErrorCode::SessionResumeFailed));
    assert!(run.run().interactions().is_empty());
    assert_eq!(triggers(&run), ["turn.started", "turn.failed"]);
}

#[test]
fn a_sticky_process_needs_no_handle_to_wait() {
    let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.profile = Profile::StickyProcess);
    let process = adjourn_core::Process { pid: 7, started: 1 };
    run.starts().shows(vec![adjourn_core::Observation::Process(process)]).ends(ASKS);
    assert_eq!(run.status(), RunStatus::WaitingUser);
}

#[test]
fn auto_mode_decides_a_question_of_the_turn_in_the_same_commit() {
    let mut run = Case::auto();
    run.starts_with_handle().ends(ASKS);
    assert_eq!(run.status(), RunStatus::Queued);
    let interaction = run.run().interaction(InteractionId(1)).unwrap();
    assert_eq!(interaction.resolution.as_ref().unwrap().by.kind, ByKind::AutoDecide);
    assert_eq!(triggers(&run)[1..], ["turn.needs_input", "interaction.auto_decide.timeout"]);
}

#[test]
fn auto_mode_goes_on_with_the_answer_that_came_in_the_same_turn_before_it_decides_anything() {
    let mut run = Case::auto();
    run.starts_with_handle();
    run.asks_to_send("ann");
    run.answers(1, "no").ends(ASKS);
    assert_eq!((run.status(), run.open()), (RunStatus::Queued, vec![]));
    let started = run.tries(Command::StartTurn).unwrap();
    let answers = vec![InteractionId(1)];
    assert_eq!(started[0], Event::TurnStarted { attempt: 1, reason: TurnReason::Settled, answers });
}

#[test]
fn auto_mode_gives_up_on_an_agent_that_asks_without_end() {
    let mut run = Case::auto();
    run.starts_with_handle();
    for _ in 0..AUTO_DECISIONS_MAX {
        run.ends(ASKS).starts();
    }
    run.ends(ASKS);
    assert_eq!(run.code(), Some(ErrorCode::OutputMissing));
}

#[test]
fn auto_mode_answers_a_question_by_tool_at_once_with_its_default_or_the_automatic_decision() {
    let mut run = Case::auto();
    run.starts_with_handle();
    let question = Question { default: Some(json!("b")), ..Question::open_text("What?") };
    let with_default = run.asks_form(question, None);
    let without = run.asks_form(Question::open_text("What?"), None);
    assert_eq!(run.contract(with_default).result, Some(json!("b")));
    assert_eq!(run.contract(without).result, Some(Question::open_text("What?").default_answer()));
    for form in [with_default, without] {
        let statuses: Vec<_> =
            run.contract(form).transitions.iter().map(|step| (step.to, step.actor)).collect();
        assert_eq!(
            statuses,
            [
                (ContractStatus::Running, Actor::EcsNode),
                (ContractStatus::Waiting, Actor::EcsNode),
                (ContractStatus::Running, Actor::AutoDecide),
                (ContractStatus::Completed, Actor::AutoDecide),
            ]
        );
        assert!(run.run().consequence(form).unwrap().assumed, "the agent is told that nobody answered");
    }
    assert!(run.open().is_empty());
    run.ends(DONE);
    assert_eq!(run.status(), RunStatus::Succeeded, "the call itself was told the answer");
}

#[test]
fn auto_mode_stops_answering_an_agent_that_asks_without_end_by_tool() {
    let mut run = Case::auto();
    run.starts_with_handle();
    for _ in 0..AUTO_DECISIONS_MAX {
        run.asks_form(Question::open_text("What?"), None);
    }
    let last = run.asks_form(Question::open_text("What?"), None);
    assert_eq!(run.contract_status(last), ContractStatus::Rejected);
}

#[test]
fn the_answer_to_a_form_is_the_result_of_its_contract() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let form = run.asks_form(Question::open_text("What?"), None);
    run.ends(DONE);
    assert_eq!(run.status(), RunStatus::WaitingUser);
    run.answers(1, "this");
    assert_eq!(run.contract(form).result, Some(json!("this")));
    assert_eq!(run.contract_status(form), ContractStatus::Completed);
}

#[test]
fn a_form_can_be_declined() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let form = run.asks_form(Question::open_text("What?"), None);
    run.suspends().acts(1, Action::Reject, json!(null));
    assert_eq!(run.contract_status(form), ContractStatus::Rejected);
}

#[test]
fn a_malformed_question_is_asked_all_the_same() {
    let mut run = Case::interactive();
    run.starts_with_handle().ends(r#"Well? {"ask_user": 5}"#);
    assert_eq!(run.status(), RunStatus::WaitingUser);
    assert_eq!(run.run().warnings()[0].code, WarningCode::AskUserMalformed);
}

#[test]
fn a_question_whose_default_is_null_reads_back_as_it_was() {
    let mut run = Case::interactive();
    run.starts_with_handle().ends(r#"{"ask_user": {"prompt": "Which?", "default": null}}"#);
    run.answers(1, "a").starts();
    run.asks_form(Question { default: Some(json!(null)), ..Question::open_text("What?") }, None);
    assert_eq!(run.open(), [2]);
}
