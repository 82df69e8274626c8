//! The skills of this repository, played from their recordings to their end.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use adjourn_core::{QuestionKind, Run, RunStatus, WarningCode};
use adjourn_runtime::config::Config;
use adjourn_runtime::request::{RunRequest, SkillRef};
use adjourn_runtime::skill::{self, Skill};
use serde_json::Value;

use crate::skill_stage::{Stage, repository};

/// A skill, and the questions that its recording asks.
const SKILLS: [(&str, &[QuestionKind]); 3] = [
    ("incident-report", &[QuestionKind::ChooseOne, QuestionKind::Form]),
    ("release-notes", &[QuestionKind::OpenText]),
    ("triage", &[]),
];

fn folder(skill: &str) -> PathBuf {
    repository("skills").join(skill)
}

fn json(file: impl AsRef<Path>) -> Option<Value> {
    fs::read(file).ok().map(|text| serde_json::from_slice(&text).unwrap())
}

/// The lines of a skill's recording.
fn lines(skill: &str) -> Vec<Value> {
    let recording = fs::read_to_string(folder(skill).join("assets/recording.jsonl")).unwrap();
    recording.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Plays the recording of a skill on `engine`, with the answers it was recorded with.
async fn play(skill: &str, config: Config, engine: &str) -> Run {
    let data = tempfile::tempdir().unwrap();
    let stage = Stage::open(data.path(), config);
    let play = json(repository(&format!("xtask/recordings/{skill}.json"))).unwrap();
    let request = RunRequest {
        skill: Some(SkillRef::At(folder(skill))),
        engine: Some(engine.to_owned()),
        input: json(folder(skill).join("assets/example.input.json")).unwrap_or_default(),
        ..RunRequest::default()
    };
    let run_id = stage.create(request).await;
    for answer in play["answers"].as_array().into_iter().flatten() {
        let run = stage.settled(run_id).await;
        assert_eq!(run.status(), RunStatus::WaitingUser, "{skill}: {:?}", run.error());
        stage.answer(run_id, answer.clone()).await;
    }
    let run = stage.settled(run_id).await;
    stage.close().await;
    run
}

fn assert_done(skill: &str, run: &Run) {
    assert_eq!((run.status(), run.error()), (RunStatus::Succeeded, None), "{skill}");
    let warned: Vec<_> = run.warnings().iter().map(|warning| warning.code).collect();
    assert_eq!(warned, [WarningCode::RecordingPlayed], "{skill}: once, however many turns it has");
    let output = Skill::load(&folder(skill)).unwrap().output.expect("it says what its result is");
    let result = run.result().expect("it succeeded");
    assert_eq!(output.schema.check(result), Ok(()), "{skill}: {result:#}");
}

#[test]
fn they_are_all_there_and_nothing_is_wrong_with_them() {
    let mut there: Vec<_> =
        fs::read_dir(repository("skills")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    there.sort();
    assert_eq!(there, SKILLS.map(|(skill, _)| skill));
    for (skill, _) in SKILLS {
        assert_eq!(skill::check(&folder(skill), &Config::default().engine_names()), [], "{skill}");
        assert!(Skill::load(&folder(skill)).unwrap().recording.is_some(), "{skill}");
    }
}

#[tokio::test]
async fn they_run_without_an_agent_to_a_result_that_meets_their_schema() {
    for (skill, questions) in SKILLS {
        let run = play(skill, Config::default(), "replay").await;
        assert_done(skill, &run);
        let asked: Vec<_> = run.interactions().iter().map(|asked| asked.question.kind).collect();
        assert_eq!(asked, questions, "{skill}");
    }
}

#[tokio::test(start_paused = true)]
async fn they_take_as_long_as_they_took() {
    let text = "[engines.slow]\nkind = \"replay\"\npace = \"original\"\n";
    let config = Config::parse(Path::new("adjourn.toml"), text, &Default::default()).unwrap();
    for (skill, _) in SKILLS {
        let ended = lines(skill).into_iter().filter(|line| line["ended"].is_object());
        let ended_ms: u64 = ended.filter_map(|line| line["at_ms"].as_u64()).sum();
        let began = tokio::time::Instant::now();
        assert_done(skill, &play(skill, config.clone(), "slow").await);
        assert!(began.elapsed() >= Duration::from_millis(ended_ms), "{skill}: {:?}", began.elapsed());
    }
}

#[test]
fn their_recordings_say_what_their_scripts_say() {
    for (skill, questions) in SKILLS {
        let play = json(repository(&format!("xtask/recordings/{skill}.json"))).unwrap();
        let pieces =
            play["script"]["replies"].as_array().unwrap().iter().map(|reply| reply["text"].as_array());
        let said: Vec<String> =
            pieces.flatten().map(|pieces| pieces.iter().filter_map(Value::as_str).collect()).collect();
        let ended = lines(skill).into_iter().filter(|line| line["ended"].is_object());
        let recorded: Vec<_> = ended.map(|line| line["ended"]["completed"]["text"].clone()).collect();
        assert_eq!(recorded.len(), questions.len() + 1, "{skill}");
        for text in recorded {
            assert!(
                said.iter().any(|said| text == **said),
                "{skill}: `cargo xtask recordings` was forgotten"
            );
        }
    }
}

#[test]
fn their_recordings_name_no_folder_of_whoever_made_them() {
    for (skill, _) in SKILLS {
        let recording = fs::read_to_string(folder(skill).join("assets/recording.jsonl")).unwrap();
        for root in ["/home/", "/root/", "/tmp/", "/Users/", "/var/"] {
            assert!(!recording.contains(root), "{skill}: {root}");
        }
    }
}
