//! The exec engine and agents that behave, and that do not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use adjourn_core::{ErrorCode, Observation, RunId};
use adjourn_engine::secrets::{Masker, Secret};
use adjourn_engine::{
    Engine, ExecConfig, ExecEngine, Finished, Gateway, Permission, Preset, Probe, Seen, Turn,
};

use crate::agent::{Stage, supervisor};
use crate::turns::{Going, completed, config, engine, facts, handle, run, turn};

fn failure(finished: Finished) -> (ErrorCode, String) {
    match finished {
        Finished::Failed(error) => (error.code, error.message),
        Finished::Completed { .. }
        | Finished::Stopped
        | Finished::NeedsPermission(_)
        | Finished::Suspended => {
            panic!("it should have failed: {finished:?}")
        }
    }
}

#[tokio::test]
async fn the_prompt_goes_in_and_the_answer_comes_out() {
    let stage = Stage::new();
    let script = "read -r prompt; echo \"you said $prompt\"; echo \"in $(basename $PWD)\"; echo aside >&2";
    let (seen, finished) = run(&stage, "sh", script, "hello\n").await;
    let folder = stage.path().file_name().unwrap().to_str().unwrap();
    assert_eq!(finished, completed(&format!("you said hello\nin {folder}")));
    assert!(matches!(seen[0], Seen::Fact(Observation::Process(_))), "{seen:?}");
    let walls = "namespaces, Landlock, seccomp";
    assert_eq!(seen[1], Seen::Fact(Observation::Sandbox(walls.to_owned())));
    assert_eq!(seen[2], Seen::Delta("you said hello\n".to_owned()));
    assert_eq!(std::fs::read_to_string(stage.path().join("logs/attempt-1.stderr")).unwrap(), "aside\n");
    assert_eq!(stage.processes(), [0; 0]);
}

#[tokio::test]
async fn a_command_names_its_handle_or_gets_the_run_id() {
    let stage = Stage::new();
    let script = r#"echo "$ADJOURN_RUN_ID $ADJOURN_ATTEMPT ${ADJOURN_HANDLE-none}""#;
    let id = RunId::from_bits(7);
    let (seen, finished) = run(&stage, "sh", script, "").await;
    assert_eq!(finished, completed(&format!("{id} 1 none")));
    assert_eq!(facts(&seen).last(), Some(&handle(&id.to_string())));

    let script = r#"echo '{"adjourn": {"handle": "mine"}}'; echo "went on with $ADJOURN_HANDLE""#;
    let mut resumed = turn(&stage, "go on");
    resumed.handle = Some("before".to_owned());
    let engine = engine(&stage, Preset::Command, "sh", script);
    let (seen, finished) = Going::start(engine, resumed).until_it_ends().await;
    assert_eq!(
        finished,
        completed("went on with before"),
        "the line that names it is not part of the answer"
    );
    assert_eq!(facts(&seen)[0], handle("mine"));
    assert_eq!(facts(&seen).len(), 2, "{seen:?}");
}

#[tokio::test]
async fn a_handle_that_comes_in_pieces_is_shown_while_the_agent_still_works() {
    let stage = Stage::new();
    let script = r#"
import os, sys, time
for piece in ['{"type":"thread.sta', 'rted","thread_', 'id":"th-1"}', '\n']:
    os.write(1, piece.encode()); time.sleep(0.01)
time.sleep(1000)
"#;
    let mut going = Going::start(engine(&stage, Preset::Codex, "python3", script), turn(&stage, "do it"));
    assert!(matches!(going.next().await, Some(Seen::Fact(Observation::Process(_)))));
    assert!(matches!(going.next().await, Some(Seen::Fact(Observation::Sandbox(_)))));
    assert_eq!(going.next().await, Some(Seen::Fact(handle("th-1"))));
    going.stop.cancel();
    assert_eq!(going.finish().await, Finished::Stopped);
    assert_eq!(stage.processes(), [0; 0]);
}

#[tokio::test]
async fn xx_11_a_missing_agent_is_named_with_where_it_was_looked_for_and_how_to_get_it() {
    let stage = Stage::new();
    let mut config = ExecConfig::new(Preset::Gemini);
    config.env.insert("PATH".to_owned(), "/nowhere:/nowhere/else".to_owned());
    let engine = ExecEngine::new(config, supervisor(), Gateway::new());
    assert!(!engine.can_resume(&turn(&stage, "")));
    let problem = match engine.probe().await {
        Probe::Unusable { problem } => problem,
        Probe::Ready { version, .. } => panic!("it is not there, but has version {version}"),
    };
    let finished = Going::start(std::sync::Arc::new(engine), turn(&stage, "")).until_it_ends().await.1;
    assert_eq!(failure(finished), (ErrorCode::EngineNotFound, problem.clone()));
    assert_eq!(
        problem,
        "`gemini` cannot be started: it is in no folder of PATH (/nowhere:/nowhere/else). To install it: \
         npm install -g @google/gemini-cli"
    );
}

#[tokio::test]
async fn xx_11_an_agent_that_exits_non_zero_is_quoted() {
    let stage = Stage::new();
    let script = "echo some output; seq 5000 >&2; echo 'cannot do it' >&2; exit 3";
    let (code, message) = failure(run(&stage, "sh", script, "").await.1);
    assert_eq!(code, ErrorCode::EngineExitNonzero);
    assert!(message.starts_with("the command ended with exit status 3\n"), "{message}");
    assert!(message.ends_with("\n5000\ncannot do it"), "{message}");
    assert!(message.len() < 3000, "only the last lines");
    let (code, message) = failure(run(&stage, "sh", "kill -SEGV $$", "").await.1);
    assert_eq!(code, ErrorCode::EngineExitNonzero);
    assert_eq!(message, "the command was ended by signal 11 (exit status 139)");
}

#[tokio::test]
async fn xx_11_garbage_is_the_answer_of_a_command_and_an_error_of_an_agent_with_a_protocol() {
    let garbage = "printf '%s\\n' 'no json' '{\"type\":' '[1]' '{\"type\":\"nonsense\"}'";
    let stage = Stage::new();
    let answer = "no json\n{\"type\":\n[1]\n{\"type\":\"nonsense\"}";
    assert_eq!(run(&stage, "sh", garbage, "").await.1, completed(answer));
    for preset in [Preset::Claude, Preset::Codex, Preset::Gemini, Preset::Opencode] {
        let going = Going::start(engine(&stage, preset, "sh", garbage), turn(&stage, ""));
        let (seen, finished) = going.until_it_ends().await;
        assert_eq!(failure(finished).0, ErrorCode::EngineProtocolError);
        assert_eq!(facts(&seen), []);
    }
}

#[tokio::test]
async fn xx_11_an_agent_that_never_ends_is_stopped_also_if_nobody_reads_what_it_shows() {
    let stage = Stage::new();
    let script = "trap '' TERM; while :; do echo more; done";
    let mut going = Going::start(engine(&stage, Preset::Command, "sh", script), turn(&stage, ""));
    going.next().await;
    going.next().await;
    let began = Instant::now();
    going.stop.cancel();
    assert_eq!(going.finish().await, Finished::Stopped);
    assert!(began.elapsed() < Duration::from_secs(5), "took {:?}", began.elapsed());
    assert_eq!(stage.processes(), [0; 0]);
}

#[tokio::test]
async fn a_turn_that_is_stopped_before_it_begins_starts_nothing() {
    let stage = Stage::new();
    let engine = engine(&stage, Preset::Command, "sh", "touch started");
    let (seen, _) = tokio::sync::mpsc::channel(1);
    let stop = tokio_util::sync::CancellationToken::new();
    stop.cancel();
    assert_eq!(engine.run(turn(&stage, ""), seen, stop).await, Finished::Stopped);
    assert!(!stage.path().join("started").exists());
}

#[tokio::test]
async fn an_agent_need_not_read_its_prompt() {
    let stage = Stage::new();
    // More than a pipe holds.
    let prompt = "x".repeat(1 << 20);
    assert_eq!(run(&stage, "sh", "echo done", &prompt).await.1, completed("done"), "exits at once");
    let closes = "exec 0<&-; echo done";
    assert_eq!(run(&stage, "sh", closes, &prompt).await.1, completed("done"), "closes its input");
    let leaves = "(sleep 1000) & echo done";
    assert_eq!(
        run(&stage, "sh", leaves, &prompt).await.1,
        completed("done"),
        "leaves somebody who has it open"
    );
}

#[tokio::test]
async fn an_agent_that_closes_its_output_is_waited_for() {
    let stage = Stage::new();
    let script = "echo said; exec 1>&- 2>&-; touch closed; while ! test -e go; do sleep 0.01; done; exit 4";
    let going = Going::start(engine(&stage, Preset::Command, "sh", script), turn(&stage, ""));
    crate::agent::until(|| stage.path().join("closed").exists().then_some(())).await;
    assert_ne!(stage.processes(), [0; 0]);
    std::fs::write(stage.path().join("go"), "").unwrap();
    assert_eq!(failure(going.until_it_ends().await.1).0, ErrorCode::EngineExitNonzero);
}

#[tokio::test]
async fn secrets_of_the_environment_reach_neither_what_is_shown_nor_the_log() {
    let stage = Stage::new();
    let script = "env; echo \"{\\\"key\\\": \\\"$MODEL_API_KEY\\\"}\"; env >&2; exit 1";
    let mut config = config(&stage, Preset::Command, "sh", script);
    config.env.insert("MODEL_API_KEY".to_owned(), "sk-very-secret".to_owned());
    let engine = std::sync::Arc::new(ExecEngine::new(config, supervisor(), Gateway::new()));
    let masker = Masker::new([Secret::new("sk-very-secret")]).unwrap();
    let (seen, finished) = Going::start(engine, Turn { masker, ..turn(&stage, "") }).until_it_ends().await;
    let logs = ["stdout", "stderr"].map(|stream| {
        std::fs::read_to_string(stage.path().join(format!("logs/attempt-1.{stream}"))).unwrap()
    });
    for text in [format!("{seen:?}"), format!("{finished:?}"), logs.concat()] {
        assert!(text.contains("MODEL_API_KEY=⟦masked⟧"), "{text}");
        assert!(!text.contains("sk-very-secret"), "{text}");
        assert!(!text.contains("CARGO"), "nothing of our own environment: {text}");
    }
}

#[tokio::test]
async fn arguments_follow_the_profile() {
    let stage = Stage::new();
    let script = r#"printf '%s|' "$@" >args; echo "${OPENCODE_PERMISSION-}" >>args; cat >/dev/null"#;
    for (preset, permission, expected) in [
        (
            Preset::Claude,
            Permission::ReadOnly,
            "-p|--output-format|stream-json|--verbose|--model|m|--permission-mode|dontAsk|--tools|Read,Glob,Grep|--extra|--resume|h-1|\n",
        ),
        (
            Preset::Codex,
            Permission::Workspace,
            "exec|--json|--skip-git-repo-check|--model|m|--sandbox|danger-full-access|--extra|resume|h-1|-|\n",
        ),
        (
            Preset::Gemini,
            Permission::Full,
            "--skip-trust|--output-format|stream-json|-m|m|--approval-mode|yolo|--extra|--resume|h-1|\n",
        ),
        (
            Preset::Opencode,
            Permission::ReadOnly,
            "run|--format|json|-m|m|--extra|--session|h-1|{\"edit\":\"deny\",\"bash\":\"deny\",\"task\":\"deny\",\
             \"webfetch\":\"deny\",\"external_directory\":\"deny\"}\n",
        ),
        (Preset::Command, Permission::Full, "--extra|\n"),
    ] {
        let mut config = config(&stage, preset, "sh", script);
        config.command.push("--extra".to_owned());
        (config.permission, config.model) = (permission, Some("m".to_owned()));
        let mut turn = turn(&stage, "secret prompt");
        turn.handle = Some("h-1".to_owned());
        let engine = std::sync::Arc::new(ExecEngine::new(config, supervisor(), Gateway::new()));
        assert!(engine.can_resume(&turn));
        Going::start(engine, turn).until_it_ends().await;
        assert_eq!(std::fs::read_to_string(stage.path().join("args")).unwrap(), expected);
    }
}

#[tokio::test]
async fn a_probe_asks_for_the_version() {
    let stage = Stage::new();
    let script = r#"test "$1" = --version && echo && echo "  1.2.3 (test)  ""#;
    let version = async |preset, script| match engine(&stage, preset, "sh", script).probe().await {
        Probe::Ready { version, profile } => {
            assert_eq!(profile.profile, adjourn_core::Profile::Resumable);
            version
        }
        Probe::Unusable { problem } => panic!("{problem}"),
    };
    assert_eq!(version(Preset::Claude, script).await, "1.2.3 (test)");
    assert_eq!(version(Preset::Command, "touch started").await, "unknown");
    assert!(!stage.path().join("started").exists(), "a command may not know the question");
    let broken = engine(&stage, Preset::Codex, "sh", "exit 9").probe().await;
    assert!(
        matches!(broken, Probe::Unusable { problem } if problem.ends_with("it ended with exit status 9"))
    );
}

#[tokio::test]
async fn a_process_that_escapes_with_the_end_of_its_supervisor_does_not_hold_up_the_turn() {
    let stage = Stage::new();
    let script = "setsid sh -c 'echo escaped >>ready; exec sleep 1000' & \
                  while ! test -s ready; do :; done; kill -KILL $PPID; sleep 1000";
    let config = ExecConfig { sandbox: None, ..config(&stage, Preset::Command, "sh", script) };
    let engine = Arc::new(ExecEngine::new(config, supervisor(), Gateway::new()));
    let prompt = "x".repeat(1 << 20);
    let (code, message) = failure(Going::start(engine, turn(&stage, &prompt)).until_it_ends().await.1);
    assert_eq!(code, ErrorCode::EngineExitNonzero);
    assert_eq!(message, "the process that supervised the command was killed, so the turn was cut off");
}

#[tokio::test]
async fn xx_31_an_agent_that_stops_its_supervisor_and_ends_does_not_hold_up_the_turn() {
    let stage = Stage::new();
    let script = "kill -STOP $PPID; echo done";
    let config = ExecConfig { sandbox: None, ..config(&stage, Preset::Command, "sh", script) };
    let engine = Arc::new(ExecEngine::new(config, supervisor(), Gateway::new()));
    let (code, message) = failure(Going::start(engine, turn(&stage, "")).until_it_ends().await.1);
    assert_eq!(code, ErrorCode::EngineExitNonzero);
    assert_eq!(message, "the process that supervised the command was killed, so the turn was cut off");
    assert_eq!(stage.processes(), [0; 0]);
}

#[test]
fn xx_15_a_configuration_is_shown_without_the_values_of_its_environment() {
    let mut config = ExecConfig::new(Preset::Claude);
    config.env.insert("API_KEY".to_owned(), "sk-secret".to_owned());
    let shown = format!("{:?}", ExecEngine::new(config, supervisor(), Gateway::new()));
    assert!(shown.contains("API_KEY") && !shown.contains("sk-secret"), "{shown}");
}
