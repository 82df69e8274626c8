//! Claude Code.

use std::io;
use std::path::Path;

use super::isolation::{Environment, isolated, set};

/// The environment in which `claude` talks to the scripted model at `url`.
///
/// It needs no file. It cannot fail either; the signature is that of its siblings.
pub fn point(home: &Path, url: &str) -> io::Result<Environment> {
    let mut environment = isolated(home);
    set(&mut environment, "ANTHROPIC_BASE_URL", url);
    set(&mut environment, "ANTHROPIC_API_KEY", "scripted");
    set(&mut environment, "ANTHROPIC_MODEL", super::MODEL);
    set(&mut environment, "ANTHROPIC_SMALL_FAST_MODEL", super::SIDE_MODEL);
    set(&mut environment, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    set(&mut environment, "DISABLE_TELEMETRY", "1");
    // Ten by default, which takes three minutes.
    set(&mut environment, "CLAUDE_CODE_MAX_RETRIES", "1");
    // Without it, it refuses to act without asking when it is run by root, as in a container.
    set(&mut environment, "IS_SANDBOX", "1");
    Ok(environment)
}
