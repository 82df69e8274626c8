//! Killed anywhere, a turn goes on from its last checkpoint.

use adjourn_core::TurnReason;
use adjourn_engine::model::Api;
use adjourn_engine::{ASK_USER, Finished};
use adjourn_testkit::model::Reply;
use serde_json::{Value, json};

use super::scene::{OPENING, Scene, calling, n};
use crate::agent::PATIENCE;
use crate::model::APIS;
use crate::turns::completed;

/// Where the run of [`live`] may be killed: before and after its seven checkpoints and the four calls that were made, and
/// before the one that is refused.
const PLACES: usize = 23;

fn scene(api: Api) -> Scene {
    let replies = [
        calling("First.", [("echo", n(1)), ("send", n(2))]),
        calling("Then.", [("nothing", n(3)), (ASK_USER, n(4)), ("echo", n(5))]),
        Reply::text("Which?"),
        Reply::text("Done."),
    ];
    Scene::new(api, replies)
}

/// Plays a turn to its end, in as many processes as it takes.
async fn survive(scene: &mut Scene, reason: TurnReason, prompt: &str) -> Finished {
    let going = scene.begin(reason, prompt);
    let (stop, died) = (going.stop.clone(), scene.tools.died.clone());
    let dying = async {
        tokio::time::timeout(PATIENCE, died.notified()).await.expect("it neither ended nor died");
    };
    tokio::select! {
        (_, finished) = going.until_it_ends() => finished,
        () = dying => {
            stop.cancel();
            scene.tools.journal().dies_at = None;
            scene.play(TurnReason::GoOn, prompt).await.1
        }
    }
}

/// A run of three turns: one that waits, one that goes on and asks, one that ends.
async fn live(scene: &mut Scene) {
    assert_eq!(survive(scene, TurnReason::First, OPENING).await, Finished::Suspended);
    scene.tools.answer("2.1", json!("blue"));
    assert_eq!(survive(scene, TurnReason::Settled, "").await, completed("Which?"));
    assert_eq!(survive(scene, TurnReason::Answer, "This one.").await, completed("Done."));
}

/// How often the model gave each reply.
fn times(replies: &[usize]) -> [usize; 4] {
    std::array::from_fn(|index| replies.iter().filter(|reply| **reply == index).count())
}

#[tokio::test]
async fn a_turn_that_is_killed_anywhere_goes_on_as_if_nothing_had_happened() {
    for api in APIS {
        let mut whole = scene(api);
        live(&mut whole).await;
        assert_eq!(times(&whole.replies()), [1; 4], "{api}");
        assert_eq!(whole.tools.journal().operations, PLACES);
        let expected = whole.last_messages();
        let mut asked_again = 0;
        for dies_at in 0..PLACES {
            let mut scene = scene(api);
            scene.tools.journal().dies_at = Some(dies_at);
            live(&mut scene).await;
            assert_eq!(scene.tools.journal().dies_at, None, "it has to die at {dies_at}");
            let journal = scene.tools.journal();
            let mut effects = journal.effects.clone();
            effects.sort_by_key(|(name, _)| name.clone());
            let echo = |number| ("echo".to_owned(), n(number));
            assert_eq!(
                effects,
                [echo(1), echo(5), ("send".to_owned(), n(2))],
                "each once, dying at {dies_at}"
            );
            let said = journal.steps.iter().filter(|(_, step)| step["replied"].is_object());
            assert_eq!(said.count(), 4, "each reply is written down once, dying at {dies_at}");
            drop(journal);
            // Only a reply that was not yet written down is asked for again.
            let again: usize = times(&scene.replies()).iter().sum::<usize>() - 4;
            assert!(again <= 1, "dying at {dies_at}");
            asked_again += again;
            assert_eq!(
                without_ids(scene.last_messages()),
                without_ids(expected.clone()),
                "dying at {dies_at}"
            );
        }
        assert_eq!(asked_again, 4, "{api}: once for each reply, killed right before it was durable");
    }
}

/// Replies that were asked for again have other names for their calls.
fn without_ids(mut messages: Vec<Value>) -> Vec<Value> {
    fn forget(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(forget),
            Value::Object(members) => {
                members.retain(|key, _| !["id", "tool_call_id", "tool_use_id"].contains(&key.as_str()));
                members.values_mut().for_each(forget);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    messages.iter_mut().for_each(forget);
    messages
}
