//! The process that kills.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use adjourn_core::RunId;

use super::{check, worker};

/// How long a worker lives at least and at most before it is killed.
const LIFE_MILLIS: (u64, u64) = (60, 900);

/// How much is done.
pub(crate) struct Options {
    kills: u64,
    runs: usize,
    seed: u64,
}

impl Options {
    pub(crate) fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        // A hundred lives of half a second each, in which a release build finishes some forty runs.
        let mut options = Self { kills: 100, runs: 4500, seed: u64::from(clock.subsec_nanos()) };
        while let Some(name) = arguments.next() {
            let value = arguments.next().and_then(|value| value.parse().ok());
            let value: u64 = value.ok_or_else(|| format!("`{name}` takes a number"))?;
            match name.as_str() {
                "--kills" => options.kills = value,
                "--runs" => options.runs = usize::try_from(value).unwrap_or(usize::MAX),
                "--seed" => options.seed = value,
                _ => return Err(format!("`{name}` is not an option: there are --kills, --runs and --seed")),
            }
        }
        Ok(options)
    }
}

/// What workers said is durable.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) created: BTreeSet<RunId>,
    pub(crate) replied: BTreeSet<(RunId, u32)>,
}

impl Said {
    fn note(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<_> = line.split(' ').collect();
        let bad = || format!("a worker said `{line}`");
        match words.as_slice() {
            ["created", id] => {
                self.created.insert(id.parse().map_err(|_| bad())?);
            }
            ["replied", id, number] => {
                let reply = (id.parse().map_err(|_| bad())?, number.parse().map_err(|_| bad())?);
                if !self.replied.insert(reply) {
                    return Err(format!("a reply was accepted twice: {line}"));
                }
            }
            _ => return Err(bad()),
        }
        Ok(())
    }
}

pub(crate) fn main(options: &Options) -> Result<(), String> {
    println!("seed {}: {} kills, {} runs", options.seed, options.kills, options.runs);
    let folder = tempfile::tempdir().map_err(|error| format!("no folder for the data: {error}"))?;
    let data = folder.path().join("data");
    let mut said = Said::default();
    let mut random = options.seed;
    let started = Instant::now();
    let mut kills = 0;
    loop {
        let mut child = start(&data, options.runs)?;
        let lines = listen(&mut child);
        if kills < options.kills {
            thread::sleep(life(&mut random));
            let has_ended = child.try_wait().map_err(|error| error.to_string())?.is_some();
            child.kill().map_err(|error| format!("cannot kill: {error}"))?;
            kills += u64::from(!has_ended);
        }
        let status = child.wait().map_err(|error| error.to_string())?;
        for line in lines.join().map_err(|_| "nobody listened".to_owned())? {
            said.note(&line)?;
        }
        if status.success() {
            break;
        }
        if status.code().is_some() {
            return Err(format!("a worker ended by itself with {status}"));
        }
    }
    println!("{kills} kills in {:.1?}", started.elapsed());
    check::main(&data, &said)
}

fn start(data: &Path, runs: usize) -> Result<Child, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    Command::new(program)
        .arg(worker::SUBCOMMAND)
        .arg(data)
        .arg(runs.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start a worker: {error}"))
}

/// Reads what a worker says until it is dead. Only whole lines count.
fn listen(child: &mut Child) -> thread::JoinHandle<Vec<String>> {
    let out = child.stdout.take().expect("it is piped");
    thread::spawn(move || {
        let mut lines = Vec::new();
        let mut reader = BufReader::new(out);
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|read| read > 0) && line.ends_with('\n') {
            lines.push(line.trim_end().to_owned());
            line.clear();
        }
        lines
    })
}

/// splitmix64, so that a seed gives the same moments again.
fn life(random: &mut u64) -> Duration {
    *random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *random;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let (least, most) = LIFE_MILLIS;
    Duration::from_millis(least + (mixed ^ (mixed >> 31)) % (most - least))
}
