//! The client for models, against a scripted model over real loopback HTTP, in both wire formats.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use adjourn_core::{ErrorCode, Usage};
use adjourn_engine::model::{
    Api, Conversation, Delta, HttpModel, Message, Model, ModelError, ModelOptions, Patience, Prices,
    REPLY_BYTES_MAX, Reply, Stop, ToolOffer, ToolResult, ToolUse, Went,
};
use adjourn_engine::secrets::Secret;
use adjourn_testkit::model::{self as scripted, Fault, ModelServer, Outcome, Script};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::agent::PATIENCE;

pub(crate) const APIS: [Api; 2] = [Api::Openai, Api::Anthropic];

/// Asks again at once, and is silent for no longer than a test may take.
const EAGER: Patience = Patience {
    attempts_max: 3,
    first_delay: Duration::ZERO,
    delay_max: Duration::ZERO,
    retry_after_max: Duration::from_secs(60),
    connect_max: PATIENCE,
    silence_max: PATIENCE,
};

pub(crate) fn serve(replies: impl IntoIterator<Item = scripted::Reply>) -> ModelServer {
    ModelServer::start(Script::new(replies)).unwrap()
}

pub(crate) fn options(api: Api, server: &ModelServer) -> ModelOptions {
    options_at(api, &server.url())
}

pub(crate) fn options_at(api: Api, url: &str) -> ModelOptions {
    let path = match api {
        Api::Openai => "/v1",
        Api::Anthropic => "",
    };
    ModelOptions { patience: EAGER, ..ModelOptions::new(api, format!("{url}{path}"), "scripted") }
}

fn conversation(messages: impl IntoIterator<Item = Message>) -> Conversation {
    let tool = |name: &str| ToolOffer {
        name: name.to_owned(),
        description: "Says it again.".to_owned(),
        input_schema: json!({"type": "object"}),
    };
    Conversation {
        system: "Be brief.".to_owned(),
        messages: messages.into_iter().collect(),
        tools: vec![tool("echo"), tool("count")],
    }
}

fn user(text: &str) -> Message {
    Message::User(text.to_owned())
}

async fn ask(options: ModelOptions, conversation: &Conversation) -> (Vec<Delta>, Result<Reply, ModelError>) {
    let model = HttpModel::new(options).unwrap();
    let (shown, mut deltas) = mpsc::channel(64);
    let reply = model.ask(conversation, shown, CancellationToken::new()).await;
    let mut all = Vec::new();
    while let Some(delta) = deltas.recv().await {
        all.push(delta);
    }
    (all, reply)
}

/// Asks a server that says this once, and expects no reply.
async fn refused(api: Api, reply: scripted::Reply) -> ModelError {
    let server = serve([reply]);
    ask(options(api, &server), &conversation([user("Hi")])).await.1.unwrap_err()
}

/// The address of a server that answers one request with this, whatever it is.
pub(crate) fn answering(status: &str, kind: &str, body: &str) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let length = body.len();
    let answer =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}");
    std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        // A client that got what it wanted may be gone before all of it is written.
        let _ = connection.read(&mut [0; 1 << 16]);
        let _ = connection.write_all(answer.as_bytes());
    });
    url
}

fn texts(deltas: &[Delta]) -> Vec<&str> {
    let text = deltas.iter().map(|delta| match delta {
        Delta::Text(text) | Delta::Reasoning(text) => text.as_str(),
    });
    text.collect()
}

#[tokio::test]
async fn text_is_shown_as_it_comes_and_calls_are_put_together() {
    for api in APIS {
        let call = |name: &str, arguments| scripted::Call { name: name.to_owned(), arguments };
        let (echo, count) = (json!({"message": "Grüezi, \"world\""}), json!({"to": 3}));
        let server = serve([scripted::Reply {
            reasoning: Some("Two calls.".to_owned()),
            calls: vec![call("echo", echo.clone()), call("count", count.clone())],
            ..scripted::Reply::chunks(["Let me ", "see."])
        }]);
        let mut options = options(api, &server);
        options.prices = Some(Prices { input_usd_per_million: 1e6, output_usd_per_million: 2e6 });
        let (deltas, reply) = ask(options, &conversation([user("Hi")])).await;
        assert_eq!(texts(&deltas), ["Two calls.", "Let me ", "see."], "{api}");
        let reply = reply.unwrap();
        let used = |name: &str, index, arguments| ToolUse {
            id: format!("call_0_{index}"),
            name: name.to_owned(),
            arguments,
        };
        assert_eq!(reply.calls, [used("echo", 0, echo), used("count", 1, count)]);
        assert_eq!((reply.text.as_str(), reply.stop), ("Let me see.", Stop::Calls));
        let usage = Usage { input_tokens: 70, output_tokens: 7, cost_usd: Some(84.0) };
        assert_eq!(reply.usage, Some(usage));
        assert!(reply.raw.to_string().contains("Two calls."), "{}", reply.raw);
    }
}

#[tokio::test]
async fn results_of_parallel_calls_go_back_and_the_conversation_goes_on() {
    for api in APIS {
        let calls =
            ["echo", "count"].map(|name| scripted::Call { name: name.to_owned(), arguments: json!({}) });
        let calls = scripted::Reply { calls: calls.to_vec(), ..scripted::Reply::text("Calling both.") };
        let server = serve([calls, scripted::Reply::text("Both are done.")]);
        let first = ask(options(api, &server), &conversation([user("Hi")])).await.1.unwrap();
        let result = |call: &ToolUse, went| ToolResult {
            call_id: call.id.clone(),
            consequence: json!({"status": "COMPLETED", "result": {"n": 1}}),
            went,
        };
        let results = vec![result(&first.calls[0], Went::Well), result(&first.calls[1], Went::Wrong)];
        let messages = [user("Hi"), Message::Assistant(first.said()), Message::Results(results)];
        let second = ask(options(api, &server), &conversation(messages)).await.1.unwrap();
        assert_eq!(second.text, "Both are done.", "{api}");
        assert_eq!(server.outcomes(), [Outcome::Reply(0), Outcome::Reply(1)], "nothing was lost on the way");
        let body = server.requests().pop().unwrap().body.to_string();
        assert!(body.contains(r#"\"result\":{\"n\":1}"#), "{body}");
    }
}

#[tokio::test]
async fn the_key_is_sent_where_it_belongs_and_told_to_nobody() {
    const KEY: &str = "sk-very-secret-key";
    for (api, header, value) in
        [(Api::Openai, "authorization", "Bearer sk-very-secret-key"), (Api::Anthropic, "x-api-key", KEY)]
    {
        let server = serve([scripted::Reply::text("Hello.")]);
        let with_key = |options| ModelOptions { api_key: Some(Secret::new(KEY)), ..options };
        let asked = with_key(options(api, &server));
        assert!(!format!("{asked:?}").contains(KEY));
        assert!(ask(asked, &conversation([user("Hi")])).await.1.is_ok());
        let headers = server.requests().pop().unwrap().headers;
        assert!(headers.contains(&(header.to_owned(), value.to_owned())), "{headers:?}");
        // Some servers repeat a key that they do not know.
        let url = answering(
            "401 Unauthorized",
            "application/json",
            r#"{"error": "wrong key: sk-very-secret-key"}"#,
        );
        let error = ask(with_key(options_at(api, &url)), &conversation([user("Hi")])).await.1.unwrap_err();
        assert_eq!(error.to_string(), "the model refuses the key: status 401, wrong key: ⟦masked⟧");
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood_and_a_web_page_is_not() {
    let whole = json!({"choices": [{"message": {"content": "In one piece."}, "finish_reason": "stop"}]});
    let url = answering("200 OK", "application/json; charset=utf-8", &whole.to_string());
    let reply = ask(options_at(Api::Openai, &url), &conversation([user("Hi")])).await.1.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage, reply.raw), ("In one piece.", None, whole));
    let url = answering("200 OK", "text/html", "<html>Log in first</html>");
    let error = ask(options_at(Api::Openai, &url), &conversation([user("Hi")])).await.1.unwrap_err();
    assert_eq!(error.to_string(), "the model answers nonsense: it sends `text/html`, not events");
}

#[tokio::test]
async fn a_reply_without_end_is_not_read_without_end() {
    let event = format!("data: {}\n\n", json!({"choices": [{"delta": {"unknown": "x".repeat(1 << 20)}}]}));
    let url = answering("200 OK", "text/event-stream", &event.repeat((REPLY_BYTES_MAX >> 20) + 1));
    let error = ask(options_at(Api::Openai, &url), &conversation([user("Hi")])).await.1.unwrap_err();
    assert_eq!(error.to_string(), "the model says too much: more than 32 MiB in one reply");
    assert_eq!(error.code(), Some(ErrorCode::EngineOutputLimit));
}

#[tokio::test]
async fn what_passes_is_asked_again_and_the_conversation_is_not_harmed() {
    for api in APIS {
        for fault in [Fault::Status(429), Fault::Status(500), Fault::Status(529)] {
            let server = serve([scripted::Reply::text("At last.").after(fault, 2).retry_after("0")]);
            let reply = ask(options(api, &server), &conversation([user("Hi")])).await.1.unwrap();
            assert_eq!(reply.text, "At last.", "{api} {fault:?}");
            assert_eq!(server.requests().len(), 3);
        }
    }
}

#[tokio::test]
async fn what_does_not_pass_is_given_up_with_the_reason() {
    for api in APIS {
        let server = serve([scripted::Reply::fault(Fault::Status(503))]);
        let error = ask(options(api, &server), &conversation([user("Hi")])).await.1.unwrap_err();
        let expected =
            "the model does not answer, asked 3 times: status 503, the script answers with status 503 here";
        assert_eq!((error.to_string().as_str(), error.code()), (expected, Some(ErrorCode::ModelUnavailable)));
        assert_eq!(server.requests().len(), 3);
    }
}

#[tokio::test]
async fn a_server_that_wants_to_be_left_alone_for_long_is() {
    for when in ["3600", "Fri, 31 Dec 2399 23:59:59 GMT"] {
        let reply = scripted::Reply::fault(Fault::Status(429)).retry_after(when);
        let error = refused(Api::Anthropic, reply).await;
        assert!(matches!(error, ModelError::Unavailable { attempts: 1, .. }), "{error}");
        assert!(error.to_string().contains("it asks to come back in "), "{error}");
    }
}

#[tokio::test]
async fn a_model_that_is_not_there_is_unavailable() {
    let nobody = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    for api in APIS {
        let error = ask(options_at(api, &url), &conversation([user("Hi")])).await.1.unwrap_err();
        assert!(
            matches!(&error, ModelError::Unavailable { attempts: 3, problem } if problem.contains(&url)),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_asked_for_again_only_if_nothing_of_it_was_shown() {
    for api in APIS {
        for fault in [Fault::Cut, Fault::Overloaded] {
            let error = refused(api, scripted::Reply::chunks(["a", "b", "c"]).after(fault, 1)).await;
            assert!(matches!(error, ModelError::BrokeOff { .. }), "{api} {fault:?}: {error}");
            assert_eq!(error.code(), Some(ErrorCode::ModelUnavailable));
            // Half of a call is nothing that anybody has seen.
            let server = serve([scripted::Reply::call("echo", json!({"message": "x"})).after(fault, 1)]);
            let reply = ask(options(api, &server), &conversation([user("Hi")])).await.1.unwrap();
            assert_eq!(reply.calls[0].arguments, json!({"message": "x"}), "{api} {fault:?}");
        }
    }
}

#[tokio::test]
async fn a_model_that_falls_silent_or_talks_nonsense_is_no_success() {
    for api in APIS {
        let chunks = || scripted::Reply::chunks(["a", "b", "c"]);
        let error = refused(api, chunks().after(Fault::Garbage, 1)).await;
        assert!(matches!(error, ModelError::Nonsense { .. }), "{error}");
        let server = serve([chunks().after(Fault::Stall, 1)]);
        let mut options = options(api, &server);
        options.patience.silence_max = Duration::from_millis(200);
        let (deltas, silent) = ask(options, &conversation([user("Hi")])).await;
        assert_eq!(silent.unwrap_err(), ModelError::Silent { after: Duration::from_millis(200) });
        assert!(!deltas.is_empty(), "what came before was shown");
    }
}

#[tokio::test]
async fn a_refusal_says_what_to_do_about_it() {
    for api in APIS {
        let long = refused(api, scripted::Reply::fault(Fault::TooLong)).await;
        assert!(matches!(long, ModelError::ConversationTooLong { .. }), "{api}: {long}");
        assert_eq!(long.code(), Some(ErrorCode::EngineProtocolError));
        for status in [401, 403] {
            let error = refused(api, scripted::Reply::fault(Fault::Status(status))).await;
            assert!(matches!(error, ModelError::Unauthorized { .. }), "{api}: {error}");
            assert_eq!(error.code(), Some(ErrorCode::EngineAuthRequired));
        }
        let error = refused(api, scripted::Reply::fault(Fault::Status(400))).await;
        assert!(matches!(error, ModelError::Refused { .. }), "{api}: {error}");
    }
}

#[tokio::test]
async fn whoever_stops_it_does_not_wait_for_it() {
    let server = serve([scripted::Reply::chunks(["a", "b"]).after(Fault::Stall, 1)]);
    let model = HttpModel::new(options(Api::Anthropic, &server)).unwrap();
    let (shown, mut deltas) = mpsc::channel(64);
    let (stop, conversation) = (CancellationToken::new(), conversation([user("Hi")]));
    let asked = model.ask(&conversation, shown, stop.clone());
    let stopped = async {
        deltas.recv().await.unwrap();
        stop.cancel();
    };
    assert_eq!(tokio::join!(asked, stopped).0, Err(ModelError::Stopped));
}
