#![cfg(target_os = "linux")]

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use adjourn_core::RunId;

use super::proc_files::Hidden;
use super::{AgentProcesses, Lineage, process_with_id};
use crate::peer_socket::find_peer_socket;

fn run(number: u128) -> RunId {
    RunId::from_bits(number)
}

/// A process that is ended with the test.
struct Script(Child);

impl Script {
    /// Starts a shell and waits until it has printed a line.
    fn start(script: &str) -> Self {
        let mut child = Command::new("bash")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = [0];
        child.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
        Self(child)
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn what_is_below_a_supervisor_belongs_to_its_run() {
    let agents = AgentProcesses::default();
    let supervisor = Script::start("exec 3<&0; bash -c 'echo .; read line <&3' & wait");
    let pid = supervisor.0.id();
    assert_eq!(agents.lineage_of_process(pid), Lineage::Unregistered);
    agents.register(run(7), process_with_id(pid).unwrap());
    assert_eq!(agents.lineage_of_process(pid), Lineage::Agent(run(7)));
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let child: u32 = children.split_whitespace().next().unwrap().parse().unwrap();
    assert_eq!(agents.lineage_of_process(child), Lineage::Agent(run(7)));
    assert_eq!(agents.lineage_of_process(std::process::id()), Lineage::NotOurs);
    assert_eq!(agents.lineage_of_process(1), Lineage::NotOurs);
    drop(supervisor);
    assert_eq!(agents.lineage_of_process(pid), Lineage::Unknown);
    assert_eq!(agents.count(), 0, "what is gone is forgotten");
}

#[test]
fn a_number_that_was_given_away_again_says_nothing() {
    let agents = AgentProcesses::default();
    let other = Script::start("echo .; read line");
    let mut process = process_with_id(other.0.id()).unwrap();
    process.started += 1;
    agents.register(run(7), process);
    assert_eq!(agents.lineage_of_process(other.0.id()), Lineage::Unregistered);
}

#[tokio::test]
async fn a_socket_belongs_to_the_process_that_has_it_open() {
    let agents = AgentProcesses::default();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let script = |port| Script::start(&format!("exec 3<>/dev/tcp/127.0.0.1/{port}; echo .; read line"));
    let peer_of = |listener: &TcpListener| {
        let (stream, peer) = listener.accept().unwrap();
        (find_peer_socket(peer, address).unwrap().unwrap(), stream)
    };
    let (one, other) = (script(address.port()), script(address.port()));
    let ((first, _a), (second, _b)) = (peer_of(&listener), peer_of(&listener));
    agents.register(run(1), process_with_id(one.0.id()).unwrap());
    agents.register(run(2), process_with_id(other.0.id()).unwrap());
    assert_eq!(agents.lineage_of_socket(first.inode, first.uid).await, Lineage::Agent(run(1)));
    assert_eq!(agents.lineage_of_socket(second.inode, second.uid).await, Lineage::Agent(run(2)));
    assert!(agents.owns_socket(run(1), first.inode).await);
    assert!(!agents.owns_socket(run(2), first.inode).await);
    let own = TcpStream::connect(address).unwrap();
    let (mine, _c) = peer_of(&listener);
    assert_eq!(agents.lineage_of_socket(mine.inode, mine.uid).await, Lineage::NotOurs);
    drop(own);
}

#[tokio::test]
async fn a_socket_that_an_agent_has_put_into_a_queue_is_not_taken_for_a_persons() {
    // The socket is sent over a pair of Unix sockets, and closed: while nobody receives it, it is in nobody's list.
    let hide = r#"
import socket, array, sys
tcp = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
here, there = socket.socketpair()
here.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [tcp.fileno()]))])
tcp.close()
print(".", flush=True)
sys.stdin.readline()
"#;
    let agents = AgentProcesses::default();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let agent = Script::start(&format!("exec python3 -c '{hide}' {port}"));
    agents.register(run(1), process_with_id(agent.0.id()).unwrap());
    let (_stream, peer) = listener.accept().unwrap();
    let found = find_peer_socket(peer, listener.local_addr().unwrap()).unwrap().unwrap();
    assert_eq!(agents.lineage_of_socket(found.inode, found.uid).await, Lineage::Unknown);
}

/// A socket of some process that has nothing to do with this one.
fn socket_of_a_stranger() -> u64 {
    let strangers = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        (pid != std::process::id()).then(|| super::proc_files::open_sockets(pid, Hidden::DoNotCare)).flatten()
    });
    strangers.flat_map(|sockets| sockets.inodes).next().expect("some process has a socket")
}

#[tokio::test]
#[ignore = "measures what it costs to find out whose a socket is"]
async fn measure_whose_a_socket_is() {
    let (agents, inode) = (AgentProcesses::default(), socket_of_a_stranger());
    let uid = rustix::process::geteuid().as_raw();
    let each = async |name: &str, agents: &AgentProcesses| {
        let began = std::time::Instant::now();
        for _ in 0..50 {
            assert_eq!(agents.lineage_of_socket(inode, uid).await, Lineage::NotOurs);
        }
        eprintln!("{name}: {:?} one after the other", began.elapsed() / 50);
        let began = std::time::Instant::now();
        let all = (0..2000).map(|_| agents.lineage_of_socket(inode, uid));
        assert!(futures::future::join_all(all).await.iter().all(|found| *found == Lineage::NotOurs));
        eprintln!("{name}: {:?} for 2,000 at once", began.elapsed());
    };
    each("no agent", &agents).await;
    let shells: Vec<_> = (0..8).map(|_| Script::start("echo .; read line")).collect();
    for (number, shell) in (1..).zip(&shells) {
        agents.register(run(number), process_with_id(shell.0.id()).unwrap());
    }
    eprintln!("{} entries in /proc", std::fs::read_dir("/proc").unwrap().count());
    each("8 agents", &agents).await;
}
