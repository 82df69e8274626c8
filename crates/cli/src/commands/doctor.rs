//! `adjourn doctor`: checks a data directory, and repairs what can be computed again.
//!
//! The directory is checked by its owner, alone: while somebody works on it, a row and the journal that it comes from are
//! read at different moments, and would differ without anything being wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use adjourn_core::StreamId;
use adjourn_store::{Examination, Finding, Remedy};
use clap::Args;
use serde_json::{Value, json};

use crate::data::Global;
use crate::exit::{Exit, wrong_use};
use crate::output::print_json;
use crate::text::clean;

/// Check a data directory, and say everything that is wrong with it
///
/// Every journal is read, and the lists are compared with what the journals say. Nothing may work on the directory
/// meanwhile. The exit status is 0 where nothing is wrong, 1 where something is.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Write the lists again where they are not what the journals say
    #[arg(long)]
    repair: bool,
}

impl Doctor {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<Exit> {
        if let Some(url) = &global.server {
            let message = format!("a data directory is checked where it is, not from here: --server {url}");
            return Err(wrong_use(message));
        }
        // Before the directory is opened, which puts them right.
        let put_right = open_to_others(&global.data);
        let (examination, repaired) = global.alone(|store| {
            let examination = store.examine()?;
            if !self.repair || !examination.findings.iter().any(|it| it.remedy == Remedy::WriteRows) {
                return Ok((examination, 0));
            }
            let repaired = store.repair(&examination)?;
            Ok((store.examine()?, repaired))
        })?;
        let problems = examination.findings.iter().filter(|finding| is_problem(finding)).count();
        let is_healthy = problems == 0;
        if global.json {
            print_json(&document(global, &examination, &put_right, repaired, is_healthy))?;
        } else {
            tell(global, &examination, &put_right, repaired);
            anstream::println!("{}", clean(&configuration_text(global)));
        }
        Ok(if is_healthy { Exit::Done } else { Exit::Failed })
    }
}

/// Damage of a run that has ended is shown, and there is nothing more to do about it.
fn is_problem(finding: &Finding) -> bool {
    match finding.remedy {
        Remedy::WriteRows | Remedy::EndStream | Remedy::Restore => true,
        Remedy::None => false,
    }
}

/// What to do about a finding, for people.
fn advice(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::WriteRows => "`adjourn doctor --repair` writes the list again from its journal",
        Remedy::EndStream => {
            "the next `adjourn` that works on this directory ends it as failed (JOURNAL_UNREADABLE)"
        }
        Remedy::None => "it has ended: what can be read of it is shown",
        Remedy::Restore => "restore the data directory from a backup, and check the disk",
    }
}

/// Files that other users of the machine could read or write until now.
fn open_to_others(data: &Path) -> Vec<String> {
    let mut open = Vec::new();
    let mut look = |path: &Path| {
        // What is not there is not open to anybody.
        let Ok(metadata) = fs::symlink_metadata(path) else { return };
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            open.push(format!(
                "{} was open to other users of this machine (mode {mode:o}), and was closed",
                path.display()
            ));
        }
    };
    look(data);
    for name in ["adjourn.db", "adjourn.db-wal", "adjourn.db-shm", "adjourn.lock", "workspace.json"] {
        look(&data.join(name));
    }
    open
}

/// Which configuration file counts, and why.
fn configuration_text(global: &Global) -> String {
    match global.config_file() {
        Ok(Some((file, source))) => format!("configuration: {} ({})", file.path.display(), source.text()),
        Ok(None) => "configuration: none, so everything is at its default".to_owned(),
        Err(error) => format!("configuration: {error:#}"),
    }
}

fn configuration_document(global: &Global) -> Value {
    match global.config_file() {
        Ok(Some((file, source))) => json!({ "file": file.path, "source": source.word() }),
        Ok(None) => Value::Null,
        Err(error) => json!({ "problem": format!("{error:#}") }),
    }
}

fn document(
    global: &Global,
    found: &Examination,
    put_right: &[String],
    repaired: u64,
    is_healthy: bool,
) -> Value {
    let findings: Vec<_> = found
        .findings
        .iter()
        .map(|finding| {
            json!({
                "stream": finding.stream.map(|stream| stream.to_string()),
                "problem": finding.problem,
                "remedy": word(finding.remedy),
            })
        })
        .collect();
    let largest = found.largest.map(|(stream, bytes)| json!({"stream": stream.to_string(), "bytes": bytes}));
    json!({
        "healthy": is_healthy,
        "streams": found.streams,
        "entries": found.entries,
        "payload_bytes": found.payload_bytes,
        "largest": largest,
        "repaired": repaired,
        "findings": findings,
        "permissions": put_right,
        "configuration": configuration_document(global),
    })
}

/// The name of a remedy, for programs.
const fn word(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::WriteRows => "repair",
        Remedy::EndStream => "ends_as_failed",
        Remedy::None => "none",
        Remedy::Restore => "restore",
    }
}

fn tell(global: &Global, found: &Examination, put_right: &[String], repaired: u64) {
    for Finding { stream, problem, remedy } in &found.findings {
        let subject = stream.map_or_else(|| "the database".to_owned(), |stream: StreamId| stream.to_string());
        anstream::println!("{subject}: {problem}\n  {}", advice(*remedy));
    }
    for closed in put_right {
        anstream::println!("{closed}");
    }
    if repaired > 0 {
        anstream::println!("repaired: the lists of {repaired} runs or roundtables were written again");
    }
    if found.findings.is_empty() {
        anstream::println!("{} is healthy", global.data.display());
    }
    anstream::println!(
        "{} journals with {} entries and {} KiB were read",
        found.streams,
        found.entries,
        found.payload_bytes.div_ceil(1024)
    );
}
