//! Which reply a request gets.

use std::time::Duration;

use adjourn_testkit::agents::SIDE_MODEL;
use adjourn_testkit::model::{Conversations, ModelServer, Outcome, Reply, Script};
use serde_json::{Value, json};

use crate::http::{Answer, post, request};

const QUESTION: &str = "Which colour do you want?";
const THANKS: &str = "Thank you, that is all.";

fn two() -> Script {
    Script::new([Reply::text(QUESTION), Reply::text(THANKS)])
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn ask(server: &ModelServer, messages: &[Value]) -> Answer {
    post(server, "/v1/chat/completions", &json!({"model": "m", "messages": messages}))
}

/// The text of an answer, or the message of an error.
fn said(answer: &Answer) -> String {
    let json = answer.json();
    let text = json.pointer("/choices/0/message/content").or(json.pointer("/error/message"));
    text.and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[test]
fn a_request_gets_the_reply_after_those_it_carries() {
    let server = ModelServer::start(two()).unwrap();
    assert_eq!(said(&ask(&server, &[user("Paint")])), QUESTION);
    assert_eq!(said(&ask(&server, &[user("Paint"), assistant(QUESTION), user("Blue")])), THANKS);
    assert_eq!(server.outcomes(), [Outcome::Reply(0), Outcome::Reply(1)]);
}

#[test]
fn of_conversations_with_one_reply_each_the_next_one_gets_the_next_reply() {
    let script = Script { conversations: Conversations::Each, ..two() };
    let server = ModelServer::start(script).unwrap();
    for (asked, expected) in [("Paint", QUESTION), ("Paint", QUESTION), ("Draw", THANKS)] {
        assert_eq!(said(&ask(&server, &[user(asked)])), expected, "{asked}");
    }
    assert_eq!(ask(&server, &[user("Sing")]).status, 400);
}

#[test]
fn a_text_is_known_again_however_an_agent_cut_and_trimmed_it() {
    let server = ModelServer::start(two()).unwrap();
    let cut = json!({"role": "assistant", "content": [{"text": " Which colour"}, {"text": "do you\nwant?"}]});
    assert_eq!(said(&ask(&server, &[user("Paint"), cut, user("Blue")])), THANKS);
}

#[test]
fn a_request_that_lost_its_history_is_refused() {
    let server = ModelServer::start(two()).unwrap();
    assert_eq!(ask(&server, &[user("Paint")]).status, 200);
    let lost = ask(&server, &[user("Blue")]);
    assert_eq!(lost.status, 400);
    assert!(said(&lost).starts_with("earlier messages are missing"), "{}", lost.body);
}

#[test]
fn a_request_that_lost_the_beginning_is_refused() {
    let server = ModelServer::start(two()).unwrap();
    let lost = ask(&server, &[user("Paint"), assistant(THANKS), user("And now?")]);
    assert!(said(&lost).starts_with("earlier messages are missing"), "{}", lost.body);
}

#[test]
fn the_same_request_again_gets_the_same_reply() {
    let server = ModelServer::start(two()).unwrap();
    for _ in 0..2 {
        assert_eq!(said(&ask(&server, &[user("Paint")])), QUESTION);
    }
}

#[test]
fn a_script_for_many_takes_a_new_conversation_for_what_it_is() {
    let server = ModelServer::start(two().for_many()).unwrap();
    assert_eq!(said(&ask(&server, &[user("Paint")])), QUESTION);
    assert_eq!(said(&ask(&server, &[user("Paint something else")])), QUESTION);
}

#[test]
fn a_reply_may_be_given_twice() {
    let server = ModelServer::start(Script::new([QUESTION, THANKS, QUESTION].map(Reply::text))).unwrap();
    let mut messages = vec![user("Paint")];
    for expected in [QUESTION, THANKS, QUESTION] {
        assert_eq!(said(&ask(&server, &messages)), expected);
        messages.extend([assistant(expected), user("Go on")]);
    }
}

#[test]
fn a_script_that_is_over_says_so() {
    let server = ModelServer::start(Script::new([Reply::text(QUESTION)])).unwrap();
    let over = ask(&server, &[user("Paint"), assistant(QUESTION), user("Blue")]);
    assert_eq!(
        (over.status, said(&over).as_str()),
        (400, "the script is over: the request carries all of its 1 replies")
    );
}

#[test]
fn a_call_is_a_reply_too_and_its_result_brings_the_next() {
    let script = Script::new([Reply::call("echo", json!({})), Reply::text(THANKS)]);
    let server = ModelServer::start(script).unwrap();
    assert_eq!(ask(&server, &[user("Paint")]).json()["choices"][0]["finish_reason"], "tool_calls");
    let call =
        json!({"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "gw_echo"}}]});
    let result = json!({"role": "tool", "content": "ok"});
    assert_eq!(said(&ask(&server, &[user("Paint"), call, result])), THANKS);
}

#[test]
fn what_an_agent_does_on_the_side_does_not_use_up_the_script() {
    let server = ModelServer::start(two()).unwrap();
    let side = json!({"model": SIDE_MODEL, "messages": [user("Name this")]});
    assert_eq!(post(&server, "/v1/chat/completions", &side).status, 200);
    let title = json!({"model": "m", "system": "You are a title generator.", "messages": [user("Paint")]});
    assert_eq!(post(&server, "/v1/messages", &title).status, 200);
    assert_eq!(said(&ask(&server, &[user("Paint")])), QUESTION);
    assert_eq!(server.outcomes(), [Outcome::Reply(0)]);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn every_request_is_recorded_and_nothing_breaks_the_server() {
    let server = ModelServer::start(two()).unwrap();
    let send = |method, path, body| request(&server, method, path, body, Duration::from_secs(20)).status;
    assert_eq!(send("GET", "/v1/models?limit=1", ""), 200);
    assert_eq!(send("POST", "/v1/messages/count_tokens", "{}"), 200);
    assert_eq!(send("POST", "/v1beta/models/m:countTokens", "{}"), 200);
    assert_eq!(send("GET", "/nothing", ""), 404);
    for body in ["", "no JSON", "[]", "7", r#"{"messages": 7, "tools": {}, "contents": [7], "input": [[]]}"#]
    {
        for path in
            ["/v1/messages", "/v1/responses", "/v1/chat/completions", "/v1beta/models/m:generateContent"]
        {
            assert_eq!(send("POST", path, body), 200, "{path} {body}");
        }
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 4 + 5 * 4);
    let first = &requests[0];
    assert_eq!(
        (first.method.as_str(), first.path.as_str(), first.format),
        ("GET", "/v1/models?limit=1", None)
    );
    assert_eq!(requests[4].format, Some("anthropic"));
}

#[test]
fn a_script_can_be_read_from_json() {
    let script = r#"{
        "conversations": "many",
        "replies": [
            {"text": "one", "usage": {"input_tokens": 1, "output_tokens": 2}},
            {"text": ["t", "wo"], "reasoning": "r", "calls": [{"name": "echo"}], "delay_ms": 5},
            {"fault": {"status": 529}, "fault_times": 2},
            {"fault": "stall"}
        ]
    }"#;
    let script: Script = serde_json::from_str(script).unwrap();
    let texts: Vec<_> = script.replies.iter().map(Reply::whole_text).collect();
    assert_eq!(texts, ["one", "two", "", ""]);
    let wrong = serde_json::from_str::<Script>(r#"{"replies": [{"texts": "one"}]}"#).unwrap_err();
    assert!(wrong.to_string().starts_with("unknown field `texts`"), "{wrong}");
}
