//! How the agent is called: which program, with which arguments, in which environment.

use std::ffi::OsString;
use std::path::PathBuf;

use super::ExecEngine;
use super::gateway_access::GatewayAccess;
use super::profile::{Arg, Profile};
use crate::environment::{Environment, ShellVariables};
use crate::program;
use crate::sandbox::{Sandbox, Workplace};
use crate::turn::{Finished, Turn};

impl ExecEngine {
    pub(super) fn profile(&self) -> &'static Profile {
        self.config.preset.profile()
    }

    /// The name or path of the program.
    pub(super) fn program(&self) -> &str {
        self.config.command.first().map_or(self.profile().program, String::as_str)
    }

    pub(super) fn environment(&self, shell: Option<&ShellVariables>) -> Environment {
        let mut environment = Environment::of_run(shell, &self.config.pass_env, &self.config.env);
        for (name, value) in self.profile().grant(self.config.permission).env {
            // Who sets it in the configuration knows better.
            if !self.config.env.contains_key(*name) {
                environment.set(name, value);
            }
        }
        environment
    }

    pub(super) fn locate(&self, environment: &Environment) -> Result<PathBuf, String> {
        let path = environment.get("PATH");
        program::locate(self.program(), path).ok_or_else(|| {
            let place = match (self.program().contains('/'), path) {
                (true, _) => "there is no such program".to_owned(),
                (false, Some(path)) => format!("it is in no folder of PATH ({})", path.display()),
                (false, None) => "PATH is not set".to_owned(),
            };
            format!(
                "`{}` cannot be started: {place}. To install it: {}",
                self.program(),
                self.profile().install
            )
        })
    }

    /// The wall around the agent of a turn; none where it is switched off.
    pub(super) fn sandbox(
        &self,
        turn: &Turn,
        guest: Option<&GatewayAccess>,
        environment: &Environment,
    ) -> Result<Option<Sandbox>, Finished> {
        let mut reads = turn.reads.clone();
        reads.extend(guest.and_then(GatewayAccess::folder));
        let options = self.config.sandbox.as_ref();
        let work =
            Workplace { workspace: &turn.workspace, reads: &reads, permission: self.config.permission };
        options.map(|options| options.for_agent(&work, self.profile().state, environment)).transpose()
    }

    pub(super) fn args(&self, turn: &Turn, guest: Option<&GatewayAccess>) -> Vec<OsString> {
        let profile = self.profile();
        let template = if turn.handle.is_some() { profile.resume } else { profile.start };
        let mut args: Vec<OsString> = Vec::new();
        for arg in template {
            match arg {
                Arg::Is(text) => args.push(text.into()),
                Arg::Model => {
                    if let Some(model) = &self.config.model {
                        args.extend([profile.model.into(), model.into()]);
                    }
                }
                Arg::Permission => {
                    let walled = profile.walled.filter(|_| self.config.sandbox.is_some());
                    let flags = walled.unwrap_or(profile.grant(self.config.permission).args);
                    args.extend(flags.iter().map(OsString::from));
                }
                Arg::Gateway => args.extend(guest.into_iter().flat_map(GatewayAccess::args)),
                Arg::Extra => args.extend(self.config.command.iter().skip(1).map(OsString::from)),
                Arg::Handle => args.extend(turn.handle.iter().map(OsString::from)),
            }
        }
        args
    }
}
