//! The loop, when all goes well.

use std::sync::Arc;

use adjourn_core::{Observation, TurnReason, Usage};
use adjourn_engine::{Engine, Probe, ReasoningEngine, Seen};
use adjourn_testkit::model::{Call, Reply};
use serde_json::json;
use tokio::sync::Barrier;

use super::scene::{OPENING, Scene, calling, n};
use crate::model::{APIS, options_at};
use crate::turns::completed;

#[tokio::test]
async fn a_reply_without_calls_ends_the_turn_and_is_shown_as_it_comes() {
    for api in APIS {
        let reply = Reply { reasoning: Some("Easy.".to_owned()), ..Reply::chunks(["All ", "done."]) };
        let mut scene = Scene::new(api, [reply]);
        let (seen, finished) = scene.play(TurnReason::First, OPENING).await;
        assert_eq!(finished, completed("All done."), "{api}");
        assert_eq!(seen, ["All ", "done."].map(|text| Seen::Delta(text.to_owned())));
        let usage = Usage { input_tokens: 70, output_tokens: 7, cost_usd: Some(77e-6) };
        assert_eq!(
            scene.shown(),
            [
                Observation::Reasoning { text: "Easy.".to_owned(), raw: None },
                Observation::Message { text: "All done.".to_owned(), raw: None },
                Observation::Usage(usage),
            ]
        );
    }
}

#[tokio::test]
async fn a_reply_is_durable_before_one_of_its_calls_is_asked_for() {
    for api in APIS {
        let replies = [calling("Both.", [("echo", n(1)), ("echo", n(2))]), Reply::text("Done.")];
        let mut scene = Scene::new(api, replies);
        assert_eq!(scene.first().await, completed("Done."), "{api}");
        let expected = ["checkpoint", "checkpoint", "call 1.0", "call 1.1", "checkpoint"];
        assert_eq!(scene.tools.journal().asked, expected, "the words, the calls, the end");
        let results = Scene::results_in(&scene.last_messages());
        let told: Vec<_> =
            results.iter().map(|(id, told)| (id.as_str(), &told["status"], &told["result"])).collect();
        let done = json!("COMPLETED");
        assert_eq!(told, [("call_0_0", &done, &n(1)), ("call_0_1", &done, &n(2))]);
    }
}

#[tokio::test]
async fn forty_calls_of_one_reply_are_made_at_the_same_time() {
    for api in APIS {
        let call = |number| Call { name: "together".to_owned(), arguments: n(number) };
        let calls = Reply { calls: (0..40).map(call).collect(), ..Reply::default() };
        let mut scene = Scene::new(api, [calls, Reply::text("Done.")]);
        // None of them ends before all of them have begun.
        scene.tools.together = Arc::new(Barrier::new(40));
        assert_eq!(scene.first().await, completed("Done."), "{api}");
        let results = Scene::results_in(&scene.last_messages());
        let results: Vec<_> = results.into_iter().map(|(_, told)| told["result"].clone()).collect();
        assert_eq!(results, (0..40).map(n).collect::<Vec<_>>(), "in the order of the calls");
    }
}

#[tokio::test]
async fn what_was_done_before_is_told_as_that() {
    for api in APIS {
        let replies =
            [calling("One.", [("send", n(1))]), calling("Two.", [("send", n(1))]), Reply::text("Done.")];
        let mut scene = Scene::new(api, replies);
        assert_eq!(scene.first().await, completed("Done."), "{api}");
        assert_eq!(scene.tools.journal().effects, [("send".to_owned(), n(1))]);
        let results = Scene::results_in(&scene.last_messages());
        assert_eq!(results[0].1.get("already_done"), None);
        assert_eq!((&results[1].1["already_done"], &results[1].1["result"]), (&json!(true), &n(1)));
    }
}

#[tokio::test]
async fn the_model_is_told_how_to_work_and_what_it_may_call() {
    for api in APIS {
        let mut scene = Scene::new(api, [Reply::text("Done.")]);
        scene.first().await;
        let body = scene.model.requests().pop().unwrap().body;
        assert!(body.to_string().contains("outcome_unknown"), "{api}: {body}");
        assert_eq!(body["tools"].as_array().map(Vec::len), Some(6));
    }
}

#[tokio::test]
async fn a_model_is_probed_without_being_asked_anything() {
    for api in APIS {
        let scene = Scene::new(api, []);
        let engine = ReasoningEngine::new(scene.options.clone()).unwrap();
        assert!(matches!(engine.probe().await, Probe::Ready { version, .. } if version == "model scripted"));
        let [request] = &scene.model.requests()[..] else { panic!("one request") };
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/v1/models"));
        let nowhere = ReasoningEngine::new(options_at(api, "http://127.0.0.1:9")).unwrap();
        let Probe::Unusable { problem } = nowhere.probe().await else { panic!("nobody is there") };
        assert!(problem.starts_with("the model does not answer, asked 1 times"), "{problem}");
    }
}
