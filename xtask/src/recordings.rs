//! `cargo xtask recordings`: makes the recordings in `skills/` again, and that of the roundtable which is built in.
//!
//! What the model says is in `xtask/recordings`, one file for each; who does the work is an example of the runtime,
//! because a recording is a run of its service.

use anyhow::Result;

use crate::cargo;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Which skills, or `roundtable`; without a name, all that have a file in xtask/recordings
    skills: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut command =
        vec!["run", "--quiet", "--package", "adjourn-runtime", "--example", "record_skills", "--"];
    command.extend(options.skills.iter().map(String::as_str));
    cargo::run(&command)
}
