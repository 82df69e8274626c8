//! A server at work beside a test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ExitStatus};

use rustix::process::{Pid, Signal, kill_process};

use crate::world::World;

pub(crate) struct Serving {
    child: Child,
    /// `127.0.0.1:…`.
    address: String,
    /// Kept open: a server whose stderr is gone would fail for a reason that is not of interest.
    _stderr: BufReader<std::process::ChildStderr>,
}

impl Serving {
    /// `adjourn serve` in a world, on this address.
    pub(crate) fn start(world: &World, listen: &str, more: &[&str]) -> Self {
        Self::start_with(world, &[], &[&["--listen", listen], more].concat())
    }

    /// The same, with arguments before the command.
    pub(crate) fn start_with(world: &World, before: &[&str], arguments: &[&str]) -> Self {
        let mut child = world.spawn(&[before, &["serve"], arguments].concat());
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").expect(&line).to_owned();
        Self { child, address, _stderr: stderr }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// What it answers, head and body.
    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// What it answers to a document that is sent there, head and body.
    pub(crate) fn post(&self, path: &str, document: &serde_json::Value) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (host, body) = (&self.address, document.to_string());
        let head = format!("POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
        let head = format!("{head}content-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    pub(crate) fn tell_to_end(&self) {
        kill_process(Pid::from_raw(self.child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn ended(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
