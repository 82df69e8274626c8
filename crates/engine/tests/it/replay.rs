//! What was recorded is played, turn by turn, by whoever comes later.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use adjourn_core::{ErrorCode, Observation, RunError, RunId};
use adjourn_engine::{Engine, Finished, Pace, Preset, Recorder, RecordingError, ReplayEngine, Seen, Turn};
use tokio::time::Instant;

use crate::agent::Stage;
use crate::turns::{Going, completed, engine, facts, handle, turn};

/// Asks first, and is content with any answer.
const AGENT: &str = r#"
cat >/dev/null
echo '{"adjourn": {"handle": "own-handle"}}'
if test -n "${ADJOURN_HANDLE-}"; then echo "thank you"; else echo "which colour?"; fi
"#;

/// Records two turns of one conversation.
async fn recorded(stage: &Stage) -> PathBuf {
    let path = stage.path().join("conversation.jsonl");
    for (prompt, handle) in [("begin", None), ("blue", Some("own-handle"))] {
        // A recorder each, like two processes of which the second one answers.
        let agent = engine(stage, Preset::Command, "sh", AGENT);
        let recorder = Arc::new(Recorder::new(agent, &path).unwrap());
        let turn = Turn { handle: handle.map(ToOwned::to_owned), ..turn(stage, prompt) };
        Going::start(recorder.clone(), turn).until_it_ends().await;
        assert_eq!(recorder.problem(), None);
    }
    path
}

fn replay(path: &Path) -> Arc<ReplayEngine> {
    Arc::new(ReplayEngine::open(path, Pace::Instant).unwrap())
}

fn last_handle(seen: &[Seen]) -> Option<String> {
    let mut handles = facts(seen).into_iter().filter_map(|fact| match fact {
        Observation::Handle(handle) => Some(handle),
        _ => None,
    });
    handles.next_back()
}

#[tokio::test]
async fn a_conversation_is_played_turn_by_turn() {
    let stage = Stage::new();
    let path = recorded(&stage).await;
    let (seen, finished) = Going::start(replay(&path), turn(&stage, "something else")).until_it_ends().await;
    assert_eq!(finished, completed("which colour?"));
    let id = RunId::from_bits(7);
    let message = Observation::Message { text: "which colour?".to_owned(), raw: None };
    let (cut_off, next) = (format!("replay-{id}@1"), format!("replay-{id}@2"));
    assert_eq!(facts(&seen), [handle(&cut_off), message, handle(&next)]);
    assert!(seen.contains(&Seen::Delta("which colour?\n".to_owned())), "{seen:?}");

    let resumed = Turn { handle: Some(next), ..turn(&stage, "red") };
    assert!(replay(&path).can_resume(&resumed));
    let (seen, finished) = Going::start(replay(&path), resumed).until_it_ends().await;
    assert_eq!(finished, completed("thank you"));

    let beyond = Turn { handle: last_handle(&seen), ..turn(&stage, "and now?") };
    assert!(!replay(&path).can_resume(&beyond));
    let (_, finished) = Going::start(replay(&path), beyond).until_it_ends().await;
    let Finished::Failed(RunError { code: ErrorCode::SessionResumeFailed, message }) = finished else {
        panic!("{finished:?}")
    };
    assert!(message.contains("conversation.jsonl ends before this"), "{message}");
}

#[tokio::test]
async fn a_turn_that_was_cut_off_is_played_again() {
    let stage = Stage::new();
    let path = recorded(&stage).await;
    let mut going = Going::start(replay(&path), turn(&stage, "begin"));
    let Some(Seen::Fact(Observation::Handle(handle))) = going.next().await else { panic!("no handle") };
    going.stop.cancel();
    assert_eq!(going.finish().await, Finished::Stopped);
    let again = Turn { handle: Some(handle), ..turn(&stage, "go on") };
    assert_eq!(Going::start(replay(&path), again).until_it_ends().await.1, completed("which colour?"));
}

#[tokio::test]
async fn a_recording_is_readable_keeps_no_prompt_and_no_process() {
    let stage = Stage::new();
    let text = std::fs::read_to_string(recorded(&stage).await).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0], serde_json::json!({"adjourn_recording": 1}));
    assert_eq!(lines[1]["asked"]["prompt_sha256"].as_str().unwrap().len(), 64);
    assert_eq!(lines[2]["seen"], serde_json::json!({"fact": {"handle": "own-handle"}}));
    assert!(!text.contains("begin") && !text.contains("process"), "{text}");
}

#[tokio::test]
async fn the_working_folder_is_recorded_as_a_placeholder_and_played_as_the_new_one() {
    let (there, here) = (Stage::new(), Stage::new());
    let path = there.path().join("conversation.jsonl");
    let agent = engine(&there, Preset::Command, "sh", "cat >/dev/null\necho \"written to $PWD/notes.md\"");
    let recorder = Arc::new(Recorder::new(agent, &path).unwrap());
    // The agent is asked for its real folder: temporary ones may be behind a link.
    let workspace = there.path().canonicalize().unwrap();
    let (seen, finished) = Going::start(recorder, Turn { workspace: workspace.clone(), ..turn(&there, "") })
        .until_it_ends()
        .await;
    let message = |folder: &Path| format!("written to {}/notes.md", folder.display());
    assert_eq!(finished, completed(&message(&workspace)), "who records sees what happens");
    assert!(seen.contains(&Seen::Delta(format!("{}\n", message(&workspace)))), "{seen:?}");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains(workspace.to_str().unwrap()), "{text}");
    assert!(text.contains("written to {adjourn:workspace}/notes.md"), "{text}");

    let (seen, finished) = Going::start(replay(&path), turn(&here, "")).until_it_ends().await;
    assert_eq!(finished, completed(&message(here.path())));
    let said = Observation::Message { text: message(here.path()), raw: None };
    assert!(facts(&seen).contains(&said), "{seen:?}");
}

#[tokio::test]
async fn a_recorder_that_was_killed_leaves_what_it_saw() {
    let stage = Stage::new();
    let path = recorded(&stage).await;
    let whole = std::fs::read_to_string(&path).unwrap();
    // Wherever it breaks off, it can be read.
    for end in (0..whole.len()).filter(|end| *end > whole.find('\n').unwrap()) {
        std::fs::write(&path, &whole[..end]).unwrap();
        replay(&path);
    }
    // In the middle of the end of the first turn.
    let cut = whole.find("\"ended\"").unwrap();
    std::fs::write(&path, &whole[..cut]).unwrap();
    let (_, finished) = Going::start(replay(&path), turn(&stage, "")).until_it_ends().await;
    let Finished::Failed(error) = finished else { panic!("{finished:?}") };
    assert!(error.message.ends_with("conversation.jsonl breaks off in turn 1"), "{error}");
    // And it can be gone on with.
    let path = recorded(&stage).await;
    let fresh = Turn { run_id: RunId::from_bits(8), ..turn(&stage, "") };
    Going::start(replay(&path), fresh).until_it_ends().await;
}

#[tokio::test(start_paused = true)]
async fn the_original_pace_is_kept_and_stop_ends_a_pause() {
    let text = r#"{"adjourn_recording":1}
{"turn":1,"asked":{"run":"run_00000000000000000000000007","attempt":1,"handle":null,"prompt_sha256":""}}
{"turn":1,"at_ms":60000,"seen":{"delta":"hm"}}
{"turn":1,"at_ms":3600000,"ended":{"completed":{"text":"hm"}}}
"#;
    let stage = Stage::new();
    let (seen, mut shown) = tokio::sync::mpsc::channel(8);
    let replay = ReplayEngine::new("built in", text, Pace::Original).unwrap();
    let began = Instant::now();
    let stop = tokio_util::sync::CancellationToken::new();
    assert_eq!(replay.run(turn(&stage, ""), seen.clone(), stop.clone()).await, completed("hm"));
    assert_eq!(began.elapsed().as_secs(), 3600);
    assert_eq!(shown.recv().await, Some(Seen::Delta("hm".to_owned())));
    let stopping = async {
        tokio::time::sleep(Duration::from_secs(70)).await;
        stop.cancel();
    };
    let began = Instant::now();
    let (finished, ()) = tokio::join!(replay.run(turn(&stage, ""), seen, stop.clone()), stopping);
    assert_eq!(finished, Finished::Stopped);
    assert_eq!(began.elapsed().as_secs(), 70);
}

#[test]
fn a_broken_recording_is_refused_with_file_and_line() {
    let header = "{\"adjourn_recording\":1}\n";
    let asked = |turn: usize, run: u8| {
        format!(
            "{{\"turn\":{turn},\"asked\":{{\"run\":\"run_0000000000000000000000000{run}\",\"attempt\":1,\
             \"handle\":null,\"prompt_sha256\":\"\"}}}}\n"
        )
    };
    let ended = "{\"turn\":1,\"at_ms\":1,\"ended\":\"stopped\"}\n";
    for (text, expected) in [
        (String::new(), "line 1: it should begin with {\"adjourn_recording\":1}"),
        ("{\"other\":1}\n".to_owned(), "line 1: it should begin with {\"adjourn_recording\":1}"),
        (
            "{\"adjourn_recording\":2}\n".to_owned(),
            "line 1: it has format 2, and this version reads format 1",
        ),
        (format!("{header}nonsense\n"), "line 2: expected ident at line 1 column 2"),
        (
            format!("{header}{{\"turn\":1}}\n"),
            "line 2: it should have exactly one of `asked`, `seen` and `ended`",
        ),
        (format!("{header}{}", asked(2, 1)), "line 2: turn 1 should come next, not turn 2"),
        (format!("{header}{ended}"), "line 2: turn 1 was never begun"),
        (format!("{header}{}{ended}\n{ended}", asked(1, 1)), "line 5: turn 1 has ended before"),
    ] {
        let error = ReplayEngine::new("demo.jsonl", &text, Pace::Instant).unwrap_err();
        assert_eq!(error.to_string(), format!("the recording demo.jsonl, {expected}"));
    }
    let missing = ReplayEngine::open(Path::new("/nowhere"), Pace::Instant).unwrap_err();
    assert!(matches!(missing, RecordingError::Io { .. }));
}
