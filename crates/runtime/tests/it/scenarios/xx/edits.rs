//! XX: approvals that a person answers with other arguments.

use adjourn_core::{Action, ContractStatus, FieldError, RunStatus};
use adjourn_runtime::ServiceError;
use adjourn_testkit::model::{ModelServer, Reply, Script};
use serde_json::{Value, json};

use super::secrets::{CORES, hides, hides_database};
use crate::stage::Stage;
use crate::stage::world::{call_of, says_done};

const APPROVE: &str = "irreversible = [\"count\"]\napprove = [\"count\"]";

fn model() -> ModelServer {
    let script = Script::new([Reply::call("count", json!({ "text": "ann" })), says_done("done")]);
    ModelServer::start(script).unwrap()
}

#[test]
fn xx_15_a_secret_in_an_edit_reaches_the_tool_and_nothing_else() {
    let model = model();
    let stage = Stage::reasoning(&model, APPROVE);
    let secret = format!("pass {}", CORES[1]);
    let run = stage.start(json!({ "input": { "api_key": secret } }));
    let question = run.waits();
    let edit = json!({ "text": format!("send {secret}") });
    run.decide(question.interaction_id, Action::Edit, edit).unwrap();
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    assert_eq!(stage.effects(), [format!("send {secret}")]);

    let made = &run.contracts()[1];
    assert_eq!(made.status, ContractStatus::Completed);
    assert_eq!(call_of(made).arguments, json!({ "text": "send ⟦masked⟧" }));
    hides(format!("{:?} {:?}", run.frames(), run.state()).as_bytes(), "what is shown");
    hides_database(&stage.data());
    stage.restart();
    hides_database(&stage.data());
    let kept = stage.data().join(format!("runs/{}/calls", run.id));
    assert_eq!(std::fs::read_dir(kept).unwrap().count(), 0, "what was kept for the call went with it");
}

#[test]
fn xx_15_an_edit_that_is_refused_leaves_no_secret_behind() {
    let model = model();
    let stage = Stage::reasoning(&model, APPROVE);
    let secret = format!("pass {}", CORES[1]);
    let run = stage.start(json!({ "input": { "api_key": secret } }));
    let question = run.waits();
    run.decide(question.interaction_id, Action::Reject, Value::Null).unwrap();
    run.decide(question.interaction_id, Action::Edit, json!({ "text": secret })).unwrap_err();
    run.ends();
    let kept = std::fs::read_dir(stage.data().join(format!("runs/{}/calls", run.id)));
    assert_eq!(kept.map_or(0, Iterator::count), 0);
    hides_database(&stage.data());
}

#[test]
fn xx_04_an_edit_that_the_tool_does_not_take_is_refused_and_the_question_stays_open() {
    let model = model();
    let stage = Stage::reasoning(&model, APPROVE);
    let run = stage.start(json!({}));
    let question = run.waits();
    for wrong in [json!({}), json!({ "text": 7 }), json!(["bob"])] {
        let refused = run.decide(question.interaction_id, Action::Edit, wrong.clone());
        let errors = match refused {
            Err(ServiceError::Invalid(errors)) => errors,
            other => panic!("{wrong}: {other:?}"),
        };
        assert!(errors.iter().all(|FieldError { path, .. }| path.starts_with("/response")), "{errors:?}");
        assert_eq!(run.waits().interaction_id, question.interaction_id, "{wrong}");
        assert_eq!(run.contracts().len(), 1, "{wrong}");
    }
    run.decide(question.interaction_id, Action::Edit, json!({ "text": "bob" })).unwrap();
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    assert_eq!(stage.effects(), ["bob"]);
}
