//! The schemas of a skill: what goes in and what comes out.

use std::fs;
use std::path::Path;

use adjourn_api::read::Document;
use adjourn_core::Schema;
use serde_json::Value;

use super::manifest::{self, Manifest};
use super::problem::Problems;
use super::read_text;

/// What schemas are for.
pub(super) const USES: [&str; 3] = ["input", "parameter", "output"];

/// A schema, and what it was compiled from.
#[derive(Debug, Clone)]
pub struct SkillSchema {
    /// As it is in its file.
    pub document: Value,
    /// What documents are checked by.
    pub schema: Schema,
}

/// What a value under a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The value itself.
    Inline,
    /// The name of a file that comes with the request.
    File,
    /// Not said: a file if one of that name comes with the request.
    Either,
}

impl SkillSchema {
    /// The declared keys of the document, with whether each is a file: `x-input-source`.
    pub fn sources(&self) -> Vec<(&str, Source)> {
        self.annotated("x-input-source", |value| match value {
            Some("inline") => Source::Inline,
            Some("file") => Source::File,
            Some(_) | None => Source::Either,
        })
    }

    /// The declared keys of the document whose values are paths of files in the workspace: `x-type`.
    pub fn files(&self) -> Vec<&str> {
        let types = self.annotated("x-type", |value| matches!(value, Some("artifact" | "file")));
        types.into_iter().filter(|(_, is_file)| *is_file).map(|(key, _)| key).collect()
    }

    fn annotated<T>(&self, keyword: &str, read: impl Fn(Option<&str>) -> T) -> Vec<(&str, T)> {
        let properties = self.document["properties"].as_object().into_iter().flatten();
        properties.map(|(key, property)| (key.as_str(), read(property[keyword].as_str()))).collect()
    }
}

/// The schema that `manifest` declares for `use_`, or the one at the usual place.
pub(super) fn load(
    dir: &Path,
    use_: &str,
    manifest: &Manifest,
    problems: &mut Problems,
) -> Option<SkillSchema> {
    match manifest.schemas.get(use_) {
        Some((path, line)) => {
            let file = path.strip_prefix("./").unwrap_or(path);
            match read_text(dir, file) {
                Ok(text) => compile(file, &text, problems),
                Err(message) => {
                    problems.error(manifest::FILE, *line, format!("the {use_} schema `{path}` {message}"));
                    None
                }
            }
        }
        None => {
            let file = format!("assets/{use_}.schema.json");
            fs::symlink_metadata(dir.join(&file)).ok()?;
            match read_text(dir, &file) {
                Ok(text) => compile(&file, &text, problems),
                Err(message) => {
                    problems.error(file, None, message);
                    None
                }
            }
        }
    }
}

fn compile(file: &str, text: &str, problems: &mut Problems) -> Option<SkillSchema> {
    let document: Value = match serde_json::from_str(text) {
        Ok(document) => document,
        Err(error) => {
            problems.error(file, Some(error.line()), format!("not valid JSON: {error}"));
            return None;
        }
    };
    match Schema::compile(&document) {
        Ok(schema) => Some(SkillSchema { document, schema }),
        Err(error) => {
            let place = Document::json(text).ok().and_then(|it| it.key_place(&error.field().path));
            let line = place.and_then(|place| place.line());
            problems.error(file, line, error.to_string());
            None
        }
    }
}
