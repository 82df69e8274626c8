//! Tools that want to know something before they act.

use adjourn_core::{Action, ContractStatus, RunStatus, Subject};
use adjourn_testkit::mcp::OLDER;
use adjourn_testkit::model::{ModelServer, Reply, Script};
use serde_json::json;

use crate::stage::world::{says_done, settings, told, way};
use crate::stage::{Stage, until};

fn asks(tool: &str) -> ModelServer {
    ModelServer::start(Script::new([Reply::call(tool, json!({})), says_done("done")])).unwrap()
}

/// A stage whose tool server speaks the newest protocol, or one that asks in the middle of calls.
fn stage(model: &ModelServer, flag: Option<&str>) -> Stage {
    let stage = Stage::closed("");
    stage.give_tools(&model.url(), "");
    let folder = format!("\"{}\"]", stage.path().display());
    let with_flag = match flag {
        Some(flag) => format!("{}, \"{flag}\"]", folder.trim_end_matches(']')),
        None => folder.clone(),
    };
    stage.configure(
        &settings(stage.path(), &model.url(), "irreversible = [\"ask*\"]").replace(&folder, &with_flag),
    );
    stage.open();
    stage
}

#[test]
fn a_tools_own_question_is_asked_and_its_call_made_again_with_the_answer_also_after_a_restart() {
    for flag in [None, Some(OLDER)] {
        let model = asks("ask_twice");
        let stage = stage(&model, flag);
        let run = stage.start(json!({}));
        for (prompt, answer) in
            [("What is your name?", json!({ "name": "Ada" })), ("How old are you?", json!({ "age": "36" }))]
        {
            let question = run.until("the tool's next question", |run| {
                let open = run.open_interactions().next().cloned();
                open.filter(|open| run.status() == RunStatus::WaitingUser && open.question.prompt == prompt)
            });
            assert!(matches!(question.subject, Subject::Elicitation(_)));
            assert_eq!(run.contract().dispatched_at, None, "it is known that nothing happened yet");
            stage.restart();
            assert!(run.reply(json!({ "nonsense": 1 })).is_err(), "an answer has to fit the tool's form");
            run.reply(answer).unwrap();
        }
        assert_eq!(run.ends().status(), RunStatus::Succeeded);
        assert_eq!(stage.effects(), ["[\"Ada\",\"36\"]"], "{flag:?}");
        let contract = run.contract();
        assert_eq!(contract.status, ContractStatus::Completed);
        let suspended = way(&contract).into_iter().filter(|step| step.contains("suspend by tool_node"));
        assert_eq!(suspended.count(), 2);
        assert_eq!(told(&model, 1)[0]["result"], json!({ "answers": ["Ada", "36"] }));
    }
}

#[test]
fn a_person_who_will_not_answer_a_tool_rejects_its_call() {
    let model = asks("ask");
    let stage = stage(&model, None);
    let run = stage.start(json!({}));
    let question = run.waits();
    run.decide(question.interaction_id, Action::Reject, json!("none of its business")).unwrap();
    run.ends();
    assert_eq!((run.contract().status, stage.effects()), (ContractStatus::Rejected, Vec::new()));
    assert_eq!(told(&model, 1)[0]["error_message"], "none of its business");
}

#[test]
fn in_auto_mode_nobody_answers_a_tool() {
    let model = asks("ask");
    let stage = stage(&model, None);
    let run = stage.start(json!({ "execution_mode": "auto" }));
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    let contract = run.contract();
    assert_eq!(
        (contract.result, stage.effects()),
        (Some(json!("then not")), Vec::new()),
        "the tool is told so"
    );
}

#[test]
fn xx_07_a_crash_while_the_tool_server_starts_leaves_no_doubt_about_the_call() {
    let model = asks("ask");
    let stage = Stage::closed("");
    stage.give_tools(&model.url(), "");
    // A server that says that it is being started, and goes on when it may.
    let (starting, hold) = (stage.path().join("starting"), stage.path().join("hold"));
    let script = format!(
        "#!/bin/sh\ntouch {}\nwhile [ -e {} ]; do sleep 0.02; done\nexec \"$@\"\n",
        starting.display(),
        hold.display()
    );
    let wrapper = stage.path().join("slow-start");
    std::fs::write(&wrapper, script).unwrap();
    std::fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let command = format!("command = [\"{}\", \"", wrapper.display());
    let settings = settings(stage.path(), &model.url(), "irreversible = [\"ask*\"]");
    stage.configure(&settings.replace("command = [\"", &command));
    stage.open();
    let run = stage.start(json!({}));
    run.waits();
    stage.close();

    std::fs::write(&hold, "").unwrap();
    std::fs::remove_file(&starting).unwrap();
    stage.open();
    run.reply(json!({ "name": "Ada" })).unwrap();
    until("the server is being started", || starting.exists().then_some(()));
    stage.close();

    std::fs::remove_file(&hold).unwrap();
    stage.open();
    let ended = run.until("the end, or a question", |run| {
        let is_over = run.status().is_terminal() || run.status() == RunStatus::WaitingUser;
        is_over.then(|| run.clone())
    });
    let asked: Vec<_> = ended.interactions().iter().map(|asked| asked.subject.source()).collect();
    assert_eq!((ended.status(), asked.len()), (RunStatus::Succeeded, 1), "a person was asked: {asked:?}");
    assert_eq!(stage.effects(), ["[\"Ada\"]"], "the call is made once");
}
