//! Entry points for fuzzing: each function reads arbitrary bytes the way the runtime reads the files of others.
//!
//! A function may panic only if something is wrong.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::config::Config;
use crate::roundtable::{RoleText, Workflow};
use crate::skill::{self, SKILL_FILE, Skill, Template};

pub use adjourn_core::fuzzing as core;
pub use adjourn_engine::fuzzing as engine;

/// The byte between the files of a package in one fuzzed input. It is part of no UTF-8 text.
pub const FILE_SEPARATOR: u8 = 0xff;

/// The files of a fuzzed package, in the order in which they stand in an input.
pub const PACKAGE_FILES: [&str; 5] = [
    SKILL_FILE,
    "assets/runner.json",
    "assets/input.schema.json",
    "assets/parameter.schema.json",
    "assets/output.schema.json",
];

/// Loads a skill package, and renders its prompts. Its files are written to disk, because that is where packages are.
pub fn skill_package(bytes: &[u8]) {
    /// A folder of this process alone.
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = std::env::temp_dir().join(format!("adjourn-fuzz-{}", std::process::id()));
        fs::create_dir_all(folder.join("assets")).expect("the temporary folder can be written");
        folder
    });
    let mut files = bytes.split(|byte| *byte == FILE_SEPARATOR);
    for name in PACKAGE_FILES {
        let path = FOLDER.join(name);
        match files.next() {
            Some(content) => fs::write(path, content).expect("the temporary folder can be written"),
            // It may be there from the input before.
            None => drop(fs::remove_file(path)),
        }
    }
    skill::check(&FOLDER, &["claude"]);
    if let Ok(skill) = Skill::load(&FOLDER) {
        let values = json!({"input": {"a": [1, "two"]}, "parameter": {}, "run_dir": "/nowhere"});
        for template in skill.prompts.values() {
            let _ = template.render(&values);
        }
        for schema in [&skill.input, &skill.parameter, &skill.output].into_iter().flatten() {
            schema.sources();
            schema.files();
            let _ = schema.schema.check(&values);
        }
    }
}

/// Reads the first line as JSON values, and the rest as a template that is rendered with them.
pub fn template(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (values, source) = text.split_once('\n').unwrap_or(("{}", &text));
    let values: Value = serde_json::from_str(values).unwrap_or_default();
    if let Ok(template) = Template::new(source) {
        let _ = template.render(&values);
    }
}

/// Reads a workflow and a role of a roundtable.
pub fn roundtable_files(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = Workflow::parse("fuzz.yaml", &text);
    let _ = RoleText::parse("fuzz.md", "fuzz", &text);
}

/// Reads a configuration, which may lie in a folder of somebody else.
pub fn configuration(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(config) = Config::parse(Path::new("adjourn.toml"), &text, &BTreeMap::new()) {
        for engine in config.engine_names() {
            config.engine(engine);
        }
    }
}
