//! Turns that end because a person has to say something, and those that follow.

use adjourn_core::TurnReason;
use adjourn_engine::{ASK_USER, Finished};
use adjourn_testkit::model::Reply;
use serde_json::{Value, json};

use super::scene::{OPENING, Scene, calling, n};
use crate::model::APIS;
use crate::turns::completed;

fn statuses(messages: &[Value]) -> Vec<Value> {
    Scene::results_in(messages).into_iter().map(|(_, told)| told["status"].clone()).collect()
}

#[tokio::test]
async fn after_the_answer_the_model_gets_every_earlier_result() {
    for api in APIS {
        let replies = [
            calling("First.", [("echo", n(1)), ("break", n(2))]),
            calling("Now all.", [("echo", n(3)), (ASK_USER, n(4)), ("nothing", n(5))]),
            Reply::text("Done."),
        ];
        let mut scene = Scene::new(api, replies);
        assert_eq!(scene.first().await, Finished::Suspended, "{api}");
        assert_eq!(
            scene.replies(),
            [0, 1],
            "all else was done, and the model is not asked while one thing is open"
        );
        scene.tools.answer("2.1", json!("blue"));
        assert_eq!(scene.play(TurnReason::Settled, "").await.1, completed("Done."));
        let results = Scene::results_in(&scene.last_messages());
        let told: Vec<_> = results.iter().map(|(_, told)| (&told["status"], &told["result"])).collect();
        let (done, failed, rejected) = (json!("COMPLETED"), json!("FAILED"), json!("REJECTED"));
        let (one, three, blue) = (n(1), n(3), json!("blue"));
        let expected = [
            (&done, &one),
            (&failed, &Value::Null),
            (&done, &three),
            (&done, &blue),
            (&rejected, &Value::Null),
        ];
        assert_eq!(told, expected);
        assert_eq!(results[4].1["error_message"], "there is no tool `nothing`");
    }
}

#[tokio::test]
async fn one_of_two_answers_is_not_enough() {
    for api in APIS {
        let replies = [calling("Two.", [(ASK_USER, n(1)), (ASK_USER, n(2))]), Reply::text("Done.")];
        let mut scene = Scene::new(api, replies);
        assert_eq!(scene.first().await, Finished::Suspended, "{api}");
        scene.tools.answer("1.1", json!("b"));
        assert_eq!(scene.play(TurnReason::Settled, "").await.1, Finished::Suspended);
        assert_eq!(scene.replies(), [0]);
        scene.tools.answer("1.0", json!("a"));
        assert_eq!(scene.play(TurnReason::Settled, "").await.1, completed("Done."));
        let results = Scene::results_in(&scene.last_messages());
        assert_eq!((&results[0].1["result"], &results[1].1["result"]), (&json!("a"), &json!("b")));
    }
}

#[tokio::test]
async fn an_answer_and_a_repair_are_heard_after_what_was_said() {
    for api in APIS {
        let mut scene = Scene::new(api, [Reply::text("Which?"), Reply::text("Thanks."), Reply::text("{}")]);
        assert_eq!(scene.first().await, completed("Which?"), "{api}");
        assert_eq!(scene.play(TurnReason::Answer, "The blue one.").await.1, completed("Thanks."));
        // In the same attempt, for the same reason.
        assert_eq!(scene.play(TurnReason::First, "Not like that.").await.1, completed("{}"));
        let messages = scene.last_messages();
        let said: Vec<_> = messages.iter().filter(|message| message["role"] != "system").collect();
        let roles: Vec<_> = said.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
        let heard: Vec<_> =
            said.iter().step_by(2).map(|message| message["content"].as_str().unwrap()).collect();
        assert_eq!(heard, [OPENING, "The blue one.", "Not like that."]);
    }
}

#[tokio::test]
async fn a_repair_after_a_wait_is_heard_and_the_words_of_a_settled_turn_are_not() {
    let mut scene =
        Scene::new(APIS[0], [calling("?", [(ASK_USER, n(1))]), Reply::text("Done."), Reply::text("{}")]);
    assert_eq!(scene.first().await, Finished::Suspended);
    scene.tools.answer("1.0", json!("blue"));
    assert_eq!(scene.play(TurnReason::Settled, "Blue, they say.").await.1, completed("Done."));
    assert!(!scene.last_messages().iter().any(|message| message["content"] == "Blue, they say."));
    assert_eq!(scene.play(TurnReason::Settled, "Not like that.").await.1, completed("{}"));
    assert!(scene.last_messages().iter().any(|message| message["content"] == "Not like that."));
}

#[tokio::test]
async fn the_first_words_are_told_as_they_were_and_not_as_they_were_covered() {
    let mut scene = Scene::new(APIS[0], [Reply::text("Which?"), Reply::text("Done.")]);
    scene.first().await;
    for (_, step) in &mut scene.tools.journal().steps {
        let text = step.to_string().replace(OPENING, "\u{27e6}masked\u{27e7}");
        *step = serde_json::from_str(&text).unwrap();
    }
    assert_eq!(scene.play(TurnReason::Answer, "Blue.").await.1, completed("Done."));
    assert!(scene.last_messages().iter().any(|message| message["content"] == OPENING));
}

#[tokio::test]
async fn a_turn_whose_end_was_lost_ends_again_without_the_model() {
    for api in APIS {
        let mut scene = Scene::new(api, [calling("", [("echo", n(1))]), Reply::text("Done.")]);
        assert_eq!(scene.first().await, completed("Done."), "{api}");
        assert_eq!(scene.play(TurnReason::GoOn, OPENING).await.1, completed("Done."));
        assert_eq!(scene.replies(), [0, 1]);
    }
}

#[tokio::test]
async fn a_run_that_continues_another_knows_all_of_it_and_makes_none_of_its_calls() {
    for api in APIS {
        let replies = [calling("", [("echo", n(1)), (ASK_USER, n(2))]), Reply::text("Very well.")];
        let mut scene = Scene::new(api, replies);
        // Its run is canceled while it waits.
        assert_eq!(scene.first().await, Finished::Suspended, "{api}");
        let canceled = scene.tools.reference("1.1");
        scene.tools.journal().contracts.remove(&canceled);
        let mut scene = scene.continued();
        let asked = scene.tools.journal().asked.len();
        assert_eq!(scene.play(TurnReason::First, "Forget that.").await.1, completed("Very well."));
        assert_eq!(scene.tools.journal().asked[asked..], ["checkpoint", "checkpoint"]);
        assert_eq!(statuses(&scene.last_messages()), ["COMPLETED", "CANCELLED"]);
    }
}
