//! The roundtable that is built in, played without an agent.

use adjourn_runtime::ServiceError;
use adjourn_runtime::roundtable::RoundtableRequest;
use serde_json::{Value, json};

use crate::stage::Stage;

/// The workflow and the engine that the recording is for, and nothing else.
fn recorded() -> Value {
    json!({ "engine": "replay", "workflow": "specs" })
}

#[test]
fn a_whole_roundtable_is_played_offline_whatever_its_subject() {
    let stage = Stage::of_players("");
    let table = stage.table(recorded());
    assert_eq!(table.close_reason(), "concluded");
    let closed = table.closes();
    assert_eq!((closed.recorded_rounds(), closed.unsettled()), (3, Default::default()));
    for round in closed.rounds() {
        assert_eq!((round.answers.len(), round.missing.len(), round.refused.len()), (5, 0, 0));
    }
    let answers: Vec<_> =
        closed.rounds().iter().map(|round| round.answers[0].said.position.clone()).collect();
    assert!(answers[0] != answers[1] && answers[1] != answers[2], "each round has its own answers");
    assert_eq!(closed.artifacts().len(), 13);
    assert!(!table.stream().contains(&"agent.resume_fallback".to_owned()));
    let document = stage.service().export_roundtable_markdown(table.id).unwrap();
    for shown in ["NFR-003", "Names are forgotten", "A quarter of the day stays free"] {
        assert!(document.contains(shown), "{shown} is not in {document}");
    }
    assert!(stage.asked().is_empty(), "no agent was started");
}

#[test]
fn it_is_played_on_after_a_restart_between_any_two_rounds() {
    let stage = Stage::of_players("");
    let mut request = recorded();
    request["interactive"] = json!(true);
    let id = stage.table(request).id;
    for question in 1..=2 {
        let table = stage.at_table(id);
        table.until("the next question", |table| {
            table.pending().filter(|pending| pending.interaction_id.0 == question).cloned()
        });
        stage.restart();
        stage.at_table(id).reply(json!("continue")).unwrap();
    }
    assert_eq!(stage.at_table(id).close_reason(), "concluded");
}

#[test]
fn who_opens_it_is_told_what_is_played_and_another_one_cannot_be() {
    let stage = Stage::of_players("");
    let service = stage.service();
    let request = RoundtableRequest::read(&json!({ "subject": "a shop", "engine": "replay" })).unwrap();
    let opened = stage.wait(service.open_roundtable(request, None)).unwrap();
    let notice = opened.notice.unwrap();
    assert!(
        notice.starts_with("a recorded roundtable is played, whose subject is: An online booking"),
        "{notice}"
    );
    drop(service);
    for more in
        [json!({ "workflow": "design" }), json!({ "participants": ["qa"] }), json!({ "strategy": "disney" })]
    {
        let mut request = recorded();
        for (key, value) in more.as_object().unwrap() {
            request[key] = value.clone();
        }
        match stage.try_table(request, None) {
            Err(ServiceError::Invalid(errors)) => assert_eq!(
                errors[0].to_string(),
                "/engine: the roundtable that was recorded follows the workflow `specs`: leave out strategy and participants"
            ),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("{more} was opened"),
        }
    }
}
