//! The long suites in a short form, so that they cannot rot: each is an example that cargo builds with the tests.

use std::path::PathBuf;
use std::process::Command;

fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let target = test.ancestors().nth(2).expect("a test is in a folder of the target folder");
    target.join("examples").join(name)
}

fn run(name: &str, arguments: &[&str]) -> String {
    let output = Command::new(example(name)).args(arguments).output().expect("cargo built it with the tests");
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name} failed:\n{out}\n{error}");
    out.into_owned()
}

#[test]
fn three_kills_lose_nothing() {
    // An attempt survives three restarts, so all runs have to succeed, however slow the machine is.
    let out = run("torture", &["--kills", "3", "--runs", "40", "--seed", "1"]);
    assert!(out.contains("40 runs: {\"succeeded\": 40}"), "{out}");
}

#[test]
fn runs_of_a_trivial_agent_are_measured_with_the_sandbox_and_without() {
    let out = run("bench_agents", &["--runs", "3"]);
    assert!(out.contains("run, sandbox on") && out.contains("run, sandbox off"), "{out}");
}

#[test]
fn a_reply_is_accepted_at_once_after_a_kill() {
    let out = run("bench_waiting", &["--runs", "200"]);
    assert_eq!(out.matches("first reply").count(), 2, "{out}");
}
