//! Whatever an agent does with its processes, none outlives it.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use adjourn_core::Process;
use adjourn_engine::supervisor::{Exit, Program, StartError, Supervised, Supervisor, end_orphan};
use adjourn_engine::{Sandbox, Writes};
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

/// A sandbox in which an agent of a stage works, and none.
fn sandboxes(stage: &Stage) -> [(&'static str, Option<Sandbox>); 2] {
    let sandbox = Sandbox { writes: Writes::Only(vec![stage.path().to_owned()]), ..Sandbox::new() };
    [("in a sandbox", Some(sandbox)), ("without a sandbox", None)]
}

async fn start(agent: Program) -> Supervised {
    supervisor().start(agent).await.unwrap()
}

#[tokio::test]
async fn xx_10_a_cancelled_agent_is_gone_with_all_it_started() {
    for (name, interpreter, script, processes) in AGENTS {
        for (how, sandbox) in sandboxes(&Stage::new()).map(|(how, _)| how).into_iter().zip([true, false]) {
            let stage = Stage::new();
            let mut agent = stage.agent(interpreter, script);
            agent.sandbox = sandbox.then(|| sandboxes(&stage)[0].1.clone()).flatten();
            let mut agent = start(agent).await;
            stage.lines_in("ready", *processes).await;
            // In the moment of an exec a process cannot be told whose it is.
            until(|| (stage.processes().len() >= *processes).then_some(())).await;
            let began = Instant::now();
            assert_eq!(agent.end().await.unwrap(), Exit::Status(143), "{name} {how}");
            assert!(began.elapsed() < CANCEL_MAX, "{name} {how} took {:?}", began.elapsed());
            assert_eq!(stage.processes(), [0; 0], "{name} {how}");
        }
    }
}

#[tokio::test]
async fn what_an_agent_leaves_behind_ends_with_it_and_its_status_is_passed_on() {
    let stage = Stage::new();
    for (how, sandbox) in sandboxes(&stage) {
        let script = "rm -f ready; setsid sh -c 'echo a >>ready; sleep 1000' & while ! test -s ready; do :; done; exit 7";
        let mut agent = stage.agent("sh", script);
        agent.sandbox = sandbox;
        let mut agent = start(agent).await;
        assert_eq!(agent.wait().await.unwrap(), Exit::Status(7), "{how}");
        assert_eq!(stage.processes(), [0; 0], "{how}");
    }
}

#[tokio::test]
async fn an_agent_that_is_killed_ends_like_in_a_shell() {
    let stage = Stage::new();
    for (how, sandbox) in sandboxes(&stage) {
        let mut agent = stage.agent("sh", "kill -KILL $$");
        agent.sandbox = sandbox;
        assert_eq!(start(agent).await.wait().await.unwrap(), Exit::Status(137), "{how}");
    }
}

#[tokio::test]
async fn a_dropped_agent_ends_too() {
    let stage = Stage::new();
    for (_, sandbox) in sandboxes(&stage) {
        let mut agent = stage.agent("sh", "echo $$ >ready; exec sleep 1000");
        agent.sandbox = sandbox;
        let agent = start(agent).await;
        stage.lines_in("ready", 1).await;
        drop(agent);
        until(|| stage.processes().is_empty().then_some(())).await;
        std::fs::remove_file(stage.path().join("ready")).unwrap();
    }
}

/// An agent that leaves its session, and then does something to its supervisor.
const ESCAPES: &str = "setsid sh -c \"trap '' TERM; echo a >>ready; while :; do sleep 1; done\" & \
    while ! test -s ready; do :; done; ";

#[tokio::test]
async fn xx_31_an_agent_without_a_sandbox_that_kills_its_supervisor_does_not_outlive_it() {
    let stage = Stage::new();
    let script = format!("{ESCAPES} kill -KILL $PPID; sleep 1000");
    let mut agent = start(stage.agent("sh", &script)).await;
    assert_eq!(agent.wait().await.unwrap(), Exit::SupervisorLost);
    assert_eq!(stage.processes(), [0; 0]);
}

#[tokio::test]
async fn xx_31_an_agent_without_a_sandbox_that_stops_its_supervisor_is_ended_all_the_same() {
    let stage = Stage::new();
    let script = format!("{ESCAPES} kill -STOP $PPID; echo b >>ready; while :; do sleep 1; done");
    let mut agent = start(stage.agent("sh", &script)).await;
    stage.lines_in("ready", 2).await;
    let began = Instant::now();
    agent.end().await.unwrap();
    assert!(began.elapsed() < CANCEL_MAX, "took {:?}", began.elapsed());
    assert_eq!(stage.processes(), [0; 0]);
}

#[tokio::test]
async fn xx_31_an_agent_in_a_sandbox_cannot_kill_or_stop_its_supervisor() {
    let stage = Stage::new();
    let script =
        format!("{ESCAPES} kill -STOP $PPID; kill -KILL $PPID; kill -KILL 1; echo b >>ready; exit 3");
    let mut agent = stage.agent("sh", &script);
    agent.sandbox = sandboxes(&stage)[0].1.clone();
    assert_eq!(start(agent).await.wait().await.unwrap(), Exit::Status(3));
    assert_eq!(stage.lines_in("ready", 2).await, ["a", "b"]);
    assert_eq!(stage.processes(), [0; 0]);
}

#[tokio::test]
async fn an_agent_whose_supervisor_is_killed_from_outside_is_gone() {
    let stage = Stage::new();
    for (how, sandbox) in sandboxes(&stage) {
        let mut agent = stage.agent("sh", &format!("rm -f ready; {ESCAPES} echo b >>ready; sleep 1000"));
        agent.sandbox = sandbox;
        let mut agent = start(agent).await;
        stage.lines_in("ready", 2).await;
        kill_process(pid(agent.process()), Signal::KILL).unwrap();
        assert_eq!(agent.wait().await.unwrap(), Exit::SupervisorLost, "{how}");
        assert_eq!(stage.processes(), [0; 0], "{how}");
    }
}

fn pid(process: Process) -> Pid {
    Pid::from_raw(process.pid.try_into().unwrap()).unwrap()
}

/// An Adjourn that can be killed: it starts the launcher and an agent, says which process supervises it, and waits.
const OWNER: &str = r#"
import json, os, socket, subprocess, sys
ours, theirs = socket.socketpair()
subprocess.Popen([sys.argv[1]], stdin=theirs, stdout=subprocess.DEVNULL, start_new_session=True)
theirs.close()
null = os.open("/dev/null", os.O_RDWR)
control, control_ours = os.pipe()
status_ours, status = os.pipe()
body = sys.stdin.read().encode()
socket.send_fds(ours, [len(body).to_bytes(4, "little")], [null, null, null, control, status])
ours.sendall(body)
os.close(control), os.close(status)
for line in os.fdopen(status_ours):
    found = json.loads(line)
    if isinstance(found, dict) and "supervisor" in found:
        print(found["supervisor"], flush=True)
"#;

/// A parent that dies without a word, like an Adjourn that is killed.
fn start_under_an_owner(stage: &Stage, script: &str, sandbox: Option<Sandbox>) -> Child {
    let agent = stage.agent("sh", script);
    let launch = serde_json::json!({
        "program": agent.program, "args": [], "folder": agent.folder, "sandbox": sandbox,
        "env": agent.env.iter().map(|(name, value)| (name.to_str(), value.to_str())).collect::<Vec<_>>(),
    });
    let mut owner = Command::new("python3")
        .args(["-c", OWNER, env!("CARGO_BIN_EXE_adjourn-supervise")])
        .stdin(Stdio::piped())
        .stdout(std::fs::File::create(stage.path().join("supervisor")).unwrap())
        .spawn()
        .unwrap();
    let mut stdin = owner.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, launch.to_string().as_bytes()).unwrap();
    owner
}

#[tokio::test]
async fn all_ends_when_adjourn_dies() {
    let stage = Stage::new();
    for (_, sandbox) in sandboxes(&stage) {
        let script =
            "rm -f ready; trap '' TERM; setsid sh -c 'echo a >>ready; sleep 1000' & echo b >>ready; wait";
        let mut owner = start_under_an_owner(&stage, script, sandbox);
        stage.lines_in("ready", 2).await;
        owner.kill().unwrap();
        owner.wait().unwrap();
        until(|| stage.processes().is_empty().then_some(())).await;
    }
}

/// The supervisor of `start_under_an_owner`, as a run would remember it.
async fn remembered(stage: &Stage) -> Process {
    let pid: u32 = stage.lines_in("supervisor", 1).await[0].parse().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let started = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().parse().unwrap();
    Process { pid, started }
}

#[tokio::test]
async fn an_orphan_is_ended_and_a_stranger_is_not() {
    let stage = Stage::new();
    for (how, sandbox) in sandboxes(&stage) {
        let script = "trap '' TERM; echo $$ >ready; while :; do sleep 1; done";
        let mut owner = start_under_an_owner(&stage, script, sandbox);
        stage.lines_in("ready", 1).await;
        let process = remembered(&stage).await;
        let stranger = Process { started: process.started + 1, ..process };
        assert!(end_orphan(stranger).await, "whoever it was is gone");
        assert!(!stage.processes().is_empty(), "who has the number now is left alone");
        // As if something held the supervisor up.
        kill_process(pid(process), Signal::STOP).unwrap();
        assert!(end_orphan(process).await, "{how}");
        assert_eq!(stage.processes(), [0; 0], "{how}");
        assert!(end_orphan(process).await, "it is gone already");
        std::fs::remove_file(stage.path().join("ready")).unwrap();
        owner.kill().unwrap();
        owner.wait().unwrap();
    }
}

#[tokio::test]
async fn an_agent_that_cannot_be_started_says_why() {
    let stage = Stage::new();
    for (how, sandbox) in sandboxes(&stage) {
        let mut agent = stage.agent("sh", "");
        agent.program = stage.path().join("missing");
        agent.sandbox = sandbox;
        let Err(StartError::NotStarted(problem)) = supervisor().start(agent).await else {
            panic!("it cannot have been started {how}");
        };
        assert!(problem.starts_with("cannot start ") && problem.contains("missing"), "{problem}");
    }
}

#[tokio::test]
async fn a_launcher_that_was_killed_is_started_again_and_what_it_started_goes_on() {
    let (stage, supervisor) = (Stage::new(), supervisor());
    let mut first = supervisor.start(stage.agent("sh", "echo $$ >>ready; read line; exit 5")).await.unwrap();
    stage.lines_in("ready", 1).await;
    kill_process(launcher_of(&supervisor).await, Signal::KILL).unwrap();
    let mut second = supervisor.start(stage.agent("sh", "exit 6")).await.unwrap();
    assert_eq!(second.wait().await.unwrap(), Exit::Status(6));
    drop(first.stdin.take());
    assert_eq!(first.wait().await.unwrap(), Exit::Status(5));
}

#[tokio::test]
async fn a_launcher_that_is_killed_while_it_starts_a_program_has_it_started_once() {
    for sandbox in [None, Some(Sandbox::new())] {
        let (stage, supervisor) = (Stage::new(), supervisor());
        let sandbox =
            sandbox.map(|wall| Sandbox { writes: Writes::Only(vec![stage.path().to_owned()]), ..wall });
        let program = || Program { sandbox: sandbox.clone(), ..stage.agent("sh", "echo $$ >>began; exit 6") };
        for round in 1..=20 {
            let mut before = supervisor.start(Program { args: Vec::new(), ..program() }).await.unwrap();
            let launcher = launcher_of(&supervisor).await;
            assert_eq!(before.wait().await.unwrap(), Exit::Status(6));
            let kill = async {
                // At another moment in each round.
                for _ in 0..round * 20 {
                    tokio::task::yield_now().await;
                }
                let _ = kill_process(launcher, Signal::KILL);
            };
            let (mut started, ()) = tokio::join!(async { supervisor.start(program()).await.unwrap() }, kill);
            assert_eq!(started.wait().await.unwrap(), Exit::Status(6), "round {round}");
            assert_eq!(stage.lines_in("began", 2 * round).await.len(), 2 * round);
        }
    }
}

/// The launcher that starts programs now: the parent of the supervisor of one that waits.
async fn launcher_of(supervisor: &Supervisor) -> Pid {
    let stage = Stage::new();
    let mut waits = supervisor.start(stage.agent("sh", "read line")).await.unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", waits.process().pid)).unwrap();
    let parent = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().parse().unwrap();
    drop(waits.stdin.take());
    waits.wait().await.unwrap();
    Pid::from_raw(parent).unwrap()
}
