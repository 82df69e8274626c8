//! XX: answers that come twice, late, wrong, or at once.

use adjourn_core::{ErrorCode, InteractionId, Refusal, RefusalKind, RunId, RunStatus};
use adjourn_runtime::ServiceError;
use futures::future::join_all;
use serde_json::json;

use crate::stage::{Actor, Stage, answer, refusal};

/// How many answer at once: more than there are threads to decide them on.
const RACERS: usize = 8;

fn waiting(stage: &Stage) -> Actor<'_> {
    let run = stage.start(json!({}));
    run.asks_first("Which database?");
    run
}

fn count(run: &Actor<'_>, frame: &str) -> usize {
    run.stream().iter().filter(|shown| *shown == frame).count()
}

#[test]
fn xx_01_of_replies_that_race_one_is_accepted_and_one_turn_is_resumed() {
    let stage = Stage::new();
    let run = waiting(&stage);
    let service = stage.service();
    let replies = (0..RACERS)
        .map(|n| service.reply(run.id, answer(Some(InteractionId(1)), json!(n.to_string()), None)));
    let results = stage.wait(join_all(replies));
    drop(service);

    let won: Vec<_> = (0..RACERS).filter(|n| results[*n].is_ok()).collect();
    assert_eq!(won.len(), 1);
    for lost in results.into_iter().filter(Result::is_err) {
        assert_eq!(refusal(lost).kind(), RefusalKind::Conflict);
    }
    let turn = run.turn(2);
    assert!(turn.prompt.contains(&format!("> {}", won[0])), "{}", turn.prompt);
    turn.finishes("done");
    run.ends();
    assert_eq!((count(&run, "interaction.reply.accepted"), run.had_turn(3)), (1, false));
}

#[test]
fn xx_02_the_same_reply_with_the_same_key_is_one_reply() {
    let stage = Stage::new();
    let run = waiting(&stage);
    let service = stage.service();
    let again = || service.reply(run.id, answer(Some(InteractionId(1)), json!("SQLite"), Some("key")));
    let at_once = stage.wait(join_all((0..RACERS).map(|_| again())));
    drop(service);
    assert!(at_once.iter().all(Result::is_ok));
    run.turn(2).finishes("SQLite");
    run.ends();

    stage.restart();
    assert_eq!(run.reply_keyed("SQLite", "key").unwrap().status(), RunStatus::Succeeded);
    let other = run.reply_keyed("PostgreSQL", "key");
    assert!(matches!(refusal(other), Refusal::KeyReused { key } if key == "key"));
    assert_eq!((count(&run, "interaction.reply.accepted"), run.had_turn(3)), (1, false));
}

#[test]
fn xx_02_the_same_key_is_the_same_answer_also_after_the_next_question_appeared() {
    let stage = Stage::new();
    let run = waiting(&stage);
    let service = stage.service();
    let reply = |text: &str| stage.wait(service.reply(run.id, answer(None, json!(text), Some("key"))));
    reply("SQLite").unwrap();
    run.turn(2).asks("Which version?");
    run.until("the second question", |run| {
        (run.status() == RunStatus::WaitingUser && run.interactions().len() == 2).then_some(())
    });
    let again = reply("SQLite").unwrap();
    assert_eq!((again.status(), again.open_interactions().count()), (RunStatus::WaitingUser, 1));
    assert!(matches!(refusal(reply("3.50")), Refusal::KeyReused { key } if key == "key"));
    assert_eq!(count(&run, "interaction.reply.accepted"), 1, "nothing was answered twice");
}

#[test]
fn xx_03_a_reply_to_what_is_not_open_changes_nothing() {
    let stage = Stage::new();
    let options = json!({ "interactive_require_user_reply": false, "session_timeout_sec": 60 });
    let (expired, canceled) = (stage.start(json!({ "options": options })), waiting(&stage));
    expired.asks_first("Which database?");
    stage.advance(60);
    expired.turn(2).asks("And which version?");
    expired.until("the second question", |run| run.open_interactions().next().map(|_| ()));
    canceled.cancel().unwrap();

    let head = stage.store().head().unwrap();
    for (run, id) in [(expired, 1), (expired, 3), (canceled, 1), (canceled, 0)] {
        let refused = refusal(run.reply_to(id, "SQLite"));
        assert_eq!(refused.kind(), RefusalKind::Conflict, "{refused}");
    }
    assert_eq!(refusal(expired.reply_to(1, "x")).to_string(), "question 1 is expired: the open one is 2");
    assert_eq!(stage.store().head().unwrap(), head);
    expired.reply_to(2, "the newest").unwrap();
}

#[test]
fn xx_04_a_reply_that_breaks_the_schema_is_told_where_and_the_question_stays_open() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    let fields = json!([
        { "name": "host", "label": "Host", "kind": "text", "required": true },
        { "name": "port", "label": "Port", "kind": "integer" },
    ]);
    run.turn(1).says(&json!({ "ask_user": { "prompt": "Where is it?", "fields": fields } }).to_string());
    run.waits();
    let head = stage.store().head().unwrap();
    let Refusal::Invalid(errors) = refusal(run.reply(json!({ "port": "high" }))) else {
        panic!("an answer that does not fit is invalid")
    };
    let places: Vec<_> = errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(places, ["/host", "/port"]);
    assert_eq!((stage.store().head().unwrap(), run.status()), (head, RunStatus::WaitingUser));

    run.reply(json!({ "host": "localhost", "port": 5432 })).unwrap();
    let prompt = run.turn(2).prompt;
    assert!(prompt.contains("\"port\": 5432"), "{prompt}");
}

/// Answers the question with this number in the instant in which it can first be seen.
fn reply_at_sight(stage: &Stage, run: &Actor<'_>, number: u32) {
    let (service, store) = (stage.service(), stage.store());
    let mut commits = store.watch();
    stage.wait(async {
        loop {
            let open = store.open_interactions(None, 9).unwrap();
            if open.iter().any(|open| open.stream == run.id.into() && open.interaction_id.0 == number) {
                break;
            }
            commits.changed().await.unwrap();
        }
        let answer = answer(Some(InteractionId(number)), json!(format!("answer {number}")), None);
        service.reply(run.id, answer).await.unwrap();
    });
}

#[test]
fn xx_18_a_reply_in_the_instant_of_its_question_is_accepted() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.turn(1).asks("Which database?");
    reply_at_sight(&stage, &run, 1);
    assert!(run.turn(2).prompt.contains("> answer 1"));
}

#[test]
fn xx_18_a_reply_to_a_run_that_nobody_knows_is_told_so() {
    let stage = Stage::new();
    let nobody = stage.actor(RunId::from_bits(7));
    assert_eq!(refusal(nobody.reply_to(1, "SQLite")).kind(), RefusalKind::NotFound);
    assert!(matches!(nobody.reply("SQLite"), Err(ServiceError::UnknownRun(id)) if id == nobody.id));
}

#[test]
fn xx_18_waiting_for_a_day_takes_nothing_of_the_time_of_a_turn() {
    const DAY: i64 = 24 * 60 * 60;
    let stage = Stage::new();
    let [quick, slow] = [(); 2].map(|()| stage.start(json!({ "options": { "hard_timeout_sec": 60 } })));
    for run in [quick, slow] {
        run.asks_first("Which database?");
    }
    stage.advance(DAY);
    for run in [quick, slow] {
        run.reply("SQLite").unwrap();
        run.turn(2);
    }
    stage.advance(59);
    quick.turn(2).finishes("SQLite");
    assert_eq!(quick.ends().status(), RunStatus::Succeeded);
    assert_eq!(slow.status(), RunStatus::Running);
    stage.advance(1);
    slow.ends();
    assert_eq!(slow.code(), Some(ErrorCode::EngineTimeout));
}

#[test]
fn xx_19_the_fiftieth_question_is_answered_like_the_first() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    for number in 1..=50 {
        run.turn(number).asks(&format!("Question {number}?"));
        reply_at_sight(&stage, &run, number);
    }
    let last = run.turn(51);
    assert!(last.prompt.contains("> Question 50?") && last.prompt.contains("> answer 50"));
    assert!(!last.prompt.contains("answer 49"), "what was told before is not told again");
    last.finishes("done");
    let state = run.ends();
    assert_eq!((state.status(), state.attempt_number()), (RunStatus::Succeeded, 51));
    assert_eq!(count(&run, "interaction.reply.accepted"), 50);
}
