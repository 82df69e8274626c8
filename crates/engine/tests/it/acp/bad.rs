//! Agents that misbehave: each ends with its own code, within its time, and nothing of it is left.

use std::time::Duration;

use adjourn_core::{ErrorCode, Observation};
use adjourn_engine::{Finished, Seen};
use adjourn_testkit::acp::{Act, Behaviour, Script};

use super::{completed, engine, failure, play, say, script};
use crate::agent::{Stage, until};
use crate::turns::{Going, turn};

async fn fails(stage: &Stage, acts: Vec<Act>) -> (ErrorCode, String) {
    let failed = failure(play(stage, acts).await.1);
    assert_eq!(stage.processes(), [0; 0], "nothing is left");
    failed
}

#[tokio::test]
async fn one_that_never_speaks_is_given_up() {
    let stage = Stage::new();
    let script = Script { behaviour: Behaviour::Silent, ..script(&stage, Vec::new()) };
    let mut going = Going::start(engine(&stage, &script), turn(&stage, ""));
    assert!(matches!(going.next().await, Some(Seen::Fact(Observation::Process(_)))));
    // It was asked in the same breath. Nobody waits half a minute for one that is silent for ever.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(30)).await;
    tokio::time::resume();
    let (code, message) = failure(going.until_it_ends().await.1);
    assert_eq!(code, ErrorCode::EngineTimeout);
    assert!(message.ends_with("did not answer initialize within 30 seconds"), "{message}");
    assert_eq!(stage.processes(), [0; 0]);
}

#[tokio::test]
async fn one_that_floods_is_ended() {
    let stage = Stage::new();
    let before = resident_bytes();
    let (code, _) = fails(&stage, vec![Act::Flood(100 << 20), say("done")]).await;
    assert_eq!(code, ErrorCode::EngineOutputLimit);
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 96 << 20, "{} MiB were taken for 100 MiB of updates", grown >> 20);
}

/// Of this process, tests that run beside this one included.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[tokio::test]
async fn one_that_prints_broken_json_is_ended() {
    let stage = Stage::new();
    let (code, message) =
        fails(&stage, vec![Act::Raw(r#"{"jsonrpc": "2.0", "method"#.to_owned()), Act::Hang]).await;
    assert_eq!(code, ErrorCode::EngineProtocolError);
    assert!(message.ends_with(r#"is not JSON: {"jsonrpc": "2.0", "method"#), "{message}");
}

#[tokio::test]
async fn one_that_prints_a_message_without_end_is_ended() {
    let stage = Stage::new();
    let (code, message) =
        fails(&stage, vec![Act::Raw(format!("{{{}", " ".repeat(5 << 20))), Act::Hang]).await;
    assert_eq!(code, ErrorCode::EngineOutputLimit);
    assert!(message.contains("longer than 4 MiB"), "{message}");
}

#[tokio::test]
async fn one_that_calls_what_nobody_knows_is_told_so_and_goes_on() {
    let stage = Stage::new();
    let (seen, finished) = play(&stage, vec![Act::Call("x/unknown".to_owned()), say("done")]).await;
    assert_eq!(finished, completed("done"));
    assert!(format!("{seen:?}").contains("x/unknown: unknown"), "{seen:?}");
}

#[tokio::test]
async fn one_that_speaks_of_another_session_is_ended() {
    let stage = Stage::new();
    let (code, message) = fails(&stage, vec![Act::OtherSession, Act::Hang]).await;
    assert_eq!(code, ErrorCode::EngineProtocolError);
    assert!(message.contains("`some other session`"), "{message}");
}

#[tokio::test]
async fn one_that_ends_in_its_turn_failed() {
    let stage = Stage::new();
    let (code, message) = fails(&stage, vec![say("almost"), Act::Exit(3)]).await;
    assert_eq!(code, ErrorCode::EngineExitNonzero);
    assert!(message.contains("ended with exit status 3 before it answered session/prompt"), "{message}");
}

#[tokio::test]
async fn one_that_reports_an_error_failed_and_its_words_say_of_what() {
    let stage = Stage::new();
    for (said, expected) in [
        ("out of cheese", ErrorCode::EngineExitNonzero),
        ("401 Unauthorized", ErrorCode::EngineAuthRequired),
        ("the API is overloaded", ErrorCode::ModelUnavailable),
    ] {
        let (code, message) = fails(&stage, vec![Act::Fail(-32603, said.to_owned())]).await;
        assert_eq!(code, expected, "{message}");
        assert!(message.contains(said), "{message}");
    }
}

#[tokio::test]
async fn one_that_is_not_logged_in_says_to_log_in() {
    let stage = Stage::new();
    let script = Script { behaviour: Behaviour::LoggedOut, ..script(&stage, Vec::new()) };
    let (code, message) =
        failure(Going::start(engine(&stage, &script), turn(&stage, "")).until_it_ends().await.1);
    assert_eq!(code, ErrorCode::EngineAuthRequired);
    assert!(message.ends_with("log in with it, then try again"), "{message}");
}

/// Stops a turn once the agent has begun it, and says how it ended and within which time.
async fn stopped(stage: &Stage, acts: Vec<Act>) -> Finished {
    let mut going = Going::start(engine(stage, &script(stage, vec![acts])), turn(stage, "wait"));
    while !matches!(going.next().await.expect("it begins"), Seen::Delta(_)) {}
    going.stop.cancel();
    let ended = tokio::time::timeout(Duration::from_secs(5), going.finish()).await;
    ended.expect("a stopped turn is over within 5 s")
}

#[tokio::test]
async fn one_that_is_cancelled_ends_by_itself() {
    let stage = Stage::new();
    assert_eq!(stopped(&stage, vec![say("begun"), Act::Wait]).await, Finished::Stopped);
    let session = std::fs::read_dir(stage.path().join("sessions")).unwrap().next().unwrap().unwrap();
    let session = std::fs::read_to_string(session.path()).unwrap();
    assert!(session.contains(r#"{"Answer":"begun"}"#), "it could write down what it did: {session}");
    assert_eq!(stage.processes(), [0; 0]);
}

#[tokio::test]
async fn one_that_ignores_its_cancel_is_ended_with_its_children() {
    let stage = Stage::new();
    assert_eq!(stopped(&stage, vec![Act::Fork, say("begun"), Act::Hang]).await, Finished::Stopped);
    until(|| stage.path().join("forked").exists().then_some(())).await;
    assert_eq!(stage.processes(), [0; 0]);
}
