//! What a script makes go wrong.

use std::time::Duration;

use adjourn_testkit::model::{Fault, ModelServer, Outcome, Reply, Script};
use serde_json::{Value, json};

use crate::http::{Answer, post, request};

const PATH: &str = "/v1/messages";

fn body() -> Value {
    json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "Hi"}]})
}

fn serve(reply: Reply) -> ModelServer {
    ModelServer::start(Script::new([reply])).expect("there is a free port")
}

fn ask(server: &ModelServer) -> Answer {
    post(server, PATH, &body())
}

fn is_whole(answer: &Answer) -> bool {
    answer.status == 200 && answer.end.is_ok() && answer.body.contains("message_stop")
}

#[test]
fn a_status_comes_with_an_error_in_the_words_of_the_format() {
    let server = serve(Reply::fault(Fault::Status(529)));
    let answer = ask(&server);
    assert_eq!(answer.status, 529);
    let error = json!({"type": "overloaded_error", "message": "the script answers with status 529 here"});
    assert_eq!(answer.json(), json!({"type": "error", "error": error}));
}

#[test]
fn a_status_may_say_when_to_come_back() {
    let server = serve(Reply::text("Late.").after(Fault::Status(429), 1).retry_after("7"));
    assert_eq!(ask(&server).header("retry-after"), Some("7"));
    let whole = ask(&server);
    assert!(is_whole(&whole) && whole.header("retry-after").is_none());
}

#[test]
fn a_server_without_capacity_says_so_in_the_middle() {
    let server = serve(Reply::chunks(["a", "b", "c"]).after(Fault::Overloaded, 1));
    let overloaded = ask(&server).events().pop().unwrap();
    assert_eq!(overloaded["error"]["type"], "overloaded_error");
    assert!(is_whole(&ask(&server)));
}

#[test]
fn a_conversation_that_is_too_long_is_refused_in_the_words_of_the_format() {
    let server = serve(Reply::fault(Fault::TooLong));
    let answer = ask(&server);
    assert_eq!((answer.status, &answer.json()["error"]["type"]), (400, &json!("invalid_request_error")));
    let chat = post(&server, "/v1/chat/completions", &body()).json();
    assert_eq!(chat["error"]["code"], "context_length_exceeded");
}

#[test]
fn a_fault_goes_away_after_so_many_times() {
    let server = serve(Reply::text("At last.").after(Fault::Status(500), 2));
    let statuses: Vec<_> = (0..3).map(|_| ask(&server).status).collect();
    assert_eq!(statuses, [500, 500, 200]);
    assert_eq!(server.outcomes(), [Outcome::Reply(0), Outcome::Reply(0), Outcome::Reply(0)]);
}

#[test]
fn a_cut_connection_ends_in_the_middle() {
    let server = serve(Reply::chunks(["a", "b", "c"]).after(Fault::Cut, 1));
    let cut = ask(&server);
    assert!(cut.body.contains("message_start") && !is_whole(&cut), "{}", cut.body);
    assert!(is_whole(&ask(&server)));
}

#[test]
fn garbage_is_no_json() {
    let server = serve(Reply::chunks(["a", "b", "c"]).after(Fault::Garbage, 1));
    let garbage = ask(&server);
    assert!(garbage.body.ends_with("data: {this is no JSON\n\n"), "{}", garbage.body);
}

#[test]
fn a_stall_sends_half_of_it_and_does_not_keep_the_server_from_ending() {
    let server = serve(Reply::chunks(["a", "b", "c"]).after(Fault::Stall, 1));
    let stalled = request(&server, "POST", PATH, &body().to_string(), Duration::from_millis(200));
    assert!(stalled.body.contains("message_start") && stalled.end.is_err(), "{}", stalled.body);
    // What was not said to the end may be asked for in other words: that is no lost history.
    let again = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "Go on"}]});
    assert!(is_whole(&post(&server, PATH, &again)));
}

#[test]
fn a_test_can_wait_for_a_request() {
    let server = serve(Reply::text("Hello."));
    let wanted = || server.wait_for(|request| request.path == PATH, Duration::from_secs(20));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(wanted);
        ask(&server);
        assert!(waiting.join().unwrap().is_some());
    });
    assert!(server.wait_for(|request| request.path == "/other", Duration::ZERO).is_none());
}
