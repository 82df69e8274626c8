//! The gateway, with a scripted toolbox behind it: agents get there through their engines, and so do the tests.

mod calls;
mod door;
mod over_acp;
mod real;
mod strangers;
mod toolbox;
mod turns;
mod visit;

use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub(crate) use toolbox::Scripted;

/// Whether gemini reads settings from there; if not, says why a test is skipped.
pub(crate) fn is_of_root(folder: &Path) -> bool {
    let is = folder
        .ancestors()
        .all(|folder| folder.metadata().is_ok_and(|found| found.uid() == 0 && found.mode() & 0o022 == 0));
    if !is {
        eprintln!(
            "skipped: gemini reads settings only from folders of root's, which {} is not",
            folder.display()
        );
    }
    is
}
