//! Files that come with a request, as they came.
//!
//! An agent may change, remove and add files in its `uploads/`. A run of the same request gets what the first one was given,
//! so the files are kept a second time where no agent can write, and their digests say whether they still are what they
//! were.

use std::collections::BTreeMap;
use std::path::Path;

use adjourn_core::Run;
use adjourn_store::files;

use super::error::{self, doing};
use super::{UPLOAD_BYTES_MAX, UPLOADS_FOLDER, Upload, WORK, WorkspaceError, Workspaces, is_upload_name};
use crate::folder;

const GIVEN: &str = "given";

/// Copies the files of a request into a new folder of a run: once to be kept, and once for the agent. Returns their digests.
pub(super) fn keep(own: &Path, uploads: &[Upload]) -> Result<BTreeMap<String, String>, WorkspaceError> {
    let mut digests = BTreeMap::new();
    if uploads.is_empty() {
        return Ok(digests);
    }
    let (kept, for_agent) = (own.join(GIVEN), own.join(WORK).join(UPLOADS_FOLDER));
    files::make_private_folder(&kept)
        .and_then(|()| files::make_folder(&for_agent))
        .map_err(doing("making the workspace"))?;
    for Upload { name, from } in uploads {
        if !is_upload_name(name) {
            let problem = "is not a name for a file that comes with a request".to_owned();
            return Err(WorkspaceError::BadPath { path: name.clone(), problem });
        }
        let file = kept.join(name);
        folder::copy_file(from, &file, 0o600, UPLOAD_BYTES_MAX)
            .and_then(|_| folder::copy_file(&file, &for_agent.join(name), 0o644, UPLOAD_BYTES_MAX))
            .and_then(|_| folder::digest_of_file(&file, UPLOAD_BYTES_MAX))
            .map(|digest| digests.insert(name.clone(), digest))
            .map_err(|error| error::uploading(name, error))?;
    }
    Ok(digests)
}

impl Workspaces {
    /// The files that a run was given, as they came. None for a run from before they were kept.
    pub(crate) fn given_uploads(&self, run: &Run) -> Result<Option<Vec<Upload>>, WorkspaceError> {
        if run.spec().is_without_folder() {
            return Ok(Some(Vec::new()));
        }
        let Some(given) = self.about(run.id())?.given else { return Ok(None) };
        let folder = self.runs.join(run.id().to_string()).join(GIVEN);
        let mut uploads = Vec::new();
        for (name, digest) in given {
            let from = folder.join(&name);
            match folder::digest_of_file(&from, UPLOAD_BYTES_MAX) {
                Ok(found) if found == digest => uploads.push(Upload { name, from }),
                Ok(_) | Err(_) => return Err(WorkspaceError::GivenDamaged { run: run.id(), name }),
            }
        }
        Ok(Some(uploads))
    }
}
