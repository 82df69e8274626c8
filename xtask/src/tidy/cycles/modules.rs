//! The modules of a crate, and which of them imports which.
//!
//! A plain reader of `use` lines and of paths that begin with `crate` or `super`, which follows what a module re-exports.
//! Tests at the end of a file are not read.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use crate::repo;

/// A module: the names from the root of its crate to it. The root has none.
pub(super) type ModulePath = Vec<String>;

/// The modules of a crate, and what each re-exports: the name, and where it leads.
pub(super) struct Modules {
    texts: BTreeMap<ModulePath, String>,
    exports: BTreeMap<ModulePath, BTreeMap<String, ModulePath>>,
}

/// An import of one sibling by another: the module that has it, and the path that it says.
pub(super) type Imports = BTreeMap<String, BTreeMap<String, String>>;

impl Modules {
    pub(super) fn read(root: &Path, source: &str) -> Result<Self> {
        let mut texts = BTreeMap::<ModulePath, String>::new();
        for file in repo::files(&root.join(source))? {
            if file.extension().is_none_or(|extension| extension != "rs") || file.starts_with("bin") {
                continue;
            }
            let stem = file.with_extension("");
            let names = stem.components().map(|name| name.as_os_str().to_string_lossy().into_owned());
            let mut path: ModulePath = names.collect();
            if path == ["lib"] || path == ["main"] {
                path.clear();
            }
            let text = repo::read(root.join(source).join(&file))?;
            texts.entry(path).or_default().push_str(&without_tests(&text));
        }
        let mut modules = Self { texts, exports: BTreeMap::new() };
        for (module, text) in &modules.texts {
            let exported = uses(text).into_iter().filter(|(is_export, _)| *is_export);
            let mut names = BTreeMap::new();
            for path in exported.flat_map(|(_, tree)| expanded(&tree)) {
                let (path, name) = path.split_once(" as ").unwrap_or((&path, ""));
                let Some(target) = modules.absolute(module, path) else { continue };
                let name = if name.is_empty() {
                    target.last().cloned().unwrap_or_default()
                } else {
                    name.to_owned()
                };
                names.insert(name, target);
            }
            modules.exports.insert(module.clone(), names);
        }
        Ok(modules)
    }

    /// A path from the root of the crate; none for one that leads into another crate.
    fn absolute(&self, module: &ModulePath, path: &str) -> Option<ModulePath> {
        let mut names = path.split("::").map(|name| name.trim().to_owned()).peekable();
        let mut absolute = module.clone();
        match names.peek()?.as_str() {
            "crate" => absolute.clear(),
            "super" => {
                while names.next_if(|name| name == "super").is_some() {
                    absolute.pop();
                }
                absolute.extend(names);
                return Some(absolute);
            }
            "self" => {}
            child => {
                absolute.push(child.to_owned());
                if !self.texts.contains_key(&absolute) {
                    return None;
                }
            }
        }
        names.next();
        absolute.extend(names);
        Some(absolute)
    }

    /// The module that has what a path from the root leads to.
    fn owner(&self, path: &[String], steps_left: u8) -> ModulePath {
        let mut module = ModulePath::new();
        for (index, name) in path.iter().enumerate() {
            let child = [&module[..], std::slice::from_ref(name)].concat();
            if self.texts.contains_key(&child) {
                module = child;
                continue;
            }
            return match self.exports.get(&module).and_then(|names| names.get(name)) {
                Some(target) if steps_left > 0 => {
                    self.owner(&[&target[..], &path[index + 1..]].concat(), steps_left - 1)
                }
                Some(_) | None => module,
            };
        }
        module
    }

    /// For each module with children, which of these import which.
    pub(super) fn imports(&self) -> BTreeMap<ModulePath, Imports> {
        let mut all = BTreeMap::<ModulePath, Imports>::new();
        for (module, text) in &self.texts {
            let used = uses(text).into_iter().filter(|(is_export, _)| !is_export);
            let used = used.flat_map(|(_, tree)| expanded(&tree));
            for path in used.chain(inline_paths(text)) {
                let plain = path.split_once(" as ").map_or(path.as_str(), |(path, _)| path);
                let Some(target) = self.absolute(module, plain) else { continue };
                // A re-export of a re-export is the most that there is.
                let target = self.owner(&target, 4);
                let shared = module.iter().zip(&target).take_while(|(a, b)| a == b).count();
                if let (Some(from), Some(to)) = (module.get(shared), target.get(shared)) {
                    let imports = all.entry(module[..shared].to_vec()).or_default();
                    let place = format!("{} has `{plain}`", module.join("::"));
                    imports.entry(from.clone()).or_default().entry(to.clone()).or_insert(place);
                }
            }
        }
        all
    }
}

/// The text without comments, without modules that are there for tests only, and without the tests at its end.
fn without_tests(text: &str) -> String {
    let mut lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let mut kept = String::new();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push_str(line);
            kept.push('\n');
        } else if !lines.next().is_some_and(|item| item.trim_end().ends_with(';')) {
            break;
        }
    }
    kept
}

/// What each `use` says, and whether others may use it from here.
fn uses(text: &str) -> Vec<(bool, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        let item = line.trim_start();
        let visible = item.strip_prefix("pub").map(|it| it.split_once(' ').map_or("", |(_, rest)| rest));
        match visible.unwrap_or(item).strip_prefix("use ") {
            Some(tree) => {
                let offset = line.len() - tree.len();
                let Some((tree, after)) = rest[offset..].split_once(';') else { break };
                found.push((visible.is_some(), tree.split_whitespace().collect::<Vec<_>>().join(" ")));
                rest = after;
            }
            None => rest = after,
        }
    }
    found
}

/// The paths that a tree of a `use` stands for.
fn expanded(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((prefix, group)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for letter in group.chars() {
        match letter {
            '}' if depth == 0 => break,
            ',' if depth == 0 => parts.push(String::new()),
            other => {
                depth += i32::from(other == '{') - i32::from(other == '}');
                if let Some(part) = parts.last_mut() {
                    part.push(other);
                }
            }
        }
    }
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.flat_map(|part| expanded(&format!("{prefix}{part}"))).collect()
}

/// Paths outside of any `use`.
fn inline_paths(text: &str) -> Vec<String> {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in text.match_indices(start) {
            let is_inside = text[..at].ends_with(|before: char| is_name(before) || before == ':');
            let end = text[at..].find(|letter: char| !is_name(letter) && letter != ':');
            let path = text[at..].get(..end.unwrap_or(text.len() - at)).unwrap_or_default();
            if !is_inside {
                found.push(path.trim_end_matches(':').to_owned());
            }
        }
    }
    found
}
