//! An MCP server on stdio. The official client drives it as a whole, in `cargo xtask mcp`.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout};

use serde_json::{Value, json};

use crate::world::World;

/// A client that asks one thing after the other.
struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Client {
    fn new(world: &World) -> Self {
        let mut child = world.spawn(&["mcp"]);
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, stdin, stdout: BufReader::new(stdout) }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// What a tool answers.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.say(
            &json!({ "jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": params }).to_string(),
        );
        let answer = self.hear();
        assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(tool), &json!(false)), "{answer}");
        answer["result"]["structuredContent"].clone()
    }

    /// Closes stdin, and returns what else there was on stdout.
    fn close(mut self) -> String {
        drop(self.stdin);
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success());
        rest
    }
}

#[test]
fn every_line_is_answered_by_a_line_and_there_is_nothing_else() {
    let world = World::new();
    let mut client = Client::new(&world);
    client.say("{");
    assert_eq!(client.hear()["error"]["code"], -32700);
    client.say("");
    client.say(r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#);
    client.say(r#"{"jsonrpc": "2.0", "id": 7, "method": "no/such/method"}"#);
    let unknown = client.hear();
    assert_eq!((&unknown["id"], &unknown["error"]["code"]), (&json!(7), &json!(-32601)));
    let started = client.call("start_run", json!({ "skill": "deploy", "engine": "asks" }));
    assert_eq!(client.close(), "");

    // It was the owner, and the run goes on without it.
    assert_eq!(world.until_waiting(1), [started["run_id"].as_str().unwrap()]);
}

#[test]
fn an_owner_that_is_killed_is_replaced_and_its_runs_go_on() {
    let world = World::new();
    let mut server = world.spawn(&["serve", "--listen", "127.0.0.1:0"]);
    let mut said = String::new();
    BufReader::new(server.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
    assert!(said.starts_with("listening on "), "{said}");
    let mut client = Client::new(&world);
    let mut run = client.call("start_run", json!({ "skill": "deploy", "engine": "asks" }));
    let id = run["run_id"].clone();
    while run["status"] != "waiting_user" {
        let wait = json!({ "run_id": id, "cursor": run["cursor"] });
        run = client.call("wait_for_change", wait)["run"].clone();
    }
    server.kill().unwrap();
    server.wait().unwrap();
    run = client.call("reply_to_run", json!({ "run_id": id, "response": "staging" }));
    while run["status"] != "succeeded" {
        let wait = json!({ "run_id": id, "cursor": run["cursor"] });
        run = client.call("wait_for_change", wait)["run"].clone();
    }
    assert_eq!(run["result"], json!({ "where": "staging" }));
    client.close();
}
