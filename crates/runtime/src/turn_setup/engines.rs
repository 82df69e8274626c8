//! The engines of a configuration: made once each, and whether they are there.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use adjourn_core::RunId;
use adjourn_engine::supervisor::{ACCEPTED, NONE};
use adjourn_engine::{
    Acceptance, AcpConfig, AcpEngine, Engine, ExecConfig, ExecEngine, ReasoningEngine, ReplayEngine,
    ShellVariables,
};

use super::{SeesEngines, TurnSetup};
use crate::config::{EngineConfig, How};

impl TurnSetup {
    /// The engine called `name` for a run that was asked for from this shell: a model is asked with the key that the shell has.
    pub(crate) fn engine_for(
        &self,
        name: &str,
        shell: Option<&ShellVariables>,
    ) -> Result<Arc<dyn Engine>, String> {
        let config = self.config.engine(name);
        let key = config.as_ref().and_then(EngineConfig::key_variable);
        let key = key.and_then(|variable| Some((variable, shell?.all().get(variable)?)));
        match (&config, key) {
            (Some(config), Some((variable, key))) if self.variables.get(variable) != Some(key) => {
                let mut variables = self.variables.clone();
                variables.insert(variable.to_owned(), key.clone());
                self.make(name, config.clone(), &variables)
            }
            (Some(_) | None, _) => self.engine(name),
        }
    }

    /// The engine called `name`, as configured.
    pub fn engine(&self, name: &str) -> Result<Arc<dyn Engine>, String> {
        let mut engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = engines.get(name) {
            return Ok(engine.clone());
        }
        let config = self.config.engine(name).ok_or_else(|| format!("there is no engine `{name}`"))?;
        let engine = self.make(name, config, &self.variables)?;
        engines.insert(name.to_owned(), engine.clone());
        Ok(engine)
    }

    /// The walls that can be built here around agents, in a few words.
    pub async fn walls(&self) -> String {
        self.supervisor.walls().await.summary()
    }

    /// The walls around the agents of an engine, where `walls` can be built; none for an engine that starts no program.
    pub fn sandbox(&self, name: &str, walls: &str) -> Option<String> {
        let config = self.config.engine(name)?;
        match config.how {
            How::Acp { .. } | How::Exec { .. } => {
                let accepted =
                    walls.starts_with(NONE) && self.acceptance(name).is_some_and(|it| it.is_given());
                let walls = if accepted { &format!("{walls}{ACCEPTED}") } else { walls };
                Some(config.sandbox.summary(walls))
            }
            How::Reasoning(_) | How::Replay { .. } => None,
        }
    }

    /// Where it is written down whether the agents of an engine run without a sandbox where none can be built.
    pub fn acceptance(&self, engine: &str) -> Option<Acceptance> {
        Acceptance::of_user(engine, |name| self.variables.get(name).map(PathBuf::from))
    }

    /// Whether the engine called `name` can be used here by a run that was asked for from this shell, as far as that can be
    /// told without starting it.
    pub fn is_installed(&self, name: &str, shell: Option<&ShellVariables>) -> bool {
        self.engine_for(name, shell).is_ok_and(|engine| engine.is_installed(shell))
    }

    /// Whether the engine of a run is not there now: not configured, or its program cannot be found. False where that cannot
    /// be told.
    pub(crate) fn misses_engine(&self, run_id: RunId, name: &str) -> bool {
        let shell = self.workspaces.shell(run_id);
        let can_tell = match self.sees_engines {
            SeesEngines::AsOwner => true,
            SeesEngines::AsReader => shell.is_some() || self.config.engine(name).is_none(),
            SeesEngines::Not => false,
        };
        can_tell && self.lacks(name, shell.as_ref())
    }

    /// Whether there is no such engine for an agent that was asked for from this shell.
    pub(crate) fn lacks(&self, name: &str, shell: Option<&ShellVariables>) -> bool {
        match self.config.engine(name).map(|config| config.how) {
            None => true,
            Some(How::Acp { .. } | How::Exec { .. } | How::Reasoning(_)) => !self.is_installed(name, shell),
            // Whether there is a recording is a matter of the skill.
            Some(How::Replay { .. }) => false,
        }
    }

    /// What the agents of an engine may get of a shell's variables.
    pub(crate) fn shell_for(&self, engine: &str, shell: &ShellVariables) -> ShellVariables {
        let config = self.config.engine(engine);
        let variables = shell.all().iter().map(|(name, value)| (name.into(), value.into()));
        ShellVariables::new(variables, |name| config.as_ref().is_some_and(|config| config.passes(name)))
    }

    fn make(
        &self,
        name: &str,
        config: EngineConfig,
        variables: &BTreeMap<String, String>,
    ) -> Result<Arc<dyn Engine>, String> {
        let EngineConfig { how, permission, env, pass_env, sandbox, .. } = config;
        let sandbox = sandbox.options(&self.protected, self.acceptance(name));
        let env = env.into_iter().map(|(name, value)| (name, value.expose().to_owned())).collect();
        match how {
            How::Acp { command, permissions, serves, model } => {
                let config = AcpConfig {
                    command,
                    permission,
                    rules: permissions,
                    serves,
                    model,
                    env,
                    pass_env,
                    sandbox,
                };
                Ok(Arc::new(AcpEngine::new(config, self.supervisor.clone(), self.gateway.clone())))
            }
            How::Exec { preset, command } => {
                let config = ExecConfig { preset, command, permission, model: None, env, pass_env, sandbox };
                Ok(Arc::new(ExecEngine::new(config, self.supervisor.clone(), self.gateway.clone())))
            }
            How::Replay { recording: Some(recording), pace } => ReplayEngine::open(&recording, pace)
                .map(|engine| Arc::new(engine) as _)
                .map_err(|error| error.to_string()),
            How::Replay { recording: None, .. } => {
                Err(format!("the engine `{name}` plays the recording of a skill, and there is none"))
            }
            How::Reasoning(model) => {
                let options = model.options(variables).map_err(|error| error.to_string())?;
                let engine = ReasoningEngine::new(options).map_err(|error| error.to_string())?;
                Ok(Arc::new(engine))
            }
        }
    }

    /// Whether the engine called `name` has somebody work in a folder.
    pub(super) fn works_in_a_folder(&self, name: &str) -> bool {
        match self.config.engine(name).map(|config| config.how) {
            Some(How::Replay { .. }) => false,
            Some(How::Acp { .. } | How::Exec { .. } | How::Reasoning(_)) | None => true,
        }
    }
}
