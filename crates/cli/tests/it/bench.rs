//! The benchmarks with tiny parameters, so that they cannot rot.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::stdout;

/// A server with the skills of the benchmarks.
struct Server {
    process: Child,
    url: String,
    _dir: TempDir,
}

impl Server {
    fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = format!("skills = [\"{}/bench\"]\n[slots]\ntotal = 16\n", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(dir.path().join("adjourn.toml"), config).unwrap();
        let mut process = std::process::Command::new(assert_cmd::cargo::cargo_bin!("adjourn"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .current_dir(dir.path())
            .env_remove("ADJOURN_DATA")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let listening = lines.find_map(|line| Some(line.unwrap().split_once("http://")?.1.to_owned()));
        // Whoever does not read on would block the server one day.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, url: format!("http://{}", listening.unwrap()), _dir: dir }
    }

    fn bench(&self, arguments: &[&str]) -> Value {
        let arguments = [&["bench", "--json", "--server", &self.url], arguments].concat();
        serde_json::from_str(&stdout(&arguments)).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let pid = Pid::from_raw(self.process.id().cast_signed()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn runs_over_http_are_measured_with_the_server_and_its_commits() {
    let server = Server::start();
    let figures = server.bench(&["--runs", "20", "--concurrency", "4"]);
    assert_eq!((&figures["runs"], &figures["clients"]), (&20.into(), &4.into()));
    for positive in
        ["runs_per_second", "reply_to_done_p50_us", "commits_per_run", "commit_us", "server_rss_bytes"]
    {
        assert!(figures[positive].as_f64().unwrap() > 0.0, "{positive} of {figures}");
    }
    assert!(figures["commits_per_run"].as_f64().unwrap() <= 4.0, "{figures}");
}

#[test]
fn subscribers_miss_nothing_while_runs_go_on() {
    let server = Server::start();
    let load = ["--subscribers", "60", "--runs", "5", "--changes-per-second", "60", "--seconds", "1"];
    let figures = server.bench(&load);
    // 20 replies, each seen by the two who follow all as 3 changes, and by the others if it is their run.
    assert_eq!((&figures["subscribers"], &figures["events_missed"]), (&60.into(), &0.into()));
    assert!(figures["events_delivered"].as_u64().unwrap() > 2 * 60, "{figures}");
}
