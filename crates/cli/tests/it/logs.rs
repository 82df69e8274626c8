//! What a server logs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::world::World;

/// A server in a world, and the lines that it logs.
fn serve(world: &World, filter: &str) -> (Child, impl Iterator<Item = Value> + use<>) {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("adjourn"))
        .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
        .current_dir(world.path())
        .env_remove("ADJOURN_DATA")
        .env("ADJOURN_LOG", filter)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::<ChildStderr>::new(child.stderr.take().unwrap()).lines();
    (child, lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()))
}

/// The answer to a POST, head and body.
fn post(address: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\nx-request-id: mine-7\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn every_line_about_a_run_names_it_and_no_line_holds_what_was_said() {
    let world = World::new();
    let (mut child, mut lines) = serve(&world, "debug");
    let address =
        lines.find_map(|line| Some(line["message"].as_str()?.split_once("http://")?.1.to_owned())).unwrap();
    let body = r#"{"skill": "deploy", "engine": "fails", "input": {"password": "sesame", "note": "a word of mine"}}"#;
    let answer = post(&address, "/v1/runs", body);
    assert!(answer.contains("x-request-id: mine-7"), "{answer}");
    let mut seen = Vec::new();
    for line in lines.by_ref() {
        let is_end = line["message"] == "run ended";
        seen.push(line);
        if is_end {
            break;
        }
    }
    let end = seen.last().unwrap();
    assert_eq!(
        (&end["level"], &end["to"], &end["error"]),
        (&"WARN".into(), &"failed".into(), &"ENGINE_EXIT_NONZERO".into())
    );
    let about_runs =
        seen.iter().filter(|line| line["message"].as_str().is_some_and(|text| text.starts_with("run ")));
    for line in about_runs {
        assert!(line["run_id"].as_str().unwrap().starts_with("run_") && line["attempt"].is_u64(), "{line}");
    }
    let request = seen.iter().find(|line| line["message"] == "answered").unwrap();
    let span = &request["span"];
    assert_eq!((&request["status"], &span["route"]), (&201.into(), &"/v1/runs".into()), "{request}");
    assert_eq!((&span["method"], &span["request_id"]), (&"POST".into(), &"mine-7".into()), "{request}");
    for said in ["sesame", "a word of mine", "Deploy it", "no disk left"] {
        assert!(seen.iter().all(|line| !line.to_string().contains(said)), "{said}: {seen:#?}");
    }
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    lines.for_each(drop);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_filter_that_cannot_be_read_is_wrong_use() {
    let world = World::new();
    let (child, lines) = serve(&world, "adjourn=loudly");
    drop(lines);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(2));
}
