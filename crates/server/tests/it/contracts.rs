//! Contracts over HTTP: looked at, followed over all attempts and restarts, settled.
//!
//! The calls are recorded as an engine records them, in the journal of the real service.

use adjourn_core::{
    Command, ContractAction, ContractReport, ContractSpec, ExecutionId, IdempotencyKey, KeyScope,
    Observation, Question, RefusedCall, RequestContract, RunId, Survey, ToolCall,
};
use hyper::Method;
use serde_json::{Value, json};

use crate::stage::{Actor, Stage};

/// An engine's hands on one run.
struct Hand<'a> {
    stage: &'a Stage,
    run: RunId,
}

impl<'a> Hand<'a> {
    fn on(stage: &'a Stage, run: &Actor<'_>) -> Self {
        Self { stage, run: run.id.parse().unwrap() }
    }

    async fn does(&self, command: Command) {
        self.stage.service().runtime().ask(self.run, command).await.unwrap();
    }

    async fn requests(&self, bits: u128, action: ContractAction, approval: Option<Question>) -> ExecutionId {
        let (run, execution_id) = (self.stage.service().run(self.run).unwrap(), ExecutionId::from_bits(bits));
        let spec = ContractSpec {
            execution_id,
            irreversible: matches!(action, ContractAction::ToolCall(_)),
            idempotency_key: IdempotencyKey::of("mail", "send", &json!({ "n": bits.to_string() })),
            action,
            scope: run.scope(KeyScope::Run),
            timeout_seconds: None,
            edited_from: None,
            call_ref: None,
            definition: None,
        };
        let turn = run.turn();
        self.does(Command::RequestContract(RequestContract { turn, spec, approval })).await;
        execution_id
    }

    /// Records the irreversible call of `mail.send`, and makes it.
    async fn sends(&self, bits: u128) -> ExecutionId {
        let id = self.requests(bits, mail(), None).await;
        self.does(Command::DispatchContract(id)).await;
        id
    }

    async fn reports(&self, id: ExecutionId, report: ContractReport) {
        self.does(Command::ReportContract { id, report }).await;
    }

    /// Makes a call whose result is lost.
    async fn loses(&self, bits: u128) -> ExecutionId {
        let id = self.sends(bits).await;
        self.reports(id, ContractReport::Lost("the connection broke".to_owned())).await;
        id
    }
}

fn mail() -> ContractAction {
    let arguments = json!({ "to": "ann" });
    ContractAction::ToolCall(ToolCall { service: "mail".to_owned(), method: "send".to_owned(), arguments })
}

/// The steps of a trace, as `node: contract from -> to (trigger)`.
fn steps(trace: &Value) -> Vec<String> {
    let trace = trace.as_array().unwrap();
    let step =
        |step: &Value| format!("{}: {}", step["node_id"].as_str().unwrap(), step["action"].as_str().unwrap());
    trace.iter().map(step).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn ex_09_every_transition_of_a_contract_is_a_step_of_the_trace_and_of_the_graph() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.at_turn(1).await;
    let hand = Hand::on(&stage, &run);
    assert_eq!(stage.get(&run.path("/trace")).await.is(200), json!({ "items": [], "next_cursor": null }));

    let pending = hand.requests(1, mail(), None).await;
    let graph = stage.get(&run.path("/graph")).await.is(200);
    let created = json!({
        "node_id": "reasoning_node",
        "action": format!("{pending}: -> PENDING (create)"),
        "timestamp": "2023-11-14T22:13:20.000Z",
        "metadata": {
            "execution_id": pending, "from": null, "to": "PENDING", "trigger": "create", "actor": "reasoning_node",
        },
    });
    assert_eq!((&graph["status"], &graph["execution_trace"]), (&json!("running"), &json!([created])));
    assert_eq!(graph["pending_executions"][0]["execution_id"], json!(pending));
    assert_eq!(graph["pending_executions"][0]["status"], "PENDING");

    hand.does(Command::DispatchContract(pending)).await;
    hand.reports(pending, ContractReport::Succeeded(json!("sent"))).await;
    let trace = stage.get(&run.path("/trace")).await.is(200)["items"].clone();
    let step = |from: &str, to: &str, trigger: &str| {
        json!({
            "node_id": "tool_node",
            "action": format!("{pending}: {from} -> {to} ({trigger})"),
            "timestamp": "2023-11-14T22:13:20.000Z",
            "metadata": {
                "execution_id": pending, "from": from, "to": to, "trigger": trigger, "actor": "tool_node",
            },
        })
    };
    let steps = [created, step("PENDING", "RUNNING", "start"), step("RUNNING", "COMPLETED", "succeed")];
    assert_eq!(trace, json!(steps));

    let graph = stage.get(&run.path("/graph")).await.is(200);
    assert_eq!(graph["execution_trace"], trace);
    assert_eq!(graph["pending_executions"], json!([]));
    let contract = stage.get(&format!("/v1/contracts/{pending}")).await.is(200);
    assert_eq!(graph["completed_executions"], json!([contract]));
    assert_eq!((&contract["run_id"], &contract["result"]), (&json!(run.id), &json!("sent")));
    assert_eq!(stage.get(&run.path("/contracts")).await.is(200)["items"], json!([contract]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_refused_is_a_step_of_the_trace_and_of_the_graph() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.at_turn(1).await;
    let call = RefusedCall {
        tool: "mail__sned".to_owned(),
        arguments: r#"{"to":"ann"}"#.to_owned(),
        reason: "there is no tool `mail__sned`".to_owned(),
        same_as: None,
    };
    Hand::on(&stage, &run).does(Command::RefuseCall { turn: 1, call: call.clone() }).await;
    let trace = stage.get(&run.path("/trace")).await.is(200)["items"].clone();
    let expected = json!([{
        "node_id": "tool_node",
        "action": "mail__sned: refused (there is no tool `mail__sned`)",
        "timestamp": "2023-11-14T22:13:20.000Z",
        "metadata": {
            "execution_id": null, "from": null, "to": null, "trigger": "refuse", "actor": "tool_node", "refused": call,
        },
    }]);
    assert_eq!(trace, expected);
    let graph = stage.get(&run.path("/graph")).await.is(200);
    assert_eq!(graph["execution_trace"], expected);
    assert_eq!((&graph["pending_executions"], &graph["completed_executions"]), (&json!([]), &json!([])));
}

#[tokio::test(flavor = "multi_thread")]
async fn ex_10_the_trace_of_a_run_that_ended_holds_all_attempts_and_restarts_in_order() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.at_turn(1).await;
    let hand = Hand::on(&stage, &run);
    // Two calls side by side: their steps are committed in turns, all in the same millisecond.
    let (one, other) = (hand.sends(9).await, hand.sends(3).await);
    hand.reports(one, ContractReport::Failed("no such address".to_owned())).await;
    hand.reports(other, ContractReport::Succeeded(json!("sent"))).await;
    let form = hand.requests(4, ContractAction::EcsRequest(Question::confirm("Send more?")), None).await;
    run.finishes(1).await;
    run.becomes("waiting_user").await;
    assert_eq!(stage.get(&run.path("/graph")).await.is(200)["status"], "suspended");

    let id = run.id.clone();
    let stage = stage.restarted().await;
    let run = stage.actor(&id);
    run.reply(json!({ "interaction_id": 1, "response": true })).await.is(202);
    run.at_turn(2).await;
    let last = Hand::on(&stage, &run).sends(5).await;
    Hand::on(&stage, &run).reports(last, ContractReport::Rejected("not again".to_owned())).await;
    run.finishes(2).await;
    run.becomes("succeeded").await;

    let graph = stage.get(&run.path("/graph")).await.is(200);
    assert_eq!(graph["status"], "completed");
    assert_eq!(graph["completed_executions"].as_array().unwrap().len(), 4);
    let expected = [
        format!("reasoning_node: {one}: -> PENDING (create)"),
        format!("tool_node: {one}: PENDING -> RUNNING (start)"),
        format!("reasoning_node: {other}: -> PENDING (create)"),
        format!("tool_node: {other}: PENDING -> RUNNING (start)"),
        format!("tool_node: {one}: RUNNING -> FAILED (fail)"),
        format!("tool_node: {other}: RUNNING -> COMPLETED (succeed)"),
        format!("reasoning_node: {form}: -> PENDING (create)"),
        format!("ecs_node: {form}: PENDING -> RUNNING (start)"),
        format!("ecs_node: {form}: RUNNING -> WAITING (suspend)"),
        format!("user: {form}: WAITING -> RUNNING (resume)"),
        format!("ecs_node: {form}: RUNNING -> COMPLETED (succeed)"),
        format!("reasoning_node: {last}: -> PENDING (create)"),
        format!("tool_node: {last}: PENDING -> RUNNING (start)"),
        format!("tool_node: {last}: RUNNING -> REJECTED (reject)"),
    ];
    assert_eq!(steps(&graph["execution_trace"]), expected);
    assert_eq!(stage.get(&run.path("/trace")).await.is(200)["items"], graph["execution_trace"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_result_was_lost_is_settled_after_the_end_of_its_run() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.at_turn(1).await;
    let call = Hand::on(&stage, &run).loses(1).await;
    run.finishes(1).await;
    run.becomes("succeeded").await;
    let path = format!("/v1/contracts/{call}");
    let lost = stage.get(&path).await.is(200);
    assert_eq!(
        (&lost["status"], &lost["outcome"], &lost["settled"]),
        (&json!("FAILED"), &json!("unknown"), &Value::Null)
    );

    stage.advance(60);
    let settle = format!("{path}/settle");
    let said = json!({ "outcome": "happened", "note": "it is in the sent folder" });
    let settled = stage.post(&settle, &said).await.is(200);
    assert_eq!((&settled["status"], &settled["outcome"]), (&json!("FAILED"), &json!("known")));
    assert_eq!((&settled["settled"], &settled["result"]), (&json!("happened"), &said["note"]));
    assert_eq!(stage.get(&path).await.is(200), settled);

    // Whoever did not get the answer says it again. The note of the first time stays.
    assert_eq!(stage.post(&settle, &json!({ "outcome": "happened" })).await.is(200), settled);
    let other = stage.post(&settle, &json!({ "outcome": "did_not_happen" })).await;
    let problem = other.is_problem(409, "NOTHING_TO_SETTLE");
    let why = "it was settled before, as happened, and that stays";
    assert_eq!(problem["detail"], format!("there is nothing to settle about {call}: {why}"));
    assert_eq!(stage.get(&path).await.is(200), settled);

    let trace = stage.get(&run.path("/trace")).await.is(200)["items"].clone();
    // The user is whoever runs the tests.
    let by = trace.as_array().unwrap().last().unwrap()["metadata"]["settlement"]["by"].clone();
    assert_eq!((&by["kind"], &by["via"]), (&json!("user"), &json!("socket")));
    assert!(by["name"].as_str().is_some_and(|name| !name.is_empty()), "{by}");
    let expected = json!({
        "node_id": "user",
        "action": format!("{call}: FAILED, settled as happened"),
        "timestamp": "2023-11-14T22:14:20.000Z",
        "metadata": {
            "execution_id": call, "from": "FAILED", "to": "FAILED", "trigger": "settle", "actor": "user",
            "settlement": { "outcome": "happened", "note": said["note"], "by": by },
        },
    });
    assert_eq!(trace.as_array().unwrap().last(), Some(&expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_known_or_not_over_is_not_settled() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.at_turn(1).await;
    let hand = Hand::on(&stage, &run);
    let done = hand.sends(1).await;
    hand.reports(done, ContractReport::Succeeded(json!("sent"))).await;
    let doubtful = hand.sends(2).await;
    let why = async |id: ExecutionId| {
        let answer =
            stage.post(&format!("/v1/contracts/{id}/settle"), &json!({ "outcome": "happened" })).await;
        let problem = answer.is_problem(409, "NOTHING_TO_SETTLE");
        problem["detail"].as_str().unwrap().split_once(&format!("{id}: ")).unwrap().1.to_owned()
    };
    assert_eq!(why(done).await, "it is COMPLETED, and what became of it is known");
    let running = "it is RUNNING, and only a call that is over and whose result was lost is settled";
    assert_eq!(why(doubtful).await, running);

    // As after a crash between the call and its result, of an agent that can be resumed.
    let observations = vec![Observation::Handle("conversation".to_owned())];
    hand.does(Command::Observe { turn: 1, observations }).await;
    hand.does(Command::Recover(Survey::INTACT)).await;
    let asked = format!("whether it happened is question 1 of {}, which waits for a reply", run.id);
    assert_eq!(why(doubtful).await, asked);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_settlement_is_of_a_contract_that_is_there_and_says_what_happened() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.at_turn(1).await;
    let call = Hand::on(&stage, &run).loses(1).await;
    let said = json!({ "outcome": "happened" });
    for unknown in [ExecutionId::from_bits(77).to_string(), run.id.clone(), "x".to_owned()] {
        let path = format!("/v1/contracts/{unknown}");
        stage.get(&path).await.is_problem(404, "UNKNOWN_CONTRACT");
        stage.post(&format!("{path}/settle"), &said).await.is_problem(404, "UNKNOWN_CONTRACT");
    }
    let none = RunId::from_bits(77);
    for path in ["contracts", "trace", "graph"] {
        stage.get(&format!("/v1/runs/{none}/{path}")).await.is_problem(404, "UNKNOWN_RUN");
    }
    let settle = format!("/v1/contracts/{call}/settle");
    let errors =
        async |body: Value| stage.post(&settle, &body).await.is_problem(422, "INVALID")["errors"].clone();
    assert_eq!(
        errors(json!([])).await,
        json!([{ "path": "", "message": "should be an object, it is a list" }])
    );
    assert_eq!(errors(json!({})).await, json!([{ "path": "/outcome", "message": "is missing" }]));
    let wrong = errors(json!({ "outcome": "maybe", "note": 1, "by": "me" })).await;
    assert_eq!(wrong.as_array().unwrap().len(), 3, "{wrong}");
    assert_eq!(stage.get(&format!("/v1/contracts/{call}")).await.is(200)["outcome"], "unknown");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_contract_that_waits_is_canceled_by_its_id_and_the_agent_is_told() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.at_turn(1).await;
    let hand = Hand::on(&stage, &run);
    let form = hand.requests(4, ContractAction::EcsRequest(Question::confirm("Send more?")), None).await;
    let path = format!("/v1/contracts/{form}");
    run.says(1, &json!({ "__SKILL_DONE__": false, "message": "I wait." })).await;
    run.becomes("waiting_user").await;
    let canceled = stage.post(&format!("{path}/cancel"), &json!({})).await.is(200);
    assert_eq!(
        (&canceled["status"], &canceled["error_message"]),
        (&json!("CANCELLED"), &json!("a person canceled it"))
    );
    assert_eq!(canceled["transitions"].as_array().unwrap().last().unwrap()["actor"], "user");
    // Asked for twice is asked for once.
    assert_eq!(stage.post(&format!("{path}/cancel"), &json!({})).await.is(200), canceled);
    run.at_turn(2).await;
    let told = std::fs::read_to_string(run.work().join("prompt.2")).unwrap();
    assert!(told.contains(&form.to_string()) && told.contains("CANCELLED"), "{told}");
    let asked = stage.get(&run.path("/interactions")).await.is(200);
    let about =
        asked["items"].as_array().unwrap().iter().find(|it| it["execution_id"] == json!(form)).unwrap();
    assert_eq!((&about["status"], &about["resolved_by"]["kind"]), (&json!("withdrawn"), &json!("user")));
    let late = stage.post(&format!("{path}/reply"), &json!({ "response": true })).await;
    late.is_problem(409, "NOT_OPEN");
    run.finishes(2).await;
    run.becomes("succeeded").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_being_made_or_over_is_not_canceled() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.at_turn(1).await;
    let hand = Hand::on(&stage, &run);
    let call = hand.sends(1).await;
    let path = format!("/v1/contracts/{call}/cancel");
    let problem = stage.post(&path, &json!({})).await.is_problem(409, "NOT_ALLOWED_NOW");
    assert!(problem["detail"].as_str().unwrap().contains("only with its run"), "{problem}");
    hand.reports(call, ContractReport::Succeeded(json!("sent"))).await;
    let problem = stage.post(&path, &json!({})).await.is_problem(409, "NOT_ALLOWED_NOW");
    assert!(problem["detail"].as_str().unwrap().contains("COMPLETED"), "{problem}");
    let nobody = "/v1/contracts/exec_00000000000000000000000007";
    for what in ["cancel", "reply"] {
        let answer = stage.post(&format!("{nobody}/{what}"), &json!({ "response": 1 })).await;
        answer.is_problem(404, "UNKNOWN_CONTRACT");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_question_about_one_contract_is_answered_by_the_id_of_the_contract() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.at_turn(1).await;
    let hand = Hand::on(&stage, &run);
    let confirm = |text: &str| ContractAction::EcsRequest(Question::confirm(text));
    let (one, other) =
        (hand.requests(4, confirm("One?"), None).await, hand.requests(5, confirm("Two?"), None).await);
    let reply = |id: ExecutionId, key: &'static str, body: Value| {
        let call = stage.call(Method::POST, &format!("/v1/contracts/{id}/reply"));
        async move { call.header("idempotency-key", key).json(&body).send().await }
    };
    // The question of another contract is none of this one, and what is no answer is said with its field.
    let stray = json!({ "interaction_id": 1, "response": true });
    reply(other, "s", stray).await.is_problem(409, "NOT_OPEN");
    reply(other, "b", json!({ "response": "perhaps" })).await.is_problem(422, "INVALID");
    reply(other, "a", json!({ "action": "approve" })).await.is_problem(422, "INVALID");
    let answered = reply(other, "k", json!({ "response": false })).await.is(202);
    assert_eq!((&answered["status"], &answered["result"]), (&json!("COMPLETED"), &json!(false)));
    assert_eq!(reply(other, "k", json!({ "response": false })).await.is(202), answered, "the same key again");
    reply(other, "k", json!({ "response": true })).await.is_problem(409, "KEY_REUSED");
    reply(other, "l", json!({ "response": true })).await.is_problem(409, "NOT_OPEN");
    let first = stage.get(&format!("/v1/contracts/{one}")).await.is(200);
    assert_eq!(first["status"], "WAITING", "the other question is still open");
}
