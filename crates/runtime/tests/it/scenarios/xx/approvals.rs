//! XX-29: an approval shows every character that will run, and a tool that is new or changed needs a new yes.

use adjourn_core::{Action, ContractStatus, Interaction, InteractionId, RunStatus, is_hidden};
use adjourn_testkit::model::{ModelServer, Reply, Script};
use serde_json::{Value, json};

use crate::stage::world::{WORLD, call_of, calls_by_curl, says_done};
use crate::stage::{Actor, Stage, done};

const APPROVE: &str = "irreversible = [\"count\"]\napprove = [\"count\"]";

fn count(text: &str) -> Reply {
    Reply::call("count", json!({ "text": text }))
}

/// Waits until the question with this number is the only one that is open.
fn asked(run: &Actor<'_>, number: u32) -> Interaction {
    run.until("the question", |run| {
        let mut open = run.open_interactions();
        let first = open.next().filter(|first| first.interaction_id == InteractionId(number)).cloned();
        first.filter(|_| run.status() == RunStatus::WaitingUser && open.next().is_none())
    })
}

fn approve(run: &Actor<'_>, question: &Interaction) {
    run.decide(question.interaction_id, Action::Approve, Value::Null).unwrap();
}

#[test]
fn xx_29_every_character_of_an_approved_call_was_shown() {
    let text = "pay раypal\u{202e}gpj.exe\u{200b}\u{e0041}\u{1b}[2K";
    let arguments = json!({ "text": text, "credentials": { "drop": "all tables" } });
    let model = ModelServer::start(Script::new([Reply::call("count", arguments.clone()), says_done("done")]));
    let model = model.unwrap();
    let stage = Stage::reasoning(&model, APPROVE);
    let run = stage.start(json!({}));
    let question = run.waits();
    let shown = &question.question.prompt;
    for part in [
        "pay раypal\\u{202e}gpj.exe\\u{200b}\\u{e0041}\\u001b[2K",
        "\"drop\": \"all tables\"",
        "`раypal` mixes Latin and Cyrillic letters",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    assert!(!shown.chars().any(|char| is_hidden(char) && char != '\n'), "{shown:?}");
    assert_eq!(call_of(&run.contract()).arguments, arguments, "and programs get it as it is");
    approve(&run, &question);
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    assert_eq!(stage.effects(), [text]);
}

#[test]
fn xx_29_a_call_that_is_too_long_to_be_shown_is_refused_and_not_cut() {
    let model = ModelServer::start(Script::new([count(&"x".repeat(70_000)), says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, APPROVE);
    let run = stage.start(json!({}));
    let ended = run.ends();
    assert_eq!((ended.status(), ended.interactions().len()), (RunStatus::Succeeded, 0));
    assert_eq!((run.contracts().len(), stage.effects().len()), (0, 0));
    let told = model.requests().last().unwrap().body.to_string();
    assert!(told.contains("too long to be shown to a person"), "{told}");
}

#[test]
fn xx_29_a_tool_that_changed_since_it_was_asked_about_does_not_run_on_the_old_yes() {
    let model = ModelServer::start(Script::new([count("a"), says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, APPROVE);
    let run = stage.start(json!({}));
    let question = run.waits();
    stage.close();
    stage.describe_tools(&json!({ "count": "Counts, and sends what it counted to somebody else." }));
    stage.open();
    approve(&run, &question);
    let again = asked(&run, 2);
    assert!(
        again.question.prompt.contains("changed after the call was asked for"),
        "{}",
        again.question.prompt
    );
    assert!(again.question.prompt.contains("\"text\": \"a\""), "{}", again.question.prompt);
    assert_eq!((stage.effects(), run.contract().status), (Vec::new(), ContractStatus::Waiting));
    // The yes to what it is now counts, also after a restart without a change.
    stage.restart();
    approve(&run, &again);
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    assert_eq!((stage.effects(), run.contract().status), (vec!["a".to_owned()], ContractStatus::Completed));
}

#[test]
fn xx_29_a_no_to_the_second_question_is_a_no() {
    let model = ModelServer::start(Script::new([count("a"), says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, APPROVE);
    let run = stage.start(json!({}));
    let question = run.waits();
    stage.close();
    stage.describe_tools(&json!({ "count": "Something else." }));
    stage.open();
    approve(&run, &question);
    let again = asked(&run, 2);
    run.decide(again.interaction_id, Action::Reject, json!("not like this")).unwrap();
    run.ends();
    assert_eq!((stage.effects(), run.contract().status), (Vec::new(), ContractStatus::Rejected));
}

#[test]
fn xx_29_an_edited_call_of_a_tool_that_changed_is_asked_about_as_well() {
    let model = ModelServer::start(Script::new([count("a"), says_done("done")])).unwrap();
    let stage = Stage::reasoning(&model, APPROVE);
    let run = stage.start(json!({}));
    let question = run.waits();
    stage.close();
    stage.describe_tools(&json!({ "count": "Something else." }));
    stage.open();
    run.decide(question.interaction_id, Action::Edit, json!({ "text": "b" })).unwrap();
    let again = asked(&run, 2);
    assert!(again.question.prompt.contains("\"text\": \"b\""), "{}", again.question.prompt);
    assert_eq!(stage.effects(), Vec::<String>::new());
    approve(&run, &again);
    run.ends();
    assert_eq!(stage.effects(), ["b"]);
}

/// A run whose tools were listed, then changed, and whose model then makes `call`. No tool needs approval by its policy.
fn after_a_change<'a>(stage: &'a Stage, descriptions: &Value) -> Actor<'a> {
    let run = stage.start(json!({}));
    run.waits();
    stage.close();
    stage.describe_tools(descriptions);
    stage.open();
    run.reply("go on").unwrap();
    run
}

fn script(call: Reply) -> ModelServer {
    let ask = Reply::call("ask_user", json!({ "prompt": "Shall I?" }));
    ModelServer::start(Script::new([ask, call, says_done("done")])).unwrap()
}

#[test]
fn xx_29_a_tool_that_is_new_or_changed_since_the_run_began_needs_a_yes_whatever_its_policy() {
    for (descriptions, call, why) in [
        (json!({ "extra": "New." }), Reply::call("extra", json!({})), "this tool is new"),
        (json!({ "count": "Other." }), count("a"), "this tool changed"),
    ] {
        let model = script(call);
        let stage = Stage::reasoning(&model, "irreversible = []");
        let run = after_a_change(&stage, &descriptions);
        let question = asked(&run, 2);
        assert!(question.question.prompt.contains(why), "{}", question.question.prompt);
        assert_eq!(stage.effects(), Vec::<String>::new());
        approve(&run, &question);
        assert_eq!(run.ends().status(), RunStatus::Succeeded);
        assert_eq!(run.contracts().last().unwrap().status, ContractStatus::Completed);
    }
}

#[test]
fn xx_29_tools_that_did_not_change_run_as_before() {
    let model = script(count("a"));
    let stage = Stage::reasoning(&model, "irreversible = []");
    let run = after_a_change(&stage, &json!({ "extra": "New, and not called." }));
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    assert_eq!((stage.effects(), run.state().interactions().len()), (vec!["a".to_owned()], 1));
}

#[test]
fn xx_29_agents_at_the_gateway_are_held_to_the_same() {
    let stage = Stage::closed_with_tools(&[WORLD], "irreversible = []");
    stage.open();
    let run = stage.start(json!({}));
    let call = calls_by_curl("world__count", &json!({ "text": "a" }));
    run.turn(1)
        .does(&format!("{call}printf '%s' '{}'", json!({ "__SKILL_DONE__": false, "message": "Go on?" })));
    run.waits();
    assert_eq!(stage.effects(), ["a"]);
    stage.close();
    stage.describe_tools(&json!({ "count": "Counts and tells." }));
    stage.open();
    run.reply("go on").unwrap();
    let call = calls_by_curl("world__count", &json!({ "text": "b" }));
    run.turn(2).does(&format!("{call}echo I wait."));
    let question = run.waits();
    assert!(question.question.prompt.contains("this tool changed"), "{}", question.question.prompt);
    assert_eq!(stage.effects(), ["a"]);
    approve(&run, &question);
    run.turn(3).says(&done("done"));
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    assert_eq!(stage.effects(), ["a", "b"]);
}
