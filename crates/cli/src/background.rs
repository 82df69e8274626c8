//! The owner of a data directory that goes on when the command that started it is gone.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::client::answering;
use crate::data::Global;

/// Where it writes what it has to say: it has no terminal. Only the last one's words are kept.
const LOG_FILE: &str = "background.log";

/// What it says on stdout once it is going to be the owner, as soon as it can. After that it says nothing there.
pub(crate) const GREETING: &str = "takes over";

/// How long it may take to answer. A start takes a tenth of a second, and longer where the last owner has to let go first.
const ANSWERS_WITHIN: Duration = Duration::from_secs(15);

/// How often it is looked meanwhile: a person waits for it.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Has the data directory owned by a process of its own, and returns when it answers. If somebody else becomes the owner
/// first, that one does as well.
pub(crate) async fn start(global: &Global) -> anyhow::Result<()> {
    let mut child = hand_over(global).await?;
    let began = Instant::now();
    while answering(&global.data).await.is_none() {
        let has_failed = child.try_wait()?.is_some_and(|status| !status.success());
        if has_failed || began.elapsed() > ANSWERS_WITHIN {
            bail!("the owner in the background does not answer{}", last_words(global));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// Has a process of its own wait for the data directory, which it owns when this one ends: only then is it certain that
/// nothing of a turn is left that goes on.
pub(crate) async fn hand_over(global: &Global) -> anyhow::Result<Child> {
    make(&global.data).with_context(|| format!("cannot use {} as data directory", global.data.display()))?;
    let child = command(global).and_then(|mut command| command.stdout(Stdio::piped()).spawn());
    let mut child = child.context("cannot start an owner in the background")?;
    let stdout = child.stdout.take();
    let greeted = tokio::task::spawn_blocking(move || {
        let mut line = String::new();
        stdout.and_then(|stdout| BufReader::new(stdout).read_line(&mut line).ok());
        line.trim_end() == GREETING
    });
    if !greeted.await? {
        bail!("there is no owner in the background{}", last_words(global));
    }
    Ok(child)
}

/// Has a process of its own become the owner as soon as it can. Nobody waits for that.
pub(crate) fn take_over_later(global: &Global) -> io::Result<()> {
    command(global)?.stdout(Stdio::null()).spawn().map(drop)
}

/// Makes the data directory, which only its owner can enter.
fn make(data: &Path) -> io::Result<()> {
    if data.is_dir() {
        return Ok(());
    }
    if let Some(parent) = data.parent() {
        fs::create_dir_all(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(data) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && data.is_dir() => Ok(()),
        made => made,
    }
}

fn command(global: &Global) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("background").arg("--data").arg(&global.data);
    if let Some(config) = &global.config {
        command.arg("--config").arg(config);
    }
    let log = global.data.join(LOG_FILE);
    let log = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(log)?;
    command.stdin(Stdio::null()).stderr(log);
    Ok(command)
}

fn last_words(global: &Global) -> String {
    let log: &Path = &global.data.join(LOG_FILE);
    match fs::read_to_string(log) {
        Ok(words) if !words.trim().is_empty() => format!(": {}", words.trim()),
        Ok(_) | Err(_) => format!("; {} may say why", log.display()),
    }
}
