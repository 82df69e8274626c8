//! `sandbox`, `sandbox_write` and `sandbox_allow` of an engine or a tool server: the wall around its programs.

use std::path::PathBuf;

use adjourn_core::named;
use adjourn_engine::supervisor::NO_WALLS;
use adjourn_engine::{Acceptance, Allowance, Protected, SandboxOptions};

use super::check::Check;

/// The keys of this part.
pub(super) const KEYS: [&str; 3] = ["sandbox", "sandbox_write", "sandbox_allow"];

named! {
    /// Whether there is a wall around a program.
    pub enum SandboxSwitch {
        /// There is, or the program is not started.
        On = "on",
        /// There is none: the program may do whatever the user may do.
        Off = "off",
    }
}

/// The wall around the programs of an engine or a tool server, as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxConfig {
    /// Whether there is one.
    pub switch: SandboxSwitch,
    /// More folders and files that can be written.
    pub write: Vec<PathBuf>,
    /// What is open although it is closed by default.
    pub allow: Vec<Allowance>,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self { switch: SandboxSwitch::On, write: Vec::new(), allow: Vec::new() }
    }
}

impl SandboxConfig {
    /// The walls around its programs in a few words, where `walls` can be built, with what the configuration opens in them.
    pub fn summary(&self, walls: &str) -> String {
        match self.switch {
            SandboxSwitch::Off => NO_WALLS.to_owned(),
            SandboxSwitch::On => {
                let write = self.write.iter().map(|path| format!("writes {}", path.display()));
                let allow = self.allow.iter().map(|allowance| format!("{allowance} allowed"));
                [walls.to_owned()].into_iter().chain(write).chain(allow).collect::<Vec<_>>().join("; ")
            }
        }
    }

    /// The wall, with what is kept from every program; none where it is switched off.
    ///
    /// `without_walls` is where a person may have accepted that there is none.
    pub fn options(
        &self,
        protected: &Protected,
        without_walls: Option<Acceptance>,
    ) -> Option<SandboxOptions> {
        match self.switch {
            SandboxSwitch::Off => None,
            SandboxSwitch::On => Some(SandboxOptions {
                protected: protected.clone(),
                write: self.write.clone(),
                allow: self.allow.clone(),
                without_walls: without_walls.map(Box::new),
            }),
        }
    }
}

impl SandboxConfig {
    /// The wall as it is written in an engine or a tool.
    pub(super) fn new(
        switch: Option<SandboxSwitch>,
        write: &[String],
        allow: Vec<Allowance>,
        check: &Check<'_>,
    ) -> Self {
        let write = write.iter().map(|path| check.path_or_home(path)).collect();
        Self { switch: switch.unwrap_or(SandboxSwitch::On), write, allow }
    }
}
