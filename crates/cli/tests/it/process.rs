//! A server in a process of its own, which ends with the test however that ends.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};

use rustix::process::{Pid, Signal, kill_process};

pub(crate) struct Server {
    process: Child,
    /// What it says on stderr, line by line.
    pub(crate) lines: Receiver<String>,
}

impl Server {
    /// Starts one in this folder, with more arguments and a variable.
    pub(crate) fn start(folder: &Path, arguments: &[&str], (variable, value): (&str, &str)) -> Self {
        let mut process = std::process::Command::new(assert_cmd::cargo::cargo_bin!("adjourn"))
            .env("ADJOURN_TRUST_CONFIG", "1")
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .current_dir(folder)
            .env_remove("ADJOURN_DATA")
            .env(variable, value)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (said, lines) = channel();
        let stderr = BufReader::new(process.stderr.take().unwrap());
        // Whoever does not read on would block the server one day.
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let _ = said.send(line);
            }
        });
        Self { process, lines }
    }

    /// Waits until it listens, and gives its host and port.
    pub(crate) fn address(&self) -> String {
        let port = |line: String| {
            let after = line.split_once("http://")?.1;
            Some(after.trim_end_matches(|char: char| !char.is_ascii_digit()).split('"').next()?.to_owned())
        };
        self.lines.iter().find_map(port).expect("it says where it listens")
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Ends it as an operator does, and says whether it went well.
    pub(crate) fn end(mut self) -> bool {
        kill_process(Pid::from_raw(self.process.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
        self.process.wait().unwrap().success()
    }

    /// The exit status of one that ends by itself.
    pub(crate) fn code(mut self) -> Option<i32> {
        self.process.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
