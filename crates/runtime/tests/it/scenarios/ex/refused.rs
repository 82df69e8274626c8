//! EX: calls that are refused are steps of the trace, with their reasons.

use adjourn_core::{Actor as Party, Event, Record, RefusedCall, RunStatus};
use adjourn_store::After;
use adjourn_testkit::acp::{Act, TakesUp};
use adjourn_testkit::model::{ModelServer, Reply, Script};
use serde_json::{Value, json};

use crate::stage::world::{WORLD, calls, calls_by_curl, says_done, told};
use crate::stage::{Actor, Stage, until};

/// The refused calls in the trace of a run.
fn refused(stage: &Stage, run: &Actor<'_>) -> Vec<RefusedCall> {
    let service = stage.service();
    let (_, trace) = service.traced(run.id).unwrap();
    let refused = trace.into_iter().filter_map(|step| {
        let refused = step.metadata.refused?;
        assert_eq!((step.node_id, step.metadata.trigger.as_str()), (Party::ToolNode, "refuse"));
        assert_eq!((step.metadata.execution_id, step.metadata.to), (None, None), "it has no contract");
        assert!(step.action.contains(&refused.tool) && step.action.contains(&refused.reason));
        Some(refused)
    });
    refused.collect()
}

#[test]
fn ex_11_every_call_that_the_reasoner_is_told_was_refused_is_a_step_with_the_reason() {
    let again = || Reply::call("count", json!({ "text": "a" }));
    let wrong = calls(&[("world__cuont", json!({ "text": "a" })), ("count", json!({ "text": 7 }))]);
    let badly = Reply::call("ask_user", json!({ "kind": "confirm" }));
    let model = ModelServer::start(Script::new([again(), again(), wrong, badly, says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, "irreversible = [\"count\"]");
    let run = stage.start(json!({}));
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    let refused = refused(&stage, &run);
    let done = run.contract().spec.execution_id;
    let expected =
        [("world__count", Some(done)), ("world__cuont", None), ("world__count", None), ("ask_user", None)];
    let mut found: Vec<_> = refused.iter().map(|call| (call.tool.as_str(), call.same_as)).collect();
    // The two of one reply are made at the same time.
    found[1..3].sort_by_key(|(tool, _)| *tool != "world__cuont");
    assert_eq!(found, expected);
    assert_eq!(refused[0].reason, format!("the same call was made before, by {}, and is COMPLETED", run.id));
    assert_eq!(refused[0].arguments, r#"{"text":"a"}"#);
    // What the model was told of those without a contract is what the journal has.
    let told = told(&model, 4);
    for call in &refused[1..] {
        let is_told = told.iter().any(|told| told["error_message"] == json!(call.reason));
        assert!(is_told, "{call:?}: {told:?}");
    }
    assert_eq!(stage.effects(), ["a"]);
}

#[test]
fn ex_11_a_call_that_waits_already_is_a_step_when_it_is_asked_for_again() {
    let both = calls(&[("count", json!({ "text": "a" })), ("count", json!({ "text": "a" }))]);
    let model = ModelServer::start(Script::new([both, says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, "irreversible = [\"count\"]\napprove = [\"count\"]");
    let run = stage.start(json!({}));
    run.waits();
    let refused = refused(&stage, &run);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!(refused[0].same_as, Some(run.contract().spec.execution_id));
    assert!(refused[0].reason.ends_with("and is WAITING"), "{}", refused[0].reason);
}

#[test]
fn the_refused_calls_of_an_agent_at_the_gateway_are_steps_too() {
    let stage = Stage::closed_with_tools(&[WORLD], "irreversible = []");
    stage.open();
    let run = stage.start(json!({}));
    let wrong = [
        ("world__cuont", json!({ "text": "a" })),
        ("world__count", json!({ "text": 7 })),
        ("ask_user", json!({ "kind": "confirm" })),
        ("world__count", json!({ "text": "⟦masked⟧" })),
    ];
    let script: String = wrong.iter().map(|(tool, arguments)| calls_by_curl(tool, arguments)).collect();
    // The shell puts the token in: whoever reads the journal must not learn it.
    let betrays =
        calls_by_curl("world__count", &json!({ "text": "HERE" })).replace("HERE", "'\"$ADJOURN_MCP_TOKEN\"'");
    run.turn(1).does(&format!(
        "{script}{betrays}echo \"$ADJOURN_MCP_TOKEN\" >token\nmv token token.done\necho '{}'\n",
        crate::stage::done("x")
    ));
    run.ends();
    let token = until("the token", || std::fs::read_to_string(run.work().join("token.done")).ok());
    let refused = refused(&stage, &run);
    let tools: Vec<_> = refused.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(tools, ["world__cuont", "world__count", "ask_user", "world__count", "world__count"]);
    for (call, words) in
        refused.iter().zip(["did you mean", "/text", "no `prompt`", "write the value", "the token"])
    {
        assert!(call.reason.contains(words), "{call:?}");
    }
    assert_eq!(refused[4].arguments, "null");
    let store = stage.store();
    let entries = store.read(run.id.into(), After::START, usize::MAX).unwrap();
    let journal = format!("{entries:?}");
    assert!(!journal.contains(token.trim()), "the token is nowhere in the journal");
}

#[test]
fn over_acp_a_refused_call_is_a_step_too() {
    let stage = Stage::acp(TakesUp::Resume, "", "");
    let run = stage.start(json!({}));
    run.turn(1).acts(&[Act::UseTool("nothing".into(), json!({})), Act::Say(crate::stage::done("x"))]);
    run.ends();
    let refused = refused(&stage, &run);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!(refused[0].reason, "there is no tool `nothing`; there is only `ask_the_user`");
}

#[test]
fn a_secret_in_a_refused_call_is_masked() {
    let secret = "correct-horse-battery-staple";
    let stage = Stage::closed_with_tools(&[WORLD], &format!("env = {{ PASSWORD = \"{secret}\" }}"));
    stage.open();
    let run = stage.start(json!({}));
    let call = calls_by_curl("world__nothing", &json!({ "text": secret }));
    run.turn(1).does(&format!("{call}echo '{}'\n", crate::stage::done("x")));
    run.ends();
    let service = stage.service();
    let entries = service.store().read(run.id.into(), After::START, usize::MAX).unwrap();
    let events = entries.iter().flat_map(|entry| Record::of(entry).unwrap().events);
    let calls: Vec<_> = events
        .filter_map(|event| match event {
            Event::CallRefused(call) => Some(json!(call)),
            _ => None,
        })
        .collect();
    assert_eq!(calls.len(), 1, "{calls:?}");
    let arguments: Value = serde_json::from_str(calls[0]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments, json!({ "text": "⟦masked⟧" }));
}
