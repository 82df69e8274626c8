//! `adjourn config`: looks after the configuration.

use std::path::PathBuf;

use adjourn_runtime::config::ConfigFile;
use anyhow::anyhow;
use clap::{Args, Subcommand};
use serde_json::json;

use crate::data::Global;
use crate::exit::{Exit, wrong_use};
use crate::output::print_json;
use crate::text::{clean, indented};
use crate::trust;

/// Look after the configuration
#[derive(Debug, Args)]
pub(super) struct Config {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Allow a configuration to run what it names, until it changes
    ///
    /// A configuration that is found beside the data directory, and names commands, tool servers, models or webhooks, is not
    /// used before a person allowed it. This shows what that is, and allows it.
    Trust {
        /// The file [default: the one that would be found]
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

impl Config {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let ConfigCommand::Trust { file } = self.command;
        let found = match &file {
            Some(file) => Some(ConfigFile::open(file).map_err(wrong_use)?),
            None => global.config_file()?.map(|(file, _)| file),
        };
        let found = found.ok_or_else(|| anyhow!("there is no configuration here: name the file"))?;
        let runs = found.what_it_runs().map_err(wrong_use)?;
        if !runs.is_empty() {
            trust::remember(&found)?;
        }
        if global.json {
            print_json(&json!({ "file": found.path, "digest": found.digest(), "runs": runs }))?;
            return Ok(Exit::Done);
        }
        let path = clean(&found.path.display().to_string());
        if runs.is_empty() {
            anstream::eprintln!("{path} runs nothing, and needs no trust");
        } else {
            let shown = indented(&clean(&runs.join("\n")), "  ");
            anstream::eprintln!("{path} may run this, until it changes:\n{shown}");
        }
        Ok(Exit::Done)
    }
}
