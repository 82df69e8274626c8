//! Output of any size and shape: logged as it is, read as far as it can be, never too much of it in memory.

use std::fs;
use std::time::Duration;

use adjourn_core::{ErrorCode, Observation, OutputStream, RawRef};
use adjourn_engine::{Finished, Preset, log_file};

use crate::agent::{Stage, until};
use crate::turns::{Going, completed, engine, facts, run, turn};

/// The most memory that this process ever had, in KiB.
fn memory_max_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

/// The bytes that a reference points at.
fn referred(stage: &Stage, raw: Option<RawRef>) -> String {
    let raw = raw.unwrap();
    let log = fs::read(log_file(&stage.path().join("logs"), raw.attempt, raw.stream)).unwrap();
    String::from_utf8(log[raw.from as usize..raw.to as usize].to_vec()).unwrap()
}

fn code(finished: Finished) -> Option<ErrorCode> {
    match finished {
        Finished::Failed(error) => Some(error.code),
        Finished::Completed { .. }
        | Finished::Stopped
        | Finished::NeedsPermission(_)
        | Finished::Suspended => None,
    }
}

/// Set for the test that measures the memory of its process, and so has to be alone in it.
const ALONE: &str = "ADJOURN_TEST_ALONE";

#[test]
fn xx_11_a_gibibyte_of_output_is_cut_off_and_never_in_memory() {
    let test = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "exec_output::a_gibibyte_of_output_alone", "--nocapture"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&test.stdout);
    assert!(
        test.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&test.stderr)
    );
}

#[tokio::test]
async fn a_gibibyte_of_output_alone() {
    if std::env::var_os(ALONE).is_none() {
        return;
    }
    let stage = Stage::new();
    // Not far above what the limit of the log is, and far below what is printed.
    let memory_max_kib_allowed = 128 << 10;
    for (preset, script) in [
        // Lines that mean nothing, up to the limit of all output.
        (Preset::Claude, "yes 'not an event' | head -c 1073741824"),
        // One line without an end.
        (Preset::Claude, "head -c 1073741824 /dev/zero"),
        // The same on stderr.
        (Preset::Codex, "head -c 1073741824 /dev/zero >&2"),
        // An answer that is too long long before that.
        (Preset::Command, "yes 'an answer' | head -c 1073741824"),
        (Preset::Command, "head -c 1073741824 /dev/zero"),
    ] {
        let going = Going::start(engine(&stage, preset, "sh", script), turn(&stage, ""));
        let (_, finished) = going.until_it_ends().await;
        assert_eq!(code(finished), Some(ErrorCode::EngineOutputLimit), "{script}");
        assert_eq!(stage.processes(), [0; 0], "{script}");
        fs::remove_dir_all(stage.path().join("logs")).unwrap();
        let memory = memory_max_kib();
        assert!(memory < memory_max_kib_allowed, "{script}: {memory} KiB");
    }
}

#[tokio::test]
async fn output_need_not_be_text() {
    let stage = Stage::new();
    let (_, finished) = run(&stage, "sh", r"printf 'caf\351 \377\n'; printf 'a\000b'", "").await;
    assert_eq!(finished, completed("caf\u{fffd} \u{fffd}\na\0b"));
    assert_eq!(fs::read(stage.path().join("logs/attempt-1.stdout")).unwrap(), b"caf\xe9 \xff\na\0b");
}

#[tokio::test]
async fn every_observation_says_where_it_stands_also_after_a_repair() {
    let stage = Stage::new();
    let script = r#"
cat >/dev/null
echo 'WARNING: not an event'
echo '{"type":"item.completed","item":{"type":"agent_message","text":"hällo"}}'
printf '{"type":"turn.completed"}'
"#;
    let engine = engine(&stage, Preset::Codex, "sh", script);
    for _ in 0..2 {
        let going = Going::start(engine.clone(), turn(&stage, "again"));
        let (seen, finished) = going.until_it_ends().await;
        assert_eq!(finished, completed("hällo"));
        let [Observation::Message { text, raw }] = &facts(&seen)[..] else { panic!("{seen:?}") };
        assert_eq!(text, "hällo");
        assert_eq!(
            referred(&stage, *raw),
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"hällo"}}"#
        );
    }
    let log = fs::read_to_string(stage.path().join("logs/attempt-1.stdout")).unwrap();
    assert_eq!(log.matches("WARNING").count(), 2, "the repair is in the same log");
}

#[tokio::test]
async fn a_line_that_is_too_long_is_passed_over_and_the_next_one_read() {
    let stage = Stage::new();
    let script = r#"
import sys
event = '{"type":"item.completed","item":{"type":"agent_message","text":"%s"}}'
print(event % ("x" * (5 << 20)))
print(event % ("y" * (3 << 20)))
print('{"type":"turn.completed"}')
"#;
    let going = Going::start(engine(&stage, Preset::Codex, "python3", script), turn(&stage, ""));
    let (seen, finished) = going.until_it_ends().await;
    assert_eq!(finished, completed(&"y".repeat(3 << 20)));
    let [Observation::Message { raw: Some(raw), .. }] = facts(&seen)[..] else { panic!("one message") };
    assert_eq!((raw.attempt, raw.stream), (1, OutputStream::Stdout));
    assert!(raw.from > 5 << 20, "the long line is in the log");
}

#[tokio::test]
async fn nothing_is_lost_on_a_reader_that_is_slower_than_the_agent() {
    let stage = Stage::new();
    let going = Going::start(engine(&stage, Preset::Command, "sh", "seq 1000"), turn(&stage, ""));
    stage.lines_in("logs/attempt-1.stdout", 1000).await;
    until(|| stage.processes().is_empty().then_some(())).await;
    // Longer than a pipe may be silent.
    tokio::time::sleep(Duration::from_millis(1200)).await;
    let (seen, finished) = going.until_it_ends().await;
    let numbers: Vec<_> = (1..=1000).map(|number| number.to_string()).collect();
    assert_eq!(finished, completed(&numbers.join("\n")));
    assert_eq!(seen.len(), 1004, "the process, its walls, each line, the message and the handle");
}
