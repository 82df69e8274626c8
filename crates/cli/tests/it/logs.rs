//! What a server logs.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::process::Server;
use crate::roundtable;
use crate::world::World;

fn serve(world: &World, filter: &str) -> Server {
    Server::start(world.path(), &["--log-format", "json"], ("ADJOURN_LOG", filter))
}

/// The answer to a POST, head and body.
pub(crate) fn post(address: &str, path: &str, body: &str) -> String {
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
fn a_roundtable_is_logged_from_its_opening_to_its_end_without_what_was_said() {
    let world = roundtable::world();
    let server = serve(&world, "info,adjourn_server::observe::journal_log=debug");
    server.address();
    let said = world.says(&roundtable::START);
    assert_eq!(said.code, Some(3), "{said:?}");
    let id = world.items(&["roundtable", "list"])[0]["roundtable_id"].as_str().unwrap().to_owned();
    assert_eq!(world.says(&["roundtable", "close", &id]).code, Some(0));
    let mut lines = Vec::new();
    for line in server.lines.iter().filter(|line| line.contains(&id)) {
        let line: Value = serde_json::from_str(&line).unwrap();
        let is_end = line["message"] == "roundtable closed";
        lines.push(line);
        if is_end {
            break;
        }
    }
    let told: Vec<_> = lines.iter().map(|line| line["message"].as_str().unwrap()).collect();
    for expected in
        ["roundtable opened", "round began", "answer recorded", "round recorded", "escalation raised"]
    {
        assert!(told.contains(&expected), "{expected}: {told:?}");
    }
    assert_eq!(lines[lines.len() - 1]["reason"], "user_closed");
    let all = format!("{lines:?}");
    for said in ["bicycles", "Cash", "Card only", "They cannot agree"] {
        assert!(!all.contains(said), "{said}: {all}");
    }
    assert!(server.end());
}

#[test]
fn every_line_about_a_run_names_it_and_no_line_holds_what_was_said() {
    let world = World::new();
    let server = serve(&world, "debug");
    let address = server.address();
    let body = r#"{"skill": "deploy", "engine": "fails", "input": {"password": "sesame", "note": "a word of mine"}}"#;
    let answer = post(&address, "/v1/runs", body);
    assert!(answer.contains("x-request-id: mine-7"), "{answer}");
    let mut seen = Vec::new();
    for line in server.lines.iter().map(|line| serde_json::from_str::<Value>(&line).unwrap()) {
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
    assert!(server.end());
}

#[test]
fn a_filter_that_cannot_be_read_is_wrong_use() {
    let world = World::new();
    assert_eq!(serve(&world, "adjourn=loudly").code(), Some(2));
}
