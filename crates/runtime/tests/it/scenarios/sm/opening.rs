//! Opening a roundtable, and what cannot be opened.

use std::fs;

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::roundtable::Refusal;
use adjourn_runtime::ServiceError;
use adjourn_store::RoundtableFilter;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::stage::table::refusal;

fn problems(stage: &Stage, more: Value) -> Vec<String> {
    match stage.try_table(more, None) {
        Err(ServiceError::Invalid(errors)) => errors.iter().map(ToString::to_string).collect(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was opened"),
    }
}

#[test]
fn what_cannot_be_held_is_refused_with_the_nearest_right_name_and_nothing_is_opened() {
    let stage = Stage::of_players("");
    for (more, expected) in [
        (json!({ "workflow": "spec" }), "/workflow: there is no workflow `spec`; did you mean `specs`?"),
        (
            json!({ "workflow": { "yaml": "name: x\nparticipants: [qa]\nagenda: []" } }),
            "/agenda: has no topic, a roundtable needs at least one",
        ),
        (
            json!({ "limits": { "min_rounds": 7 } }),
            "/limits/min_rounds: is 7, more than max_rounds, which is 6",
        ),
        (
            json!({ "participants": ["qa", "archtect"] }),
            "/participants/1/role: there is no role `archtect`; did you mean `architect`?",
        ),
        (json!({ "strategy": "debat" }), "/strategy: there is no strategy `debat`; did you mean `debate`?"),
        (json!({ "engine": "scriptd" }), "/engine: there is no engine `scriptd`; did you mean `scripted`?"),
    ] {
        assert_eq!(problems(&stage, more), [expected]);
    }
    assert_eq!(stage.store().roundtables(&RoundtableFilter::default(), 10).unwrap(), []);
    assert_eq!(stage.store().head().unwrap(), 0);
}

#[test]
fn the_same_key_opens_one_roundtable_and_another_request_with_it_is_refused() {
    let stage = Stage::of_players("");
    let once = json!({ "interactive": true });
    let first = stage.try_table(once.clone(), Some("key")).unwrap().id;
    assert_eq!(stage.try_table(once, Some("key")).unwrap().id, first);
    let other = stage.try_table(json!({ "subject": "another shop" }), Some("key"));
    assert!(matches!(refusal(other), Refusal::KeyReused { .. }));
    let rows = stage.store().roundtables(&RoundtableFilter::default(), 10).unwrap();
    assert_eq!(rows.len(), 1);
}

#[test]
fn roundtables_are_listed_with_how_far_they_are() {
    let stage = Stage::of_players("");
    let closed = stage.table(json!({ "limits": { "max_rounds": 1 } }));
    closed.closes();
    let waiting = stage.table(json!({ "interactive": true, "labels": { "team": "core" } }));
    waiting.waits();
    let list = |status| {
        let filter = RoundtableFilter { status, before: None };
        let rows = stage.store().roundtables(&filter, 10).unwrap();
        rows.into_iter().map(|row| (row.roundtable_id, row.rounds, row.close_reason)).collect::<Vec<_>>()
    };
    let (done, open) = ((closed.id, 1, Some("max_rounds".to_owned())), (waiting.id, 1, None));
    assert_eq!(list(None), [open.clone(), done.clone()]);
    assert_eq!(list(Some(RoundtableStatus::Active)), [open]);
    assert_eq!(list(Some(RoundtableStatus::Closed)), [done]);
    let row = stage.service().roundtable_row(waiting.id).unwrap();
    assert_eq!((row.subject.as_str(), row.workflow.as_str()), ("a shop for bicycles", "small"));
    assert_eq!(row.labels["team"], "core");
}

#[test]
fn a_role_of_the_user_sits_at_the_table() {
    let stage = Stage::of_players("");
    let roles = stage.path().join("roles");
    fs::create_dir(&roles).unwrap();
    fs::write(roles.join("lawyer.md"), "---\ntitle: Lawyer\nsummary: Who pays.\n---\nAsk who pays.\n")
        .unwrap();
    stage.close();
    let settings = stage.settings();
    stage.configure(&format!("roles = [\"roles\"]\n{settings}"));
    stage.open();
    let table = stage.table(json!({ "participants": ["lawyer"], "limits": { "max_rounds": 1 } }));
    table.closes();
    assert!(stage.told("lawyer-1", 1).contains("Ask who pays."));
    assert!(stage.told("open-1", 1).contains("`lawyer`: Who pays."));
}

#[test]
fn engines_can_be_mixed_at_one_table() {
    let stage = Stage::of_players("");
    stage.close();
    let settings = stage.settings().replace("[engines.scripted]", "[engines.other]");
    stage.configure(&format!("{}\n{}", stage.settings(), settings.replace("skills = [\"skills\"]", "")));
    stage.open();
    let participants = json!(["architect", { "role": "qa", "engine": "other" }]);
    let table = stage.table(json!({ "participants": participants, "limits": { "max_rounds": 1 } }));
    assert_eq!(table.close_reason(), "max_rounds");
    let engines: Vec<_> = table.runs().iter().map(|run| run.spec().engine.clone()).collect();
    assert_eq!(engines, ["scripted", "scripted", "other", "scripted"]);
}
