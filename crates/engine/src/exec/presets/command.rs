//! Any program: the prompt on stdin, the answer on stdout.

use crate::exec::profile::{Access, Arg, Grant, Output, Profile};

pub(super) const PROFILE: Profile = Profile {
    name: "the command",
    program: "",
    install: "check `command` of the engine in adjourn.toml",
    login: "",
    version: None,
    start: &[Arg::Extra],
    resume: &[Arg::Extra],
    model: "--model",
    read_only: Grant::NONE,
    workspace: Grant::NONE,
    full: Grant::NONE,
    walled: None,
    state: &[],
    gateway: Access::ENVIRONMENT,
    output: Output::Text,
    statuses: &[],
    failures: &[],
};
