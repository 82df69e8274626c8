//! Webhooks: what happened arrives, whoever was killed meanwhile.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::roundtable;
use crate::world::World;

/// How long a test waits for what has to happen. Much longer than it takes: it is only reached by a failure.
const PATIENCE: Duration = Duration::from_secs(60);

/// `0123456789abcdef` twice.
const SECRET: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

/// A request that a receiver got.
#[derive(Debug, Clone)]
struct Delivery {
    headers: BTreeMap<String, String>,
    body: String,
}

impl Delivery {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    fn id(&self) -> &str {
        &self.headers["webhook-id"]
    }
}

/// What a receiver does with a request.
#[derive(Clone, Copy)]
enum Manner {
    Answers(u16),
    /// It takes the request, and is silent.
    Hangs,
}

/// A receiver at work, with a thread of its own.
struct Receiver {
    address: SocketAddr,
    got: mpsc::Receiver<Delivery>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    fn start(address: &str, manner: Manner) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let (tell, got) = mpsc::channel();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let mut kept = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                // Whoever ends it connects and says nothing.
                let Some(delivery) = read(&stream) else { return };
                match manner {
                    Manner::Answers(status) => {
                        let answer = format!(
                            "HTTP/1.1 {status} x\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                        );
                        stream.write_all(answer.as_bytes()).unwrap();
                    }
                    Manner::Hangs => kept.push(stream),
                }
                let _ = tell.send(delivery);
            }
        });
        Self { address, got, thread: Some(thread) }
    }

    fn next(&self) -> Delivery {
        self.got.recv_timeout(PATIENCE).expect("something arrives")
    }

    /// Everything up to the first that is as wanted.
    fn until(&self, mut wanted: impl FnMut(&Value) -> bool) -> Vec<Delivery> {
        let mut got = Vec::new();
        loop {
            got.push(self.next());
            if wanted(&got[got.len() - 1].json()) {
                return got;
            }
        }
    }

    /// Ends it; nobody listens at its address any more.
    fn end(mut self) -> SocketAddr {
        drop(TcpStream::connect(self.address).unwrap());
        self.thread.take().unwrap().join().unwrap();
        self.address
    }
}

/// The request on a connection; none where nothing is said.
fn read(stream: &TcpStream) -> Option<Delivery> {
    let mut reader = BufReader::new(stream);
    let mut headers = BTreeMap::new();
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
    assert!(line.starts_with("POST /hook HTTP/1.1"), "{line}");
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers["content-length"].parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    Some(Delivery { headers, body: String::from_utf8(body).unwrap() })
}

/// `adjourn serve` as a process.
struct Server {
    child: Child,
    address: String,
    _stderr: BufReader<ChildStderr>,
}

impl Server {
    fn start(world: &World) -> Self {
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("adjourn"))
            .env("ADJOURN_TRUST_CONFIG", "1")
            .args(["serve", "--listen", "127.0.0.1:0"])
            .current_dir(world.path())
            .env_remove("ADJOURN_DATA")
            .env_remove("ADJOURN_TOKENS")
            .env("NO_PROXY", "127.0.0.1")
            .env("HOOK_SECRET", SECRET)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "it did not start");
        }
        let address = line.trim().rsplit("http://").next().unwrap().to_owned();
        Self { child, address, _stderr: stderr }
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.send("POST", path, &body.to_string())
    }

    fn send(&self, method: &str, path: &str, body: &str) -> Value {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (host, bytes) = (&self.address, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {bytes}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 2"), "{answer}");
        // Short answers come in one piece; those in chunks have their size in front.
        serde_json::from_str(&body[body.find('{').unwrap()..=body.rfind('}').unwrap()]).unwrap()
    }

    /// A new run, and its id.
    fn run(&self) -> String {
        let run = self.post(
            "/v1/runs",
            &json!({ "skill": "deploy", "engine": "asks", "execution_mode": "interactive" }),
        );
        run["run_id"].as_str().unwrap().to_owned()
    }

    fn reply(&self, run: &str) {
        self.post(&format!("/v1/runs/{run}/reply"), &json!({ "interaction_id": 1, "response": "prod" }));
    }

    /// Waits until the run is as wanted, by its own stream.
    fn becomes(&self, run: &str, status: &str) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "GET /v1/runs/{run}/events HTTP/1.1\r\nhost: {}\r\naccept: text/event-stream\r\n\r\n",
            self.address
        );
        stream.write_all(head.as_bytes()).unwrap();
        let wanted = format!("\"to\":\"{status}\"");
        assert!(BufReader::new(stream).lines().any(|line| line.unwrap().contains(&wanted)), "{run}");
    }

    /// As if the power was cut.
    fn kill(mut self) {
        kill_process(Pid::from_raw(self.child.id().cast_signed()).unwrap(), Signal::KILL).unwrap();
        self.child.wait().unwrap();
    }

    fn end(mut self) {
        kill_process(Pid::from_raw(self.child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

/// A world whose server tells this address.
fn world(address: SocketAddr) -> World {
    with_webhooks(World::new(), address)
}

fn with_webhooks(world: World, address: SocketAddr) -> World {
    let config = std::fs::read_to_string(world.path().join("adjourn.toml")).unwrap();
    let hook = format!("\n[webhooks]\nurl = \"http://{address}/hook\"\nsecret_env = \"HOOK_SECRET\"\n");
    world.write("adjourn.toml", &format!("{config}{hook}"));
    world
}

/// Whether the receiver comes to the same signature.
fn is_signed(delivery: &Delivery) -> bool {
    let mut mac = Hmac::<Sha256>::new_from_slice(b"0123456789abcdef0123456789abcdef").unwrap();
    let signed = format!("{}.{}.{}", delivery.id(), delivery.headers["webhook-timestamp"], delivery.body);
    mac.update(signed.as_bytes());
    delivery.headers["webhook-signature"] == format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[test]
fn a_run_tells_that_it_waits_and_that_it_ended_and_signs_it() {
    let receiver = Receiver::start("127.0.0.1:0", Manner::Answers(204));
    let world = world(receiver.address);
    let server = Server::start(&world);
    let run = server.run();
    let waits = receiver.next();
    assert_eq!(
        (&waits.json()["type"], &waits.json()["run"]["run_id"]),
        (&json!("waiting_user"), &json!(run))
    );
    assert_eq!(waits.json()["run"]["pending"]["prompt"], "Where should it go?");
    server.reply(&run);
    let ends = receiver.next();
    assert_eq!(
        (&ends.json()["type"], &ends.json()["run"]["status"]),
        (&json!("terminal"), &json!("succeeded"))
    );
    for delivery in [&waits, &ends] {
        assert_eq!(
            (delivery.json()["id"].as_str().unwrap(), &delivery.headers["content-type"][..]),
            (delivery.id(), "application/json")
        );
        assert!(is_signed(delivery), "{delivery:?}");
    }
    assert_ne!(waits.id(), ends.id());
    server.end();
    receiver.end();
}

#[test]
fn a_roundtable_tells_that_it_needs_a_person_and_that_it_was_closed() {
    let receiver = Receiver::start("127.0.0.1:0", Manner::Answers(204));
    let world = with_webhooks(roundtable::world(), receiver.address);
    let server = Server::start(&world);
    let said = world.says(&[&roundtable::START[..], &["--detach"]].concat());
    let id = said.stdout.trim().to_owned();
    let is_of_roundtable = |body: &Value| body["roundtable"].is_object();
    let waits = receiver.until(is_of_roundtable).pop().unwrap();
    let told = waits.json();
    assert_eq!((&told["type"], &told["roundtable"]["roundtable_id"]), (&json!("waiting_user"), &json!(id)));
    assert_eq!((&told["roundtable"]["status"], &told["roundtable"]["rounds"]), (&json!("active"), &json!(2)));
    assert_eq!(told["roundtable"]["pending"]["source"], "escalation");
    assert_eq!(world.says(&["roundtable", "reply", &id, "accept"]).code, Some(0));
    let closed = receiver.until(is_of_roundtable).pop().unwrap();
    let told = closed.json();
    assert_eq!(
        (&told["type"], &told["roundtable"]["close_reason"]),
        (&json!("terminal"), &json!("concluded"))
    );
    assert_eq!(told["roundtable"]["pending"], Value::Null);
    for delivery in [&waits, &closed] {
        assert!(delivery.id().starts_with(&format!("{id}-")) && is_signed(delivery), "{delivery:?}");
    }
    server.end();
    receiver.end();
}

#[test]
fn nothing_is_lost_while_the_receiver_is_away_or_ill_and_the_server_is_killed() {
    let receiver = Receiver::start("127.0.0.1:0", Manner::Answers(204));
    let world = world(receiver.address);
    let server = Server::start(&world);
    let first = server.run();
    receiver.next();
    let address = receiver.end().to_string();

    // Nobody listens: what happens now is in the journal alone, and the server is killed with it.
    server.reply(&first);
    server.becomes(&first, "succeeded");
    let runs: Vec<_> = (0..3).map(|_| server.run()).collect();
    runs.iter().for_each(|run| server.becomes(run, "waiting_user"));
    server.kill();

    // Then there is one that is ill, one that sends elsewhere, and one that takes everything and never says so.
    let server = Server::start(&world);
    let mut seen = Vec::new();
    for manner in [Manner::Answers(500), Manner::Answers(302), Manner::Hangs] {
        let receiver = Receiver::start(&address, manner);
        seen.push(receiver.next());
        receiver.end();
    }
    server.kill();

    let server = Server::start(&world);
    let receiver = Receiver::start(&address, Manner::Answers(200));
    runs.iter().for_each(|run| server.reply(run));
    let mut ended = 0;
    let got = receiver.until(|body| {
        ended += usize::from(body["type"] == "terminal");
        ended == 4
    });
    for run in &runs {
        let of_run: Vec<_> =
            got.iter().filter(|delivery| delivery.json()["run"]["run_id"] == **run).collect();
        let kinds: Vec<_> = of_run.iter().map(|delivery| delivery.json()["type"].clone()).collect();
        assert_eq!(kinds, [json!("waiting_user"), json!("terminal")], "in order");
    }
    assert!(
        seen.iter().all(|delivery| got
            .iter()
            .any(|again| again.id() == delivery.id() && again.body == delivery.body)),
        "what was not heard comes again, the same"
    );
    assert!(seen.iter().chain(&got).all(is_signed));
    server.end();
    receiver.end();
}

#[test]
fn a_secret_that_is_missing_or_none_is_refused_at_the_start() {
    let world = world(([127, 0, 0, 1], 9).into());
    for (secret, expected) in [
        (None, "webhooks.secret_env names the variable HOOK_SECRET, which is not set"),
        (
            Some("hunter2"),
            "the variable HOOK_SECRET, which webhooks.secret_env names, holds no secret: it should be `whsec_`",
        ),
    ] {
        let mut command = world.adjourn(&["serve", "--listen", "127.0.0.1:0"]);
        command.env_remove("HOOK_SECRET");
        secret.map(|secret| command.env("HOOK_SECRET", secret));
        let said = crate::world::said(&mut command);
        assert_eq!(said.code, Some(5), "{said:?}");
        assert!(said.stderr.contains(expected) && !said.stderr.contains("hunter2"), "{}", said.stderr);
        assert!(!world.path().join(".adjourn").exists());
    }
}
