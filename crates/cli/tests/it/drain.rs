//! What a signal does to `adjourn serve`.

use std::fs;

use serde_json::Value;

use crate::serving::Serving;
use crate::world::{World, until};

/// Leaves a run of the agent `works` to a server.
fn leave(world: &World, server: &Serving) -> Value {
    let run = ["run", "deploy", "--engine", "works", "--mode", "auto", "--detach", "--json"];
    let said = world.says(&[&["--server", &server.url()], &run[..]].concat());
    assert_eq!(said.code, Some(3), "{said:?}");
    serde_json::from_str(&said.stdout).unwrap()
}

fn id(run: &Value) -> &str {
    run["run_id"].as_str().unwrap()
}

fn until_drains(server: &Serving) {
    until("it drains", || server.get("/readyz").contains("DRAINING").then_some(()));
}

fn until_succeeded(world: &World, run: &str) -> Value {
    until("the run succeeded", || Some(world.json(&["show", run])).filter(|run| run["status"] == "succeeded"))
}

#[test]
fn a_turn_that_finishes_within_the_grace_is_recorded_and_no_other_begins() {
    let (world, any) = (World::new(), "127.0.0.1:0");
    let started = world.started();
    let mut server = Serving::start(&world, any, &[]);
    let first = leave(&world, &server);
    fs::read_to_string(&started).unwrap();
    server.tell_to_end();
    until_drains(&server);

    let second = leave(&world, &server);
    assert_eq!(second["status"], "queued", "accepted, and not begun");
    world.let_go(id(&first));
    assert_eq!(server.ended().code(), Some(0));
    let ended = world.json(&["show", id(&first)]);
    assert_eq!(
        (&ended["status"], &ended["result"]["told"]),
        (&"succeeded".into(), &"finish".into()),
        "{ended}"
    );
    assert_eq!(world.json(&["show", id(&second)])["status"], "queued");
    assert_eq!((world.starts(id(&first)), world.starts(id(&second))), (1, 0));

    let _next = Serving::start(&world, any, &[]);
    fs::read_to_string(&started).unwrap();
    world.let_go(id(&second));
    until_succeeded(&world, id(&second));
    assert_eq!((world.starts(id(&first)), world.starts(id(&second))), (1, 1));
}

#[test]
fn a_turn_that_takes_longer_than_the_grace_is_taken_up_by_the_next_server_once() {
    let (world, any) = (World::new(), "127.0.0.1:0");
    let started = world.started();
    let mut server = Serving::start(&world, any, &["--grace", "1"]);
    let run = leave(&world, &server);
    fs::read_to_string(&started).unwrap();
    server.tell_to_end();
    assert_eq!(server.ended().code(), Some(0));
    assert_eq!(world.json(&["show", id(&run)])["status"], "running", "it was cut off");

    let _next = Serving::start(&world, any, &[]);
    fs::read_to_string(&started).unwrap();
    world.let_go(id(&run));
    assert_eq!(until_succeeded(&world, id(&run))["restarts"], 1);
    assert_eq!(world.starts(id(&run)), 2);
    let events = world.says(&["events", id(&run)]).stdout;
    assert_eq!(events.matches("(restart.requeued)").count(), 1, "{events}");
    assert_eq!(events.matches("(turn.succeeded)").count(), 1, "{events}");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let world = World::new();
    let started = world.started();
    let mut server = Serving::start(&world, "127.0.0.1:0", &["--grace", "1000000"]);
    leave(&world, &server);
    fs::read_to_string(&started).unwrap();
    server.tell_to_end();
    until_drains(&server);
    server.tell_to_end();
    assert_eq!(server.ended().code(), Some(0));
}
