//! Traces of runs, at a collector.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

use crate::process::Server;
use crate::roundtable;
use crate::world::World;

/// How long a test waits for what has to happen; only reached by a failure.
const PATIENCE: Duration = Duration::from_secs(30);

/// A collector that takes everything: its address, and the spans that came.
fn collector() -> (String, Receiver<Span>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (came, spans) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            for span in request(stream) {
                came.send(span).unwrap();
            }
        }
    });
    (url, spans)
}

/// The spans of one request, which is answered.
fn request(mut stream: TcpStream) -> Vec<Span> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    let mut line = String::new();
    let mut path = String::new();
    while reader.read_line(&mut line).unwrap() > 2 {
        if path.is_empty() {
            path = line.split(' ').nth(1).unwrap().to_owned();
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    assert_eq!(path, "/v1/traces");
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
    let request = ExportTraceServiceRequest::decode(body.as_slice()).unwrap();
    let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
    scopes.flat_map(|scope| scope.spans).collect()
}

fn serve(world: &World, collector: &str) -> Server {
    let server = Server::start(world.path(), &[], ("OTEL_EXPORTER_OTLP_ENDPOINT", collector));
    server.address();
    server
}

/// The answer to a POST by the socket, head and body.
fn post(world: &World, path: &str, body: &str) -> String {
    let mut stream = UnixStream::connect(world.path().join(".adjourn/adjourn.sock")).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: adjourn\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_run_that_was_interrupted_has_one_trace_with_all_its_attempts() {
    let world = World::new();
    // It asks before there is a server, and is answered while there is one.
    let run = world.waiting_run();
    let (url, spans) = collector();
    let server = serve(&world, &url);
    let answer =
        post(&world, &format!("/v1/runs/{run}/reply"), r#"{"interaction_id": 1, "response": "staging"}"#);
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");

    let mut came: Vec<_> = (0..3).map(|_| spans.recv_timeout(PATIENCE).unwrap()).collect();
    came.sort_by_key(|span| span.name.clone());
    let names: Vec<_> = came.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["attempt 1", "attempt 2", "run deploy"]);
    let root = &came[2];
    assert!(root.parent_span_id.is_empty());
    for span in &came {
        assert_eq!(span.trace_id, root.trace_id);
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano);
        assert!(root.start_time_unix_nano <= span.start_time_unix_nano);
        assert!(span.end_time_unix_nano <= root.end_time_unix_nano);
    }
    assert!(came[..2].iter().all(|attempt| attempt.parent_span_id == root.span_id));
    assert_ne!(came[0].span_id, came[1].span_id);
    // Two to the question, one for the new owner of the data directory, three to the end.
    assert_eq!(root.events.len(), 6, "{root:?}");
    let told = format!("{came:?}");
    for said in ["staging", "Where should it go", "Deploy it"] {
        assert!(!told.contains(said), "{said} is in {told}");
    }
    assert!(server.end());
    assert!(spans.try_recv().is_err(), "a run has one trace");
}

#[test]
fn a_roundtable_has_a_trace_with_its_rounds_and_agents_in_them() {
    let world = roundtable::world();
    let (url, spans) = collector();
    let server = serve(&world, &url);
    let said = world.says(&roundtable::START);
    assert_eq!(said.code, Some(3), "{said:?}");
    let id = world.items(&["roundtable", "list"])[0]["roundtable_id"].as_str().unwrap().to_owned();
    assert_eq!(world.says(&["roundtable", "close", &id]).code, Some(0));
    let mut came = Vec::new();
    let root = loop {
        let span = spans.recv_timeout(PATIENCE).unwrap();
        let is_root = span.name == "roundtable shop";
        came.push(span);
        if is_root {
            break came[came.len() - 1].clone();
        }
    };
    // Those of the same batch are there already, or follow at once.
    while let Ok(span) = spans.recv_timeout(Duration::from_millis(500)) {
        came.push(span);
    }
    let of_roundtable: Vec<_> = came.iter().filter(|span| span.trace_id == root.trace_id).collect();
    let round = of_roundtable.iter().find(|span| span.name == "round 1").unwrap();
    assert_eq!(round.parent_span_id, root.span_id);
    let mut roles: Vec<_> = of_roundtable
        .iter()
        .filter(|span| span.parent_span_id == round.span_id)
        .map(|span| &*span.name)
        .collect();
    roles.sort_unstable();
    assert_eq!(roles, ["facilitator", "facilitator", "product", "qa"]);
    for span in &of_roundtable {
        assert!(root.start_time_unix_nano <= span.start_time_unix_nano);
        assert!(span.end_time_unix_nano <= root.end_time_unix_nano);
    }
    let told = format!("{of_roundtable:?}");
    for said in ["Cash or card", "bicycles", "Card only"] {
        assert!(!told.contains(said), "{said} is in {told}");
    }
    assert!(server.end());
}

#[test]
fn a_collector_that_is_not_there_stops_nothing() {
    let world = World::new();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let run = world.waiting_run();
    let server = serve(&world, &format!("http://{gone}"));
    assert!(post(&world, &format!("/v1/runs/{run}/cancel"), "").starts_with("HTTP/1.1 202"));
    assert!(server.end());
    assert_eq!(world.json(&["show", &run])["status"], "canceled");
}
