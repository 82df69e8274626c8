//! The binary, as a person at a shell or a script sees it.

// Whoever calls a function of a test wants it to fail right there.
#![allow(clippy::unwrap_used)]

mod approval;
mod background;
mod bench;
mod cancel;
mod contracts;
mod defaults;
mod detach;
mod doctor;
mod drain;
mod earlier_version;
mod engine_missing;
mod engines;
mod escapes;
mod full_disk;
mod listing;
mod logs;
mod mcp;
mod owner;
mod privacy;
mod process;
mod prune;
mod reply;
mod roundtable;
mod run;
mod server;
mod serving;
mod skills;
mod statechart;
mod terminal;
#[cfg(target_os = "linux")]
mod tls;
mod token;
mod traces;
mod trust;
mod webhooks;
mod withdrawn;
mod world;
mod wrong_use;

use assert_cmd::Command;

/// The binary with these arguments, in an environment that asks for nothing.
fn adjourn(arguments: &[&str]) -> Command {
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("adjourn");
    for name in
        ["NO_COLOR", "CLICOLOR_FORCE", "ADJOURN_DATA", "ADJOURN_SERVER", "ADJOURN_TOKEN", "ADJOURN_TOKENS"]
    {
        command.env_remove(name);
    }
    // Tests write configurations of their own.
    command.env("ADJOURN_TRUST_CONFIG", "1");
    command.args(arguments);
    command
}

/// What it prints on stdout, once it succeeded in silence otherwise.
fn stdout(arguments: &[&str]) -> String {
    let assert = adjourn(arguments).assert().success().stderr("");
    String::from_utf8(assert.get_output().stdout.clone()).expect("output is UTF-8")
}

/// What it complains about on stderr, once it called that wrong use.
fn wrong_use(arguments: &[&str]) -> String {
    let assert = adjourn(arguments).assert().code(2).stdout("");
    String::from_utf8(assert.get_output().stderr.clone()).expect("output is UTF-8")
}

#[test]
fn the_version_is_one_line() {
    assert_eq!(stdout(&["--version"]), format!("adjourn {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn help_says_what_it_is_and_lists_the_commands() {
    let help = stdout(&["--help"]);
    assert!(help.starts_with("Runs agent work that has to stop and ask."), "{help}");
    assert!(help.contains("\n  statechart  "), "{help}");
    assert!(!help.contains("__supervise"), "{help}");
}

#[test]
fn without_a_command_the_help_is_shown_as_wrong_use() {
    assert!(wrong_use(&[]).contains("Usage: adjourn [OPTIONS] <COMMAND>"));
}
