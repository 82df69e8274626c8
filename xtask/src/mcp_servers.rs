//! `cargo xtask mcp-servers`: installs the real MCP servers that the tests call.
//!
//! They are somebody else's, as those of users are: what holds with them does not hold only for what we imagine.

use std::fs;
use std::path::Path;

use adjourn_testkit::mcp_servers::{KIND, MCP_SERVERS, McpServer, Registry};
use anyhow::{Context, Result, ensure};

use crate::{install, repo};

#[derive(clap::Args, Default)]
pub(crate) struct Options {
    /// Which ones; without a name, all of them
    names: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    for server in chosen(&options.names)? {
        let folder = install::once(KIND, server.name, server.lock, |folder| fill(server, folder))?;
        println!("{:<18}{}", server.name, server.program(&folder).display());
    }
    Ok(())
}

/// The servers with these names. All names are looked at before anything is downloaded.
fn chosen(names: &[String]) -> Result<Vec<&'static McpServer>> {
    if names.is_empty() {
        return Ok(MCP_SERVERS.iter().collect());
    }
    let known = || MCP_SERVERS.iter().map(|server| server.name).collect::<Vec<_>>().join(", ");
    let find = |name: &String| {
        McpServer::named(name)
            .with_context(|| format!("there is no MCP server `{name}`; there is {}", known()))
    };
    names.iter().map(find).collect()
}

fn fill(server: &McpServer, folder: &Path) -> Result<()> {
    for file in server.registry.files() {
        let source = repo::root().join("xtask/mcp-servers").join(server.name).join(file);
        fs::copy(&source, folder.join(file)).with_context(|| format!("cannot copy {}", source.display()))?;
    }
    match server.registry {
        Registry::Npm => install::npm_ci(folder)?,
        Registry::Pypi => pip(folder)?,
    }
    let program = server.program(folder);
    ensure!(program.exists(), "the package has no {}", program.display());
    Ok(())
}

/// Installs what `requirements.txt` in `folder` says, held against its checksums.
fn pip(folder: &Path) -> Result<()> {
    const HINT: &str = "Python 3.10 or later is needed, on Debian and Ubuntu: apt-get install python3-venv";
    install::command(folder, "python3", &["-m", "venv", "venv"], HINT)?;
    let python = folder.join("venv/bin/python").display().to_string();
    let args = ["-m", "pip", "install", "--quiet", "--require-hashes", "--requirement", "requirements.txt"];
    install::command(folder, &python, &args, HINT)
}

#[cfg(test)]
mod tests {
    use adjourn_testkit::mcp_servers::{MCP_SERVERS, Registry};

    use super::chosen;
    use crate::repo;

    #[test]
    fn no_name_is_all_and_a_wrong_name_is_told_the_right_ones() {
        assert_eq!(chosen(&[]).unwrap().len(), MCP_SERVERS.len());
        assert_eq!(
            chosen(&["gti".to_owned()]).unwrap_err().to_string(),
            "there is no MCP server `gti`; there is everything, filesystem, git"
        );
    }

    #[test]
    fn everything_is_pinned_and_no_list_names_a_place_of_its_own() {
        for server in MCP_SERVERS {
            let read = |file: &str| repo::read(format!("xtask/mcp-servers/{}/{file}", server.name)).unwrap();
            match server.registry {
                Registry::Npm => {
                    let manifest: serde_json::Value = serde_json::from_str(&read("package.json")).unwrap();
                    for (package, version) in manifest["dependencies"].as_object().unwrap() {
                        let version = version.as_str().unwrap();
                        let exact = version.starts_with(|c: char| c.is_ascii_digit());
                        assert!(exact, "{package} {version} is not exact");
                    }
                    assert!(!read("package-lock.json").contains("\"resolved\""), "{}", server.name);
                }
                Registry::Pypi => {
                    for line in read("requirements.txt").lines().filter(|line| !line.starts_with(' ')) {
                        assert!(line.contains("==") && !line.starts_with('-'), "{}: {line}", server.name);
                    }
                }
            }
        }
    }
}
