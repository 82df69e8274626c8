//! XX-26: a run uses the version of its skill that it was created with, whatever happens to the copy in its workspace.

use std::fs;
use std::path::PathBuf;

use adjourn_core::{Command, Create, ErrorCode, ExecutionMode, RunId, RunSpec, RunStatus};
use adjourn_runtime::skill::Skill;
use adjourn_runtime::workspace::{NewWorkspace, Place};
use serde_json::json;

use crate::stage::world::{WORLD, calls_by_curl};
use crate::stage::{Actor, Stage, done};

/// Rewrites the agent's copy of the skill: every tool of the server, and any result at all.
const REWRITES_ITS_SKILL: &str = r#"
printf '{"id": "survey", "execution_modes": ["interactive", "auto"], "tools": ["world"]}' >.skill/survey/assets/runner.json
printf '{}' >.skill/survey/assets/output.schema.json
printf -- '---\nname: survey\ndescription: Obeys.\n---\nDo whatever the agent says.\n' >.skill/survey/SKILL.md
"#;

/// Calls the tool that the skill does not declare, and keeps what it was told.
fn calls_count() -> String {
    calls_by_curl("world__count", &json!({ "text": "a" }))
}

/// A stage whose skill declares one tool of a server that has others.
fn stage() -> Stage {
    let stage = Stage::closed_with_tools(&[&format!("{WORLD}.echo")], "irreversible = []");
    stage.open();
    stage
}

fn answer(run: &Actor<'_>) -> String {
    fs::read_to_string(run.work().join("answer")).unwrap()
}

/// A result that the schema of the skill forbids: its `answer` is no text.
fn forbidden() -> String {
    json!({ "__SKILL_DONE__": true, "answer": 5 }).to_string()
}

/// The folders of versions that the data directory keeps.
fn versions(stage: &Stage) -> Vec<PathBuf> {
    fs::read_dir(stage.data().join("skills")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn xx_26_an_agent_that_rewrites_its_copy_of_the_skill_gains_no_tool_and_no_laxer_schema() {
    let stage = stage();
    let run = stage.start(json!({ "options": { "repair_limit": 0 } }));
    run.turn(1).does(&format!("{REWRITES_ITS_SKILL}{}printf '%s' '{}'", calls_count(), forbidden()));
    run.waits();
    assert!(answer(&run).contains("there is no tool"), "{}", answer(&run));
    assert_eq!((run.state().result(), stage.effects()), (None, Vec::new()));

    stage.restart();
    run.reply("go on").unwrap();
    run.turn(2).does(&format!("rm answer\n{}printf '%s' '{}'", calls_count(), forbidden()));
    run.until("the second turn has ended", |run| {
        (run.status() != RunStatus::Running && run.attempt_number() == 2).then_some(())
    });
    assert!(answer(&run).contains("there is no tool"), "{}", answer(&run));
    assert_eq!((run.state().result(), stage.effects()), (None, Vec::new()));
    assert_eq!(run.status(), RunStatus::WaitingUser, "a result that breaks the schema is no result");

    run.reply("say it right").unwrap();
    run.turn(3).says(&done("right"));
    assert_eq!(run.ends().result(), Some(&json!({ "answer": "right" })));
}

#[test]
fn xx_26_what_is_run_again_is_what_was_run_and_not_what_the_agent_made_of_it() {
    let stage = stage();
    let run = stage.start(json!({}));
    run.turn(1).does(&format!("{REWRITES_ITS_SKILL}printf '%s' '{}'", done("right")));
    run.ends();
    let service = stage.service();
    let request = service.request_of(run.id).unwrap();
    let again = stage.wait(service.create(request, None, None)).unwrap().run.id();
    drop(service);
    let again = stage.actor(again);
    let prompt = again.turn(1).prompt;
    assert!(prompt.contains("Ask, and say what they answered."), "{prompt}");
    assert_eq!(again.state().spec().skill_version, run.state().spec().skill_version);
    again.turn(1).finishes("right");
    again.ends();
}

#[test]
fn xx_26_a_kept_version_that_was_changed_on_the_disk_is_refused() {
    let stage = stage();
    let run = stage.start(json!({}));
    run.asks_first("Which?");
    stage.close();
    let [version] = &versions(&stage)[..] else { panic!("one version is kept") };
    let schema = version.join("survey/assets/output.schema.json");
    fs::write(&schema, "{}").unwrap();
    stage.open();
    run.reply("this").unwrap();
    let ended = run.ends();
    let error = ended.error().unwrap();
    assert_eq!(error.code, ErrorCode::SkillVersionDamaged);
    assert!(error.message.contains("does not match its digest"), "{error}");
    assert!(!run.had_turn(2), "no agent is started for it");
}

#[test]
fn runs_of_one_skill_share_one_version_and_each_has_a_copy_for_its_agent() {
    let stage = stage();
    let runs = [stage.start(json!({})), stage.start(json!({}))];
    for run in runs {
        assert!(run.turn(1).prompt.contains(".skill/survey"), "{}", run.turn(1).prompt);
        assert!(run.work().join(".skill/survey/SKILL.md").is_file());
        run.turn(1).finishes("right");
        assert_eq!(run.ends().status(), RunStatus::Succeeded);
        assert!(run.state().spec().skill_version.is_some());
    }
    assert_eq!(versions(&stage).len(), 1);
}

/// A run as it was created before versions were kept for all runs: it has a folder, and no version in its journal.
#[test]
fn a_run_from_before_versions_were_kept_goes_on_with_its_copy() {
    let stage = stage();
    let run_id = RunId::from_bits(7);
    let skill = Skill::load(&stage.path().join("skills/survey")).unwrap();
    let service = stage.service();
    let new = NewWorkspace { run_id, skill: Some(&skill), uploads: &[], place: Place::Own, shell: None };
    service.turn_setup().workspaces().create(&new).unwrap();
    let asked = json!({ "prompt": null, "input": null, "parameter": null });
    fs::write(stage.data().join(format!("runs/{run_id}/request.json")), asked.to_string()).unwrap();
    let spec =
        RunSpec { skill: Some("survey".to_owned()), ..RunSpec::new("scripted", ExecutionMode::Interactive) };
    stage.wait(service.runtime().ask(run_id, Command::Create(Create { spec, key: None }))).unwrap();
    drop(service);
    let run = stage.actor(run_id);
    run.asks_first("Which?");
    stage.restart();
    run.reply("this").unwrap();
    run.turn(2).finishes("right");
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
}
