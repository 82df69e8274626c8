//! What is counted.

use hyper::Method;
use serde_json::json;

use crate::client::Events;
use crate::stage::{Stage, within};

/// The value of one line of the metrics; nothing where there is no such line.
async fn value(stage: &Stage, name: &str) -> Option<f64> {
    let answer = stage.get("/metrics").await;
    assert_eq!(answer.status, 200);
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    assert!(text.ends_with("# EOF\n"), "{text}");
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[tokio::test(flavor = "multi_thread")]
async fn slots_queue_and_runs_are_counted_as_they_are() {
    let stage = Stage::with("[slots]\ntotal = 2\nengine = { scripted = 1 }").await;
    let first = stage.start(json!({})).await;
    first.at_turn(1).await;
    let second = stage.start(json!({})).await;
    for (name, expected) in [
        ("adjourn_slots_held", 1.0),
        ("adjourn_slots_free", 1.0),
        ("adjourn_queue_length", 1.0),
        ("adjourn_engine_slots_held{engine=\"scripted\"}", 1.0),
        ("adjourn_engine_slots_free{engine=\"scripted\"}", 0.0),
        ("adjourn_engine_queue_length{engine=\"scripted\"}", 1.0),
        ("adjourn_runs{status=\"running\"}", 1.0),
        ("adjourn_runs{status=\"queued\"}", 1.0),
        ("adjourn_runs{status=\"waiting_user\"}", 0.0),
    ] {
        assert_eq!(value(&stage, name).await, Some(expected), "{name}");
    }
    first.asks(1).await;
    second.finishes(1).await;
    second.becomes("succeeded").await;
    for (name, expected) in [
        ("adjourn_slots_held", 0.0),
        ("adjourn_queue_length", 0.0),
        ("adjourn_runs{status=\"waiting_user\"}", 1.0),
        ("adjourn_runs{status=\"succeeded\"}", 1.0),
    ] {
        assert_eq!(value(&stage, name).await, Some(expected), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_replies_and_commits_are_counted_where_they_happen() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.asks(1).await;
    assert_eq!(value(&stage, "adjourn_reply_to_running_seconds_count").await, Some(0.0));
    stage.advance(2);
    run.reply(json!({ "interaction_id": 1, "response": "SQLite" })).await.is(202);
    run.finishes(2).await;
    run.becomes("succeeded").await;
    assert_eq!(value(&stage, "adjourn_reply_to_running_seconds_count").await, Some(1.0));
    // The turn is counted by whoever carried it out, which is a moment after its end is durable.
    within(async {
        while value(&stage, "adjourn_turn_duration_seconds_count{engine=\"scripted\"}").await != Some(2.0) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let commits = value(&stage, "adjourn_commit_duration_seconds_count").await.unwrap();
    assert_eq!(value(&stage, "adjourn_commit_batch_size_count").await, Some(commits));
    assert!(commits >= 4.0, "a run that pauses once takes four commits, there were {commits}");
    assert!(value(&stage, "process_resident_memory_bytes").await.unwrap() > 1e6);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_counted_by_route_and_never_by_what_a_client_wrote() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.show().await;
    stage.get("/v1/runs/run_01890000000070008000000000000000").await;
    stage.get("/a/path/of/mine").await;
    stage.call(Method::from_bytes(b"MINE").unwrap(), "/v1/runs").send().await;
    for (labels, expected) in [
        ("method=\"POST\",route=\"/v1/runs\",status=\"2xx\"", 1.0),
        ("method=\"GET\",route=\"/v1/runs/{id}\",status=\"2xx\"", 1.0),
        ("method=\"GET\",route=\"/v1/runs/{id}\",status=\"4xx\"", 1.0),
        ("method=\"GET\",route=\"none\",status=\"4xx\"", 1.0),
        ("method=\"other\",route=\"/v1/runs\",status=\"4xx\"", 1.0),
    ] {
        let name = format!("adjourn_http_requests_total{{{labels}}}");
        assert_eq!(value(&stage, &name).await, Some(expected), "{name}");
    }
    let text = stage.get("/metrics").await.body;
    let text = std::str::from_utf8(&text).unwrap();
    assert!(!text.contains(&run.id) && !text.contains("mine") && !text.contains("MINE"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_are_counted_while_they_are_open() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    let mut all = Events::open(stage.call(Method::GET, "/v1/events")).await;
    let mut one = run.events(None).await;
    assert_eq!(value(&stage, "adjourn_event_streams_open").await, Some(2.0));
    run.finishes(1).await;
    one.rest().await;
    all.until(|frame| frame["data"]["to"] == "succeeded").await;
    assert_eq!(value(&stage, "adjourn_event_streams_open").await, Some(1.0));
}
