//! Where turns get what they need: the skill and the folders of the run, its engine, and the words for its agent.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use adjourn_core::{ErrorCode, Interaction, Run, RunError, RunId, Subject, Survey, TurnReason};
use adjourn_engine::secrets::{Masker, secrets_in};
use adjourn_engine::supervisor::Supervisor;
use adjourn_engine::{
    AcpConfig, AcpEngine, Engine, ExecConfig, ExecEngine, Gateway, NoTools, Recorder, ReplayEngine, Turn,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::brief::{Brief, Briefs, OutputContract};
use crate::config::{Config, EngineConfig, How};
use crate::prompt::{self, Answered, First, SkillText};
use crate::shelf::{Shelf, Shelved};
use crate::skill::Skill;
use crate::workspace::{Workspace, Workspaces};

/// What was asked for, as it was asked: the journal has it masked, and the agent needs it as it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) prompt: Option<String>,
    pub(crate) input: Value,
    pub(crate) parameter: Value,
    /// The file that its turns are recorded into, for whoever answers the run later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) record: Option<PathBuf>,
}

/// Knows the skills, the folders and the engines of a data directory.
pub struct Desk {
    config: Config,
    variables: BTreeMap<String, String>,
    workspaces: Workspaces,
    supervisor: Supervisor,
    /// Where agents call the tools of their runs.
    gateway: Gateway,
    /// Engines that were made before: each is the same for all runs.
    engines: Mutex<HashMap<String, Arc<dyn Engine>>>,
    shelf: Shelf,
    /// Runs whose turns are recorded.
    recorded: Mutex<HashMap<RunId, Arc<Recorder>>>,
}

impl Desk {
    /// The desk of a data directory.
    pub fn new(
        config: Config,
        variables: BTreeMap<String, String>,
        workspaces: Workspaces,
        supervisor: Supervisor,
    ) -> Self {
        Self {
            config,
            variables,
            workspaces,
            supervisor,
            gateway: Gateway::new(),
            engines: Mutex::default(),
            shelf: Shelf::default(),
            recorded: Mutex::default(),
        }
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The folders.
    pub fn workspaces(&self) -> &Workspaces {
        &self.workspaces
    }

    /// The skills that were read before.
    pub(crate) fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// What must not be written down of a run that was asked for like this.
    pub(crate) fn masker(&self, asked: &Asked) -> Result<Masker, String> {
        let configured = self.config.secrets(&self.variables);
        let given = secrets_in(&asked.input).into_iter().chain(secrets_in(&asked.parameter));
        Masker::new(configured.into_iter().chain(given)).map_err(|error| error.to_string())
    }

    /// The engine called `name`, as configured.
    pub fn engine(&self, name: &str) -> Result<Arc<dyn Engine>, String> {
        let mut engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = engines.get(name) {
            return Ok(engine.clone());
        }
        let config = self.config.engine(name).ok_or_else(|| format!("there is no engine `{name}`"))?;
        let engine = self.make(name, config)?;
        engines.insert(name.to_owned(), engine.clone());
        Ok(engine)
    }

    /// Whether the engine called `name` can be used here, as far as that can be told without starting it.
    pub fn is_installed(&self, name: &str) -> bool {
        self.engine(name).is_ok_and(|engine| engine.is_installed())
    }

    fn make(&self, name: &str, config: EngineConfig) -> Result<Arc<dyn Engine>, String> {
        let EngineConfig { how, permission, env, pass_env, .. } = config;
        let env = env.into_iter().map(|(name, value)| (name, value.expose().to_owned())).collect();
        match how {
            How::Acp { command, permissions, serves, model } => {
                let config =
                    AcpConfig { command, permission, rules: permissions, serves, model, env, pass_env };
                Ok(Arc::new(AcpEngine::new(config, self.supervisor.clone(), self.gateway.clone())))
            }
            How::Exec { preset, command } => {
                let config = ExecConfig { preset, command, permission, model: None, env, pass_env };
                Ok(Arc::new(ExecEngine::new(config, self.supervisor.clone(), self.gateway.clone())))
            }
            How::Replay { recording: Some(recording), pace } => ReplayEngine::open(&recording, pace)
                .map(|engine| Arc::new(engine) as _)
                .map_err(|error| error.to_string()),
            How::Replay { recording: None, .. } => {
                Err(format!("the engine `{name}` plays the recording of a skill, and there is none"))
            }
            How::Reasoning(_) => Err(format!(
                "this version of adjourn cannot run the engine `{name}` yet: it knows acp, exec and replay"
            )),
        }
    }

    /// The engine that executes a run: where it plays a recording, the one of its skill.
    fn engine_of(&self, run: &Run, shelved: Option<&Shelved>) -> Result<Arc<dyn Engine>, String> {
        let name = &run.spec().engine;
        let played = match self.config.engine(name).map(|config| config.how) {
            Some(How::Replay { recording: None, pace }) => shelved.and_then(|shelved| shelved.replay(pace)),
            _ => None,
        };
        played.map_or_else(|| self.engine(name), |engine| Ok(Arc::new(engine?)))
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

    fn skill(&self, run_id: RunId, workspace: &Workspace) -> Result<Option<Arc<Shelved>>, RunError> {
        workspace
            .skill
            .as_deref()
            .map(|dir| self.shelf.of(run_id, dir))
            .transpose()
            .map_err(|problems| internal(problems.to_string()))
    }

    fn words(
        &self,
        run: &Run,
        workspace: &Workspace,
        skill: Option<&Skill>,
        asked: &Asked,
    ) -> Result<String, RunError> {
        let of = |is_meant: fn(Subject) -> bool| {
            let answers = run.turn_answers().filter(move |answer| is_meant(answer.subject));
            answers.filter_map(answered).collect::<Vec<_>>()
        };
        let answered = of(|subject| subject == Subject::Turn);
        let permissions = of(|subject| matches!(subject, Subject::Permission(_)));
        match run.turn_reason() {
            None | Some(TurnReason::First) => Ok(self.first_words(run, workspace, skill, asked)),
            // Without a handle nothing of the turn that was cut off is left, and it begins anew.
            Some(TurnReason::GoOn) if run.handle().is_none() => {
                Ok(self.first_words(run, workspace, skill, asked))
            }
            Some(TurnReason::GoOn) => Ok(prompt::go_on(&answered, &permissions)),
            Some(TurnReason::Answer) => Ok(prompt::answers(&answered)),
            Some(TurnReason::Settled | TurnReason::Permission) => {
                let settled: Vec<_> = run
                    .turn_answers()
                    .filter_map(|answer| run.contract(answer.subject.execution_id()?))
                    .map(adjourn_core::Contract::consequence)
                    .collect();
                Ok(prompt::settled(&settled, &permissions))
            }
        }
    }

    fn first_words(&self, run: &Run, workspace: &Workspace, skill: Option<&Skill>, asked: &Asked) -> String {
        let uploads = workspace.uploads_there();
        let files: Vec<_> = uploads.iter().map(|file| workspace.shown(file).to_owned()).collect();
        let text = match (skill, workspace.skill.as_deref()) {
            (Some(skill), Some(folder)) => {
                Some(SkillText { name: &skill.name, text: &skill.text, folder: workspace.shown(folder) })
            }
            (Some(_) | None, _) => None,
        };
        prompt::first(&First {
            skill: text,
            task: asked.prompt.as_deref(),
            input: &asked.input,
            parameter: &asked.parameter,
            files: &files,
            output_schema: skill.and_then(|skill| skill.output.as_ref()).map(|output| &output.document),
            mode: run.spec().execution_mode,
        })
    }
}

/// A question and its answer.
fn answered(interaction: &Interaction) -> Option<Answered<'_>> {
    let resolution = interaction.resolution.as_ref()?;
    Some(Answered { question: &interaction.question, response: &resolution.response, by: &resolution.by })
}

impl Briefs for Desk {
    fn brief(&self, run: &Run) -> Result<Brief, RunError> {
        let workspace = self.workspaces.open(run.id()).map_err(|error| internal(error.to_string()))?;
        let shelved = self.skill(run.id(), &workspace)?;
        let skill = shelved.as_ref().map(|shelved| &shelved.skill);
        let engine = self
            .engine_of(run, shelved.as_deref())
            .map_err(|message| RunError { code: ErrorCode::EngineNotFound, message })?;
        let asked: Asked = self.workspaces.asked(run.id()).map_err(|error| internal(error.to_string()))?;
        let engine = match &asked.record {
            // A recording that cannot be gone on with does not stop the work.
            Some(file) => self.recorder(run.id(), engine.clone(), file).unwrap_or(engine),
            None => engine,
        };
        let masker = self.masker(&asked).map_err(internal)?;
        let prompt = self.words(run, &workspace, skill, &asked)?;
        let output = skill.and_then(|skill| skill.output.clone()).map(|output| {
            Arc::new(OutputContract {
                files: output.files().into_iter().map(str::to_owned).collect(),
                schema: output.schema,
                document: output.document,
                workspace: workspace.clone(),
            })
        });
        Ok(Brief { engine, prompt, workspace: workspace.work, logs: workspace.logs, masker, output })
    }

    fn survey(&self, run: &Run) -> Survey {
        let workspace = self.workspaces.open(run.id());
        let skill =
            workspace.as_ref().ok().and_then(|workspace| self.skill(run.id(), workspace).ok().flatten());
        let engine = self.engine_of(run, skill.as_deref());
        let handle = match (&engine, &workspace) {
            (Ok(engine), Ok(workspace)) => engine.can_resume(&Turn {
                run_id: run.id(),
                attempt: run.attempt_number(),
                prompt: String::new(),
                handle: run.handle().map(str::to_owned),
                workspace: workspace.work.clone(),
                logs: workspace.logs.clone(),
                masker: Masker::EMPTY,
                profile: run.profile(),
                process: None,
                decisions: Vec::new(),
                reason: TurnReason::First,
                opening: String::new(),
                tools: Arc::new(NoTools),
            }),
            (Err(_), _) | (_, Err(_)) => false,
        };
        Survey { engine: engine.is_ok(), workspace: workspace.is_ok(), handle }
    }
}

fn internal(message: impl Into<String>) -> RunError {
    RunError { code: ErrorCode::Internal, message: message.into() }
}
