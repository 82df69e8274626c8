//! Whatever an agent does with its processes, none outlives it.

use std::process::Command;
use std::time::{Duration, Instant};

use adjourn_core::Process;
use adjourn_engine::supervisor::{Exit, end_orphan};
use rustix::process::{Pid, Signal, kill_process};

use crate::agent::{Stage, supervisor, until};

/// What a cancel may take (XX-10).
const CANCEL_MAX: Duration = Duration::from_secs(5);

/// Each leaves a line in `ready` per process that is to be gone in the end.
const AGENTS: &[(&str, &str, &str, usize)] = &[
    ("a lone process", "sh", "echo $$ >>ready; exec sleep 1000", 1),
    ("one that ignores TERM", "sh", "trap '' TERM INT HUP; echo $$ >>ready; while :; do sleep 1; done", 1),
    ("children in the group", "sh", "(echo a >>ready; sleep 1000) & echo b >>ready; wait", 2),
    (
        "a child in its own session",
        "sh",
        "setsid sh -c 'echo a >>ready; sleep 1000' & echo b >>ready; wait",
        2,
    ),
    (
        "a child in its own session that ignores TERM",
        "sh",
        "setsid sh -c \"trap '' TERM; echo a >>ready; while :; do sleep 1; done\" & echo b >>ready; wait",
        2,
    ),
    (
        "a daemon",
        "python3",
        r#"
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    os.chdir("/")
    with open(os.environ["ADJOURN_TEST_MARK"] + "/ready", "a") as f: f.write("daemon\n")
    time.sleep(1000)
os.wait()
with open("ready", "a") as f: f.write("leader\n")
time.sleep(1000)
"#,
        2,
    ),
];

#[tokio::test]
async fn xx_10_a_cancelled_agent_is_gone_with_all_it_started() {
    for (name, interpreter, script, processes) in AGENTS {
        let stage = Stage::new();
        let mut agent = supervisor().start(stage.agent(interpreter, script)).await.unwrap();
        stage.lines_in("ready", *processes).await;
        // The supervisor and what it supervises. In the moment of an exec a process cannot be told whose it is.
        until(|| (stage.processes().len() > *processes).then_some(())).await;
        let began = Instant::now();
        assert_eq!(agent.end().await.unwrap(), Exit::Status(143), "{name}");
        assert!(began.elapsed() < CANCEL_MAX, "{name} took {:?}", began.elapsed());
        assert_eq!(stage.processes(), [0; 0], "{name}");
    }
}

#[tokio::test]
async fn what_an_agent_leaves_behind_ends_with_it_and_its_status_is_passed_on() {
    let stage = Stage::new();
    let script = "setsid sh -c 'echo a >>ready; sleep 1000' & while ! test -s ready; do :; done; exit 7";
    let mut agent = supervisor().start(stage.agent("sh", script)).await.unwrap();
    assert_eq!(agent.wait().await.unwrap(), Exit::Status(7));
    assert_eq!(stage.processes(), [0; 0]);
}

#[tokio::test]
async fn an_agent_that_is_killed_ends_like_in_a_shell() {
    let stage = Stage::new();
    let mut agent = supervisor().start(stage.agent("sh", "kill -KILL $$")).await.unwrap();
    assert_eq!(agent.wait().await.unwrap(), Exit::Status(137));
}

#[tokio::test]
async fn a_dropped_agent_ends_too() {
    let stage = Stage::new();
    let agent = supervisor().start(stage.agent("sh", "echo $$ >>ready; exec sleep 1000")).await.unwrap();
    stage.lines_in("ready", 1).await;
    drop(agent);
    until(|| stage.processes().is_empty().then_some(())).await;
}

#[tokio::test]
async fn an_agent_that_kills_its_supervisor_does_not_survive_it() {
    let stage = Stage::new();
    let script = "(sleep 1000) & kill -KILL $PPID; sleep 1000";
    let mut agent = supervisor().start(stage.agent("sh", script)).await.unwrap();
    assert_eq!(agent.wait().await.unwrap(), Exit::SupervisorLost);
    assert_eq!(stage.processes(), [0; 0]);
}

#[tokio::test]
async fn an_agent_that_stops_its_supervisor_is_ended_all_the_same() {
    let stage = Stage::new();
    let script = "kill -STOP $PPID; trap '' TERM; echo $$ >>ready; while :; do sleep 1; done";
    let mut agent = supervisor().start(stage.agent("sh", script)).await.unwrap();
    stage.lines_in("ready", 1).await;
    let began = Instant::now();
    agent.end().await.unwrap();
    assert!(began.elapsed() < CANCEL_MAX, "took {:?}", began.elapsed());
    assert_eq!(stage.processes(), [0; 0]);
}

/// A parent that dies without a word, like an Adjourn that is killed.
fn start_under_a_shell(stage: &Stage, script: &str) -> std::process::Child {
    let agent = stage.agent("sh", script);
    let start = "\"$0\" $$ \"$1\" & echo $! >>supervisor; wait";
    let supervisor = &supervisor().command[0];
    Command::new("sh")
        .args(["-c", start])
        .arg(supervisor)
        .arg(&agent.program)
        .env_clear()
        .envs(agent.env)
        .current_dir(stage.path())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn all_ends_when_the_parent_dies() {
    let stage = Stage::new();
    let script = "trap '' TERM; setsid sh -c 'echo a >>ready; sleep 1000' & echo b >>ready; wait";
    let mut parent = start_under_a_shell(&stage, script);
    stage.lines_in("ready", 2).await;
    parent.kill().unwrap();
    parent.wait().unwrap();
    until(|| stage.processes().is_empty().then_some(())).await;
}

/// The supervisor of `start_under_a_shell`, as a run would remember it.
async fn remembered(stage: &Stage) -> Process {
    let pid: u32 = stage.lines_in("supervisor", 1).await[0].parse().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let started = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().parse().unwrap();
    Process { pid, started }
}

#[tokio::test]
async fn an_orphan_is_ended_and_a_stranger_is_not() {
    let stage = Stage::new();
    let script = "trap '' TERM; echo $$ >>ready; while :; do sleep 1; done";
    let mut parent = start_under_a_shell(&stage, script);
    stage.lines_in("ready", 1).await;
    let process = remembered(&stage).await;
    let stranger = Process { started: process.started + 1, ..process };
    assert!(end_orphan(stranger).await, "whoever it was is gone");
    assert!(stage.processes().contains(&process.pid), "who has the number now is left alone");
    // As if something held the supervisor up.
    kill_process(Pid::from_raw(process.pid.try_into().unwrap()).unwrap(), Signal::STOP).unwrap();
    assert!(end_orphan(process).await);
    parent.wait().unwrap();
    assert_eq!(stage.processes(), [0; 0]);
    assert!(end_orphan(process).await, "it is gone already");
}

#[tokio::test]
async fn an_agent_that_cannot_be_started_says_why() {
    let stage = Stage::new();
    let mut agent = stage.agent("sh", "");
    agent.program = stage.path().join("missing");
    let mut agent = supervisor().start(agent).await.unwrap();
    let mut complaint = String::new();
    let mut stderr = agent.stderr.take().unwrap();
    tokio::io::AsyncReadExt::read_to_string(&mut stderr, &mut complaint).await.unwrap();
    assert_eq!(agent.wait().await.unwrap(), Exit::Status(126));
    assert!(complaint.starts_with("adjourn: cannot start ") && complaint.contains("missing"), "{complaint}");
}
