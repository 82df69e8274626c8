//! The real agents on the exec engine, with a scripted model behind them.
//!
//! A test of an agent that is not installed skips itself; `cargo xtask agents` installs them.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adjourn_core::{ErrorCode, Observation};
use adjourn_engine::{
    Engine, ExecConfig, ExecEngine, Finished, Gateway, Permission, Preset, Probe, Protected, SandboxOptions,
    Seen, Turn,
};
use adjourn_testkit::agents::{self, Environment};
use adjourn_testkit::model::{Fault, ModelServer, Outcome, Reply, Script};

use crate::agent::{PATIENCE, Stage, supervisor};
use crate::turns::{Going, completed, facts, turn};

struct Real {
    name: &'static str,
    preset: Preset,
    point: fn(&Path, &str) -> std::io::Result<Environment>,
    /// Something that is a handle, but of no conversation.
    unknown_handle: &'static str,
    /// Its tool that runs a command in a shell, the name of the command among its arguments, and what lets it run one.
    shell: (&'static str, &'static str, Permission),
}

const UNKNOWN_UUID: &str = "0f5d4c3b-2a19-4807-96f5-e4d3c2b1a098";

const CLAUDE: Real = Real {
    name: "claude",
    preset: Preset::Claude,
    point: agents::claude::point,
    unknown_handle: UNKNOWN_UUID,
    shell: ("Bash", "command", Permission::Full),
};
const CODEX: Real = Real {
    name: "codex",
    preset: Preset::Codex,
    point: agents::codex::point,
    unknown_handle: UNKNOWN_UUID,
    shell: ("exec_command", "cmd", Permission::Workspace),
};
const GEMINI: Real = Real {
    name: "gemini",
    preset: Preset::Gemini,
    point: agents::gemini::point,
    unknown_handle: UNKNOWN_UUID,
    shell: ("run_shell_command", "command", Permission::Full),
};
const OPENCODE: Real = Real {
    name: "opencode",
    preset: Preset::Opencode,
    point: agents::opencode::point,
    unknown_handle: "ses_unknown",
    shell: ("bash", "command", Permission::Full),
};

/// An installed agent with a model and a home of its own.
struct Staged {
    stage: Stage,
    server: ModelServer,
    config: ExecConfig,
}

impl Real {
    /// None if it is not installed.
    fn on_stage(&self, replies: impl IntoIterator<Item = Reply>) -> Option<Staged> {
        let program = agents::binary_for_test(self.name)?;
        let stage = Stage::new();
        let server = ModelServer::start(Script::new(replies)).unwrap();
        let home = stage.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(stage.path().join("workspace")).unwrap();
        let mut config = ExecConfig::new(self.preset);
        config.command = vec![program.display().to_string()];
        config.permission = Permission::Workspace;
        config.env.extend((self.point)(&home, &server.url()).unwrap());
        config.env.extend([stage.mark()]);
        Some(Staged { stage, server, config })
    }
}

impl Staged {
    /// A new engine each time, like a new process of Adjourn.
    fn engine(&self) -> Arc<dyn Engine> {
        Arc::new(ExecEngine::new(self.config.clone(), supervisor(), Gateway::new()))
    }

    fn start(&self, attempt: u32, prompt: &str, handle: Option<String>) -> Going {
        let workspace = self.stage.path().join("workspace");
        Going::start(self.engine(), Turn { attempt, handle, workspace, ..turn(&self.stage, prompt) })
    }
}

fn handle_in(seen: &[Seen]) -> Option<String> {
    facts(seen).iter().find_map(|fact| match fact {
        Observation::Handle(handle) => Some(handle.clone()),
        _ => None,
    })
}

/// A turn asks, the answer opens another one, and each agent counts what it used.
async fn asks_and_goes_on(real: &Real) {
    let Some(staged) = real.on_stage([Reply::chunks(["Which ", "colour?"]), Reply::text("Painted it blue.")])
    else {
        return;
    };
    assert!(matches!(staged.engine().probe().await, Probe::Ready { .. }));
    let (seen, finished) = staged.start(1, "Paint the shed.", None).until_it_ends().await;
    assert_eq!(finished, completed("Which colour?"), "{seen:?}");
    let handle = handle_in(&seen);
    assert!(handle.is_some(), "{seen:?}");
    assert_eq!(staged.stage.processes(), [0; 0]);
    let (again, finished) = staged.start(2, "Blue.", handle).until_it_ends().await;
    assert_eq!(finished, completed("Painted it blue."), "{again:?}");
    let outcomes = staged.server.outcomes();
    assert!(outcomes.contains(&Outcome::Reply(1)), "the conversation was carried over: {outcomes:?}");
    for seen in [seen, again] {
        let used: Vec<_> = facts(&seen)
            .into_iter()
            .filter_map(|fact| match fact {
                Observation::Usage(usage) => Some((usage.input_tokens, usage.output_tokens)),
                _ => None,
            })
            .collect();
        let whole = used.iter().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        assert!(whole.0 > 0 && whole == used[0], "one report per turn, of that turn: {seen:?}");
    }
    assert_eq!(staged.stage.processes(), [0; 0]);
}

/// Stopped while the model is silent, it is gone at once with all it started.
async fn is_gone_when_stopped(real: &Real) {
    let Some(staged) = real.on_stage([Reply::fault(Fault::Stall)]) else { return };
    let going = staged.start(1, "Paint the shed.", None);
    let asked = |server: &ModelServer| !server.outcomes().is_empty();
    let began = Instant::now();
    while !asked(&staged.server) {
        assert!(began.elapsed() < PATIENCE, "the model was not asked");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_ne!(staged.stage.processes(), [0; 0]);
    let began = Instant::now();
    going.stop.cancel();
    assert_eq!(going.finish().await, Finished::Stopped);
    assert!(began.elapsed() < Duration::from_secs(5), "took {:?}", began.elapsed());
    assert_eq!(staged.stage.processes(), [0; 0]);
}

/// A refused key and a lost conversation are told apart from other failures.
async fn says_why_it_failed(real: &Real) {
    let Some(staged) = real.on_stage([Reply::fault(Fault::Status(401))]) else { return };
    let code = |finished: Finished| match finished {
        Finished::Failed(error) => (error.code, error.message),
        Finished::Completed { .. }
        | Finished::Stopped
        | Finished::NeedsPermission(_)
        | Finished::Suspended => {
            panic!("it should have failed: {finished:?}")
        }
    };
    let unknown = staged.start(1, "Go on.", Some(real.unknown_handle.to_owned())).until_it_ends().await.1;
    let (unknown, message) = code(unknown);
    assert_eq!(unknown, ErrorCode::SessionResumeFailed, "{message}");
    let (refused, message) = code(staged.start(2, "Paint the shed.", None).until_it_ends().await.1);
    assert_eq!(refused, ErrorCode::EngineAuthRequired, "{message}");
}

/// Its own shell works in the workspace, and reaches nothing of Adjourn's, behind the wall.
async fn runs_commands_behind_the_wall(real: &Real) {
    let (tool, argument, permission) = real.shell;
    let secret = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let command =
        format!("echo made > made; cat {0}/db > copied; echo x > {0}/planted; true", secret.path().display());
    let call = Reply::call(tool, serde_json::json!({ argument: command, "description": "makes files" }));
    let Some(mut staged) = real.on_stage([call, Reply::text("Done.")]) else { return };
    std::fs::write(secret.path().join("db"), "everything").unwrap();
    staged.config.permission = permission;
    staged.config.env.insert("IS_SANDBOX".to_owned(), "1".to_owned());
    let protected = Protected { hidden: vec![secret.path().to_owned()], read_only: Vec::new() };
    staged.config.sandbox = Some(SandboxOptions { protected, ..SandboxOptions::default() });
    let (seen, finished) = staged.start(1, "Make it.", None).until_it_ends().await;
    assert_eq!(finished, completed("Done."), "{seen:#?}");
    let file = |name: &str| std::fs::read_to_string(staged.stage.path().join("workspace").join(name));
    assert_eq!(file("made").ok().as_deref(), Some("made\n"), "{seen:#?}");
    assert_eq!(file("copied").ok().as_deref(), Some(""), "{seen:#?}");
    assert!(!secret.path().join("planted").exists());
}

macro_rules! real_agents {
    ($($module:ident: $real:ident),+ $(,)?) => {
        $(mod $module {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn asks_and_goes_on() {
                super::asks_and_goes_on(&super::$real).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn xx_10_is_gone_when_stopped() {
                super::is_gone_when_stopped(&super::$real).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn xx_25_runs_commands_behind_the_wall() {
                super::runs_commands_behind_the_wall(&super::$real).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn says_why_it_failed() {
                super::says_why_it_failed(&super::$real).await;
            }
        })+
    };
}

real_agents!(claude: CLAUDE, codex: CODEX, gemini: GEMINI, opencode: OPENCODE);
