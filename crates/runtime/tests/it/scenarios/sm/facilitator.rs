//! The facilitator remembers, and is told what changed meanwhile.

use std::fs;

use adjourn_testkit::model::{ModelServer, Reply, Script};
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::stage::table::{Table, artifact, synthesis};

/// The block that tells what changed, out of a prompt.
fn reconciliation(prompt: &str) -> Value {
    let (_, after) = prompt.split_once("# The state of the table").unwrap();
    let (_, json) = after.split_once("```json\n").unwrap();
    let (json, _) = json.split_once("\n```").unwrap();
    serde_json::from_str::<Value>(json).unwrap()["context_reconciliation"].take()
}

/// The runs of the facilitator, and which run each of them goes on from.
fn chain(table: &Table<'_>) -> Vec<(usize, Option<usize>)> {
    let all = table.runs();
    let of: Vec<_> = all.iter().filter(|run| run.spec().labels["roundtable_role"] == "facilitator").collect();
    let place = |id| of.iter().position(|run| run.id() == id).unwrap();
    of.iter().map(|run| (place(run.id()), run.spec().continues.as_ref().map(|it| place(it.run_id)))).collect()
}

#[test]
fn sm_20_the_facilitator_takes_up_its_own_conversation_and_is_told_what_changed() {
    let stage = Stage::of_players("");
    let created = [artifact("scope", "users", &["users"]), artifact("names", "names", &[])];
    stage.plays("close-1", &synthesis(&created));
    let amend = json!({
        "action": "amend_artifact", "artifact": "REQ-001", "body": "other", "reason": "why not", "proposed_by": "qa",
    });
    let withdraw = json!({ "action": "withdraw_artifact", "artifact": "REQ-002", "reason": "gone" });
    let wrong = json!({ "action": "withdraw_artifact", "artifact": "REQ-009", "reason": "never there" });
    stage.plays("close-2", &synthesis(&[amend, withdraw, wrong]));
    stage.plays_out("qa-2", "exit 1\n");
    let table = stage.table(json!({ "limits": { "max_rounds": 3 } }));
    table.closes();
    assert_eq!(
        chain(&table),
        [(0, None), (1, Some(0)), (2, Some(1)), (3, Some(2)), (4, Some(3)), (5, Some(4))]
    );

    let first = stage.told("open-1", 1);
    assert!(first.contains("You lead a roundtable.") && first.contains("a shop for bicycles"));
    let nothing = reconciliation(&stage.told("close-1", 1));
    for list in
        ["artifacts_created", "artifacts_updated", "artifacts_resolved", "agenda_changes", "human_decisions"]
    {
        assert_eq!(nothing[list], json!([]), "an empty list is there: {list}");
    }
    let second = stage.told("open-2", 1);
    assert!(!second.contains("You lead a roundtable."), "what it remembers is not told again");
    assert!(
        second
            .contains("It is authoritative: where it differs from what you remember, your memory is wrong.")
    );
    let changed = reconciliation(&second);
    let ids = |list: &str| -> Vec<_> {
        let artifacts = changed[list].as_array().unwrap();
        artifacts.iter().map(|it| it["artifact_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids("artifacts_created"), ["REQ-001", "REQ-002"]);

    let changed = reconciliation(&stage.told("open-3", 1));
    let ids = |list: &str| -> Vec<_> {
        let artifacts = changed[list].as_array().unwrap();
        artifacts.iter().map(|it| it["artifact_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        (ids("artifacts_updated"), ids("artifacts_resolved")),
        (vec!["REQ-001".to_owned()], vec!["REQ-002".to_owned()])
    );
    assert_eq!(changed["since_round"], 1);
    assert_eq!(changed["missing"][0]["role"], "qa");
    assert_eq!(changed["proposals_refused"][0]["number"], 3);
}

#[test]
fn sm_20_a_facilitator_of_the_reasoning_engine_takes_up_its_own_conversation() {
    let says = |said: Value| Reply::text(said.to_string());
    let question = json!({ "__SKILL_DONE__": true, "question": "What do you hold?" });
    let summary = json!({ "__SKILL_DONE__": true, "summary": "They hold what they hold." });
    // One conversation: a request that has lost what was said before is refused.
    let replies = [question.clone(), summary.clone(), question, summary].map(says);
    let model = ModelServer::start(Script::new(replies)).unwrap();
    let stage = Stage::of_players(&format!(
        "[engines.thinker]\nkind = \"reasoning\"\napi = \"openai\"\nbase_url = \"{}/v1\"\nmodel = \"scripted\"",
        model.url()
    ));
    let table = stage.table(json!({
        "limits": { "max_rounds": 2 }, "engines": { "facilitator": "thinker" },
    }));
    assert_eq!(table.close_reason(), "max_rounds");
    let fell_back = table.frames().into_iter().find(|frame| frame.kind.name() == "agent.resume_fallback");
    assert_eq!(fell_back.map(|frame| frame.data), None);
    assert_eq!(model.requests().len(), 4);
}

#[test]
fn sm_20_a_facilitator_whose_conversation_is_lost_begins_anew_with_everything_and_an_event_says_so() {
    let stage = Stage::of_players("");
    stage.plays("close-1", &synthesis(&[artifact("scope", "users", &["users"])]));
    let table = stage.table(json!({ "interactive": true }));
    table.waits();
    let last = table.runs().last().unwrap().id();
    // The folder that the agent worked in is gone, and its conversation with it.
    fs::remove_dir_all(stage.data().join("runs").join(last.to_string())).unwrap();
    table.reply(json!("continue")).unwrap();
    let anew = stage.told("open-2", 1);
    assert!(anew.contains("You lead a roundtable.") && anew.contains("a shop for bicycles"));
    assert!(anew.contains("They agree on some of it."), "the rounds so far are told");
    assert_eq!(reconciliation(&anew)["artifacts_created"][0]["artifact_id"], "REQ-001");
    let fell_back =
        table.frames().into_iter().find(|frame| frame.kind.name() == "agent.resume_fallback").unwrap();
    assert_eq!(fell_back.data["role"], "facilitator");
    assert_eq!(fell_back.data["run_id"], json!(last));
    table.records(2);
}

#[test]
fn a_facilitator_that_is_lost_once_begins_anew_and_the_round_goes_on() {
    let stage = Stage::of_players("");
    stage.plays_out("close-1.1", "exit 7\n");
    let table = stage.table(json!({ "limits": { "max_rounds": 1 } }));
    assert_eq!(table.close_reason(), "max_rounds");
    assert!(stage.told("close-1", 2).contains("You lead a roundtable."));
    assert!(stage.told("close-1", 2).contains("I hold what I hold."), "the answers are there again");
    let fell_back = table.frames().into_iter().find(|frame| frame.kind.name() == "agent.resume_fallback");
    let reason = fell_back.unwrap().data["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("took it up in vain: ENGINE_EXIT_NONZERO"), "{reason}");
}
