//! Tools that want to know something first.

use adjourn_core::{QuestionKind, reply};
use adjourn_engine::tools::{Called, Unfinished};
use adjourn_testkit::mcp;
use serde_json::{Value, json};

use super::stage::{Stage, WAYS};

fn unfinished(called: Result<Called, adjourn_engine::tools::ToolError>) -> Unfinished {
    match called {
        Ok(Called::NeedsInput(unfinished)) => unfinished,
        other => panic!("{other:?}"),
    }
}

/// What is left of a call after it was in a journal.
fn kept(unfinished: &Unfinished) -> Unfinished {
    serde_json::from_value(serde_json::to_value(unfinished).unwrap()).unwrap()
}

/// Answers the next question as a person would.
fn answered(unfinished: &Unfinished, response: &Value) -> Unfinished {
    let question = unfinished.question().unwrap();
    kept(unfinished).answered(reply::check(&question, response).unwrap())
}

#[tokio::test]
async fn a_tools_question_ends_the_call_and_its_answer_goes_on_with_it_in_another_process() {
    for way in WAYS {
        let stage = Stage::new(way);
        let asked = unfinished(stage.call("ask", json!({})).await);
        let question = asked.question().unwrap();
        assert_eq!(
            (question.kind, question.prompt.as_str()),
            (QuestionKind::Form, "What is your name?"),
            "{way:?}"
        );
        let wrong = reply::check(&question, &json!({"nmae": "Ada"})).unwrap_err();
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        let ready = answered(&asked, &json!({"name": "Ada"}));
        assert_eq!(ready.question(), None);
        assert_eq!(stage.lines("effects"), [""; 0]);
        stage.close().await;

        let later = Stage::new(way);
        let done = later.go_on("ask", json!({}), Some(ready)).await;
        assert_eq!(done, Ok(Called::Completed(json!({"answers": ["Ada"]}))), "{way:?}");
        assert_eq!(later.lines("effects"), [r#"["Ada"]"#]);
        later.close().await;
    }
}

#[tokio::test]
async fn a_tool_may_ask_again_and_is_told_all_earlier_answers() {
    for way in WAYS {
        let stage = Stage::new(way);
        let first = unfinished(stage.call("ask_twice", json!({})).await);
        let ready = answered(&first, &json!({"name": "Ada"}));
        let second = unfinished(stage.go_on("ask_twice", json!({}), Some(ready)).await);
        assert_eq!(second.question().unwrap().prompt, "How old are you?", "{way:?}");
        let ready = answered(&second, &json!({"age": "36"}));
        let done = stage.go_on("ask_twice", json!({}), Some(ready)).await;
        assert_eq!(done, Ok(Called::Completed(json!({"answers": ["Ada", "36"]}))), "{way:?}");
        assert_eq!(stage.lines("effects").len(), 1);
        stage.close().await;
    }
}

#[tokio::test]
async fn a_person_who_will_not_say_is_heard() {
    for way in WAYS {
        let stage = Stage::new(way);
        let asked = unfinished(stage.call("ask", json!({})).await);
        let done = stage.go_on("ask", json!({}), Some(asked.declined())).await;
        assert_eq!(done, Ok(Called::Completed(json!("then not"))), "{way:?}");
        assert_eq!(stage.lines("effects"), [""; 0]);
        stage.close().await;
    }
}

#[tokio::test]
async fn parallel_questions_reach_their_own_calls_and_others_are_not_harmed() {
    for way in [mcp::OLDER, ""] {
        let stage = Stage::new(way);
        let count = stage.call("count", json!({"text": "meanwhile"}));
        let asks = futures::future::join_all((0..3).map(|_| stage.call("ask", json!({}))));
        let (asks, count) = tokio::join!(asks, count);
        assert!(matches!(count, Ok(Called::Completed(_))), "{way:?}: {count:?}");
        assert_eq!(stage.lines("effects"), ["meanwhile"]);
        let names = ["Ada", "Grace", "Mary"];
        let ready = asks
            .into_iter()
            .zip(names)
            .map(|(asked, name)| answered(&unfinished(asked), &json!({"name": name})));
        let going_on = ready.map(|ready| stage.go_on("ask", json!({}), Some(ready)));
        let done = futures::future::join_all(going_on).await;
        let expected = names.map(|name| Ok(Called::Completed(json!({"answers": [name]}))));
        assert_eq!(done, expected, "{way:?}");
        stage.close().await;
    }
}
