//! Tool servers, with a scripted one as a real process, over its stdin and over HTTP.

mod answers;
mod lifecycle;
mod real;
mod stage;

use adjourn_core::FieldError;
use adjourn_engine::tools::{Called, ServerOptions, ToolError, ToolServers};
use adjourn_testkit::mcp;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::agent::supervisor;
use stage::{Stage, WAYS, call};

#[tokio::test]
async fn tools_are_listed_from_all_pages_with_what_the_server_says_of_them() {
    for way in WAYS {
        let stage = Stage::new(way);
        let tools = stage.servers.tools("scripted", &CancellationToken::new()).await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let all = [
            "ask",
            "ask_twice",
            "count",
            "die",
            "echo",
            "environment",
            "fail",
            "grow",
            "hang",
            "large",
            "refuse",
        ];
        assert_eq!(names, all, "{way:?}");
        let policy = stage.servers.policy("scripted").unwrap();
        let irreversible = tools.iter().filter(|tool| policy.treatment(&tool.name, tool.hints).irreversible);
        assert_eq!(irreversible.count(), all.len() - 1, "only `echo` is said to be harmless");
        stage.close().await;
    }
}

#[tokio::test]
async fn a_call_is_made_once_and_what_it_came_to_is_told() {
    for way in WAYS {
        let stage = Stage::new(way);
        assert_eq!(
            stage.call("count", json!({"text": "a"})).await,
            Ok(Called::Completed(json!({"count": 1})))
        );
        assert_eq!(stage.call("echo", json!({"message": "é"})).await, Ok(Called::Completed(json!("é"))));
        assert_eq!(stage.call("fail", json!({})).await, Ok(Called::Failed("it did not work".to_owned())));
        let refused = Called::Failed("the server refused the call: not like this".to_owned());
        assert_eq!(stage.call("refuse", json!({})).await, Ok(refused));
        assert_eq!(stage.lines("effects"), ["a"]);
        assert_eq!(stage.lines("starts"), ["started"], "{way:?}: shared by all of these");
        stage.close().await;
    }
}

#[tokio::test]
async fn what_a_tool_does_not_take_is_never_sent_to_it() {
    let stage = Stage::new(mcp::HTTP);
    let error = stage.call("count", json!({"text": 3})).await.unwrap_err();
    let expected = vec![FieldError::new("/text", "value is not of type \"string\"")];
    assert_eq!(error, ToolError::Arguments { tool: "count".to_owned(), errors: expected });
    assert!(stage.call("count", json!("{\"text\": ")).await.is_err());
    let unknown = stage.call("coutn", json!({})).await.unwrap_err();
    assert!(
        unknown.to_string().starts_with("the tool server `scripted` has no tool `coutn`: it has ask, "),
        "{unknown}"
    );
    assert_eq!(unknown.code(), None, "the model is told, the run goes on");
    assert_eq!(stage.lines("effects"), [""; 0]);
    stage.close().await;
}

#[tokio::test]
async fn a_result_that_is_too_long_is_cut_off() {
    let stage = Stage::new(mcp::HTTP);
    let Ok(Called::Completed(result)) = stage.call("large", json!({"bytes": 3 << 20})).await else {
        panic!()
    };
    assert!(
        result["cut_off"].as_str().unwrap().starts_with("the result has 3145730 bytes"),
        "{}",
        result["cut_off"]
    );
    stage.close().await;
}

#[tokio::test]
async fn parallel_calls_share_one_server() {
    for way in WAYS {
        let stage = Stage::new(way);
        let calls = (0..20).map(|number| stage.call("count", json!({"text": number.to_string()})));
        let called = futures::future::join_all(calls).await;
        assert!(called.iter().all(|called| matches!(called, Ok(Called::Completed(_)))), "{called:?}");
        assert_eq!((stage.lines("effects").len(), stage.lines("starts").len()), (20, 1), "{way:?}");
        stage.close().await;
    }
}

#[tokio::test]
async fn the_list_is_asked_for_again_when_the_server_says_that_it_changed() {
    for way in WAYS {
        let stage = Stage::new(way);
        assert!(
            matches!(stage.call("grown", json!({})).await, Err(ToolError::UnknownTool { .. })),
            "{way:?}"
        );
        assert_eq!(stage.call("grow", json!({})).await, Ok(Called::Completed(json!("it grew"))));
        stage.until_there_is("grown").await;
        let done = Called::Completed(json!("`grown` does nothing"));
        assert_eq!(stage.call("grown", json!({})).await, Ok(done), "{way:?}");
        stage.close().await;
    }
}

#[tokio::test]
async fn a_server_sees_only_the_environment_that_it_is_given() {
    let stage = Stage::new("");
    let Ok(Called::Completed(result)) = stage.call("environment", json!({})).await else { panic!() };
    let names: Vec<_> = result["names"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
    assert!(names.contains(&"PATH") && names.contains(&"GIVEN"), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("CARGO")), "{names:?}");
    stage.close().await;
}

#[tokio::test]
async fn a_server_that_was_not_declared_is_told_from_one_that_does_not_work() {
    let stop = CancellationToken::new();
    let missing = ServerOptions::command(["no-such-program"], "/");
    let servers = ToolServers::new(supervisor(), [("missing".to_owned(), missing)]);
    let unknown = servers.call(&call("mali", "send", json!({})), None, None, &stop).await.unwrap_err();
    assert_eq!(unknown.to_string(), "there is no tool server `mali`: adjourn.toml declares missing");
    let error = servers.call(&call("missing", "send", json!({})), None, None, &stop).await.unwrap_err();
    let expected =
        "the tool server `missing` cannot be used: `no-such-program` is not installed, or not in PATH";
    assert_eq!(error.to_string(), expected);
    servers.close().await;
}
