//! A real disk that fills up: a small file system in memory, in a mount namespace of its own.
//!
//! Each test starts itself once more inside such a namespace. Where none can be made, it says so and is skipped.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::serving::Serving;
use crate::world::{World, until};

/// Set in the process that is inside of the namespace.
const INSIDE: &str = "ADJOURN_TEST_INSIDE_NAMESPACE";

/// Runs the test of this name inside a mount namespace.
fn in_a_namespace(test: &str) {
    let can = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    if !can.is_ok_and(|done| done.status.success()) {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    let done = Command::new("unshare")
        .arg("-rm")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("full_disk::{test}"), "--ignored", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    let complained = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && said.contains("1 passed"), "{said}\n{complained}");
}

/// A world whose data directory is on a disk of 16 MiB.
struct SmallDisk {
    world: World,
    disk: PathBuf,
}

impl SmallDisk {
    /// With this agent, which is told where the world is, and these settings.
    fn new(agent: &str, settings: &str) -> Self {
        assert!(std::env::var_os(INSIDE).is_some(), "this test is started by another one");
        let world = World::new();
        let disk = world.path().join("disk");
        fs::create_dir(&disk).unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=16m", "tmpfs"]).arg(&disk).status();
        assert!(mounted.unwrap().success());
        let script = world.write("agent.sh", agent);
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        world.write(
            "adjourn.toml",
            &format!(
                "{settings}\n[engines.agent]\nkind = \"exec\"\npreset = \"command\"\nsandbox = \"off\"\ncommand = [{:?}]\n",
                script.display().to_string()
            ),
        );
        Self { world, disk }
    }

    fn serve(&self) -> Serving {
        let config = self.world.path().join("adjourn.toml").display().to_string();
        let data = self.disk.join("data").display().to_string();
        Serving::start_with(
            &self.world,
            &["--config", &config, "--data", &data],
            &["--listen", "127.0.0.1:0"],
        )
    }

    /// Fills the disk but for so many bytes.
    fn fill(&self, but_bytes: u64) {
        let space = rustix::fs::statvfs(&self.disk).unwrap();
        let bytes = (space.f_bavail * space.f_frsize).saturating_sub(but_bytes);
        let mut file = fs::File::create(self.disk.join("fill")).unwrap();
        let chunk = vec![0; 4096];
        let mut left = bytes;
        while left > 0 && file.write_all(&chunk[..usize::try_from(left.min(4096)).unwrap()]).is_ok() {
            left = left.saturating_sub(4096);
        }
    }

    fn make_room(&self) {
        fs::remove_file(self.disk.join("fill")).unwrap();
    }
}

fn post(server: &Serving, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        server.address(),
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn json(answer: &str) -> Value {
    serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap()
}

fn created(server: &Serving) -> String {
    let answer = post(server, "/v1/runs", r#"{"prompt": "go", "engine": "agent"}"#);
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    json(&answer)["run_id"].as_str().unwrap().to_owned()
}

fn shown(server: &Serving, run: &str) -> Value {
    json(&server.get(&format!("/v1/runs/{run}")))
}

fn becomes(server: &Serving, run: &str, status: &str) -> Value {
    until(&format!("the run is {status}"), || Some(shown(server, run)).filter(|run| run["status"] == status))
}

/// Asks, and then says much.
const ASKS: &str = r#"#!/bin/sh
cat > /dev/null
if [ -z "$ADJOURN_HANDLE" ]; then
  echo '{"__SKILL_DONE__": false, "message": "Where?"}'
else
  head -c 300000 /dev/zero | tr '\0' 'x'
  echo
  echo '{"__SKILL_DONE__": true, "where": "there"}'
fi
"#;

#[test]
fn a_disk_below_its_reserve_begins_nothing_and_everything_goes_on_when_there_is_room() {
    in_a_namespace("small_disk_below_its_reserve");
}

#[test]
#[ignore = "started by another test, in a namespace of its own"]
fn small_disk_below_its_reserve() {
    let small = SmallDisk::new(ASKS, "");
    let server = small.serve();
    let run = created(&server);
    becomes(&server, &run, "waiting_user");
    assert!(server.get("/readyz").starts_with("HTTP/1.1 200"));

    small.fill(500_000);
    let low = until("the server notices", || {
        Some(server.get("/readyz")).filter(|answer| answer.starts_with("HTTP/1.1 503"))
    });
    assert_eq!(json(&low)["code"], "DISK_LOW", "{low}");
    let metrics = server.get("/metrics");
    let reserve = metrics.lines().find_map(|line| line.strip_prefix("adjourn_disk_reserve_bytes "));
    assert_eq!(reserve, Some("838860"), "{metrics}");
    assert!(metrics.contains("\nadjourn_disk_free_bytes "), "{metrics}");

    let refused = post(&server, "/v1/runs", r#"{"prompt": "go", "engine": "agent"}"#);
    assert!(refused.starts_with("HTTP/1.1 507"), "{refused}");
    assert_eq!(json(&refused)["code"], "DISK_RESERVE", "{refused}");
    let url = server.url();
    let said = small.world.says(&["--server", &url, "run", "--prompt", "go", "--engine", "agent"]);
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(said.stderr.contains("make room, or lower `server.disk_reserve_mb`"), "{}", said.stderr);

    let reply = format!("/v1/runs/{run}/reply");
    let answer = post(&server, &reply, r#"{"interaction_id": 1, "response": "there"}"#);
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
    assert_eq!(json(&answer)["status"], "queued");
    // A second look at the disk does not change that.
    let other = format!("/v1/runs/{run}/cancel");
    assert_eq!(shown(&server, &run)["status"], "queued");

    small.make_room();
    until("the server notices", || server.get("/readyz").starts_with("HTTP/1.1 200").then_some(()));
    let ended = becomes(&server, &run, "succeeded");
    assert_eq!(ended["warnings"], serde_json::json!([]));
    assert!(post(&server, &other, "").starts_with("HTTP/1.1 409"));
}

/// Says much while the disk is full, and ends when it is told to.
const PRINTS: &str = r#"#!/bin/sh
cat > /dev/null
here=$(dirname "$0")
echo "before"
touch "$here/started"
until [ -e "$here/print" ]; do sleep 0.02; done
head -c 300000 /dev/zero | tr '\0' 'x'
echo
touch "$here/printed"
until [ -e "$here/end" ]; do sleep 0.02; done
echo "after"
echo '{"__SKILL_DONE__": true, "where": "there"}'
"#;

#[test]
fn a_turn_whose_output_the_disk_does_not_take_goes_on_and_says_so() {
    in_a_namespace("small_disk_that_is_full_in_a_turn");
}

#[test]
#[ignore = "started by another test, in a namespace of its own"]
fn small_disk_that_is_full_in_a_turn() {
    let small = SmallDisk::new(PRINTS, "[server]\ndisk_reserve_mb = 0\n");
    let server = small.serve();
    let run = created(&server);
    let file = |name: &str| small.world.path().join(name);
    until("the agent starts", || file("started").exists().then_some(()));
    small.fill(0);
    small.world.write("print", "");
    until("the agent has printed", || file("printed").exists().then_some(()));
    small.make_room();
    small.world.write("end", "");
    let ended = becomes(&server, &run, "succeeded");
    assert_eq!(ended["warnings"][0]["code"], "OUTPUT_NOT_KEPT", "{ended}");
    let message = ended["warnings"][0]["message"].as_str().unwrap();
    assert!(message.contains("No space left on device"), "{message}");
    let log = small.disk.join("data/runs").join(&run).join("logs/attempt-1.stdout");
    let log = String::from_utf8_lossy(&fs::read(log).unwrap()).into_owned();
    assert!(log.starts_with("before\n"), "{}", &log[..200]);
    assert!(
        log.contains("bytes of output could not be kept here: No space left on device"),
        "not in the log"
    );
    assert!(log.contains("after\n{\"__SKILL_DONE__\": true"), "what came after is kept");
}
