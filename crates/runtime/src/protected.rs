//! What Adjourn keeps from every agent and tool server that it starts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use adjourn_engine::{Protected, state_folder};

use crate::config::Config;

/// The variable that names the file with the tokens of the server.
const TOKENS_VARIABLE: &str = "ADJOURN_TOKENS";

/// The data directory and the list of trusted configurations are not there for a program; the configuration, the tokens and
/// Adjourn's own binary can be read, and not changed.
pub(crate) fn from_programs(
    config: &Config,
    data_dir: &Path,
    variables: &BTreeMap<String, String>,
) -> Protected {
    let tokens = variables.get(TOKENS_VARIABLE).map(PathBuf::from);
    let read_only = config.file.iter().cloned().chain(tokens).chain(std::env::current_exe().ok());
    Protected {
        hidden: [Some(data_dir.to_owned()), state_folder(|name| variables.get(name).map(PathBuf::from))]
            .into_iter()
            .flatten()
            .collect(),
        read_only: read_only.filter_map(|path| std::path::absolute(path).ok()).collect(),
    }
}

/// The folder that tool servers work in: the one of the configuration that declares them, else the one around the data
/// directory, where a configuration would be.
pub(crate) fn tool_folder(config: &Config, data_dir: &Path) -> PathBuf {
    let declared = config.file.as_deref().and_then(Path::parent);
    let folder = declared.or_else(|| data_dir.parent()).unwrap_or(Path::new("/"));
    // The folder that one is in has no name.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    std::path::absolute(folder).unwrap_or_else(|_| PathBuf::from("/"))
}
