//! How the agent is called: which program, in which environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use adjourn_core::ErrorCode;

use super::AcpEngine;
use super::gateway;
use super::live::Live;
use super::terminals::Terminals;
use crate::environment::{Environment, ShellVariables};
use crate::gateway::AccessToken;
use crate::program;
use crate::sandbox::state_folders::of_program;
use crate::sandbox::{Sandbox, Workplace};
use crate::supervisor::Program;
use crate::turn::{Finished, Turn, failed, not_started};

impl AcpEngine {
    /// The name or path of the program.
    pub(super) fn program(&self) -> &str {
        self.config.command.first().map_or("", String::as_str)
    }

    /// What people call it.
    pub(super) fn name(&self) -> String {
        Path::new(self.program()).file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub(super) fn environment(&self, shell: Option<&ShellVariables>) -> Environment {
        Environment::of_run(shell, &self.config.pass_env, &self.config.env)
    }

    pub(super) fn locate(&self, environment: &Environment) -> Result<PathBuf, String> {
        let path = environment.get("PATH");
        program::locate(self.program(), path).ok_or_else(|| {
            let place = match (self.program().contains('/'), path) {
                (true, _) => "there is no such program".to_owned(),
                (false, Some(path)) => format!("it is in no folder of PATH ({})", path.display()),
                (false, None) => "PATH is not set".to_owned(),
            };
            format!("`{}` cannot be started: {place}", self.program())
        })
    }

    /// The wall around the agent of a turn; none where it is switched off.
    fn sandbox(&self, turn: &Turn, environment: &Environment) -> Result<Option<Sandbox>, Finished> {
        let options = self.config.sandbox.as_ref();
        let work =
            Workplace { workspace: &turn.workspace, reads: &turn.reads, permission: self.config.permission };
        let state = of_program(self.program());
        options.map(|options| options.for_agent(&work, state, environment)).transpose()
    }

    /// Starts the agent, or says why it cannot be.
    pub(super) async fn start(&self, turn: &Turn, badge: Option<&AccessToken>) -> Result<Live, Finished> {
        let mut environment = self.environment(turn.shell.as_ref());
        let program =
            self.locate(&environment).map_err(|problem| failed(ErrorCode::EngineNotFound, problem))?;
        if turn.process.is_some() && turn.handle.is_none() {
            let problem = "the process that waited is gone, and its conversation cannot be taken up again";
            return Err(failed(ErrorCode::InteractionProcessLost, problem));
        }
        if !turn.workspace.is_dir() {
            let problem = format!("the workspace {} is not there", turn.workspace.display());
            return Err(failed(ErrorCode::Internal, problem));
        }
        environment.set("ADJOURN_RUN_ID", turn.run_id.to_string());
        let mut masker = turn.masker.clone();
        if let Some(badge) = badge {
            gateway::prepare(&mut environment, badge);
            let masked = masker.and(badge.token());
            masker = masked.map_err(|error| failed(ErrorCode::Internal, error.to_string()))?;
        }
        let mut agent = Program::new(program, &turn.workspace);
        agent.args = self.config.command.iter().skip(1).map(OsString::from).collect();
        agent.sandbox = self.sandbox(turn, &environment)?;
        agent.env = environment.into_variables();
        let agents = self.gateway.agents();
        let terminals = Terminals::new(&self.config, turn, &self.supervisor, agents, agent.sandbox.clone());
        let supervised = self.supervisor.start(agent).await.map_err(not_started)?;
        agents.register(turn.run_id, supervised.process());
        let turn = &Turn { masker, ..turn.clone() };
        let live = Live::connect(self.name(), supervised, turn, &self.config, terminals).await;
        live.map_err(|error| {
            failed(
                ErrorCode::Internal,
                format!("the output cannot be kept in {}: {error}", turn.logs.display()),
            )
        })
    }
}
