//! Gateway access of an agent for one turn, told to the agent in its own terms.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use adjourn_core::{ErrorCode, RunError};

use super::ExecEngine;
use super::profile::{Access, Profile};
use crate::environment::Environment;
use crate::gateway::{AccessToken, Offered, TurnGuard};
use crate::secrets::Secret;
use crate::turn::Turn;

/// The folder of these files, next to the logs of the run.
const FOLDER: &str = "gateway";

/// The permissions of a folder by which somebody besides its owner can put files there.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// An agent that may call the tools of its turn, until dropped.
pub(super) struct GatewayAccess {
    badge: AccessToken,
    _seat: TurnGuard,
    access: &'static Access,
    files: Files,
}

impl ExecEngine {
    /// Lets the agent of a turn in, if there is anything that it could call.
    pub(super) async fn receive(&self, turn: &Turn) -> Result<Option<GatewayAccess>, RunError> {
        let offered = Offered::by(&*turn.tools).await?;
        if offered.is_empty() {
            return Ok(None);
        }
        let profile = self.profile();
        let obstacle =
            self.check_environment(profile, turn).and_then(|()| check_place(profile, &turn.logs)).err();
        match obstacle {
            Some(error) if offered.is_needed() => return Err(error),
            // Without tools that the work takes, it can still ask the user by what it says.
            Some(_) => return Ok(None),
            None => {}
        }
        let badge = self.gateway.admit(turn.run_id).await?;
        let files =
            Files::write(profile.gateway.files, &turn.logs, badge.url()).map_err(|error| RunError {
                code: ErrorCode::Internal,
                message: format!(
                    "{} cannot be told of its tools: {}: {error}",
                    profile.name,
                    turn.logs.display()
                ),
            })?;
        let seat = badge.seat(turn.tools.clone(), offered);
        Ok(Some(GatewayAccess { badge, _seat: seat, access: &profile.gateway, files }))
    }

    /// What the configuration sets is not overwritten, and without some of it the agent would not know of its tools.
    fn check_environment(&self, profile: &Profile, turn: &Turn) -> Result<(), RunError> {
        let environment = self.environment(turn.shell.as_ref());
        let is_taken = |(name, value): &&(&str, &str)| tells(value) && environment.get(name).is_some();
        match profile.gateway.env.iter().find(is_taken) {
            None => Ok(()),
            Some((name, _)) => Err(RunError {
                code: ErrorCode::EngineProtocolError,
                message: format!(
                    "{} is told of the tools of its run by {name}, which the configuration of the engine sets: set \
                     what it says in a file of the agent's own, and leave the variable out",
                    profile.name
                ),
            }),
        }
    }
}

/// Whether a variable says where the gateway is; what does not is only good to have.
fn tells(value: &str) -> bool {
    value.contains('{')
}

/// An agent that passes over its files would work without its tools, and say nothing.
fn check_place(profile: &Profile, folder: &Path) -> Result<(), RunError> {
    let Some(instead) = profile.gateway.unless_of_root else { return Ok(()) };
    // The folder itself is made when something is to be put there.
    let folder = folder.ancestors().find_map(|there| there.canonicalize().ok()).unwrap_or_default();
    let is_of_others = |folder: &&Path| {
        folder.metadata().is_ok_and(|found| found.uid() != 0 || found.mode() & WRITABLE_BY_OTHERS != 0)
    };
    match folder.ancestors().find(is_of_others) {
        None => Ok(()),
        Some(place) => Err(RunError {
            code: ErrorCode::EngineProtocolError,
            message: format!(
                "{} cannot be told of the tools of this run: it reads that only from folders that are root's and that \
                 nobody else can write to, which {} is not. Instead, {instead}",
                profile.name,
                place.display()
            ),
        }),
    }
}

impl GatewayAccess {
    /// What nobody may see.
    pub(super) fn token(&self) -> &Secret {
        self.badge.token()
    }

    /// The folder of the files that the agent is told of.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        (!self.files.names.is_empty()).then(|| self.files.folder.clone())
    }

    pub(super) fn args(&self) -> impl Iterator<Item = OsString> {
        self.access.args.iter().map(|arg| self.files.fill(arg, self.badge.url()).into())
    }

    pub(super) fn set(&self, environment: &mut Environment) {
        self.badge.tell(environment);
        for (name, value) in self.access.env {
            if tells(value) || environment.get(name).is_none() {
                environment.set(name, self.files.fill(value, self.badge.url()));
            }
        }
    }
}

/// Files for an agent, in the folder of its run and not in its workspace. They go when this is dropped.
struct Files {
    folder: PathBuf,
    names: Vec<&'static str>,
}

impl Files {
    fn write(texts: &'static [(&'static str, &'static str)], folder: &Path, url: &str) -> io::Result<Self> {
        let folder = folder.join(FOLDER);
        let mut files = Self { folder, names: Vec::new() };
        for (name, text) in texts {
            std::fs::create_dir_all(&files.folder)?;
            // Whatever is there was left by a turn that was cut off, perhaps with other permissions.
            let _ = std::fs::remove_file(files.path(name));
            let mut file = std::fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(files.path(name))?;
            files.names.push(name);
            file.write_all(files.fill(text, url).as_bytes())?;
        }
        Ok(files)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// `text` with everything in it that only now is known.
    fn fill(&self, text: &str, url: &str) -> String {
        let text = text.replace("{url}", url);
        self.names.iter().fold(text, |text, name| {
            text.replace(&format!("{{file:{name}}}"), &self.path(name).display().to_string())
        })
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for name in &self.names {
            // There is nothing in it that anybody could use.
            let _ = std::fs::remove_file(self.path(name));
        }
        // It is not there where there was no file.
        let _ = std::fs::remove_dir(&self.folder);
    }
}
