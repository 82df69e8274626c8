//! XX-09: whenever the process is killed, the next one finds what was acknowledged, and goes on from there.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use adjourn_core::{InteractionStatus, RunStatus};
use serde_json::json;

use crate::stage::{Actor, Stage, child, until};

/// Asks two things, gets its result wrong, and right when it is told so. What it does follows from its prompt alone.
///
/// It writes down in `agent.at` where it is, and stays for ever in the place that `agent.hold` names.
const AGENT: &str = r#"#!/bin/sh
prompt=$(cat)
at() {
    echo $1 >>"$0.at"
    [ "$(cat "$0.hold" 2>/dev/null)" != $1 ] || sleep 1000
}
case $prompt in
*'cannot be used'*) at repair; echo '{"__SKILL_DONE__": true, "answer": "alpha beta"}' ;;
*'> beta'*) at third; echo '{"__SKILL_DONE__": true, "answer": 7}' ;;
*'> alpha'*) at second; echo '{"__SKILL_DONE__": false, "message": "And then?"}' ;;
*) at first; echo '{"__SKILL_DONE__": false, "message": "What first?"}' ;;
esac
"#;

const REPLIES: [&str; 2] = ["alpha", "beta"];

const CHILD: &str = "scenarios::xx::kill::child_that_takes_part";
const DIRECTORY: &str = "ADJOURN_TEST_DIRECTORY";

/// Kills at random moments. A life of the child takes some 150 ms, and longer where others compile.
const RANDOM_KILLS: u64 = 24;
const LIFE_MS_MAX: u64 = 250;

/// Creates the run or finds it, answers what is open, and says what was acknowledged.
fn take_part(stage: &Stage, say: impl Fn(String)) {
    let run = stage.request_with(json!({}), Some("the run")).unwrap();
    say(format!("created {}", run.id));
    for (number, reply) in (1..).zip(REPLIES) {
        run.until("a question", |run| {
            (run.status().is_terminal() || run.interactions().len() >= number).then_some(())
        });
        say(format!("asked {number}"));
        if run.state().interactions()[number - 1].status == InteractionStatus::Open {
            run.reply_to(u32::try_from(number).unwrap(), reply).unwrap();
            say(format!("accepted {number}"));
        }
    }
    run.ends();
    say(format!("seen {}", json!(run.stream())));
}

#[test]
#[ignore = "a process that another test starts"]
fn child_that_takes_part() {
    let Some(folder) = std::env::var_os(DIRECTORY) else { return };
    let stage = Stage::at(Path::new(&folder));
    stage.open();
    // The harness has begun a line.
    println!();
    take_part(&stage, |line| println!("{line}"));
}

/// A child that takes part, and what it said so far.
struct Part {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    said: Vec<String>,
}

impl Part {
    fn start(stage: &Stage) -> Self {
        let mut child =
            child::command(CHILD).env(DIRECTORY, stage.path()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines, said: Vec::new() }
    }

    /// Reads on until it says something that begins like this.
    fn until_it_says(&mut self, begin: &str) {
        while let Some(Ok(line)) = self.lines.next() {
            let is_it = line.starts_with(begin);
            self.said.push(line);
            if is_it {
                return;
            }
        }
        panic!("it never said `{begin}`, only {:#?}", self.said);
    }

    /// Kills it, and gives all that it acknowledged.
    fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        // None of these is half a line: they are shorter than what a pipe takes at once.
        self.said.extend(self.lines.map_while(Result::ok));
        self.said
    }
}

/// What was acknowledged is there, and the run comes to its end as if nothing had happened.
fn goes_on(stage: &Stage, said: &[String], moment: &str) {
    let _ = fs::remove_file(stage.path().join("agent.hold"));
    stage.open();
    for line in said {
        match line.split_once(' ') {
            Some(("created", id)) => {
                stage.service().run(id.parse().unwrap()).unwrap_or_else(|error| panic!("{moment}: {error}"));
            }
            Some(("accepted", number)) => {
                let run = the_run(stage);
                let number: usize = number.parse().unwrap();
                let resolution = run.state().interactions()[number - 1].resolution.clone();
                let response = resolution.map(|resolution| resolution.response);
                assert_eq!(response, Some(json!(REPLIES[number - 1])), "{moment}");
            }
            _ => {}
        }
    }
    take_part(stage, |_| {});
    let run = the_run(stage);
    let state = run.state();
    assert_eq!(state.result(), Some(&json!({ "answer": "alpha beta" })), "{moment}: {:#?}", run.stream());
    assert_eq!(state.status(), RunStatus::Succeeded);
    assert_eq!((state.interactions().len(), state.attempt_number()), (2, 3), "{moment}");
    follows(&run, moment);
    assert_eq!(stage.processes(), [0; 0], "{moment}");
    stage.close();
}

fn the_run(stage: &Stage) -> Actor<'_> {
    let runs = stage.store().runs(&adjourn_store::RunFilter::default(), 9).unwrap();
    assert_eq!(runs.len(), 1, "one run was asked for");
    stage.actor(runs[0].run_id)
}

/// No event is lost or doubled: each change begins where the last one ended, and each reply is there once.
fn follows(run: &Actor<'_>, moment: &str) {
    let stream = run.stream();
    let mut status = "queued".to_owned();
    for (from, rest) in stream.iter().filter_map(|frame| frame.split_once(" → ")) {
        assert_eq!(from, status, "{moment}: {stream:#?}");
        status = rest.split_once(": ").unwrap().0.to_owned();
    }
    assert_eq!(stream.last().unwrap(), "running → succeeded: turn.succeeded", "{moment}");
    for once in ["running → waiting_user: turn.needs_input", "interaction.reply.accepted"] {
        assert_eq!(stream.iter().filter(|frame| *frame == once).count(), 2, "{moment}: {stream:#?}");
    }
}

#[test]
fn xx_09_killed_while_its_agent_works_the_run_goes_on_from_there() {
    for place in ["first", "second", "third", "repair"] {
        let stage = Stage::closed(AGENT);
        fs::write(stage.path().join("agent.hold"), place).unwrap();
        let part = Part::start(&stage);
        until(place, || {
            fs::read_to_string(stage.path().join("agent.at")).ok()?.contains(place).then_some(())
        });
        let said = part.kill();
        // The agent dies with who started it.
        until("the end of the agent", || stage.processes().is_empty().then_some(()));
        goes_on(&stage, &said, place);
    }
}

#[test]
fn xx_09_killed_right_after_it_acknowledged_something_nothing_of_that_is_lost() {
    for moment in ["created", "asked 1", "accepted 1", "asked 2", "accepted 2", "seen"] {
        let stage = Stage::closed(AGENT);
        let mut part = Part::start(&stage);
        part.until_it_says(moment);
        let said = part.kill();
        goes_on(&stage, &said, moment);
        if let Some(seen) = said.iter().find_map(|line| line.strip_prefix("seen ")) {
            stage.open();
            assert_eq!(json!(the_run(&stage).stream()).to_string(), seen);
        }
    }
}

#[test]
fn xx_09_killed_at_any_moment_it_ends_as_if_nothing_had_happened() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(9);
    println!("seed {seed}: repeat with SEED={seed}");
    let mut random = adjourn_store::conformance::Random::new(seed);
    for kill in 0..RANDOM_KILLS / 2 {
        let stage = Stage::closed(AGENT);
        let mut said = Vec::new();
        for _ in 0..2 {
            let part = Part::start(&stage);
            std::thread::sleep(Duration::from_millis(random.below(LIFE_MS_MAX)));
            said.extend(part.kill());
        }
        goes_on(&stage, &said, &format!("kill {kill} of seed {seed} after {said:?}"));
    }
}
