//! Roles: who an agent is at the table, as a file of Markdown with front matter.

use adjourn_core::roundtable::Role;

use crate::skill::FrontMatter;

/// A role, as an agent is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleText {
    /// Its name.
    pub role: Role,
    /// What people read.
    pub title: String,
    /// What it looks at, in one sentence.
    pub summary: String,
    /// What the agent is told.
    pub text: String,
}

/// A file that is no role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct UnreadableRole {
    /// The file.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl RoleText {
    /// Reads the role called `name`; `file` is for messages.
    pub fn parse(file: &str, name: &str, text: &str) -> Result<Self, UnreadableRole> {
        let unreadable = |line, message: String| UnreadableRole { file: file.to_owned(), line, message };
        let read = FrontMatter::read(text).map_err(|error| unreadable(error.line, error.message))?;
        let field = |key: &str| read.fields.get(key).map(|(value, _)| value.clone());
        if let Some((given, line)) = read.fields.get("role").filter(|(given, _)| given != name) {
            return Err(unreadable(*line, format!("`role` is `{given}`, and the file is named `{name}`")));
        }
        if read.body.trim().is_empty() {
            return Err(unreadable(
                1,
                "there is nothing to tell the agent after the front matter".to_owned(),
            ));
        }
        Ok(Self {
            role: Role::new(name),
            title: field("title").unwrap_or_else(|| name.to_owned()),
            summary: field("summary").unwrap_or_default(),
            text: read.body,
        })
    }
}
