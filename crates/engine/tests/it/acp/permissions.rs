//! Permissions that an agent asks for.

use std::sync::Arc;

use adjourn_core::{PermissionRequest, Profile};
use adjourn_engine::{
    AcpConfig, AcpEngine, Decision, Engine, Finished, Gateway, PermissionAnswer, PermissionRule, Seen,
    ToolKind, Turn,
};
use adjourn_testkit::acp::{Act, Asks};
use serde_json::json;

use super::{completed, config, handle, process, say, script};
use crate::agent::{Stage, supervisor};
use crate::turns::{Going, turn};

fn asks(title: &str) -> Asks {
    Asks { title: title.to_owned(), kind: "execute".to_owned(), input: json!({ "of": title }), path: None }
}

fn asking(stage: &Stage, titles: &[&str]) -> Arc<dyn Engine> {
    let asks = Act::Ask(titles.iter().map(|title| asks(title)).collect());
    let acts = vec![asks, say("done")];
    Arc::new(AcpEngine::new(config(stage, &script(stage, vec![acts])), supervisor(), Gateway::new()))
}

fn requests(finished: Finished) -> Vec<PermissionRequest> {
    match finished {
        Finished::NeedsPermission(requests) => requests,
        other => panic!("it asks for nothing: {other:?}"),
    }
}

fn decision(request: &PermissionRequest, option: Option<&str>) -> Decision {
    Decision { digest: request.digest, option: option.map(str::to_owned) }
}

/// What the agent says it was told.
fn told(seen: &[Seen], expected: &str) -> bool {
    format!("{seen:?}").contains(expected)
}

#[tokio::test]
async fn a_question_has_the_options_of_the_agent() {
    let stage = Stage::new();
    let finished = Going::start(asking(&stage, &["push"]), turn(&stage, "go")).until_it_ends().await.1;
    let [request] = &requests(finished)[..] else { panic!("it is one request") };
    let options: Vec<_> = request
        .question
        .options
        .iter()
        .map(|option| (option.value.as_str().unwrap(), option.label.as_str()))
        .collect();
    assert_eq!(options, [("allow", "Allow"), ("always", "Always allow"), ("reject", "Reject")]);
    let prompt = &request.question.prompt;
    assert!(
        prompt.contains("asks for your permission: push") && prompt.contains(r#""of": "push""#),
        "{prompt}"
    );
}

#[tokio::test]
async fn without_a_process_that_stays_the_turn_ends_and_the_same_request_passes_once() {
    let stage = Stage::new();
    let engine = asking(&stage, &["push"]);
    let (first, finished) = Going::start(engine.clone(), turn(&stage, "go")).until_it_ends().await;
    let asked = requests(finished);
    assert_eq!(stage.processes(), [0; 0], "nothing waits for a person");
    assert!(!told(&first, "push: allow"));

    let next = Turn { handle: handle(&first), ..turn(&stage, "go on") };
    let decisions = vec![decision(&asked[0], Some("allow"))];
    let (second, finished) =
        Going::start(engine.clone(), Turn { decisions, ..next.clone() }).until_it_ends().await;
    assert_eq!(finished, completed("done"));
    assert!(told(&second, "push: allow"));

    let again = Going::start(engine, next).until_it_ends().await.1;
    assert_eq!(requests(again)[0].digest, asked[0].digest, "a yes is for one time");
}

#[tokio::test]
async fn a_yes_does_not_pass_twice_in_one_turn() {
    let stage = Stage::new();
    let push = || Act::Ask(vec![asks("push")]);
    let prompts = vec![vec![push()], vec![push(), push(), say("done")]];
    let engine =
        Arc::new(AcpEngine::new(config(&stage, &script(&stage, prompts)), supervisor(), Gateway::new()));
    let (first, finished) = Going::start(engine.clone(), turn(&stage, "go")).until_it_ends().await;
    let asked = requests(finished);
    let decisions = vec![decision(&asked[0], Some("allow"))];
    let next = Turn { handle: handle(&first), decisions, ..turn(&stage, "go on") };
    let (second, finished) = Going::start(engine, next).until_it_ends().await;
    assert!(told(&second, "push: allow"));
    assert_eq!(requests(finished), asked);
}

#[tokio::test]
async fn a_no_and_no_answer_are_told_as_a_no() {
    let stage = Stage::new();
    let engine = asking(&stage, &["push"]);
    let (first, finished) = Going::start(engine.clone(), turn(&stage, "go")).until_it_ends().await;
    let asked = requests(finished);
    for option in [Some("reject"), None] {
        let decisions = vec![decision(&asked[0], option)];
        let next = Turn { handle: handle(&first), decisions, ..turn(&stage, "go on") };
        let (second, finished) = Going::start(engine.clone(), next).until_it_ends().await;
        assert_eq!(finished, completed("done"));
        assert!(told(&second, "push: reject"), "{second:?}");
    }
}

#[tokio::test]
async fn a_process_that_stays_waits_for_each_answer_in_its_turn() {
    let stage = Stage::new();
    let engine = asking(&stage, &["push", "tag"]);
    let sticky = Turn { profile: Profile::StickyProcess, ..turn(&stage, "go") };
    let (first, finished) = Going::start(engine.clone(), sticky.clone()).until_it_ends().await;
    let asked = requests(finished);
    assert_eq!(asked.len(), 2, "what is asked at once is told at once");
    let process = process(&first);

    let second = Turn {
        process: Some(process),
        decisions: vec![decision(&asked[1], Some("always"))],
        ..sticky.clone()
    };
    let (_, finished) = Going::start(engine.clone(), second).until_it_ends().await;
    assert_eq!(requests(finished), [], "one of them still waits, and that was told");

    let third =
        Turn { process: Some(process), decisions: vec![decision(&asked[0], Some("reject"))], ..sticky };
    let (seen, finished) = Going::start(engine.clone(), third).until_it_ends().await;
    assert_eq!(finished, completed("done"), "it is the same turn of the same process");
    assert!(told(&seen, "push: reject") && told(&seen, "tag: always"), "{seen:?}");
    engine.end(turn(&stage, "").run_id).await;
    assert_eq!(stage.processes(), [0; 0]);
}

#[tokio::test]
async fn the_configuration_answers_what_it_can() {
    let stage = Stage::new();
    let acts = vec![Act::Ask(vec![asks("push")]), say("done")];
    let script = script(&stage, vec![acts]);
    for (answer, expected) in
        [(PermissionAnswer::Allow, "push: allow"), (PermissionAnswer::Deny, "push: reject")]
    {
        let rule = PermissionRule { kind: Some(ToolKind::Execute), path: None, answer };
        let config = AcpConfig { rules: vec![rule], ..config(&stage, &script) };
        let engine = Arc::new(AcpEngine::new(config, supervisor(), Gateway::new()));
        let (seen, finished) = Going::start(engine, turn(&stage, "go")).until_it_ends().await;
        assert_eq!(finished, completed("done"));
        assert!(told(&seen, expected), "{seen:?}");
    }
}

#[tokio::test]
async fn a_permission_that_is_too_long_to_be_shown_is_refused_and_the_agent_is_told() {
    let stage = Stage::new();
    let long = Asks { input: json!({ "command": "x".repeat(70_000) }), ..asks("run it") };
    let acts = vec![Act::Ask(vec![long]), say("done")];
    let engine: Arc<dyn Engine> =
        Arc::new(AcpEngine::new(config(&stage, &script(&stage, vec![acts])), supervisor(), Gateway::new()));
    let (seen, finished) = Going::start(engine, turn(&stage, "go")).until_it_ends().await;
    assert_eq!(finished, completed("done"));
    assert!(told(&seen, "too long to be shown to a person"), "{seen:?}");
}
