//! Versions of skills: what every run reads its skill from.
//!
//! A version is called by what is in it, so the same skill is kept once however often it is run, and one that was changed
//! becomes another. Nobody writes into a version, and no agent is told where it is: an agent gets a copy to work with, and
//! nothing is read back from that copy. Whether a version still is what its name says is checked when it is first read
//! after a start.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use adjourn_core::RunId;
use adjourn_store::files;
use sha2::{Digest, Sha256};

use super::error::doing;
use super::removal::{GONE, NEW};
use super::{WORK, Workspace, WorkspaceError, Workspaces, copy_skill};
use crate::folder::{self, Entry, EntryKind};
use crate::service::hex;
use crate::skill::Skill;

impl Workspaces {
    /// Keeps a skill as it is now, and says as which version.
    pub(crate) fn keep_skill(&self, skill: &Skill) -> Result<String, WorkspaceError> {
        let temporary = self.versions.join(format!("{NEW}{}", uuid::Uuid::now_v7()));
        let kept = files::ensure_private_folder(&self.versions)
            .map_err(doing("making the folder for skills"))
            .and_then(|()| copy_skill(skill, &temporary))
            .and_then(|()| {
                digest(&temporary.join(&skill.name)).map_err(doing("reading the copy of the skill"))
            })
            .and_then(|version| {
                self.name_version(&temporary, &skill.name, &version)
                    .map_err(doing("naming the copy of the skill"))?;
                Ok(version)
            });
        if kept.is_err() {
            // What is left, the next sweep finds; the first error is the one to tell.
            _ = files::remove_tree(&temporary);
        }
        kept
    }

    /// Gives a new copy the name of its version. The same may have been kept before; a copy that is not what its name says
    /// any more is replaced, so that somebody who changed it does not keep the skill from being run.
    fn name_version(&self, temporary: &Path, skill: &str, version: &str) -> io::Result<()> {
        let kept = self.versions.join(version);
        let is_there = kept.is_dir() && digest(&kept.join(skill)).is_ok_and(|found| found == version);
        if is_there {
            // Whoever kept it may have been killed before it was durable.
            files::sync_tree(&kept)?;
            files::remove_tree(temporary)?;
            return files::sync_folder(&self.versions);
        }
        if kept.is_dir() {
            let gone = self.versions.join(format!("{GONE}{}", uuid::Uuid::now_v7()));
            files::rename(&kept, &gone)?;
            files::remove_tree(&gone)?;
        }
        files::sync_tree(temporary)?;
        match files::rename(temporary, &kept) {
            // Somebody else kept the same a moment ago, and synced it before it got its name.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => files::remove_tree(temporary)?,
            named => named?,
        }
        files::sync_folder(&self.versions)
    }

    /// The folder of a version of a skill.
    pub(crate) fn version_folder(&self, skill: &str, version: &str) -> PathBuf {
        self.versions.join(version).join(skill)
    }

    /// Checks that a version is what its name says.
    pub(crate) fn verify_version(&self, skill: &str, version: &str) -> Result<(), WorkspaceError> {
        let folder = self.version_folder(skill, version);
        match digest(&folder) {
            Ok(found) if found == version => Ok(()),
            Ok(_) | Err(_) => Err(WorkspaceError::VersionDamaged { skill: skill.to_owned(), folder }),
        }
    }

    /// The workspace of a run without a folder, if the version of its skill is still there.
    pub(super) fn without_folder(
        &self,
        run_id: RunId,
        skill: &str,
        version: &str,
    ) -> Result<Workspace, WorkspaceError> {
        let kept = self.kept_version(run_id, skill, version)?;
        let own = self.runs.join(run_id.to_string());
        Ok(Workspace { skill: Some(kept), ..Self::at(&own, own.join(WORK), Some(skill)) })
    }

    /// The folder of the version of its skill that a run reads, if it is still there.
    pub(super) fn kept_version(
        &self,
        run_id: RunId,
        skill: &str,
        version: &str,
    ) -> Result<PathBuf, WorkspaceError> {
        let kept = self.version_folder(skill, version);
        if kept.is_dir() { Ok(kept) } else { Err(WorkspaceError::Missing(run_id)) }
    }

    /// Removes the versions that no run reads any more, where `read` says which ones the runs of a skill do. Call it while no
    /// run is created.
    pub fn prune_versions<E: From<WorkspaceError>>(
        &self,
        read: impl Fn(&str) -> Result<HashSet<String>, E>,
    ) -> Result<(), E> {
        let mut by_skill: HashMap<String, Vec<String>> = HashMap::new();
        for version in names(&self.versions).map_err(doing("reading the versions of skills"))? {
            let skills =
                names(&self.versions.join(&version)).map_err(doing("reading a version of a skill"))?;
            for skill in skills {
                by_skill.entry(skill).or_default().push(version.clone());
            }
        }
        for (skill, versions) in by_skill {
            let read = read(&skill)?;
            for version in versions.iter().filter(|version| !read.contains(*version)) {
                self.forget_version(version).map_err(doing("removing a version of a skill"))?;
            }
        }
        Ok(())
    }

    /// Renamed first: a crash in the middle must not leave a version that looks whole.
    fn forget_version(&self, version: &str) -> io::Result<()> {
        let gone = self.versions.join(format!("{GONE}{version}"));
        files::rename(&self.versions.join(version), &gone)?;
        files::remove_tree(&gone)
    }

    /// Removes what a crash left of versions.
    pub(super) fn sweep_versions(&self) -> Result<(), WorkspaceError> {
        let failed = || doing("removing unfinished copies of skills");
        for name in names(&self.versions).map_err(failed())? {
            if name.starts_with(NEW) || name.starts_with(GONE) {
                files::remove_tree(&self.versions.join(name)).map_err(failed())?;
            }
        }
        Ok(())
    }
}

/// What is in a folder; nothing where there is none.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Tells what is in a folder from what is in another.
fn digest(dir: &Path) -> io::Result<String> {
    let entries = folder::survey(dir).map_err(|_| io::Error::other("the copy is not what was copied"))?;
    let mut digest = Sha256::new();
    // With its length before each part: no two folders are described by the same bytes.
    let mut add = |part: &[u8]| {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    };
    for Entry { path, kind, .. } in &entries {
        add(path.as_os_str().as_bytes());
        match kind {
            EntryKind::Folder => add(b"folder"),
            EntryKind::Link(target) => {
                add(b"link");
                add(target.as_os_str().as_bytes());
            }
            EntryKind::File { executable, .. } => {
                add(if *executable { b"program" } else { b"file" });
                add(folder::digest_of_file(&dir.join(path), folder::BYTES_MAX)?.as_bytes());
            }
        }
    }
    Ok(hex(digest.finalize()))
}
