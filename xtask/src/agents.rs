//! `cargo xtask agents`: installs the real agents that the tests drive.
//!
//! Each has a folder of its own in `xtask/agents` with a lock file of its own, so that whoever needs one does not
//! download a gigabyte for the others.

use std::fs;
use std::path::Path;
use std::time::Instant;

use adjourn_testkit::agents::{AGENTS, Agent};
use anyhow::{Context, Result, bail, ensure};

use crate::{install, repo};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Which ones; without a name, all of them
    names: Vec<String>,
}

impl Options {
    /// Only this one.
    pub(crate) fn one(name: &str) -> Self {
        Self { names: vec![name.to_owned()] }
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    for agent in chosen(&options.names)? {
        install(agent).with_context(|| format!("cannot install {}", agent.name))?;
    }
    Ok(())
}

/// The agents with these names. All names are looked at before anything is downloaded.
fn chosen(names: &[String]) -> Result<Vec<&'static Agent>> {
    if names.is_empty() {
        return Ok(AGENTS.iter().collect());
    }
    let known = || AGENTS.iter().map(|agent| agent.name).collect::<Vec<_>>().join(", ");
    let find = |name: &String| {
        Agent::named(name).with_context(|| format!("there is no agent `{name}`; there is {}", known()))
    };
    names.iter().map(find).collect()
}

/// Installs an agent unless that is done, and says where it is.
fn install(agent: &Agent) -> Result<()> {
    let Some(folder) = agent.folder() else {
        bail!("neither XDG_CACHE_HOME nor HOME says where the cache folder is");
    };
    if !folder.exists() {
        let began = Instant::now();
        // A name of its own and a rename at the end: the folder is there if and only if all of it is.
        let unfinished = folder.with_extension(format!("unfinished-{}", std::process::id()));
        let filled = fill(agent, &unfinished).and_then(|()| Ok(fs::rename(&unfinished, &folder)?));
        // Somebody else may have been faster; theirs is as good.
        if filled.is_err() && !folder.exists() {
            remove(&unfinished);
            return filled;
        }
        remove(&unfinished);
        eprintln!("installed {} in {:.1} s", agent.name, began.elapsed().as_secs_f64());
    }
    println!("{:<18}{}", agent.name, agent.program(&folder).display());
    Ok(())
}

fn remove(folder: &Path) {
    // Left behind it costs space, nothing else.
    let _ = fs::remove_dir_all(folder);
}

fn fill(agent: &Agent, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for file in ["package.json", "package-lock.json"] {
        let source = repo::root().join("xtask/agents").join(agent.name).join(file);
        fs::copy(&source, folder.join(file)).with_context(|| format!("cannot copy {}", source.display()))?;
    }
    install::npm_ci(folder)?;
    if let Some(script) = agent.finish {
        install::command(folder, "node", &[script], install::NODE_HINT)?;
    }
    let program = agent.program(folder);
    ensure!(program.exists(), "the package has no {}", program.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use adjourn_testkit::agents::AGENTS;

    use super::chosen;
    use crate::repo;

    #[test]
    fn no_name_is_all_and_a_wrong_name_is_told_the_right_ones() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(chosen(&[]).unwrap().len(), AGENTS.len());
        assert_eq!(chosen(&names(&["codex"])).unwrap()[0].name, "codex");
        assert_eq!(
            chosen(&names(&["codex", "codec"])).unwrap_err().to_string(),
            "there is no agent `codec`; there is claude, claude-agent-acp, codex, codex-acp, gemini, opencode"
        );
    }

    #[test]
    fn versions_are_exact_and_the_locks_name_no_registry() {
        for agent in AGENTS {
            let manifest = repo::read(format!("xtask/agents/{}/package.json", agent.name)).unwrap();
            let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
            for (package, version) in manifest["dependencies"].as_object().unwrap() {
                let version = version.as_str().unwrap();
                assert!(
                    version.starts_with(|c: char| c.is_ascii_digit()),
                    "{package} {version} is not exact"
                );
            }
            // With a URL in it, a lock file only works for those who can reach the same mirror.
            let lock = repo::read(format!("xtask/agents/{}/package-lock.json", agent.name)).unwrap();
            assert!(
                !lock.contains("\"resolved\""),
                "{}: omit-lockfile-registry-resolved was not set",
                agent.name
            );
        }
    }
}
