//! What other processes and other users can read of Adjourn: nothing.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::world::World;

/// A user that every system has, and that owns nothing.
const NOBODY: u32 = 65534;

/// A command as an ordinary user: root could read everything of everybody.
fn as_ordinary_user(program: &Path) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args([&format!("--reuid={NOBODY}"), &format!("--regid={NOBODY}"), "--clear-groups"]).arg(program);
    command
}

/// A server at work, ended with the test.
struct Serving(Child);

impl Serving {
    fn start(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let listens = lines.by_ref().map(Result::unwrap).any(|line| line.contains("listening on"));
        assert!(listens);
        // What it says besides is read, so that it never waits for somebody to do so.
        std::thread::spawn(move || lines.count());
        Self(child)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn xx_25_the_environment_and_the_memory_of_the_server_are_closed_to_processes_of_the_same_user() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    // Where an ordinary user can start it.
    let binary = folder.path().join("adjourn");
    fs::copy(assert_cmd::cargo::cargo_bin!("adjourn"), &binary).unwrap();
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    if rustix::process::geteuid().is_root() {
        chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let mut serve = as_ordinary_user(&binary);
    serve.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(&home).env("SECRET_KEY", "s3cr3t");
    let serving = Serving::start(serve);
    let process = format!("/proc/{}", serving.0.id());
    for file in ["environ", "mem", "maps"] {
        let mut read = as_ordinary_user(Path::new("/usr/bin/head"));
        let read = read.args(["-c", "1"]).arg(format!("{process}/{file}")).output().unwrap();
        let complaint = String::from_utf8_lossy(&read.stderr);
        assert!(!read.status.success() && complaint.contains("Permission denied"), "{file}: {complaint}");
    }
    // What is measured of it can still be read by itself: its own memory among that.
    let status = fs::read_to_string(format!("{process}/status")).unwrap();
    assert!(status.contains("VmRSS:"), "{status}");
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_data_directory_that_others_could_read_is_put_right_and_that_is_said_once() {
    let world = World::new();
    world.finished_run();
    let data = world.path().join(".adjourn");
    assert_eq!(mode(&data), 0o700);
    for entry in fs::read_dir(&data).unwrap().map(Result::unwrap) {
        assert_eq!(mode(&entry.path()) & 0o077, 0, "{}", entry.path().display());
    }
    world.until_alone();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(data.join("adjourn.db"), fs::Permissions::from_mode(0o644)).unwrap();
    let run = ["run", "deploy", "--engine", "asks", "--answer", "prod"];
    let said = world.says(&run);
    let told = "other users could read this, and cannot any more: .adjourn, .adjourn/adjourn.db";
    assert!(said.stderr.contains(told), "{}", said.stderr);
    assert_eq!((mode(&data), mode(&data.join("adjourn.db"))), (0o700, 0o600));
    let said = world.says(&run);
    assert!(!said.stderr.contains("other users"), "{}", said.stderr);
}

#[test]
fn an_agent_works_under_the_umask_of_its_user() {
    let world = World::new();
    let agent = world.write("touches", "#!/bin/sh\ncat >/dev/null\numask\ntouch made\nstat -c %a made\n");
    fs::set_permissions(agent, fs::Permissions::from_mode(0o755)).unwrap();
    world.write(
        "adjourn.toml",
        "[engines.touches]\nkind = \"exec\"\npreset = \"command\"\ncommand = [\"./touches\"]\n",
    );
    let mut shell = Command::new("sh");
    let binary = assert_cmd::cargo::cargo_bin!("adjourn");
    shell
        .args(["-c", "umask 0002; exec \"$0\" run --prompt go --engine touches --mode auto --json"])
        .arg(binary);
    let output = shell.current_dir(world.path()).env("ADJOURN_TRUST_CONFIG", "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let shown = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(shown.contains("0002") && shown.contains("664"), "{shown}");
}
