//! Installs foreign programs once, into the user's cache folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use adjourn_testkit::cache;
use anyhow::{Context, Result, ensure};

/// Written last: the folder is whole if and only if it is there.
const COMPLETE: &str = "complete";

/// The folder of `name`, in the versions that `lock` says, filled unless that was done before.
///
/// It is filled where it stays: a Python environment knows its own path. So whoever comes meanwhile has to wait.
pub(crate) fn once(
    kind: &str,
    name: &str,
    lock: &str,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let folder = cache::folder(kind, name, lock)
        .context("neither XDG_CACHE_HOME nor HOME says where the cache folder is")?;
    let cannot = || format!("cannot install {name} into {}", folder.display());
    fs::create_dir_all(folder.parent().unwrap_or(&folder)).with_context(cannot)?;
    let alone = File::create(folder.with_extension("lock")).with_context(cannot)?;
    alone.lock().with_context(cannot)?;
    if !folder.join(COMPLETE).exists() {
        let began = Instant::now();
        // What an earlier one left unfinished.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).with_context(cannot)?;
        fill(&folder).with_context(cannot)?;
        File::create(folder.join(COMPLETE)).with_context(cannot)?;
        eprintln!("installed {name} in {:.1} s", began.elapsed().as_secs_f64());
    }
    Ok(folder)
}

/// What to do where `npm` or `node` is missing.
pub(crate) const NODE_HINT: &str = "Node 20 or later is needed, on Debian and Ubuntu: apt-get install npm";

/// Installs what `package-lock.json` in `folder` says, without running what packages would like to run.
pub(crate) fn npm_ci(folder: &Path) -> Result<()> {
    let args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    command(folder, "npm", &args, NODE_HINT)
}

/// Runs a command with its output on our stderr. `hint` says what to do where there is no such program.
pub(crate) fn command(folder: &Path, program: &str, args: &[&str], hint: &str) -> Result<()> {
    let shown = format!("{program} {}", args.join(" "));
    eprintln!("$ {shown}");
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).stdin(Stdio::null()).stdout(std::io::stderr());
    let status = command.status().with_context(|| format!("cannot start `{shown}`; {hint}"))?;
    ensure!(status.success(), "`{shown}` failed ({status})");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use anyhow::bail;

    use super::once;

    #[test]
    fn what_was_left_unfinished_is_installed_again_and_what_was_finished_is_not() {
        // The name is of this process alone, and so is the folder.
        let lock = std::process::id().to_string();
        let cut_off = once("test", "thing", &lock, |folder| {
            fs::write(folder.join("half"), "")?;
            bail!("the network is gone")
        });
        assert!(format!("{:#}", cut_off.unwrap_err()).contains("the network is gone"));
        let folder = once("test", "thing", &lock, |folder| Ok(fs::write(folder.join("whole"), "")?)).unwrap();
        assert!(folder.join("whole").exists() && !folder.join("half").exists());
        let again = once("test", "thing", &lock, |_| bail!("it is there")).unwrap();
        assert_eq!(again, folder);
        fs::remove_file(folder.with_extension("lock")).unwrap();
        fs::remove_dir_all(folder).unwrap();
    }
}
