//! The folders that runs work in.
//!
//! ```text
//! DATA/runs/run_…/            one per run
//!   workspace.json            what was asked for, as it was asked; where the agent works, if not in `work`; the digests of
//!                             what it was given
//!   given/                    files that came with the request, as they came: no agent can write there
//!   work/                     the agent's working folder
//!     .skill/NAME/            a copy of the skill for the agent, which nothing is read back from
//!     uploads/                copies of these for the agent
//!   logs/                     attempt-1.stdout, attempt-1.stderr, …, once there is output
//!   environment.json          the variables of the shell that asked, where one did
//! DATA/skills/SHA256/NAME/    a version of a skill, which all runs that were created with it read
//! DATA/roundtables/           the variables of the shells that asked for roundtables
//! DATA/incoming/              files of requests that are still being read
//! ```
//!
//! A folder is made under a name of its own, synced with all that is in it, and renamed, and the name is synced too, before
//! the run is created in the journal. So a crash or a power cut leaves either an incomplete folder, or a complete one without
//! a run: [`Workspaces::sweep`] removes both.
//! The working folder may instead be one that the user named, which is never removed, or that of the run which is
//! continued, which is removed with the last run that uses it.
//!
//! A run whose engine works in no folder, and of which the journal has everything, has none.

mod calls;
mod error;
mod given;
mod incoming;
mod listing;
mod removal;
mod shell;
#[cfg(test)]
mod tests;
mod versions;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use adjourn_core::{FieldError, OutputStream, Run, RunId, RunSpec};
use adjourn_engine::{ShellVariables, log_file};
use adjourn_store::files;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use error::WorkspaceError;
pub use incoming::Incoming;
pub use listing::{FILES_LISTED_MAX, Listed, Listing};

use error::doing;

use crate::folder;
use crate::skill::Skill;
use crate::turn_setup::Asked;
use adjourn_engine::beneath;

/// The folder for copies of skills, in a working folder.
pub const SKILL_FOLDER: &str = ".skill";

/// The folder for files that came with the request, in a working folder.
pub const UPLOADS_FOLDER: &str = "uploads";

/// Files that may come with one request.
pub const UPLOADS_MAX: usize = 100;

/// Bytes of one file that comes with a request.
pub const UPLOAD_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Bytes of all files that come with one request: what a disk should have to spare, three times, while they are copied.
pub const UPLOADS_BYTES_MAX: u64 = 4 * UPLOAD_BYTES_MAX;

const ABOUT: &str = "workspace.json";
/// What was asked for, in the folder of a run that was created before `workspace.json` had it.
const ASKED: &str = "request.json";
const WORK: &str = "work";
const LOGS: &str = "logs";

/// A file that comes with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Its name in `uploads/`.
    pub name: String,
    /// Where it is now.
    pub from: PathBuf,
}

/// What a new workspace needs.
#[derive(Debug, Clone)]
pub struct NewWorkspace<'a> {
    /// The run it is for.
    pub run_id: RunId,
    /// The skill to copy.
    pub skill: Option<&'a Skill>,
    /// Files to copy.
    pub uploads: &'a [Upload],
    /// Where the agent works.
    pub place: Place,
    /// The variables of the shell that asked.
    pub shell: Option<&'a ShellVariables>,
}

/// Where an agent works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a folder of its own.
    Own,
    /// In a folder of the user, which is never removed.
    User(PathBuf),
    /// Where the run that is continued worked.
    Of(RunId),
}

/// `workspace.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
struct About {
    /// The user's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<PathBuf>,
    /// The run whose working folder is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shares: Option<String>,
    /// The name of the skill that was copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    skill: Option<String>,
    /// The files that came with the request, by their names, and the digests of their contents. None for a run from before
    /// these files were kept as they came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    given: Option<BTreeMap<String, String>>,
    /// What was asked for, as it was asked, where only the owner of the data directory can read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<Asked>,
}

/// All workspaces of a data directory.
#[derive(Debug, Clone)]
pub struct Workspaces {
    runs: PathBuf,
    incoming: PathBuf,
    versions: PathBuf,
    roundtables: PathBuf,
}

/// The folders of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Where the agent works.
    pub work: PathBuf,
    /// What is read of the skill: the version that is kept. The copy, for a run that was created before versions were kept.
    pub skill: Option<PathBuf>,
    /// The copy of the skill that the agent is told of. It may do what it likes with it.
    pub skill_copy: Option<PathBuf>,
    /// Files that came with the request.
    pub uploads: PathBuf,
    /// Raw output of the attempts.
    pub logs: PathBuf,
}

impl Workspaces {
    /// Those in `data_dir`, which has to be absolute for agents to find them.
    pub fn new(data_dir: &Path) -> Self {
        let names = ["runs", "incoming", "skills", "roundtables"];
        let [runs, incoming, versions, roundtables] = names.map(|name| data_dir.join(name));
        Self { runs, incoming, versions, roundtables }
    }

    /// The folder that they are in.
    pub(crate) fn folder(&self) -> &Path {
        self.runs.parent().unwrap_or(&self.runs)
    }

    /// The folders that a new run will have: known before they are there, for the prompt.
    pub fn plan(
        &self,
        run_id: RunId,
        skill: Option<&str>,
        place: &Place,
    ) -> Result<Workspace, WorkspaceError> {
        let own = self.runs.join(run_id.to_string());
        let work = match place {
            Place::Own => own.join(WORK),
            Place::User(folder) => {
                let folder = fs::canonicalize(folder).ok().filter(|folder| folder.is_dir());
                folder.ok_or_else(|| not_a_folder(place))?
            }
            Place::Of(earlier) => self.open(*earlier)?.work,
        };
        Ok(Self::at(&own, work, skill))
    }

    fn at(own: &Path, work: PathBuf, skill: Option<&str>) -> Workspace {
        let skill_copy = skill.map(|name| own.join(WORK).join(SKILL_FOLDER).join(name));
        Workspace {
            work,
            skill: skill_copy.clone(),
            skill_copy,
            uploads: own.join(WORK).join(UPLOADS_FOLDER),
            logs: own.join(LOGS),
        }
    }

    /// Makes a workspace, whole or not at all.
    pub fn create(&self, new: &NewWorkspace<'_>) -> Result<Workspace, WorkspaceError> {
        self.create_for(new, None)
    }

    /// Makes a workspace that keeps what was asked for. When this returns, all of it is durable.
    pub(crate) fn create_for(
        &self,
        new: &NewWorkspace<'_>,
        asked: Option<&Asked>,
    ) -> Result<Workspace, WorkspaceError> {
        let workspace = self.plan(new.run_id, new.skill.map(|skill| skill.name.as_str()), &new.place)?;
        let temporary = self.runs.join(format!("{}{}", removal::NEW, new.run_id));
        let own = self.runs.join(new.run_id.to_string());
        let named = self.fill(&temporary, new, asked).and_then(|()| {
            let named = files::sync_tree(&temporary).and_then(|()| files::rename(&temporary, &own));
            named.map_err(doing("naming the workspace"))
        });
        let durable = named.map_err(|error| (&temporary, error)).and_then(|()| {
            let synced = files::sync_folder(&self.runs).map_err(doing("naming the workspace"));
            synced.map_err(|error| (&own, error))
        });
        if let Err((left, error)) = durable {
            // What cannot be removed, the next sweep finds; the first error is the one to tell.
            _ = files::remove_tree(left);
            return Err(error);
        }
        Ok(workspace)
    }

    fn fill(
        &self,
        temporary: &Path,
        new: &NewWorkspace<'_>,
        asked: Option<&Asked>,
    ) -> Result<(), WorkspaceError> {
        let work = temporary.join(WORK);
        // The folder for uploads is made for the first of them, and the one for logs by whoever writes some: making
        // folders is the dearest part of starting a run.
        match files::make_private_folder(temporary) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                files::ensure_private_folder(&self.runs).and_then(|()| files::make_private_folder(temporary))
            }
            made => made,
        }
        .and_then(|()| files::make_folder(&work))
        .map_err(doing("making the workspace"))?;
        if let Some(skill) = new.skill {
            copy_skill(skill, &work.join(SKILL_FOLDER))?;
        }
        let given = Some(given::keep(temporary, new.uploads)?);
        let skill = new.skill.map(|skill| skill.name.clone());
        let mut about = About { skill, given, request: asked.cloned(), ..About::default() };
        match &new.place {
            Place::Own => {}
            Place::User(folder) => {
                about.folder = Some(fs::canonicalize(folder).map_err(|_| not_a_folder(&new.place))?);
            }
            Place::Of(earlier) => {
                let owner = self.owner(*earlier)?;
                self.mark(owner, new.run_id)?;
                about.shares = Some(owner.to_string());
            }
        }
        if let Some(shell) = new.shell {
            shell::write(temporary, shell).map_err(doing("keeping the environment"))?;
        }
        let text =
            serde_json::to_vec(&about).map_err(|error| doing("describing the workspace")(error.into()))?;
        files::write_new(&temporary.join(ABOUT), 0o600, |file| file.write_all(&text))
            .map_err(doing("describing the workspace"))
    }

    /// The workspace of a run, if all of it is still there: its folder, and the version of its skill.
    pub fn of(&self, run: &Run) -> Result<Workspace, WorkspaceError> {
        let RunSpec { skill, skill_version, has_folder, .. } = run.spec();
        match (skill, skill_version) {
            (Some(skill), Some(version)) if *has_folder => {
                let skill = Some(self.kept_version(run.id(), skill, version)?);
                Ok(Workspace { skill, ..self.open(run.id())? })
            }
            (Some(skill), Some(version)) => self.without_folder(run.id(), skill, version),
            (Some(_) | None, _) => self.open(run.id()),
        }
    }

    /// The workspace of a run that has a folder, if all of it is still there.
    pub fn open(&self, run_id: RunId) -> Result<Workspace, WorkspaceError> {
        let own = self.runs.join(run_id.to_string());
        let About { folder, shares, skill, given: _, request: _ } = self.about(run_id)?;
        // Where a chain of runs works was decided for the first of them.
        let (folder, owner) = match shares {
            None => (folder, own.clone()),
            Some(owner) => {
                let owner = owner.parse().map_err(|_| WorkspaceError::Missing(run_id))?;
                (self.about(owner)?.folder, self.runs.join(owner.to_string()))
            }
        };
        let work = folder.unwrap_or_else(|| owner.join(WORK));
        if !work.is_dir() {
            return Err(WorkspaceError::Missing(run_id));
        }
        Ok(Self::at(&own, work, skill.as_deref()))
    }

    /// The raw output of an attempt; none where there is none, or none any more.
    pub fn log(
        &self,
        run_id: RunId,
        attempt: u32,
        stream: OutputStream,
    ) -> Result<Option<File>, WorkspaceError> {
        let logs = self.runs.join(run_id.to_string()).join(LOGS);
        match folder::open_file(&log_file(&logs, attempt, stream)) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(doing("opening the log")(error)),
        }
    }

    /// What was asked for, as it was asked.
    pub(crate) fn asked(&self, run_id: RunId) -> Result<Asked, WorkspaceError> {
        if let Some(asked) = self.about(run_id)?.request {
            return Ok(asked);
        }
        let bytes = fs::read(self.runs.join(run_id.to_string()).join(ASKED))
            .map_err(|_| WorkspaceError::Missing(run_id))?;
        serde_json::from_slice(&bytes).map_err(|_| WorkspaceError::Missing(run_id))
    }

    fn about(&self, run_id: RunId) -> Result<About, WorkspaceError> {
        let file = self.runs.join(run_id.to_string()).join(ABOUT);
        let bytes = fs::read(file).map_err(|_| WorkspaceError::Missing(run_id))?;
        serde_json::from_slice(&bytes).map_err(|_| WorkspaceError::Missing(run_id))
    }

    /// The run whose folder `run_id` works in: the first of its chain.
    fn owner(&self, run_id: RunId) -> Result<RunId, WorkspaceError> {
        match self.about(run_id)?.shares {
            Some(owner) => owner.parse().map_err(|_| WorkspaceError::Missing(run_id)),
            None => Ok(run_id),
        }
    }
}

impl Workspace {
    /// Opens the file that an agent or a user names, which has to be inside: no absolute path, no `..`, no link out.
    pub fn result_file(&self, path: &str) -> Result<File, WorkspaceError> {
        beneath::open(&self.work, path)
            .map_err(|problem| WorkspaceError::BadPath { path: path.to_owned(), problem })
    }

    /// What is wrong with the files that a result names under `keys`: each has to be there, inside.
    pub fn check_files(&self, output: &Value, keys: &[&str]) -> Vec<FieldError> {
        let mut errors = Vec::new();
        for key in keys {
            let pointer = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
            let named: Vec<(String, &Value)> = match output.get(key) {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::Array(items)) => items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| (format!("{pointer}/{index}"), item))
                    .collect(),
                Some(value) => vec![(pointer, value)],
            };
            for (pointer, value) in named {
                let problem = match value.as_str() {
                    Some(path) => self.result_file(path).err().map(|error| error.to_string()),
                    None => Some("should be the path of a file in the workspace".to_owned()),
                };
                errors.extend(problem.map(|problem| FieldError::new(pointer, problem)));
            }
        }
        errors
    }

    /// What the run left, without the copy of its skill.
    pub fn files(&self) -> Result<Listing, WorkspaceError> {
        match listing::list(&self.work) {
            // A run without a folder leaves nothing.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Listing::default()),
            listing => listing.map_err(doing("listing the files")),
        }
    }

    /// The files that came with the request, in order.
    pub(crate) fn uploads_there(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.uploads).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
        files.sort();
        files
    }

    /// How the agent is told of `path`: relative to where it works, if it is there.
    pub fn shown<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.work).unwrap_or(path)
    }
}

/// Copies a skill into the new folder `skills`, under its name.
fn copy_skill(skill: &Skill, skills: &Path) -> Result<(), WorkspaceError> {
    let entries = folder::survey(&skill.dir).map_err(|unfit| {
        let named = unfit.iter().map(|it| format!("`{}` {}", it.path.display(), it.message));
        WorkspaceError::SkillUnfit(named.collect())
    })?;
    files::make_folder(skills)
        .and_then(|()| folder::copy(&skill.dir, &entries, &skills.join(&skill.name)))
        .map_err(doing("copying the skill"))
}

fn not_a_folder(place: &Place) -> WorkspaceError {
    match place {
        Place::User(folder) => WorkspaceError::NotAFolder(folder.clone()),
        Place::Own | Place::Of(_) => WorkspaceError::NotAFolder(PathBuf::from(WORK)),
    }
}

/// Whether a file that comes with a request may be called `name`.
pub fn is_upload_name(name: &str) -> bool {
    let path = Path::new(name);
    beneath::is_below(path)
        && path.components().count() == 1
        && name.len() <= 200
        && !name.starts_with('.')
        && !name.contains(|char: char| char.is_control() || char == '/' || char == '\\')
}
