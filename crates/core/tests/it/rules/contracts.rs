//! Contracts: recorded first, made once, and never twice where that cannot be undone.

use adjourn_core::{
    Action, AskAgain, Command, ContractReport, ContractSpec, ContractStatus, Event, ExecutionMode,
    IdempotencyKey, KeyScope, Outcome, Question, Refusal, RefusedCall, Reply, RunStatus, ToolDigest,
    ToolDigests,
};
use serde_json::json;

use crate::case::{Case, DONE};

#[test]
fn an_irreversible_call_is_refused_while_another_one_may_happen_or_has() {
    let mut run = Case::interactive();
    run.starts();
    let call = run.requests(run.send("ann"));
    assert!(matches!(run.try_request(run.send("ann"), None), Err(Refusal::Held(_))));
    run.dispatches(call).reports(call, ContractReport::Succeeded(json!("sent")));
    let refused = run.try_request(run.send("ann"), None).unwrap_err();
    let expected = format!("the same irreversible call was made by {call} of {}, or may have been", run.id);
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn what_is_known_not_done_may_be_tried_again() {
    for report in [ContractReport::Failed("no".to_owned()), ContractReport::Rejected("never".to_owned())] {
        let mut run = Case::interactive();
        run.starts();
        let call = run.sends("ann");
        run.reports(call, report);
        assert_ne!(run.sends("ann"), call);
    }
}

#[test]
fn a_call_that_cannot_be_made_begins_and_ends_in_one_commit_and_was_never_dispatched() {
    let failed = || ContractReport::Failed("the tool server does not start".to_owned());
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.requests(run.send("ann"));
    run.reports(call, failed());
    let approved = run.asks_to_send("bob");
    run.suspends().acts(1, Action::Approve, json!(true)).starts().reports(approved, failed());
    for id in [call, approved] {
        let contract = run.contract(id);
        assert_eq!((contract.status, contract.dispatched_at), (ContractStatus::Failed, None), "{contract:?}");
        assert_eq!(contract.outcome, Outcome::Known);
    }
    assert!(run.try_request(run.send("ann"), None).is_ok(), "it may be tried again");

    // Only a call that may be made can turn out to be impossible, and nothing else can come of one that was not made.
    let open = run.asks_to_send("eve");
    let unmade = run.requests(run.send("dan"));
    let lost = ContractReport::Lost("gone".to_owned());
    for (id, report) in [(open, failed()), (unmade, ContractReport::Succeeded(json!(1))), (unmade, lost)] {
        assert!(run.tries(Command::ReportContract { id, report }).is_err());
    }
}

#[test]
fn a_lost_result_holds_the_key_until_a_person_settles_it() {
    for happened in [true, false] {
        let mut run = Case::interactive();
        run.starts();
        let call = run.sends("ann");
        run.reports(call, ContractReport::Lost("timeout".to_owned()));
        assert_eq!(run.contract(call).outcome, Outcome::Unknown);
        assert!(run.try_request(run.send("ann"), None).is_err());
        let by = adjourn_core::By::USER;
        run.does(Command::SettleContract { id: call, happened, note: None, by });
        assert_eq!(run.try_request(run.send("ann"), None).is_err(), happened);
    }
}

#[test]
fn a_reversible_call_whose_result_is_lost_has_simply_failed() {
    let mut run = Case::interactive();
    run.starts();
    let call = run.requests(ContractSpec { irreversible: false, ..run.send("ann") });
    run.dispatches(call).reports(call, ContractReport::Lost("timeout".to_owned()));
    let contract = run.contract(call);
    assert_eq!((contract.status, &contract.outcome), (ContractStatus::Failed, &Outcome::Known));
}

#[test]
fn a_key_reaches_as_far_as_its_scope() {
    for (scope, reaches) in [(KeyScope::Run, false), (KeyScope::Skill, true), (KeyScope::Global, true)] {
        let skilled = |spec: &mut adjourn_core::RunSpec| spec.skill = Some("mailer".to_owned());
        let mut run = Case::with(ExecutionMode::Auto, skilled);
        run.starts();
        run.requests(ContractSpec { scope: run.run().scope(scope), ..run.send("ann") });
        run.creates(2, ExecutionMode::Auto, skilled).unwrap();
        run.starts();
        let spec = ContractSpec { scope: run.run().scope(scope), ..run.send("ann") };
        assert_eq!(run.try_request(spec, None).is_err(), reaches, "{scope}");
    }
}

#[test]
fn what_is_done_once_per_run_is_done_once_per_chain_of_runs() {
    let mut run = Case::interactive();
    run.starts();
    let call = run.sends("ann");
    run.reports(call, ContractReport::Succeeded(json!("sent"))).ends(DONE);
    let continued = adjourn_core::Continued { run_id: run.id, root: run.id, handle: None };
    run.creates(2, ExecutionMode::Auto, |spec| spec.continues = Some(continued)).unwrap();
    run.starts();
    assert!(matches!(run.try_request(run.send("ann"), None), Err(Refusal::Held(_))));
}

#[test]
fn a_contract_that_ended_takes_nothing_more() {
    let mut run = Case::interactive();
    run.starts();
    let id = run.sends("ann");
    run.reports(id, ContractReport::Succeeded(json!("sent")));
    for command in [
        Command::DispatchContract(id),
        Command::ReportContract { id, report: ContractReport::Failed("no".to_owned()) },
    ] {
        assert!(run.tries(command).is_err());
    }
    assert_eq!(run.contract(id).result, Some(json!("sent")));
    assert_eq!(run.status(), RunStatus::Running);
}

#[test]
fn a_number_in_the_arguments_reads_back_to_the_last_bit() {
    let mut run = Case::interactive();
    run.starts();
    // Read back carelessly, it is its neighbour, and the call another one.
    let mut spec = run.send("ann");
    let adjourn_core::ContractAction::ToolCall(call) = &mut spec.action else { unreachable!() };
    call.arguments = json!({"amount": 122.416_294_033_786_58_f64, "rate": 3.152_074_5e-300});
    run.requests(spec);
}

/// Asks again about a call whose tool changed.
fn ask_again(run: &Case, id: adjourn_core::ExecutionId) -> Command {
    let definition = ToolDigest::of(&json!({ "description": "another tool" }));
    let question = Question::confirm("Send it, with the tool as it is now?");
    Command::AskAgain(AskAgain { turn: run.run().turn(), id, definition, question })
}

#[test]
fn a_yes_to_a_tool_that_changed_counts_no_more() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.asks_to_send("ann");
    assert!(
        matches!(run.tries(ask_again(&run, call)), Err(Refusal::NotApproved(_))),
        "it is asked about already"
    );
    run.suspends().acts(1, Action::Approve, json!(null)).starts();
    assert!(run.contract(call).is_cleared());
    run.does(ask_again(&run, call));
    assert!(!run.contract(call).is_cleared());
    let dispatched = run.tries(Command::DispatchContract(call));
    assert!(matches!(dispatched, Err(Refusal::NotApproved(_))), "{dispatched:?}");
    run.suspends().acts(2, Action::Approve, json!(null)).starts().dispatches(call);
    assert!(matches!(run.tries(ask_again(&run, call)), Err(Refusal::Dispatched(_))));
}

#[test]
fn a_call_that_needed_no_yes_needs_one_when_its_tool_changed_before_it_was_made() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.requests(run.send("ann"));
    run.does(ask_again(&run, call));
    let dispatched = run.tries(Command::DispatchContract(call));
    assert!(matches!(dispatched, Err(Refusal::NotApproved(_))), "{dispatched:?}");
    run.suspends().acts(1, Action::Reject, json!("no")).starts();
    assert_eq!(run.contract(call).status, ContractStatus::Rejected);
}

#[test]
fn an_edited_call_of_a_tool_that_changed_is_held_as_well() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    run.asks_to_send("ann");
    let reply = run.reply(1, json!({"to": "bob"}), Some(Action::Edit));
    let edited = reply.edited_id;
    run.suspends().does(Command::Reply(reply)).starts();
    assert!(run.contract(edited).is_cleared());
    run.does(ask_again(&run, edited));
    assert!(!run.contract(edited).is_cleared());
}

#[test]
fn the_tools_of_a_run_are_those_that_were_listed_first() {
    let mut run = Case::interactive();
    run.starts();
    let tools = |text: &str| {
        let digest = ToolDigest::of(&json!({ "description": text }));
        ToolDigests::from([("mail".to_owned(), [("send".to_owned(), digest)].into())])
    };
    let turn = run.run().turn();
    run.does(Command::ListTools { turn, tools: tools("first") });
    run.does(Command::ListTools { turn, tools: tools("second") });
    assert_eq!(run.run().listed_tools(), Some(&tools("first")));
    assert!(run.tries(Command::ListTools { turn: turn + 1, tools: tools("third") }).is_err());
}

#[test]
fn a_refused_call_is_written_down_shortened_and_not_without_end() {
    let mut run = Case::interactive();
    run.starts();
    let turn = run.run().turn();
    let call = |reason: &str| RefusedCall {
        tool: "t".repeat(10_000),
        arguments: "a".repeat(1_000_000),
        reason: reason.to_owned(),
        same_as: None,
    };
    assert!(run.tries(Command::RefuseCall { turn: turn + 1, call: call("late") }).is_err());
    let before = run.run().seq();
    let written = run.tries(Command::RefuseCall { turn, call: call(&"r".repeat(1_000_000)) }).unwrap();
    let [Event::CallRefused(written)] = written.as_slice() else { panic!("{written:?}") };
    assert!(written.tool.len() <= 256 && written.tool.ends_with('…'));
    assert!(written.arguments.len() <= 2048 && written.reason.len() <= 2048);
    for _ in 0..1000 {
        run.does(Command::RefuseCall { turn, call: call("again") });
    }
    assert_eq!(run.run().seq(), before + 64, "an agent that tries without end does not fill its journal");
}

#[test]
fn the_key_of_an_edited_call_is_that_of_its_arguments_as_they_were_given() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    run.asks_to_send("ann");
    let given = IdempotencyKey::of("mail", "send", &json!({ "to": "a secret" }));
    let edit = run.reply(1, json!({ "to": "masked" }), Some(Action::Edit));
    let edited = edit.edited_id;
    run.suspends().does(Command::Reply(Reply { edited_key: Some(given), ..edit }));
    assert_eq!(run.contract(edited).spec.idempotency_key, given);
}
