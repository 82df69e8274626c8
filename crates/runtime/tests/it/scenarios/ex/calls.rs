//! EX: tool calls.

use adjourn_core::{
    Action, Actor, Command, ContractReport, ContractStatus, ContractTrigger, FrameType, Outcome, RunStatus,
    Timestamp,
};
use adjourn_kernel::Denied;
use adjourn_testkit::model::{ModelServer, Reply, Script};
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::stage::world::{call_of, calls, named, says_done, told, way};

/// One call of a tool, and then the end.
fn one_call(tool: &str, arguments: serde_json::Value) -> ModelServer {
    ModelServer::start(Script::new([Reply::call(tool, arguments), says_done("done")])).unwrap()
}

#[test]
fn ex_01_a_tool_call_creates_a_pending_contract() {
    let model = one_call("count", json!({ "text": "a letter" }));
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    assert_eq!(run.ends().status(), RunStatus::Succeeded);

    let created = run.frames().into_iter().find(|frame| frame.kind == FrameType::ContractCreated).unwrap();
    let contract = run.contract();
    assert_eq!(created.data["execution_id"], named(contract.spec.execution_id));
    assert_eq!(created.data["action_type"], "tool_call");
    assert_eq!(created.data["status"], "PENDING");
    let call = json!({ "service": "world", "method": "count", "arguments": { "text": "a letter" } });
    assert_eq!(created.data["action_detail"], call);
    assert_eq!(contract.transitions[0].from, ContractStatus::Pending, "it was there before it began");
}

#[test]
fn ex_01_calls_of_one_reply_are_contracts_of_their_own() {
    let both = calls(&[("count", json!({ "text": "a" })), ("count", json!({ "text": "b" }))]);
    let model = ModelServer::start(Script::new([both, says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    run.ends();
    let contracts = run.contracts();
    let texts: Vec<_> =
        contracts.iter().map(|contract| call_of(contract).arguments["text"].clone()).collect();
    assert_eq!(texts.len(), 2);
    assert!(texts.contains(&json!("a")) && texts.contains(&json!("b")));
    assert_ne!(contracts[0].spec.execution_id, contracts[1].spec.execution_id);
}

#[test]
fn ex_05_nothing_moves_a_contract_that_has_ended() {
    let model = one_call("count", json!({ "text": "a" }));
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    let seq = run.ends().seq();
    let id = run.contract().spec.execution_id;
    for command in [
        Command::DispatchContract(id),
        Command::ReportContract { id, report: ContractReport::Succeeded(json!(2)) },
        Command::ReportContract { id, report: ContractReport::Failed("late".to_owned()) },
        Command::ReportContract { id, report: ContractReport::Rejected("late".to_owned()) },
        Command::ReportContract { id, report: ContractReport::Lost("late".to_owned()) },
    ] {
        let said = format!("{command:?}");
        let service = stage.service();
        let answer = stage.wait(service.runtime().ask(run.id, command));
        assert!(matches!(answer, Err(Denied::Refused(_))), "{said}");
    }
    let contract = run.contract();
    assert_eq!((contract.status, contract.result), (ContractStatus::Completed, Some(json!({ "count": 1 }))));
    assert_eq!(run.state().seq(), seq, "nothing was written");
}

#[test]
fn ex_06_a_call_that_goes_well_is_completed_with_its_result() {
    let model = one_call("count", json!({ "text": "a" }));
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    run.ends();
    let contract = run.contract();
    assert_eq!(contract.status, ContractStatus::Completed);
    assert_eq!(contract.result, Some(json!({ "count": 1 })));
    assert_eq!(contract.outcome, Outcome::Known);
    let expected = ["PENDING → RUNNING: start by tool_node", "RUNNING → COMPLETED: succeed by tool_node"];
    assert_eq!(way(&contract), expected);
    assert_eq!(
        contract.dispatched_at,
        Some(contract.transitions[0].at),
        "it may have happened from its start on"
    );
    assert_eq!(stage.effects(), ["a"]);
}

#[test]
fn ex_06_each_transition_has_the_time_at_which_it_happened() {
    let model = one_call("count", json!({ "text": "a" }));
    let stage = Stage::reasoning(&model, "approve = [\"count\"]");
    let run = stage.start(json!({}));
    let question = run.waits();
    stage.advance(40);
    run.decide(question.interaction_id, Action::Approve, Value::Null).unwrap();
    run.ends();
    let contract = run.contract();
    let seconds = |at: Timestamp| at.millis_since(contract.created_at) / 1000;
    let times: Vec<_> = contract.transitions.iter().map(|step| (step.to, seconds(step.at))).collect();
    let (asked, made) = (0, 40);
    assert_eq!(
        times,
        [
            (ContractStatus::Running, asked),
            (ContractStatus::Waiting, asked),
            (ContractStatus::Running, made),
            (ContractStatus::Completed, made),
        ]
    );
    assert_eq!(contract.dispatched_at.map(seconds), Some(made));
    assert_eq!((contract.created_at, seconds(contract.updated_at)), (question.created_at, made));
}

#[test]
fn ex_07_a_call_that_goes_wrong_is_failed_and_says_why() {
    for (tool, why) in [("fail", "it did not work"), ("refuse", "not like this")] {
        let model = one_call(tool, json!({}));
        let stage = Stage::reasoning(&model, "");
        let run = stage.start(json!({}));
        assert_eq!(run.ends().status(), RunStatus::Succeeded, "the agent decides what that means");
        let contract = run.contract();
        assert_eq!((contract.status, &contract.result), (ContractStatus::Failed, &None));
        assert!(contract.error_message.as_deref().unwrap().contains(why), "{:?}", contract.error_message);
        let last = contract.transitions.last().unwrap();
        assert_eq!((last.trigger, last.actor), (ContractTrigger::Fail, Actor::ToolNode));
    }
}

#[test]
fn ex_08_the_reasoner_reads_fields() {
    let both = calls(&[("count", json!({ "text": "a" })), ("fail", json!({}))]);
    let model = ModelServer::start(Script::new([both, says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    run.ends();
    let contracts = run.contracts();
    let of = |method: &str| {
        let contract = contracts.iter().find(|contract| call_of(contract).method == method);
        named(contract.unwrap().spec.execution_id)
    };
    let expected = [
        json!({ "execution_id": of("count"), "status": "COMPLETED", "result": { "count": 1 } }),
        json!({ "execution_id": of("fail"), "status": "FAILED", "error_message": "it did not work" }),
    ];
    assert_eq!(told(&model, 1), expected);
}

#[test]
fn ex_11_what_was_done_is_not_done_again_and_the_reasoner_is_told() {
    let again = || Reply::call("count", json!({ "text": "a" }));
    let other = Reply::call("count", json!({ "text": "b" }));
    let model = ModelServer::start(Script::new([again(), again(), other, says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, "irreversible = [\"count\"]");
    let run = stage.start(json!({}));
    run.ends();
    assert_eq!(stage.effects(), ["a", "b"]);
    assert_eq!(run.contracts().len(), 2);
    let first = &run.contracts()[0];
    let told = &told(&model, 2)[1];
    assert_eq!(told["already_done"], true, "{told}");
    assert_eq!(told["execution_id"], named(first.spec.execution_id));
    assert_eq!(told["result"], json!({ "count": 1 }), "with what came of it");
}

#[test]
fn ex_11_a_call_that_waits_for_approval_is_not_asked_for_twice() {
    let both = calls(&[("count", json!({ "text": "a" })), ("count", json!({ "text": "a" }))]);
    let model = ModelServer::start(Script::new([both, says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, "irreversible = [\"count\"]\napprove = [\"count\"]");
    let run = stage.start(json!({}));
    let question = run.waits();
    assert_eq!(run.state().open_interactions().count(), 1);
    run.reply_to(question.interaction_id.0, true).unwrap();
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    assert_eq!(stage.effects(), ["a"]);
}

#[test]
fn a_model_that_calls_what_is_not_there_or_wrongly_is_told_and_nothing_is_recorded() {
    let wrong = calls(&[
        ("world__cuont", json!({ "text": "a" })),
        ("count", json!({ "text": 7 })),
        ("count", json!("not an object")),
    ]);
    let model = ModelServer::start(Script::new([wrong, says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    let told = told(&model, 1);
    let said = |index: usize| told[index]["error_message"].as_str().unwrap().to_owned();
    assert_eq!(said(0), "there is no tool `world__cuont`; did you mean `world__count`?");
    assert!(said(1).contains("/text"), "{}", said(1));
    assert!(told.iter().all(|told| told["status"] == "REJECTED"), "{told:?}");
    assert_eq!((run.contracts().len(), stage.effects().len()), (0, 0));
}

#[test]
fn forty_calls_at_once_are_forty_contracts() {
    let forty: Vec<_> = (0..40).map(|n| ("count", json!({ "text": n.to_string() }))).collect();
    let model = ModelServer::start(Script::new([calls(&forty), says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    assert_eq!(stage.effects().len(), 40);
    assert!(run.contracts().iter().all(|contract| contract.status == ContractStatus::Completed));
    assert_eq!(told(&model, 1).len(), 40);
}
