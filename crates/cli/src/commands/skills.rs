//! `adjourn skills`: looks after skill packages.

use std::path::{Path, PathBuf};

use adjourn_runtime::Severity;
use adjourn_runtime::skill::{self, Problem, SKILL_FILE};
use anyhow::bail;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::data::Global;
use crate::exit::Exit;
use crate::output::{print, print_json};
use crate::style::{self, styled};
use crate::text::clean;

/// Look after skill packages
#[derive(Debug, Args)]
pub(super) struct Skills {
    #[command(subcommand)]
    command: SkillsCommand,
}

#[derive(Debug, Subcommand)]
enum SkillsCommand {
    /// Say what is wrong with a skill package, with file and line
    Check {
        /// The folder of the skill
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
}

impl Skills {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let SkillsCommand::Check { dir } = self.command;
        check(global, &dir)
    }
}

fn check(global: &Global, dir: &Path) -> anyhow::Result<Exit> {
    if !dir.is_dir() {
        bail!("there is no folder {}: a skill is a folder with a {SKILL_FILE}", dir.display());
    }
    // Nothing is started for this, so that it need not be trusted.
    let config = global.config_without_trust()?;
    let problems = skill::check(dir, &config.engine_names());
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    if global.json {
        print_json(&problems.iter().map(document).collect::<Vec<_>>())?;
    } else {
        let lines: String = problems.iter().map(|problem| line(dir, problem)).collect();
        print(&lines)?;
        match (errors, problems.len()) {
            (0, 0) => anstream::eprintln!("{}: nothing is wrong", dir.display()),
            (0, warnings) => anstream::eprintln!("{}: it can be used; warnings: {warnings}", dir.display()),
            (errors, _) => anstream::eprintln!("{}: it cannot be used; errors: {errors}", dir.display()),
        }
    }
    Ok(if errors == 0 { Exit::Done } else { Exit::Failed })
}

/// As compilers have it, so that editors find the place.
fn line(dir: &Path, problem: &Problem) -> String {
    let Problem { severity, file, line, message } = problem;
    let place = match line {
        Some(line) => format!("{}:{line}", dir.join(file).display()),
        None => dir.join(file).display().to_string(),
    };
    let style = match severity {
        Severity::Error => style::BAD,
        Severity::Warning => style::ODD,
    };
    format!("{}: {} {}\n", clean(&place), styled(style, format!("{severity}:")), clean(message))
}

fn document(problem: &Problem) -> Value {
    let Problem { severity, file, line, message } = problem;
    json!({ "severity": severity.to_string(), "file": file, "line": line, "message": message })
}
