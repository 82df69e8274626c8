//! The roles and workflows that there are: built in, and those of the user.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;

use adjourn_core::roundtable::Role;

use super::role::{RoleText, UnreadableRole};
use super::workflow::{UnreadableWorkflow, Workflow};
use adjourn_api::nearest::hint;

macro_rules! built_in {
    ($folder:literal, $extension:literal, $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../roundtable/", $folder, "/", $name, $extension)))),+]
    };
}

const ROLES: &[(&str, &str)] = built_in!(
    "roles",
    ".md",
    "facilitator",
    "product",
    "architect",
    "qa",
    "ux",
    "domain",
    "security",
    "ops",
    "data",
    "performance",
    "compliance",
    "cost",
    "support",
    "skeptic",
);

const WORKFLOWS: &[(&str, &str)] = built_in!("workflows", ".yaml", "specs", "design", "brainstorm");

/// The roles and workflows that there are.
///
/// A user's role is a file `NAME.md` in one of the folders that the configuration names. It comes before the one that is
/// built in under the same name. Files are read when they are needed, so that a change counts from the next round on.
#[derive(Debug, Clone, Default)]
pub struct Library {
    folders: Vec<PathBuf>,
}

/// What is not in the library, or not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotThere {
    /// There is no such role.
    #[error("there is no role `{name}`{hint}")]
    Role {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// There is no such workflow.
    #[error("there is no workflow `{name}`{hint}")]
    Workflow {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// The role's file cannot be used.
    #[error(transparent)]
    UnreadableRole(#[from] UnreadableRole),
    /// The workflow cannot be used.
    #[error(transparent)]
    UnreadableWorkflow(#[from] UnreadableWorkflow),
}

impl Library {
    /// What is built in, and the roles in these folders.
    pub fn new(folders: &[PathBuf]) -> Self {
        Self { folders: folders.to_vec() }
    }

    /// The names of all roles that a participant can play, in order.
    pub fn roles(&self) -> BTreeSet<Role> {
        let mut roles: BTreeSet<_> = ROLES.iter().map(|(name, _)| Role::new(*name)).collect();
        for folder in &self.folders {
            // A folder that is not there has no roles.
            let Ok(entries) = fs::read_dir(folder) else { continue };
            roles.extend(entries.flatten().filter_map(|entry| {
                let path = entry.path();
                let is_role = path.extension().is_some_and(|extension| extension == "md");
                is_role.then(|| path.file_stem()?.to_str().map(Role::new))?
            }));
        }
        roles.remove(&Role::facilitator());
        roles
    }

    /// The role of this name.
    pub fn role(&self, role: &Role) -> Result<RoleText, NotThere> {
        let name = role.as_str();
        // A name that leads elsewhere names no file.
        let is_plain = !name.contains(['/', '\\']) && !name.starts_with('.');
        for folder in self.folders.iter().filter(|_| is_plain) {
            let file = folder.join(format!("{name}.md"));
            let shown = file.display().to_string();
            match fs::read_to_string(&file) {
                Ok(text) => return Ok(RoleText::parse(&shown, name, &text)?),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(UnreadableRole { file: shown, line: 1, message: error.to_string() }.into());
                }
            }
        }
        match ROLES.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Ok(RoleText::parse(&format!("{name}.md"), name, text)?),
            None => Err(NotThere::Role { name: name.to_owned(), hint: self.role_hint(name) }),
        }
    }

    /// What may have been meant by a role that there is not.
    pub(super) fn role_hint(&self, name: &str) -> String {
        let known = self.roles();
        hint(name, known.iter().map(Role::as_str))
    }

    /// The names of the workflows that are built in.
    pub fn workflows(&self) -> impl Iterator<Item = &'static str> {
        WORKFLOWS.iter().map(|(name, _)| *name)
    }

    /// The workflow of this name.
    pub fn workflow(&self, name: &str) -> Result<Workflow, NotThere> {
        match WORKFLOWS.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Ok(Workflow::parse(&format!("{name}.yaml"), text)?),
            None => {
                let hint = hint(name, WORKFLOWS.iter().map(|(known, _)| *known));
                Err(NotThere::Workflow { name: name.to_owned(), hint })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use adjourn_core::roundtable::{Role, Strategy};

    use super::{Library, ROLES, WORKFLOWS};

    fn files(folder: &str) -> BTreeSet<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("roundtable").join(folder);
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn everything_in_the_folders_is_built_in() {
        let names = |list: &[(&str, &str)]| list.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(files("roles"), names(ROLES));
        assert_eq!(files("workflows"), names(WORKFLOWS));
    }

    #[test]
    fn what_is_built_in_can_be_used() {
        let library = Library::default();
        assert!(library.roles().len() >= 10);
        library.role(&Role::facilitator()).unwrap();
        for role in library.roles() {
            let text = library.role(&role).unwrap();
            assert!(!text.summary.is_empty() && text.title != role.as_str(), "{role}");
        }
        for name in library.workflows() {
            let workflow = library.workflow(name).unwrap();
            assert_eq!(workflow.name, name);
            Strategy::named(&workflow.strategy).unwrap();
            for seat in &workflow.participants {
                library.role(&Role::new(&seat.seat().role)).unwrap();
            }
        }
    }

    #[test]
    fn users_add_roles_in_a_folder_and_theirs_come_first() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("lawyer.md", "---\ntitle: Lawyer\nsummary: Who is liable.\n---\nAsk who is liable.\n");
        write("qa.md", "---\nrole: qa\n---\nTest it yourself.\n");
        write("broken.md", "---\nrole: other\n---\nNo.\n");
        write("empty.md", "---\nrole: empty\n---\n");
        let library = Library::new(&[folder.path().to_owned(), "/nowhere".into()]);
        assert!(library.roles().contains(&Role::new("lawyer")));
        assert_eq!(library.role(&Role::new("lawyer")).unwrap().title, "Lawyer");
        assert_eq!(library.role(&Role::new("qa")).unwrap().text, "Test it yourself.");
        let said = |name: &str| library.role(&Role::new(name)).unwrap_err().to_string();
        assert!(said("broken").ends_with("broken.md:2: `role` is `other`, and the file is named `broken`"));
        assert!(said("empty").ends_with("there is nothing to tell the agent after the front matter"));
        assert_eq!(said("archtect"), "there is no role `archtect`; did you mean `architect`?");
        assert!(said("../qa").starts_with("there is no role `../qa`"));
        let said = library.workflow("spec").unwrap_err().to_string();
        assert_eq!(said, "there is no workflow `spec`; did you mean `specs`?");
    }
}
