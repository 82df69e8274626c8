//! Streams over HTTP.

use hyper::Method;
use serde_json::json;

use crate::client::{Event, Events, in_short};
use crate::stage::{Stage, within};

const ACCEPTED: &str = "interaction.reply.accepted";
const DECIDED: &str = "interaction.auto_decide.timeout";

/// The ids of the frames, which have to be those of the frames.
fn ids(events: &[Event]) -> Vec<u64> {
    events
        .iter()
        .map(|event| {
            assert_eq!(event.data["seq"], event.id);
            event.id
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn rt_08_the_stream_shows_a_reply_before_the_change_that_it_causes() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    let mut events = run.events(None).await;
    run.asks(1).await;
    run.reply(json!({ "interaction_id": 1, "response": "SQLite" })).await.is(202);
    run.finishes(2).await;
    let all = events.rest().await;
    let short = in_short(&all);
    let reply = short.iter().position(|it| it == ACCEPTED).unwrap();
    assert_eq!(short[reply + 1], format!("waiting_user → queued: {ACCEPTED}"));
    assert_eq!(short.last().unwrap(), "running → succeeded: turn.succeeded");
    assert_eq!(ids(&all), (1..=all.len() as u64).collect::<Vec<_>>());
    assert!(events.deltas.contains("Which database?"), "{}", events.deltas);
}

#[tokio::test(flavor = "multi_thread")]
async fn rt_09_the_stream_shows_an_auto_decision_before_the_change_that_it_causes() {
    let stage = Stage::new().await;
    let lax = json!({ "options": { "interactive_require_user_reply": false, "session_timeout_sec": 60 } });
    let run = stage.start(lax).await;
    let mut events = run.events(None).await;
    run.asks(1).await;
    stage.advance(61);
    run.finishes(2).await;
    let short = in_short(&events.rest().await);
    let decided = short.iter().position(|it| it == DECIDED).unwrap();
    assert_eq!(short[decided + 1], format!("waiting_user → queued: {DECIDED}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_06_a_client_that_was_cut_off_gets_exactly_what_it_missed() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    let mut events = run.events(None).await;
    let mut seen = events.until(|frame| frame["data"]["to"] == "running").await;
    run.at_turn(1).await;
    drop(events);
    run.asks(1).await;
    // It comes back in the middle of what there is, in the middle of a wait, and at the end.
    let mut events = run.events(Some(seen.len() as u64)).await;
    seen.extend(events.until(|frame| frame["type"] == "user.input.required").await);
    drop(events);
    run.reply(json!({ "interaction_id": 1, "response": "SQLite" })).await.is(202);
    run.finishes(2).await;
    run.becomes("succeeded").await;
    seen.extend(run.events(Some(seen.len() as u64)).await.rest().await);
    let all = run.events(None).await.rest().await;
    assert_eq!(ids(&seen), (1..=all.len() as u64).collect::<Vec<_>>());
    assert_eq!(seen, all);
    // Whoever has seen the end need not come back.
    let over = stage.call(Method::GET, &run.path("/events")).header("last-event-id", &all.len().to_string());
    assert_eq!(over.send().await.status, 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_asked_for_from_beyond_its_end_goes_on_from_there_and_closes() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.at_turn(1).await;
    let so_far = run.show().await["seq"].as_u64().unwrap();
    let mut events = run.events(Some(so_far + 1000)).await;
    run.finishes(1).await;
    let rest = within(events.rest()).await;
    assert_eq!(ids(&rest).first(), Some(&(so_far + 1)));
    assert_eq!(in_short(&rest).last().unwrap(), "running → succeeded: turn.succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn history_comes_in_pages_that_hold_every_frame_once() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.finishes(1).await;
    run.becomes("succeeded").await;
    let frames: Vec<_> = run.events(None).await.rest().await.into_iter().map(|event| event.data).collect();
    let (mut read, mut after) = (Vec::new(), 0);
    loop {
        let path = run.path(&format!("/events?limit=1&after={after}"));
        let page = stage.call(Method::GET, &path).header("accept", "application/json").send().await.is(200);
        let events = page["events"].as_array().unwrap();
        assert!(events.len() <= 1);
        if events.is_empty() {
            assert_eq!(page["next_after"], after);
            break;
        }
        read.extend_from_slice(events);
        after = page["next_after"].as_u64().unwrap();
    }
    assert_eq!(read, frames);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_state_changes_are_in_one_stream_that_can_be_taken_up_again() {
    let stage = Stage::new().await;
    let mut news = Events::open(stage.call(Method::GET, "/v1/events")).await;
    let run = stage.start(json!({})).await;
    run.asks(1).await;
    let mut seen = news.until(|frame| frame["data"]["to"] == "waiting_user").await;
    drop(news);
    run.cancel().await.is(202);
    let last = seen.last().unwrap().id.to_string();
    let mut news = Events::open(stage.call(Method::GET, "/v1/events").header("last-event-id", &last)).await;
    seen.extend(news.until(|frame| frame["data"]["to"] == "canceled").await);
    assert_eq!(
        in_short(&seen),
        [
            "queued → running: turn.started",
            "running → waiting_user: turn.needs_input",
            "waiting_user → canceled: run.canceled"
        ]
    );
    assert!(seen.is_sorted_by_key(|event| event.id));
    let mut old = Events::open(stage.call(Method::GET, "/v1/events?after=0")).await;
    assert_eq!(old.until(|frame| frame["data"]["to"] == "canceled").await, seen);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_server_ends_every_stream() {
    let mut stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.asks(1).await;
    let (mut one, mut all) =
        (run.events(None).await, Events::open(stage.call(Method::GET, "/v1/events")).await);
    one.until(|frame| frame["data"]["to"] == "waiting_user").await;
    let socket = stage.data().join("adjourn.sock");
    assert!(socket.exists());
    stage.close().await;
    assert_eq!((one.next().await, all.next().await), (None, None));
    assert!(!socket.exists());
}
