//! `cargo xtask browser`: a stock browser and curl follow streams over the ends of the server.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{cargo, install, repo};

/// What the scripts need, and the scripts.
const FOLDER: &str = "xtask/browser";

/// Under these names a browser is found that the scripts can drive.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

pub(crate) fn run() -> Result<()> {
    let browser = browser()
        .with_context(|| format!("there is none of {}: apt-get install chromium", BROWSERS.join(", ")))?;
    let adjourn = cargo::adjourn()?;
    let lock = repo::read(format!("{FOLDER}/package-lock.json"))?;
    let folder = install::once("browser", "playwright", &lock, |folder| {
        copy(folder, &["package.json", "package-lock.json"])?;
        install::npm_ci(folder)
    })?;
    // Beside the packages, which is where Node looks for them.
    copy(&folder, &["reconnect.mjs", "followers.mjs", "server.mjs"])?;
    let paths = [&adjourn, &browser, repo::root()].map(|path: &Path| path.display().to_string());
    let args = [&["reconnect.mjs"], &paths.each_ref().map(String::as_str)[..]].concat();
    install::command(&folder, "node", &args, install::NODE_HINT)
}

/// A browser on this machine.
pub(crate) fn browser() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders: Vec<_> = env::split_paths(&path).collect();
    let places = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|place| place.is_file())
}

fn copy(folder: &Path, files: &[&str]) -> Result<()> {
    for file in files {
        let source = repo::root().join(FOLDER).join(file);
        fs::copy(&source, folder.join(file)).with_context(|| format!("cannot copy {}", source.display()))?;
    }
    Ok(())
}
