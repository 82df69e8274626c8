//! Files on their way in: where uploads are kept until the run has its copies.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use super::error::doing;
use super::{Upload, WorkspaceError, Workspaces};

/// The files of one request that are on their way in. They go with it, whatever comes of the request.
#[derive(Debug)]
pub struct Incoming {
    folder: PathBuf,
    uploads: Vec<Upload>,
}

impl Workspaces {
    /// Makes room for the files of a request.
    pub fn incoming(&self) -> Result<Incoming, WorkspaceError> {
        let folder = self.incoming.join(uuid::Uuid::now_v7().to_string());
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(doing("making room for uploads"))?;
        Ok(Incoming { folder, uploads: Vec::new() })
    }

    /// Removes what a crash left of uploads.
    pub(super) fn sweep_incoming(&self) -> Result<(), WorkspaceError> {
        match fs::remove_dir_all(&self.incoming) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(doing("removing old uploads")(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

impl Incoming {
    /// A new file for the upload `name`. Whether that is a name is checked with the rest of the request: no path is made
    /// of it here.
    pub fn add(&mut self, name: String) -> Result<File, WorkspaceError> {
        let from = self.folder.join(self.uploads.len().to_string());
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&from);
        let file = file.map_err(doing("keeping an upload"))?;
        self.uploads.push(Upload { name, from });
        Ok(file)
    }

    /// The files that came.
    pub fn uploads(&self) -> &[Upload] {
        &self.uploads
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // What stays behind, the next start sweeps.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
