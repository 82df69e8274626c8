//! Samples for fuzzing: files of the repository, by the target that reads them.
//!
//! A fuzzer needs something to begin with that is nearly right. What the tests and the skills have anyway is used;
//! `fuzz/seeds` has the rest, one folder for each target.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The byte between the files of a skill package in one sample; see `adjourn_runtime::fuzzing`.
const FILE_SEPARATOR: u8 = 0xff;

/// A sample, and a name that no other sample of its target has.
pub type Seed = (String, Vec<u8>);

/// All samples for a target, in a stable order.
pub fn of(target: &str) -> io::Result<Vec<Seed>> {
    let root = repository();
    let mut seeds = files(&root.join("fuzz/seeds").join(target), |_| true)?;
    match target {
        "exec_output" => seeds.extend(files(&root.join("crates/engine/tests/samples"), |_| true)?),
        "journal" => {
            let snapshots = root.join("crates/core/tests/it/snapshots");
            seeds.extend(files(&snapshots, |name| name.contains("__journal_"))?.into_iter().map(payloads));
        }
        "recording" => {
            seeds.extend(files(&root.join("crates/runtime/roundtable/recording"), |_| true)?);
            for skill in folders(&root.join("skills"))? {
                seeds.extend(files(&skill.join("assets"), |name| name == "recording.jsonl")?);
            }
        }
        "roundtable_files" => {
            for folder in ["workflows", "roles"] {
                seeds.extend(files(&root.join("crates/runtime/roundtable").join(folder), |_| true)?);
            }
        }
        "skill_package" => {
            for skill in folders(&root.join("skills"))? {
                seeds.push((shown(&skill), package(&skill)));
            }
        }
        _ => {}
    }
    Ok(seeds)
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_owned).unwrap_or_default()
}

/// The files right in a folder whose names are wanted; none where there is no folder.
fn files(folder: &Path, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<Seed>> {
    let mut found = Vec::new();
    for path in sorted(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && wanted(&name) {
            found.push((shown(&path), fs::read(&path)?));
        }
    }
    Ok(found)
}

fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(sorted(folder)?.into_iter().filter(|path| path.is_dir()).collect())
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut paths: Vec<_> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}

/// A path of the repository as the name of a sample.
fn shown(path: &Path) -> String {
    let relative = path.strip_prefix(repository()).unwrap_or(path);
    relative.to_string_lossy().replace('/', "_")
}

/// The payloads in a snapshot of a journal, without the head that the snapshot has.
fn payloads((name, text): Seed) -> Seed {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{"));
    (name, lines.collect::<Vec<_>>().join(&b'\n'))
}

/// The files of a skill as one sample.
fn package(skill: &Path) -> Vec<u8> {
    let files = [
        "SKILL.md",
        "assets/runner.json",
        "assets/input.schema.json",
        "assets/parameter.schema.json",
        "assets/output.schema.json",
    ];
    files.map(|file| fs::read(skill.join(file)).unwrap_or_default()).join(&FILE_SEPARATOR)
}
