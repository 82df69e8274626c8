//! A hostile program behind the wall: what it tries, and what comes of it.

use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use adjourn_engine::supervisor::{Exit, Program, StartError, Supervisor};
use adjourn_engine::{Isolation, Sandbox, UnixSockets, WithoutWalls, Writes};
use tokio::io::AsyncReadExt;

use crate::agent::{Stage, supervisor};

/// Tries one thing after the other and says of each whether it worked. Its argument is the folder of the stage.
const HOSTILE: &str = r#"
import ctypes, os, signal, socket, subprocess, sys
stage, victim, libc = sys.argv[1], int(sys.argv[2]), ctypes.CDLL(None, use_errno=True)
data = stage + "/data"
def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "syscall")
def try_it(name, what):
    try:
        what()
        print(name, "worked")
    except (OSError, subprocess.CalledProcessError):
        print(name, "failed")
def connect(address):
    s = socket.socket(socket.AF_UNIX)
    if address[0] != "\0":
        os.chdir(os.path.dirname(address))
        address = os.path.basename(address)
    s.connect(address)
def write(path):
    with open(path, "a") as f: f.write("x")
def read(path):
    with open(path) as f: f.read()
def pairs():
    a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
def terminal():
    master, slave = os.openpty(); os.write(slave, b"x")
def unmount():
    if libc.umount2(data.encode(), 2) < 0: raise OSError(ctypes.get_errno(), "umount")
def namespace_and_unmount():
    pid = os.fork()
    if pid == 0:
        libc.unshare(0x10000000 | 0x00020000)
        os._exit(0 if libc.umount2(data.encode(), 2) == 0 and os.path.exists(data + "/db") else 1)
    if os.waitpid(pid, 0)[1] != 0: raise OSError(1, "nested")
try_it("write the workspace", lambda: write(data + "/runs/work/file"))
try_it("read the skill", lambda: read(data + "/runs/skill/SKILL.md"))
try_it("write the temporary folder", lambda: write("/tmp/adjourn-test-hostile") or os.unlink("/tmp/adjourn-test-hostile"))
try_it("make a pair of sockets", pairs)
try_it("make a terminal", terminal)
try_it("write /dev/null", lambda: write("/dev/null"))
try_it("run a program", lambda: subprocess.run(["true"], check=True))
try_it("read a file of the system", lambda: read("/etc/passwd"))
try_it("connect by TCP", lambda: socket.create_connection(("127.0.0.1", int(sys.argv[3]))))
try_it("write the skill", lambda: write(data + "/runs/skill/SKILL.md"))
try_it("read the database", lambda: read(data + "/db"))
try_it("write the database", lambda: write(data + "/db"))
try_it("write beside the data", lambda: write(stage + "/outside"))
try_it("write the configuration", lambda: write(stage + "/adjourn.toml"))
try_it("replace the configuration", lambda: os.rename(data + "/runs/work/file", stage + "/adjourn.toml"))
try_it("connect to the socket", lambda: connect(data + "/adjourn.sock"))
try_it("connect to another socket", lambda: connect(stage + "/other.sock"))
try_it("connect to an abstract socket", lambda: connect("\0" + stage))
try_it("signal a process outside", lambda: os.kill(victim, 0))
try_it("read the environment of a process outside", lambda: read(f"/proc/{victim}/environ"))
# Without a wall, these would harm the machine that the test runs on.
if sys.argv[4] == "walled":
    try_it("trace its own child", lambda: call(101, 0, 0, 0, 0))
    try_it("use io_uring", lambda: call(425, 8, ctypes.create_string_buffer(120)))
    try_it("use the x32 interface", lambda: call(0x40000000 + 41, 1, 1, 0))
    try_it("unmount what hides the data", unmount)
    try_it("unmount it in a namespace of its own", namespace_and_unmount)
    try_it("write a setting of the kernel", lambda: write("/proc/sys/kernel/core_pattern"))
    try_it("make a device file", lambda: os.mknod(data + "/runs/work/disk", 0o60600, os.makedev(254, 0)))
"#;

/// What works behind every wall; all else fails.
const ALLOWED: &[&str] = &[
    "write the workspace",
    "read the skill",
    "write the temporary folder",
    "make a pair of sockets",
    "make a terminal",
    "write /dev/null",
    "run a program",
    "read a file of the system",
    "connect by TCP",
];

/// Becomes another program on a kernel that does not have some calls: their numbers, the program, its arguments.
const ON_A_LESSER_KERNEL: &str = r#"
import ctypes, os, struct, sys
calls = [int(number) for number in sys.argv[1].split(",")]
program = [struct.pack("HBBI", 0x20, 0, 0, 0)]
program += [struct.pack("HBBI", 0x15, len(calls) - index, 0, number) for index, number in enumerate(calls)]
program += [struct.pack("HBBI", 0x06, 0, 0, 0x7fff0000), struct.pack("HBBI", 0x06, 0, 0, 0x00050000 | 38)]
code = ctypes.create_string_buffer(b"".join(program))
filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filter, 0, 0) == 0
os.execv(sys.argv[2], sys.argv[2:])
"#;

/// A supervisor on a kernel that does not have these calls.
fn supervisor_without(calls: &[i64]) -> Supervisor {
    let path = std::env::var_os("PATH").unwrap();
    let mut pythons = std::env::split_paths(&path).map(|folder| folder.join("python3"));
    let python = pythons.find(|file| file.exists()).unwrap();
    let calls = calls.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let command = ["-c", ON_A_LESSER_KERNEL, &calls, env!("CARGO_BIN_EXE_adjourn-supervise")];
    Supervisor::new([python.into_os_string()].into_iter().chain(command.map(Into::into)).collect())
}

/// A data directory with a workspace in it, in a folder that is not a temporary one.
struct Place {
    folder: tempfile::TempDir,
    _sockets: Vec<UnixListener>,
    port: u16,
    _listener: std::net::TcpListener,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = folder.path();
        for name in ["data/runs/work", "data/runs/skill"] {
            fs::create_dir_all(path.join(name)).unwrap();
        }
        for name in ["data/db", "data/runs/skill/SKILL.md", "adjourn.toml", "outside"] {
            fs::write(path.join(name), "as it was").unwrap();
        }
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address =
            <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(
                path.as_os_str().as_encoded_bytes(),
            );
        // The names of sockets are short; folders of tests are not.
        let bind = |name: &str| {
            let file = path.join(name);
            let folder = fs::File::open(file.parent().unwrap()).unwrap();
            let short = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
            UnixListener::bind(short.join(file.file_name().unwrap())).unwrap()
        };
        let sockets = vec![
            bind("data/adjourn.sock"),
            bind("other.sock"),
            UnixListener::bind_addr(&address.unwrap()).unwrap(),
        ];
        let port = listener.local_addr().unwrap().port();
        Self { folder, _sockets: sockets, port, _listener: listener }
    }

    fn sandbox(&self) -> Sandbox {
        let path = |name: &str| self.folder.path().join(name);
        Sandbox {
            hidden: vec![path("data")],
            visible: vec![path("data/runs/work"), path("data/runs/skill")],
            read_only: vec![path("adjourn.toml")],
            writes: Writes::Only(vec![path("data/runs/work"), "/tmp".into()]),
            ..Sandbox::new()
        }
    }

    /// What a hostile program says that worked.
    async fn attacked(&self, sandbox: Option<Sandbox>) -> Vec<String> {
        self.attacked_under(&supervisor(), sandbox).await
    }

    /// The same on another machine.
    async fn attacked_under(&self, supervisor: &Supervisor, sandbox: Option<Sandbox>) -> Vec<String> {
        let stage = Stage::new();
        let mut victim = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let mut program =
            Program::new(stage.script("python3", HOSTILE), self.folder.path().join("data/runs/work"));
        let is_walled = sandbox.is_some();
        program.args = [
            self.folder.path().display().to_string(),
            victim.id().to_string(),
            self.port.to_string(),
            if is_walled { "walled" } else { "open" }.to_owned(),
        ]
        .map(Into::into)
        .into();
        program.env = vec![("PATH".into(), std::env::var_os("PATH").unwrap())];
        program.sandbox = sandbox;
        let mut started = supervisor.start(program).await.unwrap();
        let (mut said, mut complaints) = (String::new(), String::new());
        let (mut stdout, mut stderr) = (started.stdout.take().unwrap(), started.stderr.take().unwrap());
        stdout.read_to_string(&mut said).await.unwrap();
        stderr.read_to_string(&mut complaints).await.unwrap();
        assert_eq!(started.wait().await.unwrap(), Exit::Status(0), "{said}{complaints}");
        victim.kill().unwrap();
        victim.wait().unwrap();
        let attempts = HOSTILE.lines().filter(|line| line.trim_start().starts_with("try_it(")).count();
        assert_eq!(said.lines().count() == attempts, is_walled, "{said}");
        said.lines().filter_map(|line| line.strip_suffix(" worked")).map(ToOwned::to_owned).collect()
    }

    /// Whether everything that is not the program's own is as it was.
    fn is_as_it_was(&self) -> bool {
        ["data/db", "data/runs/skill/SKILL.md", "adjourn.toml", "outside"]
            .iter()
            .all(|name| fs::read_to_string(self.folder.path().join(name)).unwrap() == "as it was")
    }
}

#[tokio::test]
async fn xx_25_a_program_behind_the_wall_reaches_its_work_and_nothing_of_adjourn() {
    let place = Place::new();
    assert_eq!(place.attacked(Some(place.sandbox())).await, ALLOWED);
    assert!(place.is_as_it_was());
    assert!(fs::exists(place.folder.path().join("data/runs/work/file")).unwrap());
}

#[tokio::test]
async fn a_program_without_a_wall_does_all_of_it() {
    let place = Place::new();
    let worked = place.attacked(None).await;
    for what in
        ["write the database", "connect to the socket", "signal a process outside", "write the configuration"]
    {
        assert!(worked.iter().any(|worked| worked == what), "the test does not try it: {what}");
    }
}

#[tokio::test]
async fn unix_sockets_can_be_opened_and_adjourns_own_is_still_not_there() {
    let place = Place::new();
    let sandbox = Sandbox { unix_sockets: UnixSockets::Allowed, ..place.sandbox() };
    let worked = place.attacked(Some(sandbox)).await;
    let expected: Vec<_> = ALLOWED.iter().copied().chain(["connect to another socket"]).collect();
    assert_eq!(worked, expected);
}

#[tokio::test]
async fn a_program_that_may_write_everywhere_reaches_nothing_of_adjourn() {
    let place = Place::new();
    let worked = place.attacked(Some(Sandbox { writes: Writes::Everywhere, ..place.sandbox() })).await;
    for what in ["write beside the data", "write the skill"] {
        assert!(worked.iter().any(|worked| worked == what), "{what}: {worked:?}");
    }
    for what in [
        "read the database",
        "write the configuration",
        "replace the configuration",
        "connect to the socket",
        "write a setting of the kernel",
        "make a device file",
    ] {
        assert!(!worked.iter().any(|worked| worked == what), "{what}: {worked:?}");
    }
    assert_eq!(fs::read_to_string(place.folder.path().join("data/db")).unwrap(), "as it was");
}

#[tokio::test]
async fn a_wall_that_cannot_be_built_refuses_the_program() {
    let place = Place::new();
    let sandbox = Sandbox { visible: vec![place.folder.path().join("data/missing")], ..place.sandbox() };
    let mut program = Program::new("/bin/true", "/");
    program.sandbox = Some(sandbox);
    let Err(StartError::NoSandbox(problem)) = supervisor().start(program).await else {
        panic!("it was started");
    };
    assert!(problem.contains("cannot be hidden"), "{problem}");
}

#[tokio::test]
async fn the_walls_of_this_machine_are_known() {
    let walls = Supervisor::clone(&supervisor());
    let walls = walls.walls().await;
    assert!(matches!(walls.isolation(), Ok(Isolation::Namespaces | Isolation::UserNamespaces)), "{walls:?}");
    assert_eq!(walls.summary(), "namespaces, Landlock, seccomp");
}

#[tokio::test]
async fn without_namespaces_the_rest_of_the_wall_keeps_adjourns_files_and_sockets() {
    let supervisor = supervisor_without(&[libc::SYS_unshare]);
    let walls = supervisor.walls().await;
    assert_eq!(walls.isolation(), Ok(Isolation::None), "{walls:?}");
    assert!(walls.summary().contains("no Unix sockets, other processes can be seen"), "{}", walls.summary());
    let place = Place::new();
    for unix_sockets in [UnixSockets::Denied, UnixSockets::Allowed] {
        let worked =
            place.attacked_under(&supervisor, Some(Sandbox { unix_sockets, ..place.sandbox() })).await;
        let others: Vec<_> = worked.iter().filter(|what| !ALLOWED.contains(&what.as_str())).collect();
        assert!(others.is_empty(), "{others:?}");
        assert!(place.is_as_it_was());
    }
}

#[tokio::test]
async fn without_namespaces_a_folder_that_cannot_be_kept_apart_refuses_the_program() {
    let place = Place::new();
    let around = Writes::Only(vec![place.folder.path().to_owned()]);
    let mut program = Program::new("/bin/true", "/");
    program.sandbox = Some(Sandbox { writes: around, ..place.sandbox() });
    let refused = supervisor_without(&[libc::SYS_unshare]).start(program).await;
    let Err(StartError::NoSandbox(problem)) = refused else { panic!("it was started") };
    assert!(problem.contains("move one of them"), "{problem}");
}

#[tokio::test]
async fn without_any_wall_a_program_runs_only_if_a_person_accepted_that() {
    let supervisor = supervisor_without(&[libc::SYS_unshare, libc::SYS_landlock_create_ruleset]);
    supervisor.walls().await.isolation().unwrap_err();
    let mut program = Program::new("/bin/true", "/");
    program.sandbox = Some(Sandbox::new());
    let Err(StartError::NoSandbox(problem)) = supervisor.start(program.clone()).await else {
        panic!("it was started");
    };
    assert!(problem.contains("Landlock"), "{problem}");
    program.sandbox = Some(Sandbox { without_walls: WithoutWalls::Accepted, ..Sandbox::new() });
    let mut started = supervisor.start(program).await.unwrap();
    assert!(started.walls().starts_with("none: "), "{}", started.walls());
    assert!(started.walls().ends_with("; a person accepted that"), "{}", started.walls());
    assert_eq!(started.wait().await.unwrap(), Exit::Status(0));
}
