//! Runs whose engine works in no folder: they have none, and read their skill where its version is kept.

use std::fs;
use std::path::PathBuf;

use adjourn_core::{ErrorCode, Run, RunStatus};
use adjourn_runtime::config::Config;
use adjourn_runtime::request::{RunRequest, SkillRef};
use adjourn_runtime::workspace::Upload;
use serde_json::json;
use tempfile::TempDir;

use crate::skill_stage::{Stage, repository};

/// A skill that asks once, and a data directory.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.skill().join("assets")).unwrap();
        let recording = repository("crates/cli/bench/pause/assets/recording.jsonl");
        fs::copy(recording, place.skill().join("assets/recording.jsonl")).unwrap();
        place.write("Ask.");
        place
    }

    fn write(&self, text: &str) {
        let skill = format!("---\nname: asks\ndescription: Asks.\n---\n{text}\n");
        fs::write(self.skill().join("SKILL.md"), skill).unwrap();
    }

    fn skill(&self) -> PathBuf {
        self.folder.path().join("asks")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn open(&self) -> Stage {
        Stage::open(&self.data(), Config::default())
    }

    fn request(&self) -> RunRequest {
        RunRequest {
            skill: Some(SkillRef::At(self.skill())),
            engine: Some("replay".to_owned()),
            ..RunRequest::default()
        }
    }

    fn has_folder(&self, run: &Run) -> bool {
        let has_folder = self.data().join("runs").join(run.id().to_string()).exists();
        assert_eq!(has_folder, !run.spec().is_without_folder());
        has_folder
    }

    /// How many versions of skills are kept.
    fn versions(&self) -> usize {
        fs::read_dir(self.data().join("skills")).unwrap().count()
    }
}

#[tokio::test]
async fn a_run_goes_on_with_the_version_it_was_created_with() {
    let place = Place::new();
    let stage = place.open();
    let old = stage.create(place.request()).await;
    let run = stage.settled(old).await;
    assert_eq!((run.status(), place.has_folder(&run)), (RunStatus::WaitingUser, false));
    assert_eq!(stage.service.turn_setup().workspaces().of(&run).unwrap().files().unwrap().files, []);
    stage.close().await;

    place.write("Do not ask.");
    fs::write(place.skill().join("assets/recording.jsonl"), "{\"adjourn_recording\":1}\n").unwrap();
    let stage = place.open();
    let new = stage.create(place.request()).await;
    assert_eq!(stage.settled(new).await.status(), RunStatus::Failed, "its recording is empty");
    stage.answer(old, json!("2.4.0")).await;
    assert_eq!(stage.settled(old).await.status(), RunStatus::Succeeded);
    assert_eq!(place.versions(), 2);
    stage.close().await;
}

#[tokio::test]
async fn a_version_is_kept_once_for_all_its_runs_and_for_those_that_come_from_them() {
    let place = Place::new();
    let stage = place.open();
    let first = stage.create(place.request()).await;
    stage.settled(first).await;
    stage.answer(first, json!("2.4.0")).await;
    assert_eq!(stage.settled(first).await.status(), RunStatus::Succeeded);
    // The skill changes, and what is run again is what was run.
    place.write("Do not ask.");
    let again = stage.create(stage.service.request_of(first).unwrap()).await;
    let again = stage.settled(again).await;
    assert_eq!((again.status(), place.has_folder(&again)), (RunStatus::WaitingUser, false));
    assert_eq!(again.spec().skill_version, stage.service.run(first).unwrap().spec().skill_version);
    assert_eq!(place.versions(), 1);
    let request = RunRequest { continues: Some(first), ..place.request() };
    let next = stage.create(request).await;
    assert!(!place.has_folder(&stage.settled(next).await));
    stage.close().await;
}

#[tokio::test]
async fn a_run_that_has_more_on_the_disk_than_its_skill_has_a_folder() {
    let place = Place::new();
    let stage = place.open();
    let (file, elsewhere) = (place.folder.path().join("notes"), place.folder.path().join("elsewhere"));
    fs::write(&file, "tea").unwrap();
    fs::create_dir(&elsewhere).unwrap();
    let files = vec![Upload { name: "notes".to_owned(), from: file }];
    let secret = json!({ "password": "hunter2!" });
    for request in [
        RunRequest { files, ..place.request() },
        RunRequest { parameter: secret, ..place.request() },
        RunRequest { workspace: Some(elsewhere), ..place.request() },
    ] {
        let run = stage.create(request).await;
        let run = stage.settled(run).await;
        assert_eq!(
            (run.status(), place.has_folder(&run)),
            (RunStatus::WaitingUser, true),
            "{:?}",
            run.error()
        );
    }
    stage.close().await;
}

#[tokio::test]
async fn a_run_whose_version_is_gone_ends_with_a_code() {
    let place = Place::new();
    let stage = place.open();
    let run_id = stage.create(place.request()).await;
    stage.settled(run_id).await;
    stage.close().await;

    fs::remove_dir_all(place.data().join("skills")).unwrap();
    let stage = place.open();
    let mut changes = stage.service.store().watch_stream(run_id.into());
    while !stage.service.run(run_id).unwrap().status().is_terminal() {
        changes.changed().await.unwrap();
    }
    let run = stage.service.run(run_id).unwrap();
    assert_eq!(run.error().map(|error| error.code), Some(ErrorCode::SessionResumeFailed));
    stage.close().await;
}

#[tokio::test]
async fn a_version_that_was_changed_on_the_disk_is_kept_anew_by_the_next_run_of_the_skill() {
    let place = Place::new();
    let stage = place.open();
    let first = stage.create(place.request()).await;
    let version = stage.settled(first).await.spec().skill_version.clone();
    stage.close().await;

    let kept = place.data().join("skills").join(version.as_deref().unwrap()).join("asks/SKILL.md");
    fs::write(&kept, "changed").unwrap();
    let stage = place.open();
    let second = stage.create(place.request()).await;
    let run = stage.settled(second).await;
    assert_eq!((run.status(), &run.spec().skill_version), (RunStatus::WaitingUser, &version));
    assert!(fs::read_to_string(&kept).unwrap().contains("Ask."));
    assert_eq!(place.versions(), 1);
    stage.close().await;
}
