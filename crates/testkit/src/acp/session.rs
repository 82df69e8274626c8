//! Sessions as files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What was said in a session, in order.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Session {
    pub(super) said: Vec<Said>,
}

/// Something that was said.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Said {
    Prompt(String),
    Answer(String),
}

impl Session {
    /// How many prompts it has had.
    pub(super) fn prompts(&self) -> usize {
        self.said.iter().filter(|said| matches!(said, Said::Prompt(_))).count()
    }

    pub(super) fn load(folder: &Path, id: &str) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(file(folder, id))?)?)
    }

    /// Written under another name first: a process that is killed leaves the old session or the new one.
    pub(super) fn store(&self, folder: &Path, id: &str) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let part = folder.join(format!("{id}.part"));
        fs::write(&part, serde_json::to_vec(self)?)?;
        fs::rename(part, file(folder, id))
    }
}

fn file(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.json"))
}
