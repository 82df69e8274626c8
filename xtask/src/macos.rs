//! `cargo xtask macos`: whether the workspace compiles for macOS, checked on any machine.
//!
//! Nothing is linked, which would need Apple's SDK: the types are checked. SQLite and the cryptography of TLS are C, and
//! their build scripts want a compiler for macOS. Zig is one, and comes as a Python package.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::{cargo, python, repo};

/// The platform.
const TARGET: &str = "aarch64-apple-darwin";

/// Calls Zig as a C compiler without what the build scripts say about the platform: Zig has a name of its own for it.
/// Nothing of it is run, so nothing is optimised.
const CC: &str = r#"#!/bin/sh
skip=
for argument do
    shift
    if [ -n "$skip" ]; then skip=; continue; fi
    case $argument in
        -arch | -target) skip=1 ;;
        --target=* | -mmacosx-version-min=* | -O*) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec "$ADJOURN_PYTHON" -m ziglang cc -target aarch64-macos -g0 -O0 "$@"
"#;

/// Calls Zig to put objects into a library.
const AR: &str = r#"#!/bin/sh
exec "$ADJOURN_PYTHON" -m ziglang ar "$@"
"#;

/// Checks the workspace.
pub(crate) fn run() -> Result<()> {
    let python = python::environment("zig")?;
    let tools = python.with_file_name("macos");
    fs::create_dir_all(&tools).with_context(|| format!("cannot create {}", tools.display()))?;
    let (cc, ar) = (script(&tools, "cc", CC)?, script(&tools, "ar", AR)?);
    let python = text(&python)?;
    let environment = [
        ("CC_aarch64_apple_darwin", cc.as_str()),
        ("AR_aarch64_apple_darwin", ar.as_str()),
        ("ADJOURN_PYTHON", python.as_str()),
    ];
    cargo::run_with(&environment, &["check", "--workspace", "--locked", "--target", TARGET])
}

/// Checks the workspace where that can be done, and says why where it cannot.
pub(crate) fn run_if_possible() -> Result<()> {
    if !has_standard_library() {
        println!(
            "skipped: there is no standard library for {TARGET}; `rustup target add {TARGET}` installs it"
        );
        return Ok(());
    }
    if !python::is_there() {
        println!("skipped: there is no Python, which the C compiler for {TARGET} comes with");
        return Ok(());
    }
    run()
}

/// Whether the compiler has the standard library of the platform.
fn has_standard_library() -> bool {
    let asked = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    asked.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

fn script(folder: &Path, name: &str, content: &str) -> Result<String> {
    let path = folder.join(name);
    fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    text(&path)
}

fn text(path: &Path) -> Result<String> {
    let path: PathBuf = repo::root().join(path);
    path.into_os_string().into_string().ok().context("the path of the cache folder should be UTF-8")
}
