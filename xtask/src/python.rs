//! Python programs that the tests drive, each in a virtual environment of its own in the user's cache folder.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::{install, repo};

/// The interpreter, in the folder of its environment.
const PYTHON: &str = "bin/python";

const HINT: &str = "Python 3.11 or later is needed, on Debian and Ubuntu: apt-get install python3-venv";

/// Whether there is a Python to make environments with.
pub(crate) fn is_there() -> bool {
    let asked = Command::new("python3").args(["-m", "venv", "--help"]).output();
    asked.is_ok_and(|output| output.status.success())
}

/// The interpreter of the environment with what `xtask/python/NAME/requirements.txt` lists; made where it is missing.
pub(crate) fn environment(name: &str) -> Result<PathBuf> {
    let list = format!("xtask/python/{name}/requirements.txt");
    let requirements = repo::root().join(&list);
    let folder = install::once("python", name, &repo::read(&list)?, |folder| {
        install::command(folder, "python3", &["-m", "venv", "."], HINT)?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
        let requirements = requirements.display().to_string();
        let python = folder.join(PYTHON).display().to_string();
        install::command(folder, &python, &[&install[..], &[requirements.as_str()]].concat(), HINT)
    })?;
    Ok(folder.join(PYTHON))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::repo;

    #[test]
    fn every_requirement_is_exact() {
        let lists = repo::files(&repo::root().join("xtask/python")).unwrap();
        for list in lists.iter().filter(|path| path.ends_with("requirements.txt")) {
            let text = repo::read(Path::new("xtask/python").join(list)).unwrap();
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                assert!(line.contains("=="), "{}: `{line}` is not exact", list.display());
            }
        }
    }
}
