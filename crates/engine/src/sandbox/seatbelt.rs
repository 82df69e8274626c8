//! Seatbelt: the sandbox of macOS, described by a profile.

use std::fmt::Write;
use std::path::Path;

use super::{Sandbox, UnixSockets, Writes};

/// The program that executes another one under a profile.
#[cfg_attr(not(target_os = "macos"), expect(dead_code, reason = "only macOS has it"))]
pub(super) const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// The profile of a sandbox; the problem is a path that cannot be written into one. Later rules win.
#[cfg_attr(not(any(target_os = "macos", test)), expect(dead_code, reason = "only macOS reads it"))]
pub(super) fn profile(sandbox: &Sandbox) -> Result<String, String> {
    let mut profile = String::from("(version 1)\n(allow default)\n");
    let mut rule = |action: &str, operations: &str, filter: &str, path: &Path| -> Result<(), String> {
        let quoted = quoted(path)?;
        // Writing into a string does not fail.
        let _ = writeln!(profile, "({action} {operations} ({filter} {quoted}))");
        Ok(())
    };
    match &sandbox.writes {
        Writes::Everywhere => {}
        Writes::Only(paths) => {
            rule("deny", "file-write*", "subpath", Path::new("/"))?;
            for device in ["/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx"] {
                rule("allow", "file-write*", "literal", Path::new(device))?;
            }
            for path in paths {
                rule("allow", "file-write*", "subpath", path)?;
            }
        }
    }
    for path in &sandbox.hidden {
        rule("deny", "file-read* file-write*", "subpath", path)?;
        rule("deny", "network-outbound", "subpath", path)?;
    }
    for path in &sandbox.visible {
        if sandbox.hidden.iter().any(|hidden| path.starts_with(hidden)) {
            rule("allow", "file-read*", "subpath", path)?;
        }
    }
    if let Writes::Only(paths) = &sandbox.writes {
        for path in paths.iter().filter(|path| sandbox.hidden.iter().any(|hidden| path.starts_with(hidden))) {
            rule("allow", "file-write*", "subpath", path)?;
        }
    }
    for path in &sandbox.read_only {
        rule("deny", "file-write*", "literal", path)?;
    }
    match sandbox.unix_sockets {
        UnixSockets::Allowed => {}
        UnixSockets::Denied => profile.push_str("(deny network-outbound (remote unix-socket))\n"),
    }
    profile.push_str("(deny signal)\n(allow signal (target same-sandbox))\n(deny process-info*)\n");
    profile.push_str("(allow process-info* (target same-sandbox))\n(deny mach-priv-task-port)\n");
    Ok(profile)
}

/// A path as a string of the profile's language.
fn quoted(path: &Path) -> Result<String, String> {
    let unfit = || format!("{} cannot be written into a sandbox profile", path.display());
    let text = path.to_str().filter(|text| !text.contains(char::is_control)).ok_or_else(unfit)?;
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

#[cfg(test)]
mod tests {
    use crate::sandbox::{Sandbox, Writes};

    use super::profile;

    #[test]
    fn a_profile_hides_the_data_directory_but_not_the_workspace_in_it() {
        let sandbox = Sandbox {
            hidden: vec!["/Users/ada/p/.adjourn".into()],
            visible: vec!["/Users/ada/p/.adjourn/runs/run_1/work".into()],
            read_only: vec!["/Users/ada/p/adjourn.toml".into()],
            writes: Writes::Only(vec!["/Users/ada/p/.adjourn/runs/run_1/work".into(), "/private/tmp".into()]),
            ..Sandbox::new()
        };
        let expected = r#"(version 1)
(allow default)
(deny file-write* (subpath "/"))
(allow file-write* (literal "/dev/null"))
(allow file-write* (literal "/dev/zero"))
(allow file-write* (literal "/dev/tty"))
(allow file-write* (literal "/dev/ptmx"))
(allow file-write* (subpath "/Users/ada/p/.adjourn/runs/run_1/work"))
(allow file-write* (subpath "/private/tmp"))
(deny file-read* file-write* (subpath "/Users/ada/p/.adjourn"))
(deny network-outbound (subpath "/Users/ada/p/.adjourn"))
(allow file-read* (subpath "/Users/ada/p/.adjourn/runs/run_1/work"))
(allow file-write* (subpath "/Users/ada/p/.adjourn/runs/run_1/work"))
(deny file-write* (literal "/Users/ada/p/adjourn.toml"))
(deny network-outbound (remote unix-socket))
(deny signal)
(allow signal (target same-sandbox))
(deny process-info*)
(allow process-info* (target same-sandbox))
(deny mach-priv-task-port)
"#;
        assert_eq!(profile(&sandbox).unwrap(), expected);
    }

    #[test]
    fn a_path_cannot_add_rules_to_the_profile() {
        let hidden = |path: &str| Sandbox { hidden: vec![path.into()], ..Sandbox::new() };
        let written = profile(&hidden(r#"/a")) (allow file-write* (subpath "/"#)).unwrap();
        assert!(written.contains(r#"(subpath "/a\")) (allow file-write* (subpath \"/"))"#), "{written}");
        assert!(profile(&hidden("/a\nb")).is_err());
    }
}
