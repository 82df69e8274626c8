//! A person at a terminal.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::roundtable;
use crate::world::{World, until};

/// How long a test waits for something to be seen.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command at a terminal, as a person uses it.
pub(crate) struct Terminal {
    child: Child,
    keys: File,
    screen: mpsc::Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    pub(crate) fn start(world: &World, arguments: &[&str]) -> Self {
        Self::start_at(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap(), world, arguments)
    }

    /// At a terminal as wide and as high as they were made first.
    pub(crate) fn of_80_columns(world: &World, arguments: &[&str]) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).unwrap();
        Self::start_at(terminal, world, arguments)
    }

    fn start_at(terminal: OwnedFd, world: &World, arguments: &[&str]) -> Self {
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let path = ptsname(&terminal, Vec::new()).unwrap();
        let end = OpenOptions::new().read(true).write(true).open(path.to_str().unwrap()).unwrap();
        let child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("adjourn"))
            .env("ADJOURN_TRUST_CONFIG", "1")
            .args(arguments)
            .current_dir(world.path())
            .env_remove("ADJOURN_DATA")
            .env_remove("ADJOURN_SERVER")
            .env("TERM", "xterm")
            .stdin(end.try_clone().unwrap())
            .stdout(Stdio::piped())
            .stderr(end)
            .spawn()
            .unwrap();
        let keys = File::from(terminal);
        let mut glass = keys.try_clone().unwrap();
        let (sender, screen) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = glass.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, keys, screen, seen: String::new() }
    }

    /// Waits until `text` has been on the screen since it was last looked.
    pub(crate) fn until_seen(&mut self, text: &str) {
        let at = loop {
            if let Some(at) = self.seen.find(text) {
                break at;
            }
            match self.screen.recv_timeout(PATIENCE) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("`{text}` was never seen in {:?}", self.seen),
            }
        };
        // What came behind it, perhaps in the same piece, is there for the next look.
        self.seen.drain(..at + text.len());
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// What Ctrl-C does at a terminal whose shell gave it to the command.
    fn interrupts(&self) {
        self.signals(Signal::INT);
    }

    fn signals(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.child.id().cast_signed()).unwrap(), signal).unwrap();
    }

    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        (self.child.wait().unwrap().code(), stdout)
    }
}

impl Drop for Terminal {
    /// A command that is still at its terminal when the test is over has nobody left to ask.
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) const DOWN: &str = "\u{1b}[B";
pub(crate) const ENTER: &str = "\r";
const ESCAPE: &str = "\u{1b}";

#[test]
fn a_run_that_is_left_running_goes_on_in_the_background() {
    let world = World::new();
    let started = world.started();
    let mut terminal = Terminal::start(&world, &["run", "deploy", "--engine", "works", "--mode", "auto"]);
    fs::read_to_string(&started).unwrap();
    terminal.until_seen("works works, attempt 1");
    terminal.interrupts();
    terminal.until_seen("leave it running");
    terminal.types(DOWN);
    terminal.types(ENTER);
    terminal.until_seen("it goes on; to see how: adjourn events run_");
    assert_eq!(terminal.ended(), (Some(3), String::new()));
    let run = world.items(&["ps"])[0]["run_id"].as_str().unwrap().to_owned();
    world.let_go(&run);
    let run = until("it succeeded", || {
        Some(world.json(&["show", &run])).filter(|run| run["status"] == "succeeded")
    });
    let id = run["run_id"].as_str().unwrap();
    assert_eq!((&run["restarts"], world.starts(id)), (&0.into(), 1), "the same agent, in the same attempt");
}

#[test]
fn a_command_that_asks_can_be_ended_and_its_run_is_left_waiting() {
    for signal in [Signal::TERM, Signal::HUP] {
        let world = World::new();
        let mut terminal = Terminal::start(&world, &["run", "deploy", "--engine", "asks"]);
        terminal.until_seen("Where should it go?");
        terminal.signals(signal);
        assert_eq!(terminal.ended(), (Some(3), String::new()));
        let run = world.until_waiting(1).remove(0);
        assert_eq!(world.says(&["reply", &run, "prod"]).code, Some(0), "the data directory is free");
    }
}

#[test]
fn a_roundtable_shows_who_is_thinking_and_asks_how_to_go_on() {
    let world = roundtable::world();
    let mut terminal = Terminal::start(&world, &[&roundtable::START[..], &["--interactive"]].concat());
    terminal.until_seen("round 1 of at most 4");
    terminal.until_seen("Round 1 is recorded.");
    terminal.until_seen("with a remark from me");
    terminal.types(DOWN);
    terminal.types(ENTER);
    terminal.until_seen("Your remark:");
    terminal.types("Ask the bank.");
    terminal.types(ENTER);
    terminal.until_seen("the table needs a person");
    terminal.until_seen("Go on discussing");
    terminal.types(ESCAPE);
    terminal.until_seen("close the roundtable: break it off");
    terminal.types(DOWN);
    terminal.types(DOWN);
    terminal.types(ENTER);
    terminal.until_seen("closed: user_closed");
    assert_eq!(terminal.ended(), (Some(4), String::new()));
    let table = world.items(&["roundtable", "list"])[0]["roundtable_id"].as_str().unwrap().to_owned();
    let export = world.json(&["roundtable", "export", &table]);
    assert_eq!(export["human_decisions"][0]["text"], "Ask the bank.", "{export}");
}
