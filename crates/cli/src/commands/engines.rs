//! `adjourn engines`: which agents are installed here, and whether each answers.

use std::collections::BTreeMap;
use std::time::Duration;

use adjourn_core::Profile;
use adjourn_engine::supervisor::{ACCEPTED, NO_WALLS, NONE, Supervisor};
use adjourn_engine::{Probe, ProfileFound};
use adjourn_runtime::TurnSetup;
use adjourn_runtime::config::{Config, EngineKind, How};
use adjourn_runtime::workspace::Workspaces;
use clap::Args;
use serde_json::{Value, json};

use crate::data::Global;
use crate::exit::{Exit, wrong_use};
use crate::output::{print, print_json};
use crate::style;
use crate::table::{Cell, table};
use crate::text::one_line;
use crate::without_walls;

/// How long an agent may take to say its version. Whoever looks at a list does not wait longer, and an agent that needs
/// more for it is not broken, only slow: its first start on a machine unpacks things.
const PROBE_MAX: Duration = Duration::from_secs(15);

/// Characters of a version or of a problem.
const TOLD_CHARS_MAX: usize = 100;

/// Show which agents are installed here, and whether each answers
#[derive(Debug, Args)]
pub(super) struct Engines {
    /// Let the agents of this engine run without a sandbox, where this machine can build none
    #[arg(long, value_name = "ENGINE")]
    without_sandbox: Option<String>,
}

/// What was found out about an engine.
struct Found {
    name: String,
    kind: &'static str,
    /// What becomes of its process while a run waits: as configured, else as it was found out.
    profile: Profile,
    /// How that was found out.
    because: Option<String>,
    installed: bool,
    /// The walls around its agents; none for an engine that starts no program.
    sandbox: Option<String>,
    /// The version it told, or what is wrong.
    answer: Result<String, String>,
}

impl Engines {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let config = global.config()?;
        if let Some(engine) = &self.without_sandbox {
            if config.engine(engine).is_none() {
                return Err(wrong_use(format!(
                    "there is no engine `{engine}`; there is {}",
                    config.engine_names().join(", ")
                )));
            }
            without_walls::accept(engine)?;
            anstream::eprintln!("{engine} may run without a sandbox, where none can be built");
        }
        let workspaces = Workspaces::new(&global.absolute_data());
        // The folders of the user; no keys, which are for agents that work.
        let folders =
            ["HOME", "XDG_STATE_HOME"].map(|name| Some((name.to_owned(), std::env::var(name).ok()?)));
        let folders: BTreeMap<_, _> = folders.into_iter().flatten().collect();
        let turn_setup = TurnSetup::new(config.clone(), folders, workspaces, Supervisor::current_exe()?);
        let walls = turn_setup.walls().await;
        let asked = config.engine_names().into_iter().map(|name| ask(&config, &turn_setup, name, &walls));
        let found: Vec<Found> = futures::future::join_all(asked).await.into_iter().flatten().collect();
        if global.json {
            print_json(&found.iter().map(document).collect::<Vec<_>>())?;
        } else {
            let rows: Vec<_> = found.iter().map(row).collect();
            print(&table(&["ENGINE", "KIND", "PROFILE", "INSTALLED", "SANDBOX", "ANSWERS"], &rows))?;
            print(&format!("\nSandbox on this machine: {walls}\n"))?;
            for Found { name, sandbox, .. } in &found {
                // What the configuration opens is said where it is used.
                if let Some(opened) =
                    sandbox.as_deref().and_then(|own| own.strip_prefix(&format!("{walls}; ")))
                {
                    print(&format!("  {name}: {opened}\n"))?;
                }
            }
        }
        Ok(Exit::Done)
    }
}

async fn ask(config: &Config, turn_setup: &TurnSetup, name: &str, walls: &str) -> Option<Found> {
    let engine = config.engine(name)?;
    let found = |installed, answer| Found {
        name: name.to_owned(),
        kind: engine.kind().name(),
        profile: engine.profile.unwrap_or(Profile::Resumable),
        because: None,
        installed,
        sandbox: turn_setup.sandbox(name, walls),
        answer,
    };
    if matches!(engine.how, How::Replay { recording: None, .. }) {
        return Some(found(true, Ok("plays the recording that a skill carries".to_owned())));
    }
    let agent = match turn_setup.engine(name) {
        Ok(agent) => agent,
        Err(problem) => return Some(found(false, Err(problem))),
    };
    if !agent.is_installed(None) {
        let problem = match agent.probe().await {
            Probe::Unusable { problem } => problem,
            Probe::Ready { version, .. } => version,
        };
        return Some(found(false, Err(problem)));
    }
    Some(match tokio::time::timeout(PROBE_MAX, agent.probe()).await {
        Ok(Probe::Ready { version, profile: ProfileFound { profile, because } }) => {
            let profile = engine.profile.unwrap_or(profile);
            Found { profile, because: Some(because), ..found(true, Ok(version)) }
        }
        Ok(Probe::Unusable { problem }) => found(true, Err(problem)),
        Err(_) => found(true, Err(format!("it did not answer within {} s", PROBE_MAX.as_secs()))),
    })
}

fn row(found: &Found) -> Vec<Cell> {
    let installed =
        if found.installed { Cell::styled(style::GOOD, "yes") } else { Cell::styled(style::DIM, "no") };
    let answer = match &found.answer {
        Ok(version) if version == "unknown" => Cell::from("there is no version to ask for"),
        Ok(version) => {
            let told = match &found.because {
                // What the others can is no question; of these, everybody can something else.
                Some(because) if found.kind == EngineKind::Acp.name() => {
                    format!("{version}; {}: {because}", found.profile)
                }
                Some(_) | None => version.clone(),
            };
            Cell::from(one_line(&told, TOLD_CHARS_MAX))
        }
        Err(problem) if found.installed => Cell::styled(style::BAD, one_line(problem, TOLD_CHARS_MAX)),
        Err(problem) => {
            // Before that comes where it was looked for, which is long and only in the way here.
            let install =
                problem.rsplit_once(". To install it: ").map(|(_, how)| format!("to install it: {how}"));
            Cell::styled(style::DIM, one_line(install.as_ref().unwrap_or(problem), TOLD_CHARS_MAX))
        }
    };
    vec![
        Cell::from(found.name.as_str()),
        Cell::from(found.kind),
        Cell::from(found.profile.name()),
        installed,
        sandbox(found.sandbox.as_deref()),
        answer,
    ]
}

/// Whether there is a wall; which one it is stands below the table.
fn sandbox(walls: Option<&str>) -> Cell {
    match walls {
        None => Cell::styled(style::DIM, "-"),
        Some(NO_WALLS) => Cell::styled(style::BAD, "off"),
        Some(walls) if walls.starts_with(NONE) && walls.ends_with(ACCEPTED) => {
            Cell::styled(style::BAD, "none, accepted")
        }
        Some(walls) if walls.starts_with(NONE) => Cell::styled(style::BAD, "cannot be built"),
        Some(_) => Cell::styled(style::GOOD, "on"),
    }
}

fn document(found: &Found) -> Value {
    let Found { name, kind, profile, because, installed, sandbox, answer } = found;
    json!({
        "name": name, "kind": kind, "profile": profile, "installed": installed, "answers": answer.is_ok(),
        "version": answer.as_ref().ok(), "problem": answer.as_ref().err(), "because": because, "sandbox": sandbox,
    })
}
