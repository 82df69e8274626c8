//! EX: questions that an agent puts as calls.

use adjourn_core::{
    Action, ContractAction, ContractStatus, FrameType, InteractionStatus, RefusalKind, RunStatus,
};
use adjourn_testkit::model::{ModelServer, Reply, Script};
use serde_json::json;

use crate::stage::world::{calls, named, says_done, told, way};
use crate::stage::{Stage, refusal};

/// Counts, asks, and is done.
fn asking() -> ModelServer {
    let both =
        calls(&[("count", json!({ "text": "a" })), ("ask_user", json!({ "prompt": "Which colour?" }))]);
    ModelServer::start(Script::new([both, says_done("blue")])).unwrap()
}

#[test]
fn ex_02_a_question_creates_a_pending_contract() {
    let model =
        ModelServer::start(Script::new([Reply::call("ask_user", json!({ "prompt": "Why?" }))])).unwrap();
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    let question = run.waits();
    let contract = run.contract();
    assert!(matches!(&contract.spec.action, ContractAction::EcsRequest(asked) if asked.prompt == "Why?"));
    let created = run.frames().into_iter().find(|frame| frame.kind == FrameType::ContractCreated).unwrap();
    assert_eq!(
        (&created.data["action_type"], &created.data["status"]),
        (&json!("ecs_request"), &json!("PENDING"))
    );
    assert_eq!(question.subject.execution_id(), Some(contract.spec.execution_id));
}

#[test]
fn ex_13_a_question_suspends_the_graph_and_outlives_a_restart() {
    let model = asking();
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    let question = run.waits();
    stage.restart();
    run.until("the waiting run is found", |run| (run.status() == RunStatus::WaitingUser).then_some(()));
    assert_eq!(run.state().open_interactions().next().unwrap().interaction_id, question.interaction_id);
    let waiting =
        run.contracts().into_iter().find(|contract| contract.status == ContractStatus::Waiting).unwrap();
    assert_eq!(
        way(&waiting),
        ["PENDING → RUNNING: start by ecs_node", "RUNNING → WAITING: suspend by ecs_node"]
    );
    assert!(!run.state().holds_slot());
    assert_eq!(model.requests().len(), 1, "nothing goes on meanwhile");
}

#[test]
fn ex_14_the_answer_completes_the_contract_and_the_graph_goes_on_with_all_results() {
    let model = asking();
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    run.waits();
    stage.restart();
    run.reply("blue").unwrap();
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    let contracts = run.contracts();
    let of = |status| contracts.iter().find(move |contract| contract.status == status);
    let form = contracts
        .iter()
        .find(|contract| matches!(contract.spec.action, ContractAction::EcsRequest(_)))
        .unwrap();
    assert_eq!(
        way(form)[2..],
        ["WAITING → RUNNING: resume by user", "RUNNING → COMPLETED: succeed by ecs_node"]
    );
    assert_eq!(form.result, Some(json!("blue")));
    assert!(of(ContractStatus::Waiting).is_none());
    let told = told(&model, 1);
    assert_eq!(told[0]["result"], json!({ "count": 1 }), "what came before the question");
    assert_eq!((&told[1]["status"], &told[1]["result"]), (&json!("COMPLETED"), &json!("blue")));
    assert_eq!(stage.effects(), ["a"], "and nothing is done again for it");
    assert_eq!(run.state().attempt_number(), 1, "the same turn goes on");
}

#[test]
fn ex_14_a_person_may_refuse_to_answer() {
    let model = asking();
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    let question = run.waits();
    run.decide(question.interaction_id, Action::Reject, json!("none of your business")).unwrap();
    run.ends();
    let told = &told(&model, 1)[1];
    assert_eq!(
        (&told["status"], &told["error_message"]),
        (&json!("REJECTED"), &json!("none of your business"))
    );
    let form =
        run.contracts().into_iter().find(|contract| contract.status == ContractStatus::Rejected).unwrap();
    assert_eq!(way(&form)[2..], ["WAITING → RUNNING: resume by user", "RUNNING → REJECTED: reject by user"]);
    assert_eq!(told["execution_id"], named(form.spec.execution_id));
}

#[test]
fn ex_15_an_answer_to_a_contract_that_has_ended_is_refused_and_nothing_runs() {
    let model = asking();
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    let question = run.waits();
    run.reply("blue").unwrap();
    let seq = run.ends().seq();
    let asked = model.requests().len();
    let again = run.reply_to(question.interaction_id.0, "red");
    assert_eq!(refusal(again).kind(), RefusalKind::Conflict);
    let by_action = run.decide(question.interaction_id, Action::Reject, json!("no"));
    assert_eq!(refusal(by_action).kind(), RefusalKind::Conflict);
    assert_eq!((run.state().seq(), model.requests().len()), (seq, asked));
}

#[test]
fn ex_16_a_question_that_nobody_answers_in_time_is_cancelled_and_the_reasoner_is_told() {
    let model = asking();
    let stage = Stage::reasoning(&model, "");
    let options = json!({ "interactive_require_user_reply": false, "session_timeout_sec": 60 });
    let run = stage.start(json!({ "options": options }));
    let question = run.waits();
    stage.advance(61);
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    let form =
        run.contracts().into_iter().find(|contract| contract.status == ContractStatus::Cancelled).unwrap();
    assert_eq!(way(&form)[2..], ["WAITING → CANCELLED: timeout by auto_decide"]);
    assert_eq!(run.state().interaction(question.interaction_id).unwrap().status, InteractionStatus::Expired);
    assert_eq!(told(&model, 1)[1]["status"], "CANCELLED");
}
