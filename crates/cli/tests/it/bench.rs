//! The benchmarks with tiny parameters, so that they cannot rot.

use serde_json::Value;
use tempfile::TempDir;

use crate::process::Server;
use crate::stdout;

/// A server with the skills of the benchmarks, in a folder that goes after it.
struct Measured {
    url: String,
    server: Server,
    _folder: TempDir,
}

impl Measured {
    fn start(slots: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let skills = concat!(env!("CARGO_MANIFEST_DIR"), "/bench");
        let config = format!("skills = [\"{skills}\"]\n[slots]\ntotal = {slots}\n");
        std::fs::write(folder.path().join("adjourn.toml"), config).unwrap();
        let server = Server::start(folder.path(), &[], ("ADJOURN_LOG", "info"));
        Self { url: format!("http://{}", server.address()), server, _folder: folder }
    }

    fn bench(&self, arguments: &[&str]) -> Value {
        let arguments = [&["bench", "--json", "--server", &self.url], arguments].concat();
        serde_json::from_str(&stdout(&arguments)).unwrap()
    }
}

#[test]
fn runs_over_http_are_measured_with_the_server_and_its_commits() {
    let server = Measured::start(16);
    let figures = server.bench(&["--runs", "20", "--concurrency", "4"]);
    assert_eq!((&figures["runs"], &figures["clients"]), (&20.into(), &4.into()));
    for positive in
        ["runs_per_second", "reply_to_done_p50_us", "commits_per_run", "commit_us", "server_rss_bytes"]
    {
        assert!(figures[positive].as_f64().unwrap() > 0.0, "{positive} of {figures}");
    }
    assert!(figures["commits_per_run"].as_f64().unwrap() <= 4.0, "{figures}");
}

/// Each thread costs a stack and what the allocator keeps for it: 170 of them held 20 MB more than 32 do.
#[test]
fn many_clients_at_once_do_not_make_many_threads() {
    let server = Measured::start(256);
    server.bench(&["--runs", "1000", "--concurrency", "256"]);
    if !cfg!(target_os = "linux") {
        return;
    }
    // Threads that waited for the disk stay for some seconds after the last request.
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.server.id())).unwrap();
    let threads = status.lines().find_map(|line| line.strip_prefix("Threads:")).unwrap();
    let threads: usize = threads.trim().parse().unwrap();
    let cores = std::thread::available_parallelism().unwrap().get();
    // One per core, 32 that wait for the disk, and a few that decide, commit and watch.
    assert!(threads <= cores + 32 + 8, "{threads} threads on {cores} cores");
}

#[test]
fn subscribers_miss_nothing_while_runs_go_on() {
    let server = Measured::start(16);
    let load = ["--subscribers", "60", "--runs", "5", "--changes-per-second", "60", "--seconds", "1"];
    let figures = server.bench(&load);
    // 20 replies, each seen by the two who follow all as 3 changes, and by the others if it is their run.
    assert_eq!((&figures["subscribers"], &figures["events_missed"]), (&60.into(), &0.into()));
    assert!(figures["events_delivered"].as_u64().unwrap() > 2 * 60, "{figures}");
}
