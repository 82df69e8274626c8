//! Models, tools and people that do what they should not.

use std::time::Duration;

use adjourn_core::{ErrorCode, TurnReason};
use adjourn_engine::Finished;
use adjourn_engine::model::{ARGUMENTS_BYTES_MAX, Api};
use adjourn_testkit::model::{Fault, Reply};
use serde_json::{Value, json};

use super::scene::{OPENING, Scene, calling, n};
use crate::model::{APIS, answering};
use crate::turns::completed;

#[tokio::test]
async fn a_tool_that_is_not_there_and_arguments_that_are_none_are_told_to_the_model() {
    for api in APIS {
        let calls = [("nothing", n(1)), ("echo", json!("{\"half\": ")), ("echo", n(2))];
        let mut scene = Scene::new(api, [calling("", calls), Reply::text("Done.")]);
        assert_eq!(scene.first().await, completed("Done."), "{api}");
        let results = Scene::results_in(&scene.last_messages());
        let told: Vec<_> =
            results.iter().map(|(_, told)| (&told["status"], &told["error_message"])).collect();
        let (rejected, done) = (json!("REJECTED"), json!("COMPLETED"));
        let (no_tool, no_object) = (json!("there is no tool `nothing`"), json!("`echo` takes an object"));
        assert_eq!(told, [(&rejected, &no_tool), (&rejected, &no_object), (&done, &Value::Null)]);
        assert_eq!(scene.tools.journal().effects.len(), 1);
    }
}

#[tokio::test]
async fn long_arguments_are_passed_on_and_too_long_ones_end_the_run() {
    for api in APIS {
        let text = |bytes| json!({"text": "x".repeat(bytes)});
        let megabyte = [calling("", [("echo", text(1_000_000))]), Reply::text("Done.")];
        let mut scene = Scene::new(api, megabyte);
        assert_eq!(scene.first().await, completed("Done."), "{api}");
        assert_eq!(scene.tools.journal().effects, [("echo".to_owned(), text(1_000_000))]);
        let mut scene = Scene::new(api, [calling("", [("echo", text(ARGUMENTS_BYTES_MAX))])]);
        let (code, message) = scene.fails().await;
        assert_eq!(code, ErrorCode::EngineOutputLimit);
        assert_eq!(message, "the model says too much: a call of `echo` with arguments of more than 1024 KiB");
    }
}

#[tokio::test]
async fn the_same_call_for_ever_comes_to_an_end() {
    for api in APIS {
        let mut scene = Scene::new(api, (0..30).map(|_| calling("", [("echo", n(1))])));
        let (code, message) = scene.fails().await;
        assert_eq!(code, ErrorCode::EngineOutputLimit, "{api}");
        let expected =
            "the model goes in circles: more than 20 times in a row it called `echo` with {\"n\":1}";
        assert_eq!(message, expected);
        assert_eq!(scene.tools.journal().effects.len(), 20);
        // And not again from the beginning after a restart.
        let (_, finished) = scene.play(TurnReason::GoOn, OPENING).await;
        assert!(matches!(finished, Finished::Failed(error) if error.message == expected));
    }
}

#[tokio::test]
async fn a_model_that_finds_no_end_is_not_asked_for_ever() {
    let mut scene = Scene::new(Api::Openai, (0..201).map(|number| calling("", [("echo", n(number))])));
    let (code, message) = scene.fails().await;
    assert_eq!(code, ErrorCode::EngineOutputLimit);
    assert!(message.starts_with("the model came to no end: it was asked 200 times"), "{message}");
    assert_eq!(scene.tools.journal().effects.len(), 200);
}

#[tokio::test]
async fn a_model_that_does_not_answer_is_said_to() {
    for api in APIS {
        let (code, message) = Scene::at(api, "http://127.0.0.1:9").fails().await;
        assert_eq!(code, ErrorCode::ModelUnavailable, "{api}: {message}");
        for (fault, expected) in [
            (Fault::Status(401), ErrorCode::EngineAuthRequired),
            (Fault::Status(500), ErrorCode::ModelUnavailable),
            (Fault::Garbage, ErrorCode::ModelUnavailable),
            (Fault::Cut, ErrorCode::ModelUnavailable),
        ] {
            let mut scene =
                Scene::new(api, [Reply { text: vec!["a".into(), "b".into()], ..Reply::fault(fault) }]);
            assert_eq!(scene.fails().await.0, expected, "{api}: {fault:?}");
            assert_eq!(scene.shown(), [], "nothing of it counts");
        }
        let mut scene = Scene::new(api, [Reply::text("Hm.").after(Fault::Stall, 1)]);
        scene.options.patience.silence_max = Duration::from_millis(200);
        assert_eq!(scene.fails().await.0, ErrorCode::ModelUnavailable, "{api}: silent");
    }
}

#[tokio::test]
async fn a_model_that_is_busy_is_asked_when_it_wants_to_be() {
    for api in APIS {
        let busy = || Reply::text("Done.").after(Fault::Status(429), 1);
        let mut scene = Scene::new(api, [busy().retry_after("0")]);
        assert_eq!(scene.first().await, completed("Done."), "{api}");
        let (code, message) = Scene::new(api, [busy().retry_after("3600")]).fails().await;
        assert_eq!(code, ErrorCode::ModelUnavailable);
        assert!(message.contains("3600"), "{message}");
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_asked_for_again() {
    for api in APIS {
        for fault in [Fault::Cut, Fault::Overloaded] {
            let mut scene = Scene::new(api, [Reply::chunks(["a", "b", "c", "d"]).after(fault, 2)]);
            assert_eq!(scene.first().await, completed("abcd"), "{api}");
            assert_eq!(scene.replies(), [0, 0, 0]);
            assert_eq!(scene.shown().len(), 2, "one message, and what it cost");
        }
    }
}

#[tokio::test]
async fn a_reply_that_was_cut_off_at_its_length_is_no_result_and_makes_no_call() {
    let call = r#"{"id":"a","type":"function","function":{"name":"echo","arguments":""}}"#;
    let chat = format!(
        r#"{{"choices":[{{"message":{{"content":"I will","tool_calls":[{call}]}},"finish_reason":"length"}}]}}"#
    );
    let anthropic = r#"{"content":[{"type":"text","text":"I will"},{"type":"tool_use","id":"a","name":"echo","input":{}}],"stop_reason":"max_tokens"}"#;
    for (api, body) in [(Api::Openai, chat.as_str()), (Api::Anthropic, anthropic)] {
        let mut scene = Scene::at(api, &answering("200 OK", "application/json", body));
        let (code, message) = scene.fails().await;
        assert_eq!(code, ErrorCode::EngineOutputLimit, "{api}");
        assert!(message.contains("output_tokens_max"), "{message}");
        assert_eq!(scene.tools.journal().asked, ["checkpoint", "checkpoint"]);
        assert_eq!(scene.tools.journal().steps.len(), 1, "nobody goes on from it");
    }
}

#[tokio::test]
async fn a_model_that_refuses_is_not_taken_for_one_that_is_done() {
    let body = r#"{"content":[{"type":"text","text":"I would rather not."}],"stop_reason":"refusal"}"#;
    let mut scene = Scene::at(Api::Anthropic, &answering("200 OK", "application/json", body));
    let expected = "the model refuses to go on: I would rather not.";
    assert_eq!(scene.fails().await, (ErrorCode::EngineProtocolError, expected.to_owned()));
}

#[tokio::test]
async fn a_conversation_that_is_too_long_loses_its_oldest_results() {
    for api in APIS {
        let long = |number: usize| json!({"n": number, "text": "x".repeat(1000)});
        let calls = (0..4).map(|number| calling("", [("echo", long(number))]));
        let done = Reply::text("Done.").after(Fault::TooLong, 2);
        let mut scene = Scene::new(api, calls.chain([done]));
        assert_eq!(scene.first().await, completed("Done."), "{api}");
        let results = Scene::results_in(&scene.last_messages());
        let left: Vec<_> = results.iter().map(|(_, told)| told["result"]["n"].as_u64()).collect();
        assert_eq!(left, [None, None, None, Some(3)], "all but the newest");
        assert!(results.iter().all(|(_, told)| told["status"] == "COMPLETED"));
        assert_eq!(scene.replies(), [0, 1, 2, 3, 4, 4, 4]);

        let mut scene = Scene::new(api, [Reply::fault(Fault::TooLong)]);
        let (code, message) = scene.fails().await;
        assert_eq!(code, ErrorCode::EngineProtocolError);
        assert!(message.starts_with("the conversation is too long for `scripted`"), "{message}");
    }
}

#[tokio::test]
async fn a_turn_that_is_stopped_ends_at_once() {
    for api in APIS {
        let mut scene = Scene::new(api, [Reply::chunks(["a", "b"]).after(Fault::Stall, 1)]);
        let mut going = scene.begin(TurnReason::First, OPENING);
        going.next().await.unwrap();
        going.stop.cancel();
        assert_eq!(going.finish().await, Finished::Stopped, "{api}: while the model writes");

        let mut scene = Scene::new(api, [calling("", [("echo", n(1)), ("hang", n(2))])]);
        let going = scene.begin(TurnReason::First, OPENING);
        scene.tools.hangs.notified().await;
        going.stop.cancel();
        assert_eq!(going.finish().await, Finished::Stopped, "{api}: while a tool works");
    }
}

#[tokio::test]
async fn a_turn_that_does_not_count_any_more_ends_quietly() {
    let mut scene = Scene::new(Api::Openai, [Reply::text("Done.")]);
    scene.tools.journal().is_stale = true;
    assert_eq!(scene.first().await, Finished::Stopped);
    assert_eq!(scene.replies(), [0; 0], "and costs nothing");
}

#[tokio::test]
async fn a_run_whose_tools_are_gone_fails_with_their_error() {
    let mut scene = Scene::new(Api::Openai, [Reply::text("Done.")]);
    scene.tools.journal().is_broken = true;
    let expected = "the tool server `mail` does not start";
    assert_eq!(scene.fails().await, (ErrorCode::ToolServerUnavailable, expected.to_owned()));
}

#[tokio::test]
async fn a_journal_that_cannot_be_read_is_no_empty_one() {
    let mut scene = Scene::new(Api::Openai, [Reply::text("Hm."), Reply::text("Done.")]);
    scene.first().await;
    scene.tools.journal().steps[0].1 = json!({"unheard_of": 1});
    let (_, finished) = scene.play(TurnReason::GoOn, OPENING).await;
    let Finished::Failed(error) = finished else { panic!("{finished:?}") };
    assert_eq!(error.code, ErrorCode::SessionResumeFailed);
}
