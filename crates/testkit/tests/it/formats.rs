//! One script, told in four formats, streamed and not.

use adjourn_testkit::model::{Call, ModelServer, Reply, Script, Usage};
use serde_json::{Value, json};

use crate::http::post;

/// A reply with something of everything.
fn rich() -> ModelServer {
    let reply = Reply {
        text: vec!["Grüezi, ".into(), "world".into()],
        reasoning: Some("A greeting.".into()),
        calls: vec![Call { name: "echo".into(), arguments: json!({"n": 1}) }],
        usage: Usage { input_tokens: 3, output_tokens: 2 },
        ..Reply::default()
    };
    ModelServer::start(Script::new([reply])).expect("there is a free port")
}

/// All strings at `pointer` in the events, joined.
fn joined(events: &[Value], pointer: &str) -> String {
    events.iter().filter_map(|event| event.pointer(pointer)?.as_str()).collect()
}

#[test]
fn anthropic_streams_blocks_and_says_why_it_stopped() {
    let server = rich();
    let ask = |stream| {
        let tools = json!([{"name": "mcp__gw__echo"}]);
        let messages = json!([{"role": "user", "content": "Hi"}]);
        post(
            &server,
            "/v1/messages",
            &json!({"model": "m", "stream": stream, "tools": tools, "messages": messages}),
        )
    };
    let whole = ask(false).json();
    assert_eq!(
        whole["content"],
        json!([
            {"type": "thinking", "thinking": "A greeting.", "signature": "scripted"},
            {"type": "text", "text": "Grüezi, world"},
            {"type": "tool_use", "id": "call_0_0", "name": "mcp__gw__echo", "input": {"n": 1}},
        ])
    );
    assert_eq!(whole["stop_reason"], "tool_use");

    let events = ask(true).events();
    assert_eq!(joined(&events, "/delta/thinking"), "A greeting.");
    assert_eq!(joined(&events, "/delta/text"), "Grüezi, world");
    assert_eq!(joined(&events, "/delta/partial_json"), r#"{"n":1}"#);
    assert_eq!(joined(&events, "/delta/stop_reason"), "tool_use");
    let kinds: Vec<_> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    let (block, delta, stop) = ("content_block_start", "content_block_delta", "content_block_stop");
    assert_eq!(
        kinds,
        [
            &["message_start"][..],
            &[block, delta, delta, stop],
            &[block, delta, delta, stop],
            &[block, delta, delta, stop],
            &["message_delta", "message_stop"],
        ]
        .concat()
    );
}

#[test]
fn responses_streams_items_and_calls_into_a_namespace() {
    let server = rich();
    let ask = |stream| {
        let tools = json!([{"type": "namespace", "name": "mcp__gw", "tools": [{"type": "function", "name": "echo"}]}]);
        post(
            &server,
            "/v1/responses",
            &json!({"model": "m", "stream": stream, "tools": tools, "input": "Hi"}),
        )
    };
    let whole = ask(false).json();
    assert_eq!(whole["output"][1]["content"][0]["text"], "Grüezi, world");
    assert_eq!(whole["output"][2]["namespace"], "mcp__gw");
    assert_eq!(whole["usage"]["total_tokens"], 5);

    let events = ask(true).events();
    assert_eq!(joined(&events, "/delta"), "A greeting.Grüezi, world{\"n\":1}");
    let done: Vec<_> =
        events.iter().filter(|event| event["type"] == "response.output_item.done").cloned().collect();
    assert_eq!(joined(&done, "/item/type"), "reasoningmessagefunction_call");
    let last = events.last().unwrap();
    assert_eq!(
        (&last["type"], &last["response"]["usage"]["output_tokens"]),
        (&json!("response.completed"), &json!(2))
    );
}

#[test]
fn gemini_streams_parts_and_takes_the_model_from_the_path() {
    let server = rich();
    let ask = |method: &str| {
        let tools = json!([{"functionDeclarations": [{"name": "mcp_gw_echo"}]}]);
        let contents = json!([{"role": "user", "parts": [{"text": "Hi"}]}]);
        post(&server, &format!("/v1beta/models/m:{method}"), &json!({"tools": tools, "contents": contents}))
    };
    let whole = ask("generateContent").json();
    assert_eq!(
        whole["candidates"][0]["content"]["parts"],
        json!([
            {"text": "A greeting.", "thought": true},
            {"text": "Grüezi, world"},
            {"functionCall": {"id": "call_0_0", "name": "mcp_gw_echo", "args": {"n": 1}}},
        ])
    );
    assert_eq!(whole["modelVersion"], "m");

    let events = ask("streamGenerateContent?alt=sse").events();
    assert_eq!(joined(&events, "/candidates/0/content/parts/0/text"), "A greeting.Grüezi, world");
    assert_eq!(joined(&events, "/candidates/0/finishReason"), "STOP");
    assert_eq!(events.last().unwrap()["usageMetadata"]["totalTokenCount"], 5);
}

#[test]
fn chat_streams_deltas_and_ends_with_done() {
    let server = rich();
    let ask = |stream| {
        let tools = json!([{"type": "function", "function": {"name": "gw_echo"}}]);
        let messages = json!([{"role": "system", "content": "Be nice."}, {"role": "user", "content": "Hi"}]);
        let body = json!({"model": "m", "stream": stream, "tools": tools, "messages": messages});
        post(&server, "/v1/chat/completions", &body)
    };
    let whole = ask(false).json();
    assert_eq!(
        whole["choices"][0]["message"],
        json!({
            "role": "assistant",
            "content": "Grüezi, world",
            "reasoning_content": "A greeting.",
            "tool_calls": [
                {"id": "call_0_0", "type": "function", "function": {"name": "gw_echo", "arguments": "{\"n\":1}"}},
            ],
        })
    );

    let events = ask(true).events();
    assert_eq!(joined(&events, "/choices/0/delta/content"), "Grüezi, world");
    assert_eq!(joined(&events, "/choices/0/delta/reasoning_content"), "A greeting.");
    assert_eq!(joined(&events, "/choices/0/finish_reason"), "tool_calls");
    assert_eq!(events[events.len() - 2]["usage"]["completion_tokens"], 2);
    assert_eq!(events.last().unwrap(), "[DONE]");
}
