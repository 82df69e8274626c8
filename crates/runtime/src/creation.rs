//! How a run comes to be: all of it is checked and made ready before the fact that it exists is committed.

use std::path::PathBuf;
use std::sync::Arc;

use adjourn_api::read::pointer;
use adjourn_core::{
    Command, Continued, Create, FieldError, Refusal, ReplyKey, ResumesBy, Run, RunId, RunSpec, canonical,
    create_key,
};
use adjourn_engine::ShellVariables;
use adjourn_store::Error;
use serde_json::{Value, json};

use crate::folder;
use crate::request::{Checked, RunRequest, SkillRef, Surroundings};
use crate::roundtable::Part;
use crate::service::{Created, Service, ServiceError, sha256};
use crate::skill;
use crate::skill_cache::Shelved;
use crate::turn_setup::{Asked, TurnSetup};
use crate::workspace::{NewWorkspace, Place, UPLOAD_BYTES_MAX, Upload, WorkspaceError};
use adjourn_kernel::{Denied, HistoryError, chain};

/// What a request comes to.
enum Prepared {
    /// The run that the same key created before.
    Before(Arc<Run>),
    /// A run that only has to be committed.
    New(Box<Draft>),
}

struct Draft {
    run_id: RunId,
    create: Create,
    notice: Option<String>,
}

impl Service {
    /// Creates a run, or finds the one that the same key created before.
    pub async fn create(
        &self,
        request: RunRequest,
        key: Option<String>,
        record: Option<PathBuf>,
    ) -> Result<Created, ServiceError> {
        let keyed = self.off_thread(move |_| {
            let key = match key {
                Some(key) => Some(ReplyKey { key, digest: digest(&request)? }),
                None => None,
            };
            Ok((key, request))
        });
        let (key, request) = keyed.await?;
        self.create_once(key, record, move |_| Ok(request)).await
    }

    /// Finds the run that the key created before, or creates one by the request.
    pub(crate) async fn create_once(
        &self,
        key: Option<ReplyKey>,
        record: Option<PathBuf>,
        request: impl FnOnce(&Self) -> Result<RunRequest, ServiceError> + Send + 'static,
    ) -> Result<Created, ServiceError> {
        let prepared = self.off_thread(move |service| service.prepare(key, record, request)).await?;
        match prepared {
            Prepared::Before(run) => Ok(Created { run, notice: None }),
            Prepared::New(draft) => self.commit(*draft).await,
        }
    }

    /// Creates a run that plays a role at a roundtable, under the id that it was announced with.
    pub(crate) async fn create_part(&self, request: RunRequest, part: Part) -> Result<(), ServiceError> {
        let prepared = self.off_thread(move |service| {
            service.check_room()?;
            service.make(part.run_id, request, None, part.record.clone(), Some(part))
        });
        let draft = prepared.await?;
        self.commit(draft).await.map(drop)
    }

    async fn commit(&self, Draft { run_id, create, notice }: Draft) -> Result<Created, ServiceError> {
        match self.runtime().ask(run_id, Command::Create(create)).await {
            Ok(accepted) if accepted.state.id() == run_id => Ok(Created { run: accepted.state, notice }),
            // It is not known whether it will be there after a crash. If not, the next start removes what was made for it.
            Err(Denied::Failed(error)) if matches!(*error, Error::Unresolved { .. }) => {
                Err(ServiceError::Denied(Denied::Failed(error)))
            }
            other => {
                // Nothing was created: what was made for it goes. If that fails, the next start sweeps it.
                self.off_thread(move |service| {
                    let _ = service.turn_setup().workspaces().remove(run_id);
                    service.turn_setup().forget_recorder(run_id);
                    Ok(())
                })
                .await?;
                Ok(Created { run: other?.state, notice: None })
            }
        }
    }

    /// Does what waits for the disk where it keeps nobody else waiting.
    pub(crate) async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let service = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&service)).await;
        done.unwrap_or_else(|_| Err(ServiceError::Internal("what was asked for stopped halfway".to_owned())))
    }

    fn prepare(
        &self,
        key: Option<ReplyKey>,
        record: Option<PathBuf>,
        request: impl FnOnce(&Self) -> Result<RunRequest, ServiceError>,
    ) -> Result<Prepared, ServiceError> {
        // First of all: whoever asks again gets the same run, also when its skill is gone meanwhile.
        if let Some(run) = key.as_ref().map(|key| self.created_before(key)).transpose()?.flatten() {
            return Ok(Prepared::Before(Arc::new(run)));
        }
        self.check_room()?;
        let run_id = RunId::from_bits(uuid::Uuid::now_v7().as_u128());
        self.make(run_id, request(self)?, key, record, None).map(Box::new).map(Prepared::New)
    }

    /// Makes a run ready under this id.
    fn make(
        &self,
        run_id: RunId,
        request: RunRequest,
        key: Option<ReplyKey>,
        record: Option<PathBuf>,
        part: Option<Part>,
    ) -> Result<Draft, ServiceError> {
        let earlier = request.continues.map(|earlier| self.finished(earlier)).transpose()?;
        if let Some(earlier) = earlier.as_ref().filter(|run| run.spec().resumes_by == ResumesBy::Journal) {
            self.check_conversation(earlier.id())?;
        }
        let place = match (&request.workspace, &earlier) {
            (Some(folder), _) => Place::User(folder.clone()),
            // One that had no folder left nothing there to go on with.
            (None, Some(earlier)) if !earlier.spec().is_without_folder() => Place::Of(earlier.id()),
            (None, Some(_) | None) => Place::Own,
        };
        let shell = request.shell.clone();
        let Fit { checked, shelved } = self.turn_setup().check(run_id, request, &place)?;
        let Checked { mut spec, uploads, notice, .. } = checked;
        spec.continues = earlier.map(|earlier| continued(&earlier, &spec.engine)).transpose()?;
        // Whoever answers the run later may work in another folder.
        let record = record.map(std::path::absolute).transpose();
        let record = record.map_err(|error| invalid("/record", error.to_string()))?;
        spec.roundtable = part.as_ref().map(|part| part.roundtable);
        let shell = shell.map(|shell| self.turn_setup().shell_for(&spec.engine, &shell));
        let asked = self.mask(&mut spec, record, part.map(|part| part.output_schema), shell.as_ref())?;
        if let Some(file) = &asked.record {
            let engine = self.turn_setup().engine_for(&spec.engine, shell.as_ref());
            let engine = engine.map_err(|problem| invalid("/engine", problem))?;
            self.turn_setup()
                .recorder(run_id, engine, file)
                .map_err(|problem| invalid("/record", problem))?;
        }
        let is_read_only =
            uploads.is_empty() && place == Place::Own && self.turn_setup().only_reads(&spec, &asked);
        let kept = match (&shelved, &spec.skill) {
            (Some(shelved), Some(skill)) => {
                let version = shelved.version(|skill| self.turn_setup().workspaces().keep_skill(skill));
                let version = version.map_err(refused)?;
                let kept = self.turn_setup().version(skill, &version);
                spec.skill_version = Some(version);
                Some(kept.map_err(|error| ServiceError::Skill(error.to_string()))?)
            }
            (Some(_) | None, _) => None,
        };
        if kept.is_none() || !is_read_only {
            spec.has_folder = true;
            let new = NewWorkspace {
                run_id,
                skill: kept.as_deref().map(|kept| &kept.skill),
                uploads: &uploads,
                place,
                shell: shell.as_ref(),
            };
            self.turn_setup().workspaces().create_for(&new, Some(&asked)).map(drop).map_err(refused)?;
        }
        Ok(Draft { run_id, create: Create { spec, key }, notice })
    }

    /// The run that a request with this key created, if it was the same request.
    fn created_before(&self, key: &ReplyKey) -> Result<Option<Run>, ServiceError> {
        match self.store().holder(&create_key(&key.key))? {
            None => Ok(None),
            Some(holder) if holder.digest.as_ref() == Some(&key.digest) => {
                let Some(run) = holder.stream.run() else { return Ok(None) };
                match self.run(run) {
                    Err(ServiceError::UnknownRun(_)) => {
                        Err(ServiceError::Denied(Denied::Refused(Refusal::CreatedAndRemoved {
                            key: key.key.clone(),
                            run,
                        })))
                    }
                    found => found.map(Some),
                }
            }
            Some(_) => {
                Err(ServiceError::Denied(Denied::Refused(Refusal::KeyReused { key: key.key.clone() })))
            }
        }
    }

    /// The run that is continued, which has to have ended.
    fn finished(&self, earlier: RunId) -> Result<Run, ServiceError> {
        let run = match self.run(earlier) {
            Err(ServiceError::UnknownRun(_)) => {
                return Err(invalid("/continues", format!("there is no run {earlier}")));
            }
            other => other?,
        };
        if !run.status().is_terminal() {
            let problem = format!("it is {}, and only a run that ended can be", run.status());
            return Err(ServiceError::NotContinuable { run: earlier, problem });
        }
        Ok(run)
    }

    /// Checks that the conversation of a run is whole: it is read from the journals of all runs of its chain.
    fn check_conversation(&self, run: RunId) -> Result<(), ServiceError> {
        match chain(self.store().as_ref(), run) {
            Ok(_) => Ok(()),
            Err(HistoryError::Store(error)) => Err(error.into()),
            Err(gap @ HistoryError::Gap { .. }) => {
                Err(ServiceError::NotContinuable { run, problem: gap.to_string() })
            }
        }
    }

    /// What was asked for as it was asked; what is left in `spec` can be written down.
    fn mask(
        &self,
        spec: &mut RunSpec,
        record: Option<PathBuf>,
        output: Option<Value>,
        shell: Option<&ShellVariables>,
    ) -> Result<Asked, ServiceError> {
        let asked = Asked {
            prompt: spec.prompt.take(),
            input: spec.input.take(),
            parameter: spec.parameter.take(),
            record,
            output,
        };
        let masker = self.turn_setup().masker(&asked, shell).map_err(ServiceError::Internal)?;
        spec.prompt = asked.prompt.as_ref().map(|prompt| masker.text(prompt).into_owned());
        spec.input = masker.json(&asked.input);
        spec.parameter = masker.json(&asked.parameter);
        Ok(asked)
    }
}

/// A request that can be met, and what it needs.
struct Fit {
    checked: Checked,
    shelved: Option<Arc<Shelved>>,
}

impl TurnSetup {
    /// Says everything that is wrong with a request, as far as that can be told without a journal. Nothing is made: this is
    /// for whoever would have to make the data directory first.
    pub fn dry_run(&self, request: RunRequest) -> Result<(), ServiceError> {
        let place = match (&request.workspace, request.continues) {
            (Some(folder), _) => Place::User(folder.clone()),
            (None, Some(earlier)) => Place::Of(earlier),
            (None, None) => Place::Own,
        };
        self.check(RunId::from_bits(uuid::Uuid::now_v7().as_u128()), request, &place).map(drop)
    }

    /// Holds a request against its skill, the configuration and what is installed here.
    fn check(&self, run_id: RunId, request: RunRequest, place: &Place) -> Result<Fit, ServiceError> {
        let shelved = self.skill_of(&request)?;
        let skill = shelved.as_ref().map(|shelved| &shelved.skill);
        let plan = self.workspaces().plan(run_id, skill.map(|skill| skill.name.as_str()), place);
        let plan = plan.map_err(refused)?;
        let shell = request.shell.clone();
        let is_installed = |name: &str| self.is_installed(name, shell.as_ref());
        let known =
            Surroundings { config: self.config(), skill, is_installed: &is_installed, workspace: &plan };
        // Where none was named, the only thing that can be wrong about the engine is that none is there.
        let is_named = request.engine.is_some();
        let checked = request.check(known).map_err(|errors| {
            match !is_named && errors.iter().any(|error| error.path == "/engine") {
                true => ServiceError::NoEngine(errors),
                false => ServiceError::Invalid(errors),
            }
        })?;
        Ok(Fit { checked, shelved })
    }

    fn skill_of(&self, request: &RunRequest) -> Result<Option<Arc<Shelved>>, ServiceError> {
        let dir = match &request.skill {
            None => return Ok(None),
            Some(SkillRef::At(folder)) => folder.clone(),
            Some(SkillRef::Named(name)) => skill::find(name, &self.config().skills)
                .map_err(|not_found| ServiceError::Skill(not_found.to_string()))?,
        };
        let shelved = self.skill_cache().skill(&dir);
        shelved.map(Some).map_err(|problems| ServiceError::Skill(problems.to_string()))
    }
}

fn continued(earlier: &Run, engine: &str) -> Result<Continued, ServiceError> {
    let not = |problem: String| ServiceError::NotContinuable { run: earlier.id(), problem };
    if earlier.spec().engine != engine {
        return Err(not(format!("it ran on `{}`, and its conversation is there", earlier.spec().engine)));
    }
    let handle = earlier.handle().map(str::to_owned);
    match earlier.spec().resumes_by {
        ResumesBy::Handle if handle.is_none() => {
            return Err(not("its agent left no handle to go on by".to_owned()));
        }
        // Its conversation is in its journal.
        ResumesBy::Journal | ResumesBy::Handle => {}
    }
    Ok(Continued { run_id: earlier.id(), root: earlier.root(), handle })
}

fn invalid(path: impl Into<String>, message: impl Into<String>) -> ServiceError {
    ServiceError::Invalid(vec![FieldError::new(path, message)])
}

/// What is wrong with a request that a workspace cannot be made for; what is left is not the asker's fault.
fn refused(error: WorkspaceError) -> ServiceError {
    let message = error.to_string();
    match error {
        WorkspaceError::SkillUnfit(_) => ServiceError::Skill(message),
        WorkspaceError::NotAFolder(_) => invalid("/workspace", message),
        WorkspaceError::Missing(run) => {
            ServiceError::NotContinuable { run, problem: "its workspace is gone".to_owned() }
        }
        WorkspaceError::BadPath { path, problem } => invalid(pointer(&["files", &path]), problem),
        WorkspaceError::BadUpload { name, source } => {
            invalid(pointer(&["files", &name]), format!("cannot be copied: {source}"))
        }
        WorkspaceError::VersionDamaged { .. } => ServiceError::Skill(message),
        error @ (WorkspaceError::GivenDamaged { .. } | WorkspaceError::Io { .. }) => error.into(),
    }
}

/// Tells a request from another with the same key. Files are told apart by what is in them, wherever they are.
fn digest(request: &RunRequest) -> Result<String, ServiceError> {
    let mut files = Vec::new();
    for Upload { name, from } in &request.files {
        let content = folder::digest_of_file(from, UPLOAD_BYTES_MAX.saturating_add(1))
            .map_err(|source| refused(WorkspaceError::BadUpload { name: name.clone(), source }))?;
        files.push(json!([name, content]));
    }
    let skill = request.skill.as_ref().map(|skill| match skill {
        SkillRef::Named(name) => json!(name),
        SkillRef::At(folder) => json!({ "at": folder }),
    });
    Ok(sha256(&canonical(&json!({
        "skill": skill, "prompt": request.prompt, "engine": request.engine,
        "execution_mode": request.execution_mode, "input": request.input, "parameter": request.parameter,
        "options": request.options, "labels": request.labels, "continues": request.continues, "files": files,
        "workspace": request.workspace,
    }))))
}
