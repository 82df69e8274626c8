//! XX: agents that do not do what agents should.

use std::fs;

use adjourn_core::{ErrorCode, Run};
use serde_json::{Value, json};

use crate::stage::Stage;

/// How much the memory may grow while an agent prints a gigabyte.
const MEMORY_KIB_MAX: u64 = 64 * 1024;

/// Engines whose agents are like this from the start.
const ENGINES: &str = r#"
[engines.missing]
kind = "exec"
preset = "command"
command = ["/nowhere/agent"]

[engines.babbling]
kind = "exec"
preset = "claude"
command = ["echo"]
"#;

fn auto() -> Value {
    json!({ "execution_mode": "auto", "options": { "repair_limit": 0, "hard_timeout_sec": 60 } })
}

fn code_and_message(run: &Run) -> (ErrorCode, String) {
    let error = run.error().expect("a run that failed has a code");
    (error.code, error.message.clone())
}

#[test]
fn xx_11_an_agent_that_is_not_there_or_babbles_has_its_own_code() {
    let stage = Stage::with(ENGINES);
    for (engine, code, words) in [
        ("missing", ErrorCode::EngineNotFound, "`/nowhere/agent` cannot be started"),
        ("babbling", ErrorCode::EngineProtocolError, "without saying that its turn is over"),
    ] {
        let run = stage.start(json!({ "engine": engine, "execution_mode": "auto" }));
        let (found, message) = code_and_message(&run.ends());
        assert_eq!(found, code);
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn xx_11_an_agent_that_fails_has_its_own_code_and_its_last_words() {
    let stage = Stage::new();
    let run = stage.start(auto());
    run.turn(1).does("echo '{\"answer\": \"SQLite\"}'; echo 'no space left' >&2; exit 3");
    let (code, message) = code_and_message(&run.ends());
    assert_eq!(code, ErrorCode::EngineExitNonzero);
    assert!(message.contains("status 3") && message.contains("no space left"), "{message}");
    assert_eq!(run.state().result(), None, "whatever else it said");
}

#[test]
fn xx_11_an_agent_that_prints_garbage_has_its_own_code() {
    let stage = Stage::new();
    let run = stage.start(auto());
    run.turn(1).does("head -c 1000 /dev/urandom");
    assert_eq!(code_and_message(&run.ends()).0, ErrorCode::OutputMissing);
}

#[test]
fn xx_11_an_agent_that_prints_a_gigabyte_is_stopped_and_takes_no_memory() {
    let stage = Stage::new();
    for flood in
        ["head -c 1073741824 /dev/zero", "yes a line | head -c 1073741824", "yes | head -c 1073741824 >&2"]
    {
        let run = stage.start(auto());
        let turn = run.turn(1);
        let before = memory_peak_kib();
        turn.does(flood);
        assert_eq!(code_and_message(&run.ends()).0, ErrorCode::EngineOutputLimit, "{flood}");
        let grown = memory_peak_kib().saturating_sub(before);
        assert!(grown < MEMORY_KIB_MAX, "{flood}: {grown} KiB");
        assert_eq!(stage.processes(), [0; 0]);
    }
}

/// The most memory that this process ever had.
fn memory_peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn xx_11_an_agent_that_never_ends_is_stopped_at_its_time() {
    let stage = Stage::new();
    let run = stage.start(auto());
    run.turn(1).does("sleep 1000");
    stage.advance(59);
    assert!(!run.status().is_terminal(), "a second too early");
    stage.advance(1);
    let (code, message) = code_and_message(&run.ends());
    assert_eq!((code, message.as_str()), (ErrorCode::EngineTimeout, "the turn took longer than 60 seconds"));
    assert_eq!(stage.processes(), [0; 0]);
}
