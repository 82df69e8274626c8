//! Where turns get what they need: the skill and the folders of the run, its engine, and the words for its agent.

mod engines;
mod words;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use adjourn_core::roundtable::Role;
use adjourn_core::{ErrorCode, ResumesBy, Run, RunError, RunId, RunSpec, Schema, Survey, TurnReason};
use adjourn_engine::agent_processes::AgentProcesses;
use adjourn_engine::secrets::{Masker, secrets_in};
use adjourn_engine::supervisor::Supervisor;
use adjourn_engine::{Engine, Gateway, NoTools, Protected, Recorder, ShellVariables, Turn};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::{Config, How};
use crate::contracts::{Contracts, Toolset};
use crate::protected;
use crate::roundtable;
use crate::skill::{Skill, SkillProblems};
use crate::skill_cache::{Shelved, SkillCache};
use crate::turn_inputs::{OutputContract, PrepareTurns, TurnInputs};
use crate::workspace::{Workspace, WorkspaceError, Workspaces};

/// What was asked for, as it was asked: the journal has it masked, and the agent needs it as it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) prompt: Option<String>,
    pub(crate) input: Value,
    pub(crate) parameter: Value,
    /// The file that its turns are recorded into, for whoever answers the run later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) record: Option<PathBuf>,
    /// What it has to print, where no skill says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<Value>,
}

impl Asked {
    /// What was asked for by a run of which the journal has all, as nothing in it had to be masked.
    fn as_written(spec: &RunSpec) -> Self {
        let RunSpec { prompt, input, parameter, .. } = spec.clone();
        Self { prompt, input, parameter, record: None, output: None }
    }
}

/// Knows the skills, the folders and the engines of a data directory.
pub struct TurnSetup {
    config: Config,
    variables: BTreeMap<String, String>,
    workspaces: Workspaces,
    supervisor: Supervisor,
    /// What is kept from every agent and tool server.
    protected: Protected,
    contracts: Arc<Contracts>,
    /// Where agents call the tools of their runs.
    gateway: Gateway,
    /// Engines that were made before: each is the same for all runs.
    engines: Mutex<HashMap<String, Arc<dyn Engine>>>,
    skill_cache: SkillCache,
    /// Runs whose turns are recorded.
    recorded: Mutex<HashMap<RunId, Arc<Recorder>>>,
    /// Whether an engine that the configuration does not have, or whose program is not found, is known to be missing.
    sees_engines: SeesEngines,
    /// Where the runs of roundtables are recorded, if they are.
    roundtable_tapes: OnceLock<PathBuf>,
}

/// What the turn setup can say about engines that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SeesEngines {
    /// All: it starts them.
    AsOwner,
    /// Whether they are configured, and whether the shell that asked for a run has them. Its own environment is not the one
    /// that an agent would be started with.
    AsReader,
    /// Nothing: it has no configuration.
    Not,
}

impl TurnSetup {
    /// The turn setup of a data directory.
    pub fn new(
        config: Config,
        variables: BTreeMap<String, String>,
        workspaces: Workspaces,
        supervisor: Supervisor,
    ) -> Self {
        let data_dir = workspaces.folder();
        let protected = protected::from_programs(&config, data_dir, &variables);
        let contracts = Contracts::new(
            &config,
            &protected::tool_folder(&config, data_dir),
            &protected,
            supervisor.clone(),
        );
        Self {
            config,
            variables,
            workspaces,
            contracts,
            protected,
            supervisor,
            gateway: Gateway::new(),
            engines: Mutex::default(),
            skill_cache: SkillCache::default(),
            recorded: Mutex::default(),
            sees_engines: SeesEngines::AsOwner,
            roundtable_tapes: OnceLock::new(),
        }
    }

    /// The turn setup of somebody who only reads a data directory, and does not know which engines there are without a
    /// configuration.
    pub(crate) fn of_reader(config: Option<Config>, workspaces: Workspaces, supervisor: Supervisor) -> Self {
        let sees_engines = if config.is_some() { SeesEngines::AsReader } else { SeesEngines::Not };
        let turn_setup = Self::new(config.unwrap_or_default(), BTreeMap::new(), workspaces, supervisor);
        Self { sees_engines, ..turn_setup }
    }

    /// Records the runs of roundtables that are created from now on, until this process ends: one file in `folder` for each
    /// role. The first folder counts.
    pub fn record_roundtables(&self, folder: PathBuf) {
        let _ = self.roundtable_tapes.set(folder);
    }

    /// The file that a role is recorded into.
    pub(crate) fn roundtable_tape(&self, role: &Role) -> Option<PathBuf> {
        Some(self.roundtable_tapes.get()?.join(format!("{role}.jsonl")))
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The processes of the agents that were started here.
    pub fn agents(&self) -> &AgentProcesses {
        self.gateway.agents()
    }

    /// The tool servers.
    pub(crate) fn contracts(&self) -> &Contracts {
        &self.contracts
    }

    /// The folders.
    pub fn workspaces(&self) -> &Workspaces {
        &self.workspaces
    }

    /// The skills that were read before.
    pub(crate) fn skill_cache(&self) -> &SkillCache {
        &self.skill_cache
    }

    /// What must not be written down of a run that was asked for like this.
    pub(crate) fn masker(&self, asked: &Asked, shell: Option<&ShellVariables>) -> Result<Masker, String> {
        let mut configured = self.config.secrets(&self.variables);
        configured.extend(shell.into_iter().flat_map(|shell| self.config.secrets(shell.all())));
        let given = [("the input", &asked.input), ("a parameter", &asked.parameter)].into_iter();
        let given = given.flat_map(|(name, value)| {
            secrets_in(value).into_iter().map(move |secret| (format!("a value of {name}"), secret))
        });
        Masker::named(configured.into_iter().chain(given)).map_err(|error| error.to_string())
    }

    /// Whether a run needs nothing on the disk but its skill, which it only reads: the journal has all that was asked, and
    /// its engine works in no folder.
    pub(crate) fn only_reads(&self, spec: &RunSpec, asked: &Asked) -> bool {
        !self.works_in_a_folder(&spec.engine) && *asked == Asked::as_written(spec)
    }

    /// The engine that executes a run: where it plays a recording, the one of its skill.
    fn engine_of(
        &self,
        run: &Run,
        shelved: Option<&Shelved>,
        shell: Option<&ShellVariables>,
    ) -> Result<Arc<dyn Engine>, String> {
        let name = &run.spec().engine;
        let played = match self.config.engine(name).map(|config| config.how) {
            Some(How::Replay { recording: None, pace }) if run.spec().roundtable.is_some() => {
                Some(roundtable::play(&run.spec().labels, pace))
            }
            Some(How::Replay { recording: None, pace }) => shelved.and_then(|shelved| shelved.replay(pace)),
            _ => None,
        };
        played.map_or_else(|| self.engine_for(name, shell), |engine| Ok(Arc::new(engine?)))
    }

    /// The engine of a run whose turns are recorded into `file`.
    pub(crate) fn recorder(
        &self,
        run_id: RunId,
        engine: Arc<dyn Engine>,
        file: &Path,
    ) -> Result<Arc<dyn Engine>, String> {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(recorder) = recorded.get(&run_id) {
            return Ok(recorder.clone());
        }
        let recorder = Arc::new(Recorder::new(engine, file).map_err(|error| error.to_string())?);
        recorded.insert(run_id, recorder.clone());
        Ok(recorder)
    }

    /// Forgets that a run is recorded: it was not created.
    pub(crate) fn forget_recorder(&self, run_id: RunId) {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner).remove(&run_id);
    }

    fn skill(&self, run: &Run, workspace: &Workspace) -> Result<Option<Arc<Shelved>>, RunError> {
        let RunSpec { skill, skill_version, .. } = run.spec();
        if let (Some(skill), Some(version)) = (skill, skill_version) {
            return self.version(skill, version).map(Some).map_err(VersionError::into_run_error);
        }
        let Some(copy) = workspace.skill.as_deref() else { return Ok(None) };
        self.skill_cache.of_copy(run.id(), copy).map(Some).map_err(|problems| internal(problems.to_string()))
    }

    /// The kept version of a skill, checked against its digest when it is first read after a start.
    pub(crate) fn version(&self, skill: &str, version: &str) -> Result<Arc<Shelved>, VersionError> {
        let folder = self.workspaces.version_folder(skill, version);
        self.skill_cache.kept(&folder, || Ok(self.workspaces.verify_version(skill, version)?))
    }

    /// What was asked for, as it was asked.
    pub(crate) fn asked(&self, run: &Run) -> Result<Asked, WorkspaceError> {
        if run.spec().is_without_folder() {
            return Ok(Asked::as_written(run.spec()));
        }
        self.workspaces.asked(run.id())
    }

    /// What the agent of a skill may call.
    fn declared(&self, skill: &Skill) -> Vec<String> {
        let there = skill.servers.iter().filter(|server| self.config.tools.contains_key(*server));
        skill.tools.iter().chain(there).cloned().collect()
    }
}

impl PrepareTurns for TurnSetup {
    fn turn_inputs(&self, run: &Run) -> Result<TurnInputs, RunError> {
        let workspace = self.workspaces.of(run).map_err(|error| internal(error.to_string()))?;
        let engine_name = &run.spec().engine;
        if run.spec().is_without_folder() && self.works_in_a_folder(engine_name) {
            return Err(internal(format!(
                "the engine `{engine_name}` works in a folder, and was one that does not when the run was created: run it again"
            )));
        }
        let shelved = self.skill(run, &workspace)?;
        let skill = shelved.as_ref().map(|shelved| &shelved.skill);
        let shell = self.workspaces.shell(run.id());
        let engine = self
            .engine_of(run, shelved.as_deref(), shell.as_ref())
            .map_err(|message| RunError { code: ErrorCode::EngineNotFound, message })?;
        let asked = self.asked(run).map_err(|error| internal(error.to_string()))?;
        let engine = match &asked.record {
            // A recording that cannot be gone on with does not stop the work.
            Some(file) => self.recorder(run.id(), engine.clone(), file).unwrap_or(engine),
            None => engine,
        };
        let masker = self.masker(&asked, shell.as_ref()).map_err(internal)?;
        let prompt = self.words(run, &workspace, skill, &asked);
        let output = match skill.and_then(|skill| skill.output.clone()) {
            Some(output) => Some(OutputContract {
                files: output.files().into_iter().map(str::to_owned).collect(),
                schema: output.schema,
                document: output.document,
                workspace: workspace.clone(),
            }),
            None => asked.output.clone().map(|document| bare_contract(document, &workspace)).transpose()?,
        };
        let output = output.map(Arc::new);
        let opening = match engine.resumes_by() {
            ResumesBy::Journal => self.first_words(run, &workspace, skill, &asked),
            ResumesBy::Handle => String::new(),
        };
        let toolset = Toolset {
            contracts: self.contracts.clone(),
            declared: skill.map(|skill| self.declared(skill)).unwrap_or_default(),
            masker: masker.clone(),
            workspaces: self.workspaces.clone(),
        };
        Ok(TurnInputs {
            engine,
            prompt,
            shell,
            workspace: workspace.work,
            reads: workspace.skill.into_iter().chain([workspace.uploads]).collect(),
            logs: workspace.logs,
            masker,
            output,
            opening,
            toolset: Some(toolset),
        })
    }

    fn survey(&self, run: &Run) -> Survey {
        let workspace = self.workspaces.of(run);
        let skill = workspace.as_ref().ok().and_then(|workspace| self.skill(run, workspace).ok().flatten());
        let shell = self.workspaces.shell(run.id());
        let engine = self.engine_of(run, skill.as_deref(), shell.as_ref());
        let handle = match (&engine, &workspace) {
            (Ok(engine), Ok(workspace)) => engine.can_resume(&Turn {
                run_id: run.id(),
                attempt: run.attempt_number(),
                prompt: String::new(),
                handle: run.handle().map(str::to_owned),
                shell: shell.clone(),
                workspace: workspace.work.clone(),
                reads: Vec::new(),
                logs: workspace.logs.clone(),
                masker: Masker::EMPTY,
                profile: run.profile(),
                process: None,
                decisions: Vec::new(),
                reason: TurnReason::First,
                opening: String::new(),
                tools: Arc::new(NoTools),
                lost_output: adjourn_engine::LostOutput::default(),
            }),
            // Nobody is there who could tell, and that is no reason to give the conversation up.
            (Err(_), _) | (_, Err(_)) => true,
        };
        let engine = engine.is_ok_and(|engine| engine.is_installed(shell.as_ref()));
        Survey { engine, workspace: workspace.is_ok(), handle }
    }
}

/// What a run without a skill has to print.
fn bare_contract(document: Value, workspace: &Workspace) -> Result<OutputContract, RunError> {
    let schema = Schema::compile(&document).map_err(|error| internal(error.to_string()))?;
    Ok(OutputContract { schema, document, files: Vec::new(), workspace: workspace.clone() })
}

/// Why the kept version of a skill cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VersionError {
    /// It is not what its name says, or cannot be read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// It is no skill.
    #[error(transparent)]
    Skill(#[from] SkillProblems),
}

impl VersionError {
    fn into_run_error(self) -> RunError {
        let message = self.to_string();
        let code = match self {
            Self::Workspace(WorkspaceError::VersionDamaged { .. }) => ErrorCode::SkillVersionDamaged,
            Self::Workspace(
                WorkspaceError::SkillUnfit(_)
                | WorkspaceError::NotAFolder(_)
                | WorkspaceError::Missing(_)
                | WorkspaceError::BadPath { .. }
                | WorkspaceError::BadUpload { .. }
                | WorkspaceError::GivenDamaged { .. }
                | WorkspaceError::Io { .. },
            )
            | Self::Skill(_) => ErrorCode::Internal,
        };
        RunError { code, message }
    }
}

fn internal(message: impl Into<String>) -> RunError {
    RunError { code: ErrorCode::Internal, message: message.into() }
}
