//! An owner of the data directory that stays when the command is gone.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::client::answering;
use crate::data::Global;

/// Where it writes what it has to say: it has no terminal. Only the last one's words are kept.
const LOG_FILE: &str = "background.log";

/// How long it may take to answer. A start takes a tenth of a second, and longer where the last owner has to let go first.
const ANSWERS_WITHIN: Duration = Duration::from_secs(15);

/// How often it is looked meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Has the data directory owned by a process of its own, and returns when it answers. If somebody else becomes the owner
/// first, that one does as well.
pub(crate) async fn start(global: &Global) -> anyhow::Result<()> {
    fs::create_dir_all(&global.data)
        .with_context(|| format!("cannot use {} as data directory", global.data.display()))?;
    let log = global.data.join(LOG_FILE);
    let mut child = spawn(global, &log).context("cannot start an owner in the background")?;
    let began = Instant::now();
    while answering(&global.data).await.is_none() {
        let ended = child.try_wait()?.filter(|status| !status.success());
        if ended.is_some() || began.elapsed() > ANSWERS_WITHIN {
            bail!("the owner in the background does not answer{}", last_words(&log));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

fn spawn(global: &Global, log: &PathBuf) -> std::io::Result<Child> {
    let log = File::create(log)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["serve", "--until-idle", "--data"]).arg(&global.data);
    if let Some(config) = &global.config {
        command.arg("--config").arg(config);
    }
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()
}

fn last_words(log: &Path) -> String {
    match fs::read_to_string(log) {
        Ok(words) if !words.trim().is_empty() => format!(": {}", words.trim()),
        Ok(_) | Err(_) => format!("; {} may say why", log.display()),
    }
}
