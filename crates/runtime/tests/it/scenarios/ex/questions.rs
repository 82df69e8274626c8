//! EX: questions that an agent puts as calls.

use adjourn_core::{
    Action, Contract, ContractAction, ContractStatus, FrameType, GraphView, Interaction, InteractionStatus,
    RefusalKind, RunStatus,
};
use adjourn_testkit::model::{ModelServer, Reply, Script};
use serde_json::{Value, json};

use crate::stage::ways::{Does, Way, every_way, every_way_by_tool};
use crate::stage::world::{calls, named, says_done, told, way as way_of};
use crate::stage::{Actor, Stage, refusal};

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
        way_of(&waiting),
        ["PENDING → RUNNING: start by ecs_node", "RUNNING → WAITING: suspend by ecs_node"]
    );
    assert!(!run.state().holds_slot());
    assert_eq!(model.requests().len(), 1, "nothing goes on meanwhile");
    let graph = graph(&stage, &run);
    assert_eq!(graph["status"], "suspended");
    assert_eq!(graph["pending_executions"][0]["execution_id"], named(waiting.spec.execution_id));
    assert_eq!(graph["completed_executions"][0]["result"], json!({ "count": 1 }));
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
        way_of(form)[2..],
        ["WAITING → RUNNING: resume by user", "RUNNING → COMPLETED: succeed by ecs_node"]
    );
    assert_eq!(form.result, Some(json!("blue")));
    assert!(of(ContractStatus::Waiting).is_none());
    let told = told(&model, 1);
    assert_eq!(told[0]["result"], json!({ "count": 1 }), "what came before the question");
    assert_eq!((&told[1]["status"], &told[1]["result"]), (&json!("COMPLETED"), &json!("blue")));
    assert_eq!(stage.effects(), ["a"], "and nothing is done again for it");
    assert_eq!(
        run.state().attempt_number(),
        2,
        "the answer opens an attempt, as it does for every way of asking"
    );
}

#[test]
fn ex_10_the_whole_trace_of_a_finished_run_can_be_read_across_restarts() {
    let model = asking();
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    run.waits();
    stage.restart();
    run.reply("blue").unwrap();
    run.ends();
    stage.restart();
    let graph = graph(&stage, &run);
    assert_eq!(graph["status"], "completed");
    assert_eq!(graph["pending_executions"], json!([]));
    let steps = graph["execution_trace"].as_array().unwrap();
    let mut of_contracts: Vec<_> = run.contracts().iter().flat_map(way_of).collect();
    let transitions = steps.iter().filter(|step| step["metadata"]["trigger"] != "create");
    let mut traced: Vec<_> = transitions.map(in_short).collect();
    assert_eq!(traced.len(), 6, "two of the call, four of the question");
    of_contracts.sort();
    traced.sort();
    assert_eq!(traced, of_contracts, "every transition with its actor, once");
    let times: Vec<_> = steps.iter().map(|step| step["timestamp"].as_str().unwrap().to_owned()).collect();
    assert!(times.is_sorted(), "{times:?}");
}

/// The state of the graph, as every surface shows it.
fn graph(stage: &Stage, run: &Actor<'_>) -> Value {
    let service = stage.service();
    let (state, trace) = service.traced(run.id).unwrap();
    json!(GraphView::of(&state, trace))
}

/// A step of a trace like a contract's own.
fn in_short(step: &Value) -> String {
    let metadata = &step["metadata"];
    let word =
        |key: &str| metadata[key].as_str().unwrap_or_else(|| panic!("no `{key}` in {step}")).to_owned();
    format!("{} → {}: {} by {}", word("from"), word("to"), word("trigger"), word("actor"))
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
    assert_eq!(
        way_of(&form)[2..],
        ["WAITING → RUNNING: resume by user", "RUNNING → REJECTED: reject by user"]
    );
    assert_eq!(told["execution_id"], named(form.spec.execution_id));
}

every_way! {
    #[test]
    fn ex_12_what_is_known_to_have_failed_may_be_tried_again_by_every_engine(way: Way) {
        let scene = way.scene(&[Does::CallsTwice("fail")]);
        let run = scene.stage.start(json!({}));
        scene.plays(&run, 1);
        assert_eq!(run.ends().status(), RunStatus::Succeeded);
        let contracts = run.contracts();
        assert_eq!(contracts.len(), 2);
        assert_eq!(contracts[0].spec.idempotency_key, contracts[1].spec.idempotency_key);
        assert_ne!(contracts[0].spec.execution_id, contracts[1].spec.execution_id);
        assert!(contracts.iter().all(|contract| contract.status == ContractStatus::Failed));
    }

    #[test]
    fn ex_13_a_question_suspends_every_engine_and_outlives_a_restart(way: Way) {
        let scene = way.scene(&[which()]);
        let run = scene.waiting(json!({}));
        scene.stage.restart();
        run.until("recovery", |_| (run.changes().len() == 3).then_some(()));
        assert_eq!(run.changes()[2], "waiting_user → waiting_user: restart.preserve_waiting");
        let question = run.waits();
        assert_eq!((question.question.prompt.as_str(), run.state().holds_slot()), ("Which colour?", false));
        let graph = graph(&scene.stage, &run);
        assert_eq!(graph["status"], "suspended");
        match contract_of(&run, &question) {
            Some(form) => {
                let asked =
                    ["PENDING → RUNNING: start by ecs_node", "RUNNING → WAITING: suspend by ecs_node"];
                assert_eq!(way_of(&form), asked);
                assert_eq!(graph["pending_executions"][0]["execution_id"], named(form.spec.execution_id));
            }
            None => assert!(!way.is_by_tool()),
        }
    }

    #[test]
    fn ex_14_the_answer_completes_the_contract_and_reaches_the_agent(way: Way) {
        let scene = way.scene(&[which(), Does::Finishes("blue")]);
        let run = scene.waiting(json!({}));
        let question = run.waits();
        scene.stage.restart();
        run.reply("blue").unwrap();
        assert!(scene.heard(&run, 2).contains("blue"));
        scene.plays(&run, 2);
        assert_eq!(run.ends().status(), RunStatus::Succeeded);
        match contract_of(&run, &question) {
            Some(form) => {
                let done =
                    ["WAITING → RUNNING: resume by user", "RUNNING → COMPLETED: succeed by ecs_node"];
                assert_eq!((&way_of(&form)[2..], &form.result), (&done.map(str::to_owned)[..], &Some(json!("blue"))));
            }
            None => assert!(!way.is_by_tool()),
        }
    }

    #[test]
    fn ex_15_an_answer_to_what_is_completed_rejected_or_cancelled_is_refused(way: Way) {
        for end in [ContractStatus::Completed, ContractStatus::Rejected, ContractStatus::Cancelled] {
            let scene = way.scene(&[which(), Does::Finishes("blue")]);
            let run = scene.waiting(json!({}));
            let question = run.waits();
            let id = question.interaction_id;
            match end {
                ContractStatus::Rejected if way.is_by_tool() => {
                    run.decide(id, Action::Reject, json!("no")).unwrap();
                }
                ContractStatus::Cancelled => drop(run.cancel().unwrap()),
                _ => drop(run.reply("blue").unwrap()),
            }
            if end != ContractStatus::Cancelled {
                scene.plays(&run, 2);
            }
            let (seq, turns) = (run.ends().seq(), run.state().turn());
            if let Some(form) = contract_of(&run, &question) {
                assert_eq!(form.status, end);
            }
            assert_eq!(refusal(run.reply_to(id.0, "red")).kind(), RefusalKind::Conflict);
            let again = run.decide(id, Action::Reject, json!("no"));
            assert_eq!(refusal(again).kind(), RefusalKind::Conflict);
            assert_eq!((run.state().seq(), run.state().turn()), (seq, turns), "nothing runs for it");
        }
    }
}

every_way_by_tool! {
    #[test]
    fn ex_16_a_question_whose_own_time_has_passed_is_cancelled_and_the_agent_is_told(way: Way) {
        for strict in [true, false] {
            let asks = Does::Asks(json!({ "prompt": "Which colour?", "timeout_seconds": 30 }));
            let scene = way.scene(&[asks, Does::Finishes("none")]);
            let options = json!({ "interactive_require_user_reply": strict, "session_timeout_sec": 60 });
            let run = scene.waiting(json!({ "options": options }));
            let question = run.waits();
            scene.stage.advance(29);
            assert_eq!(run.status(), RunStatus::WaitingUser);
            scene.stage.advance(1);
            assert!(scene.heard(&run, 2).contains("CANCELLED"));
            scene.plays(&run, 2);
            assert_eq!(run.ends().status(), RunStatus::Succeeded);
            let form = contract_of(&run, &question).unwrap();
            assert_eq!(way_of(&form)[2..], ["WAITING → CANCELLED: timeout by auto_decide"]);
            let question = run.state().interaction(question.interaction_id).unwrap().clone();
            assert_eq!(question.status, InteractionStatus::Expired);
        }
    }
}

fn which() -> Does {
    Does::Asks(json!({ "prompt": "Which colour?" }))
}

/// The contract of a question, if it has one.
fn contract_of(run: &Actor<'_>, question: &Interaction) -> Option<Contract> {
    run.state().contract(question.subject.execution_id()?).cloned()
}
