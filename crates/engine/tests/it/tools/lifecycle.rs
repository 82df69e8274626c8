//! Servers that die, hang and are not there.

use std::time::Duration;

use adjourn_core::ErrorCode;
use adjourn_engine::tools::{Called, Lost, Place, ToolError};
use adjourn_testkit::mcp;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::stage::{Stage, WAYS, call};

#[tokio::test]
async fn a_call_whose_server_dies_is_lost_and_the_next_one_gets_a_new_server() {
    for way in ["", mcp::OLDER] {
        let stage = Stage::new(way);
        let Ok(Called::Lost(Lost::ServerGone(problem))) = stage.call("die", json!({})).await else {
            panic!()
        };
        assert!(problem.ends_with("its last words: dying as told"), "{problem}");
        assert_eq!(stage.lines("effects"), ["die"], "nobody tried it again");
        assert_eq!(
            stage.call("count", json!({"text": "a"})).await,
            Ok(Called::Completed(json!({"count": 2})))
        );
        assert_eq!(stage.lines("starts").len(), 2);
        stage.close().await;
    }
}

#[tokio::test]
async fn calls_in_flight_are_lost_with_their_server() {
    let stage = Stage::new("");
    let hang = stage.call("hang", json!({}));
    let die = async {
        stage.until_effects(1).await;
        stage.call("die", json!({})).await
    };
    let (hang, die) = tokio::join!(hang, die);
    for called in [hang, die] {
        assert!(matches!(called, Ok(Called::Lost(Lost::ServerGone(_)))), "{called:?}");
    }
    assert_eq!(stage.lines("effects"), ["hang", "die"]);
    stage.close().await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_lost_and_the_server_goes_on() {
    for way in WAYS {
        let stage = Stage::with(way, |options| options.call_max = Duration::from_millis(300));
        let lost = Called::Lost(Lost::TimedOut(Duration::from_millis(300)));
        assert_eq!(stage.call("hang", json!({})).await, Ok(lost), "{way:?}");
        assert_eq!(stage.call("echo", json!({"message": "x"})).await, Ok(Called::Completed(json!("x"))));
        assert_eq!((stage.lines("effects").len(), stage.lines("starts").len()), (1, 1));
        stage.close().await;
    }
}

#[tokio::test]
async fn a_call_that_is_stopped_is_lost_once_it_was_made_and_not_made_before() {
    for way in WAYS {
        let stage = Stage::new(way);
        let stop = CancellationToken::new();
        let hang = call("scripted", "hang", json!({}));
        let stopped = async {
            stage.until_effects(1).await;
            stop.cancel();
        };
        let (called, ()) = tokio::join!(stage.servers.call(&hang, None, None, &stop), stopped);
        assert_eq!(called, Ok(Called::Lost(Lost::Cancelled)), "{way:?}");
        assert_eq!(stage.servers.call(&hang, None, None, &stop).await, Err(ToolError::Stopped));
        assert_eq!(stage.lines("effects").len(), 1);
        stage.close().await;
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_unavailable_and_nothing_is_lost() {
    let mut stage = Stage::new(mcp::HTTP);
    assert_eq!(stage.call("count", json!({"text": "a"})).await, Ok(Called::Completed(json!({"count": 1}))));
    stage.kill_listening();
    for _ in 0..2 {
        let error = stage.call("count", json!({"text": "b"})).await.unwrap_err();
        assert!(matches!(error, ToolError::Unavailable { .. }), "{error}");
        assert_eq!(error.code(), Some(ErrorCode::ToolServerUnavailable));
    }
    stage.close().await;
}

#[tokio::test]
async fn a_server_that_dies_at_once_or_speaks_no_mcp_is_unavailable_and_its_last_words_are_told() {
    for (script, expected) in [
        ("echo 'no database' >&2; exit 1", "its last words: no database"),
        ("read -r greeting; echo 'what?'; echo 'who are you?' >&2", "its last words: who are you?"),
        (
            "read -r greeting; echo '{\"jsonrpc\": \"2.0\", \"id\": 99, \"result\": {}}'",
            "it does not speak MCP: ",
        ),
    ] {
        let stage = Stage::with("", |options| {
            if let Place::Command { command, .. } = &mut options.place {
                *command = ["sh", "-c", script].map(str::to_owned).to_vec();
            }
        });
        let error = stage.call("echo", json!({"message": "x"})).await.unwrap_err();
        assert!(
            matches!(&error, ToolError::Unavailable { problem, .. } if problem.contains(expected)),
            "{error}"
        );
        stage.close().await;
    }
}

#[tokio::test]
async fn closed_servers_are_gone_and_calls_in_flight_are_lost() {
    let stage = Stage::new("");
    let hang = stage.call("hang", json!({}));
    let close = async {
        stage.until_effects(1).await;
        assert!(stage.processes() > 0);
        stage.servers.close().await;
    };
    let (called, ()) = tokio::join!(hang, close);
    assert!(matches!(called, Ok(Called::Lost(_))), "{called:?}");
    assert_eq!(stage.processes(), 0);
    assert!(matches!(stage.call("echo", json!({"message": "x"})).await, Err(ToolError::Unavailable { .. })));
}
