//! EX: one contract that a person cancels.

use adjourn_core::{Action, By, ContractStatus, InteractionStatus, RefusalKind, RunStatus};
use adjourn_testkit::model::{ModelServer, Reply, Script};
use serde_json::{Value, json};

use crate::stage::world::{says_done, settings, told, way};
use crate::stage::{Stage, refusal, until};

#[test]
fn ex_15_a_canceled_contract_takes_no_answer_and_the_reasoner_is_told() {
    let asks = Reply::call("ask_user", json!({ "prompt": "Which colour?" }));
    let model = ModelServer::start(Script::new([asks, says_done("blue")])).unwrap();
    let stage = Stage::reasoning(&model, "");
    let run = stage.start(json!({}));
    run.waits();
    stage.restart();
    let id = run.contract().spec.execution_id;
    let service = stage.service();
    stage.wait(service.cancel_contract(id, By::USER)).unwrap();
    assert_eq!(refusal(run.reply_to(1, "blue")).kind(), RefusalKind::Conflict);
    let ended = run.ends();
    assert_eq!(ended.status(), RunStatus::Succeeded);
    assert_eq!(way(&run.contract()).last().unwrap(), "WAITING → CANCELLED: cancel by user");
    assert_eq!(ended.interactions()[0].status, InteractionStatus::Withdrawn);
    assert_eq!(told(&model, 1)[0]["status"], "CANCELLED");
    assert!(run.changes().contains(&"waiting_user → queued: interaction.reply.accepted".to_owned()));
    assert_eq!(model.requests().len(), 2, "one turn goes on with it");
}

#[test]
fn a_call_that_is_canceled_while_its_tool_server_starts_is_never_made() {
    let count = Reply::call("count", json!({ "text": "a" }));
    let model = ModelServer::start(Script::new([count, says_done("done")])).unwrap();
    let stage = Stage::closed("");
    stage.give_tools(&model.url(), "");
    // A server that says that it is being started, and goes on when it may.
    let (starting, hold) = (stage.path().join("starting"), stage.path().join("hold"));
    let wrapper = stage.path().join("slow-start");
    let script = format!(
        "#!/bin/sh\ntouch {}\nwhile [ -e {} ]; do sleep 0.02; done\nexec \"$@\"\n",
        starting.display(),
        hold.display()
    );
    std::fs::write(&wrapper, script).unwrap();
    std::fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let command = format!("command = [\"{}\", \"", wrapper.display());
    let tools = "irreversible = [\"count\"]\napprove = [\"count\"]";
    stage.configure(&settings(stage.path(), &model.url(), tools).replace("command = [\"", &command));
    stage.open();
    let run = stage.start(json!({}));
    let question = run.waits();
    stage.close();
    std::fs::write(&hold, "").unwrap();
    std::fs::remove_file(&starting).unwrap();
    stage.open();
    run.decide(question.interaction_id, Action::Approve, Value::Null).unwrap();
    until("the server is being started", || starting.exists().then_some(()));
    let service = stage.service();
    stage.wait(service.cancel_contract(run.contract().spec.execution_id, By::USER)).unwrap();
    std::fs::remove_file(&hold).unwrap();
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    assert_eq!((run.contract().status, stage.effects()), (ContractStatus::Cancelled, Vec::new()));
    assert_eq!(run.contract().dispatched_at, None);
    assert_eq!(told(&model, 1)[0]["status"], "CANCELLED");
}
