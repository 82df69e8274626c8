//! A run of the reasoning engine, recorded and played.

use std::sync::Arc;

use adjourn_core::{Observation, TurnReason};
use adjourn_engine::{ASK_USER, Finished, Pace, ReplayEngine, Seen};
use adjourn_testkit::model::Reply;
use serde_json::json;

use super::scene::{OPENING, Scene, calling, n};
use crate::agent::Stage;
use crate::model::APIS;
use crate::turns::{Going, completed, facts, turn};

#[tokio::test]
async fn a_recorded_run_is_played_without_a_model_a_tool_or_a_question() {
    for api in APIS {
        let first = calling("I ask.", [("echo", n(1)), (ASK_USER, n(2))]);
        let mut scene = Scene::new(api, [first, Reply::chunks(["Do", "ne."])]);
        let stage = Stage::new();
        let tape = stage.path().join("tape.jsonl");
        scene.recorded_into(&tape);
        assert_eq!(scene.play(TurnReason::First, OPENING).await.1, Finished::Suspended, "{api}");
        scene.tools.answer("1.1", json!("blue"));
        assert_eq!(scene.play(TurnReason::Settled, "").await.1, completed("Done."));

        let replay = Arc::new(ReplayEngine::open(&tape, Pace::Instant).unwrap());
        let (seen, finished) = Going::start(replay, turn(&stage, "Do it again.")).until_it_ends().await;
        assert_eq!(finished, completed("Done."));
        let played = facts(&seen).into_iter().filter_map(|fact| match fact {
            Observation::Message { text, .. } => Some(text),
            Observation::ToolCall { name, detail, .. } => Some(format!("{name} {}", detail["arguments"])),
            _ => None,
        });
        let expected = ["I ask.", "echo {\"n\":1}", "ask_user {\"n\":2}", "Done."];
        assert_eq!(played.collect::<Vec<_>>(), expected);
        let said = Seen::Fact(Observation::Message { text: "Done.".to_owned(), raw: None });
        let at = |wanted: &Seen| seen.iter().position(|seen| seen == wanted).unwrap();
        assert!(at(&Seen::Delta("ne.".to_owned())) < at(&said), "pieces come before the whole: {seen:?}");
    }
}
