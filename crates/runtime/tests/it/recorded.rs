//! A run is recorded to its end, whoever answers it.

use std::fs;
use std::path::Path;

use adjourn_core::RunStatus;
use adjourn_runtime::config::Config;
use adjourn_runtime::request::{RunRequest, SkillRef};
use serde_json::{Value, json};

use crate::skill_stage::{Stage, repository};

#[tokio::test]
async fn a_run_that_is_answered_after_a_restart_is_recorded_on() {
    let folder = tempfile::tempdir().unwrap();
    let (data, recording) = (folder.path().join("data"), folder.path().join("recording.jsonl"));
    let played = repository("skills/release-notes/assets/recording.jsonl");
    let text = format!("[engines.tape]\nkind = \"replay\"\nrecording = {:?}\n", played.display().to_string());
    let config = Config::parse(Path::new("adjourn.toml"), &text, &Default::default()).unwrap();
    let request = RunRequest {
        skill: Some(SkillRef::At(repository("skills/release-notes"))),
        engine: Some("tape".to_owned()),
        ..RunRequest::default()
    };

    let stage = Stage::open(&data, config.clone());
    let created = stage.service.create(request, None, Some(recording.clone())).await.unwrap();
    let run_id = created.run.id();
    assert_eq!(stage.settled(run_id).await.status(), RunStatus::WaitingUser);
    stage.close().await;

    let stage = Stage::open(&data, config);
    stage.answer(run_id, json!("2.0.0, for operators")).await;
    assert_eq!(stage.settled(run_id).await.status(), RunStatus::Succeeded);
    stage.close().await;

    let text = fs::read_to_string(&recording).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ended: Vec<_> =
        lines.iter().filter(|line| line["ended"].is_object()).map(|line| &line["turn"]).collect();
    assert_eq!(ended, [1, 2]);
}
