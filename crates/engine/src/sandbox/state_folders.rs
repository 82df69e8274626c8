//! Folders in which an agent keeps its login, settings and conversations.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::environment::Environment;

/// A folder or file of an agent's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StateFolder {
    /// A folder below the home folder.
    Home(&'static str),
    /// A file in the home folder, which the agent rewrites in place.
    HomeFile(&'static str),
    /// The folder that a variable names, where it is set.
    Variable(&'static str),
    /// A folder below the one that an XDG variable names, else below this folder of the home folder.
    Xdg(&'static str, &'static str, &'static str),
}

/// The state folders of programs that are known, by the name of their file.
const KNOWN: &[(&str, &[StateFolder])] = &[
    ("claude", CLAUDE),
    ("claude-agent-acp", CLAUDE),
    ("codex", CODEX),
    ("codex-acp", CODEX),
    ("gemini", GEMINI),
    ("opencode", OPENCODE),
];

pub(crate) const CLAUDE: &[StateFolder] = &[
    StateFolder::Variable("CLAUDE_CONFIG_DIR"),
    StateFolder::Home(".claude"),
    StateFolder::HomeFile(".claude.json"),
    StateFolder::Xdg("XDG_CACHE_HOME", ".cache", "claude-cli-nodejs"),
    StateFolder::Xdg("XDG_STATE_HOME", ".local/state", "claude"),
    StateFolder::Xdg("XDG_DATA_HOME", ".local/share", "claude"),
];

pub(crate) const CODEX: &[StateFolder] = &[StateFolder::Variable("CODEX_HOME"), StateFolder::Home(".codex")];

pub(crate) const GEMINI: &[StateFolder] = &[StateFolder::Home(".gemini")];

pub(crate) const OPENCODE: &[StateFolder] = &[
    StateFolder::Xdg("XDG_DATA_HOME", ".local/share", "opencode"),
    StateFolder::Xdg("XDG_CONFIG_HOME", ".config", "opencode"),
    StateFolder::Xdg("XDG_CACHE_HOME", ".cache", "opencode"),
    StateFolder::Xdg("XDG_STATE_HOME", ".local/state", "opencode"),
];

/// The state folders of a program, known by the name of its file.
pub(crate) fn of_program(name: &str) -> &'static [StateFolder] {
    let file = name.rsplit('/').next().unwrap_or(name);
    KNOWN.iter().find(|(known, _)| *known == file).map_or(&[], |(_, folders)| folders)
}

/// The paths of state folders, which are made where they do not exist: what is not there cannot be allowed.
pub(crate) fn prepare(folders: &[StateFolder], environment: &Environment) -> io::Result<Vec<PathBuf>> {
    let home = environment.get("HOME").map(PathBuf::from);
    let mut paths = Vec::new();
    for folder in folders {
        let path = match folder {
            StateFolder::Home(name) => home.as_ref().map(|home| home.join(name)),
            StateFolder::Variable(name) => environment.get(name).map(PathBuf::from),
            StateFolder::Xdg(variable, below_home, name) => {
                let root = environment.get(variable).map(PathBuf::from);
                root.or_else(|| Some(home.as_ref()?.join(below_home))).map(|root| root.join(name))
            }
            StateFolder::HomeFile(name) => {
                let file = home.as_ref().map(|home| home.join(name));
                if let Some(file) = file.as_ref().filter(|file| !file.exists()) {
                    fs::write(file, "{}")?;
                }
                paths.extend(file);
                continue;
            }
        };
        if let Some(path) = path {
            fs::create_dir_all(&path)?;
            paths.push(path);
        }
    }
    Ok(paths)
}
